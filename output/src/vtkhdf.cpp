// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "vtkhdf.hpp"

#include "dataset.hpp"
#include "tree.hpp"

#include <kontor/output/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace kontor::output {

namespace {

const char* group_of(Centering centering) { return centering == Centering::points ? "/PointData" : "/CellData"; }

void check_extents(hid_t file, const Image& image, const MeshField& field) {
  const Handle dataset(H5Dopen2(file, field.dataset.c_str(), H5P_DEFAULT), H5Dclose, "H5Dopen2", field.dataset);
  const auto found = extents_of(dataset, field.dataset), wanted = extents(image, field.centering);
  if (found != wanted)
    throw Error(fmt::format("{} is ({}); values of {} of this image are ({})", field.dataset, fmt::join(found, ", "),
                            field.centering == Centering::points ? "points" : "cells", fmt::join(wanted, ", ")));
}

} // namespace

void write_vtkhdf(hid_t file, const Image& image, const std::vector<MeshField>& fields,
                  std::vector<Receipt>& receipts) {
  const std::string group = "/VTKHDF";
  make_group(file, group);
  for (const MeshField& field : fields) {
    check_extents(file, image, field);
    make_group(file, group + group_of(field.centering));
  }

  const auto attribute = [&](const char* name, hid_t type, const std::vector<hsize_t>& extent, const void* data) {
    write_attribute(file, group, name, type, extent, data, receipts);
  };
  // VTK compares the text with its length in bytes: fixed, ASCII, no terminator.
  const std::string text = "ImageData";
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "H5Tcopy", group);
  check(H5Tset_size(type, text.size()), "H5Tset_size", group);
  check(H5Tset_strpad(type, H5T_STR_NULLPAD), "H5Tset_strpad", group);
  attribute("Type", type, {}, text.data());

  const std::array<std::int64_t, 2> version{1, 0};
  // First and last point. Beyond its dimensions an image has one layer of points, and so no cells.
  std::array<std::int64_t, 6> whole{};
  for (int axis = 0; axis < image.dimensions; ++axis)
    whole[2 * axis + 1] = static_cast<std::int64_t>(image.cells[axis]);
  const std::array<double, 9> direction{1, 0, 0, 0, 1, 0, 0, 0, 1};
  attribute("Version", native_type<std::int64_t>(), {2}, version.data());
  attribute("WholeExtent", native_type<std::int64_t>(), {6}, whole.data());
  attribute("Origin", native_type<double>(), {3}, image.origin.data());
  attribute("Spacing", native_type<double>(), {3}, image.spacing.data());
  attribute("Direction", native_type<double>(), {9}, direction.data());

  for (const MeshField& field : fields) {
    const auto link = group + group_of(field.centering) + "/" + field.name;
    check(H5Lcreate_hard(file, field.dataset.c_str(), file, link.c_str(), H5P_DEFAULT, H5P_DEFAULT), "H5Lcreate_hard",
          link);
  }
}

} // namespace kontor::output
