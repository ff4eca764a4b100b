// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "receipt.hpp"

#include "checksum.hpp"
#include "stored.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>

namespace kontor::output {

namespace {

std::uint64_t stored_attribute(hid_t file, const std::string& object, const std::string& name, hid_t type) {
  const std::string what = object + "@" + name;
  const Handle attribute(H5Aopen_by_name(file, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                         "H5Aopen_by_name", what);
  const Handle space(H5Aget_space(attribute), H5Sclose, "H5Aget_space", what);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  output::check(count, "H5Sget_simple_extent_npoints", what);
  std::vector<std::byte> values(count * H5Tget_size(type));
  output::check(H5Aread(attribute, type, values.data()), "H5Aread", what);
  const std::uint64_t sum = values_checksum(type, count, values.data());
  if (H5Tis_variable_str(type) > 0)
    output::check(H5Dvlen_reclaim(type, space, H5P_DEFAULT, values.data()), "H5Dvlen_reclaim", what);
  return sum;
}

/// The checksum of boxes of a dataset.
std::uint64_t stored_boxes(hid_t file, const std::string& name, hid_t type, const std::vector<Box>& boxes,
                           const Extents& global) {
  if (boxes.empty()) return 0;
  const Handle dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, "H5Dopen2", name);
  const std::size_t size = H5Tget_size(type);
  std::uint64_t sum = 0;
  std::vector<std::byte> values;
  for (const Box& box : boxes) {
    const Pieces pieces = pieces_of(box.extent, size);
    for (std::uint64_t n = 0; n < pieces.count(); ++n) {
      const Box piece = in_array({global, box.offset, box.extent}, pieces[n]);
      values.resize(elements(piece.extent) * size);
      read_box(dataset, name, piece, type, values.data());
      sum += box_sum(values.data(), size, piece, global);
    }
  }
  return sum;
}

} // namespace

std::uint64_t values_checksum(hid_t type, std::size_t count, const void* data) {
  if (H5Tis_variable_str(type) <= 0) return checksum(data, count * H5Tget_size(type));
  std::uint64_t sum = 0;
  const auto* strings = static_cast<const char* const*>(data);
  for (std::size_t i = 0; i < count; ++i)
    if (strings[i]) // an empty string may be read back as none
      sum = checksum(strings[i], std::strlen(strings[i]), sum);
    else
      sum = checksum("", 0, sum);
  return sum;
}

Handle copy_type(hid_t type) { return {H5Tcopy(type), H5Tclose, "H5Tcopy", "a type"}; }

Error altered(const std::string& what) {
  return Error(fmt::format("{} read back from the file is not what was written; check the disk and its quota", what));
}

Written::Written(const std::filesystem::path& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) throw Error(fmt::format("the written file cannot be opened again: {}", std::strerror(errno)));
  // HDF5's own driver asks for a lock, which not all file systems have.
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "H5Pcreate", "the written file");
  driver_.use_in(access, descriptor_);
  file_ = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose, "H5Fopen", "the written file");
}

void Written::check(const std::vector<Receipt>& receipts) const {
  for (const auto& [object, attribute, extent, type, sum] : receipts) {
    if (!attribute.empty()) {
      if (stored_attribute(file_, object, attribute, type) != sum) throw altered(object + " attribute " + attribute);
    } else if (stored_boxes(file_, object, type, {{Extents(extent.size(), 0), extent}}, extent) != sum)
      throw altered(object);
  }
}

std::uint64_t Written::sum(const FieldReceipt& field) const {
  return stored_boxes(file_, field.name, field.type, field.share.written, field.global);
}

} // namespace kontor::output
