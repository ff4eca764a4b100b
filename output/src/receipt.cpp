// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "receipt.hpp"

#include "checksum.hpp"
#include "descriptor.hpp"
#include "driver.hpp"
#include "pieces.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>

namespace kontor::output {

namespace {

std::uint64_t stored_attribute(hid_t file, const Receipt& receipt) {
  const std::string what = receipt.object + "@" + receipt.attribute;
  const Handle attribute(
      H5Aopen_by_name(file, receipt.object.c_str(), receipt.attribute.c_str(), H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose, "H5Aopen_by_name", what);
  const Handle space(H5Aget_space(attribute), H5Sclose, "H5Aget_space", what);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  check(count, "H5Sget_simple_extent_npoints", what);
  std::vector<std::byte> values(count * H5Tget_size(receipt.type));
  check(H5Aread(attribute, receipt.type, values.data()), "H5Aread", what);
  const std::uint64_t sum = values_checksum(receipt.type, count, values.data());
  if (H5Tis_variable_str(receipt.type) > 0)
    check(H5Dvlen_reclaim(receipt.type, space, H5P_DEFAULT, values.data()), "H5Dvlen_reclaim", what);
  return sum;
}

std::uint64_t stored_block(hid_t file, const Receipt& receipt) {
  const Handle dataset(H5Dopen2(file, receipt.object.c_str(), H5P_DEFAULT), H5Dclose, "H5Dopen2",
                       receipt.object);
  std::uint64_t sum = 0;
  std::vector<std::byte> values;
  for (const Piece& piece : pieces(receipt.block, receipt.type)) {
    values.resize(piece.elements * H5Tget_size(receipt.type));
    read_piece(dataset, receipt.object, piece, receipt.type, values.data());
    sum = checksum(values.data(), values.size(), sum);
  }
  return sum;
}

} // namespace

std::uint64_t block_checksum(const Block& block, hid_t type, const void* data) {
  std::uint64_t sum = 0;
  const std::size_t size = H5Tget_size(type);
  for (const Piece& piece : pieces(block, type))
    sum = checksum(static_cast<const std::byte*>(data) + piece.first * size, piece.elements * size, sum);
  return sum;
}

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

Handle copy_type(hid_t type) {
  return {H5Tcopy(type), H5Tclose, "H5Tcopy", "a type"};
}

void verify(const std::filesystem::path& path, const std::vector<Receipt>& receipts) {
  if (receipts.empty()) return;
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (descriptor < 0)
    throw Error(fmt::format("the written file cannot be opened again: {}", std::strerror(errno)));
  Driver driver; // HDF5's own asks for a lock, which not all file systems have
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "H5Pcreate", "the written file");
  driver.use_in(access, descriptor);
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose, "H5Fopen", "the written file");
  for (const Receipt& receipt : receipts) {
    const bool whole = receipt.attribute.empty();
    const std::uint64_t sum = whole ? stored_block(file, receipt) : stored_attribute(file, receipt);
    if (sum != receipt.sum)
      throw Error(
          fmt::format("{}{}{} read back from the file is not what was written; check the disk and its quota",
                      receipt.object, whole ? "" : " attribute ", receipt.attribute));
  }
}

} // namespace kontor::output
