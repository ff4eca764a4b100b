// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/problem/field_output.hpp"

#include "run/checkpoint/view_output.hpp"

#include <kontor/device/compat.hpp>

namespace kontor::heat {
namespace {

output::Block place_of(const Block& block) {
  output::Block place;
  for (int axis = block.dimensions - 1; axis >= 0; --axis) {
    place.global.push_back(static_cast<std::uint64_t>(block.global[axis]));
    place.offset.push_back(static_cast<std::uint64_t>(block.offset[axis]));
    place.extent.push_back(static_cast<std::uint64_t>(block.extents[axis]));
  }
  return place;
}

} // namespace

template <class T>
miniapp::FieldOutput write_field(const Domain<T>& domain, output::File& file, const std::string& group) {
  const device::Region region("heat/io");
  const auto& block = domain.block();
  const auto name = group + "/temperature";
  miniapp::write_view(file, name, place_of(block),
                      grid::view_of(domain.field(domain.current()), block, block.all()));
  nlohmann::ordered_json moment{{"sweeps", domain.sweeps()}};
  if (domain.transient()) moment["time"] = domain.now();
  file.attributes(group, moment);
  miniapp::FieldOutput out;
  out.image.dimensions = block.dimensions;
  for (int axis = 0; axis < block.dimensions; ++axis) {
    out.image.cells[axis] = static_cast<std::uint64_t>(block.global[axis]);
    out.image.origin[axis] = block.lower[axis];
    out.image.spacing[axis] = block.spacing[axis];
  }
  out.snapshot = {domain.transient() ? domain.now() : static_cast<double>(domain.sweeps()),
                  {{"temperature", name, output::scalar_of<T>}}};
  return out;
}

template <class T>
std::int64_t read_field(const Domain<T>& domain, const output::Reader& reader, const std::string& group) {
  const device::Region region("heat/io");
  const auto& block = domain.block();
  miniapp::read_view(reader, group + "/temperature", place_of(block),
                     grid::view_of(domain.field(0), block, block.all()));
  return reader.attributes(group).at("sweeps").template get<std::int64_t>();
}

template miniapp::FieldOutput write_field(const Domain<float>&, output::File&, const std::string&);
template miniapp::FieldOutput write_field(const Domain<double>&, output::File&, const std::string&);
template std::int64_t read_field(const Domain<float>&, const output::Reader&, const std::string&);
template std::int64_t read_field(const Domain<double>&, const output::Reader&, const std::string&);

} // namespace kontor::heat
