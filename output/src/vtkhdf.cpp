// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "vtkhdf.hpp"

#include "tree.hpp"

#include <kontor/output/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kontor::output {

namespace {

std::vector<hsize_t> extents(hid_t file, const std::string& path) {
  const Handle dataset(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose, "H5Dopen2", path);
  const Handle space(H5Dget_space(dataset), H5Sclose, "H5Dget_space", path);
  const int dimensions = H5Sget_simple_extent_ndims(space);
  check(dimensions, "H5Sget_simple_extent_ndims", path);
  std::vector<hsize_t> result(dimensions);
  check(H5Sget_simple_extent_dims(space, result.data(), nullptr), "H5Sget_simple_extent_dims", path);
  return result;
}

/// Whether the fields are (ny,nx); otherwise they are (nz,ny,nx).
bool flat_image(hid_t file, const Image& image,
                const std::vector<std::pair<std::string, std::string>>& cell_data) {
  const auto [nx, ny, nz] = image.cells;
  const std::vector<hsize_t> solid{nz, ny, nx}, flat{ny, nx};
  const bool is_flat = !cell_data.empty() && nz == 1 && extents(file, cell_data.front().second).size() == 2;
  for (const auto& [name, path] : cell_data)
    if (const auto found = extents(file, path); found != (is_flat ? flat : solid))
      throw Error(fmt::format("{} is ({}); cell data of this image are ({})", path, fmt::join(found, ", "),
                              fmt::join(is_flat ? flat : solid, ", ")));
  return is_flat;
}

} // namespace

void write_vtkhdf(hid_t file, const Image& image,
                  const std::vector<std::pair<std::string, std::string>>& cell_data,
                  std::vector<Receipt>& receipts) {
  const std::string group = "/VTKHDF";
  const bool flat = flat_image(file, image, cell_data);
  make_group(file, group + "/CellData");

  const auto attribute = [&](const char* name, hid_t type, const std::vector<hsize_t>& extent,
                             const void* data) {
    write_attribute(file, group, name, type, extent, data, receipts);
  };
  // VTK compares the text with its length in bytes: fixed, ASCII, no terminator.
  const std::string text = "ImageData";
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "H5Tcopy", group);
  check(H5Tset_size(type, text.size()), "H5Tset_size", group);
  check(H5Tset_strpad(type, H5T_STR_NULLPAD), "H5Tset_strpad", group);
  attribute("Type", type, {}, text.data());

  const auto [nx, ny, nz] = image.cells;
  const std::array<std::int64_t, 2> version{1, 0};
  // First and last point. A flat image has one layer of points, and so no cells but squares.
  const std::array<std::int64_t, 6> whole{0, std::int64_t(nx),           0, std::int64_t(ny),
                                          0, flat ? 0 : std::int64_t(nz)};
  const std::array<double, 9> direction{1, 0, 0, 0, 1, 0, 0, 0, 1};
  attribute("Version", native_type<std::int64_t>(), {2}, version.data());
  attribute("WholeExtent", native_type<std::int64_t>(), {6}, whole.data());
  attribute("Origin", native_type<double>(), {3}, image.origin.data());
  attribute("Spacing", native_type<double>(), {3}, image.spacing.data());
  attribute("Direction", native_type<double>(), {9}, direction.data());

  for (const auto& [name, path] : cell_data)
    check(H5Lcreate_hard(file, path.c_str(), file, (group + "/CellData/" + name).c_str(), H5P_DEFAULT,
                         H5P_DEFAULT),
          "H5Lcreate_hard", group + "/CellData/" + name);
}

} // namespace kontor::output
