// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/problem/field_output.hpp"

#include "grid/block_output.hpp"

#include <kontor/device/compat.hpp>

namespace kontor::heat {

template <class T>
miniapp::FieldOutput write_field(const Domain<T>& domain, output::File& file, const std::string& group) {
  const device::Region region("heat/io");
  const auto& block = domain.block();
  const auto name = group + "/temperature";
  grid::write_field(file, name, block, domain.field(domain.current()));
  nlohmann::ordered_json moment{{"sweeps", domain.sweeps()}};
  if (domain.transient()) moment["time"] = domain.now();
  file.attributes(group, moment);
  return {grid::image_of(block),
          {domain.transient() ? domain.now() : static_cast<double>(domain.sweeps()),
           {grid::mesh_field<T>(block, "temperature", name)}}};
}

template <class T>
std::int64_t read_field(const Domain<T>& domain, const output::Reader& reader, const std::string& group) {
  const device::Region region("heat/io");
  grid::read_field(reader, group + "/temperature", domain.block(), domain.field(0));
  return reader.attributes(group).at("sweeps").template get<std::int64_t>();
}

template miniapp::FieldOutput write_field(const Domain<float>&, output::File&, const std::string&);
template miniapp::FieldOutput write_field(const Domain<double>&, output::File&, const std::string&);
template std::int64_t read_field(const Domain<float>&, const output::Reader&, const std::string&);
template std::int64_t read_field(const Domain<double>&, const output::Reader&, const std::string&);

} // namespace kontor::heat
