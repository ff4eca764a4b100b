// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stored.hpp"
#include "tree.hpp"

#include <kontor/output/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kontor::output {

std::vector<std::uint64_t> extents(const Image& image, Centering centering) {
  const auto& cells = image.cells;
  if (image.dimensions < 1 || image.dimensions > 3 ||
      std::any_of(cells.begin() + image.dimensions, cells.end(), [](auto layers) { return layers != 1; }))
    throw Error(fmt::format("output: an image of {} dimensions with {} cells; allowed are 1 to 3 dimensions, and "
                            "one layer of cells beyond them",
                            image.dimensions, fmt::join(cells, " x ")));
  std::vector<std::uint64_t> result;
  for (int axis = image.dimensions - 1; axis >= 0; --axis)
    result.push_back(cells[axis] + (centering == Centering::points ? 1 : 0));
  return result;
}

std::vector<std::uint64_t> extents(const Mesh& mesh, const MeshField& field) {
  if (const auto* image = std::get_if<Image>(&mesh)) return extents(*image, field.centering);
  const auto& hexahedra = std::get<Hexahedra>(mesh);
  std::vector<std::uint64_t> result{field.centering == Centering::points ? hexahedra.points : hexahedra.cells};
  if (field.components > 1) result.push_back(field.components);
  return result;
}

namespace {

const std::string group = "/VTKHDF";

const char* group_of(Centering centering) { return centering == Centering::points ? "/PointData" : "/CellData"; }

void check_extents(hid_t file, const Mesh& mesh, const MeshField& field) {
  const Handle dataset(H5Dopen2(file, field.dataset.c_str(), H5P_DEFAULT), H5Dclose, "H5Dopen2", field.dataset);
  const auto found = extents_of(dataset, field.dataset), wanted = extents(mesh, field);
  if (found != wanted)
    throw Error(fmt::format("{} is ({}); values of {} of this mesh are ({})", field.dataset, fmt::join(found, ", "),
                            field.centering == Centering::points ? "points" : "cells", fmt::join(wanted, ", ")));
}

/// Local. Links a dataset to a second name.
void link(hid_t file, const std::string& dataset, const std::string& name) {
  check(H5Lcreate_hard(file, dataset.c_str(), file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT), "H5Lcreate_hard", name);
}

/// The attributes of the group: `add(name, type, extent, data)`.
template <class Add>
void write_kind(const std::string& text, const std::array<std::int64_t, 2>& version, const Add& add) {
  // VTK compares the text with its length in bytes: fixed, ASCII, no terminator.
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "H5Tcopy", group);
  check(H5Tset_size(type, text.size()), "H5Tset_size", group);
  check(H5Tset_strpad(type, H5T_STR_NULLPAD), "H5Tset_strpad", group);
  add("Type", type, {}, text.data());
  add("Version", native_type<std::int64_t>(), {2}, version.data());
}

template <class Add>
void write_image(const Image& image, const Add& add) {
  write_kind("ImageData", {1, 0}, add);
  // First and last point. Beyond its dimensions an image has one layer of points, and so no cells.
  std::array<std::int64_t, 6> whole{};
  for (int axis = 0; axis < image.dimensions; ++axis)
    whole[2 * axis + 1] = static_cast<std::int64_t>(image.cells[axis]);
  const std::array<double, 9> direction{1, 0, 0, 0, 1, 0, 0, 0, 1};
  add("WholeExtent", native_type<std::int64_t>(), {6}, whole.data());
  add("Origin", native_type<double>(), {3}, image.origin.data());
  add("Spacing", native_type<double>(), {3}, image.spacing.data());
  add("Direction", native_type<double>(), {9}, direction.data());
}

/// VTK wants the corners of all cells in a row, where the file has a row for each cell; and where each cell's begin.
template <class Add>
void write_hexahedra(hid_t file, const Hexahedra& mesh, const Add& add) {
  write_kind("UnstructuredGrid", {1, 0}, add);
  constexpr std::uint64_t corners = 8;
  constexpr std::uint8_t kind = 12; // VTK_HEXAHEDRON
  const auto array = [&](const char* name, hid_t type, std::uint64_t count, const void* data) {
    write_array(file, group + "/" + name, type, {count}, data);
  };
  const auto number = [&](const char* name, std::uint64_t value) {
    const auto count = static_cast<std::int64_t>(value);
    array(name, native_type<std::int64_t>(), 1, &count);
  };
  number("NumberOfPoints", mesh.points);
  number("NumberOfCells", mesh.cells);
  number("NumberOfConnectivityIds", corners * mesh.cells);
  std::vector<std::int64_t> offsets(mesh.cells + 1);
  for (std::size_t cell = 0; cell < offsets.size(); ++cell) offsets[cell] = static_cast<std::int64_t>(corners * cell);
  array("Offsets", native_type<std::int64_t>(), offsets.size(), offsets.data());
  array("Types", H5T_NATIVE_UINT8, mesh.cells, std::vector(mesh.cells, kind).data());
  link(file, mesh.coordinates, group + "/Points");
}

} // namespace

std::string vtkhdf_path(const MeshField& field) { return group + group_of(field.centering) + "/" + field.name; }

void write_vtkhdf(hid_t file, const Mesh& mesh, const std::vector<MeshField>& fields) {
  make_group(file, group);
  for (const MeshField& field : fields) {
    check_extents(file, mesh, field);
    make_group(file, group + group_of(field.centering));
  }
  const auto attribute = [&](const char* name, hid_t type, const std::vector<hsize_t>& extent, const void* data) {
    write_attribute(file, group, name, type, extent, data);
  };
  if (const auto* image = std::get_if<Image>(&mesh))
    write_image(*image, attribute);
  else
    write_hexahedra(file, std::get<Hexahedra>(mesh), attribute);
  for (const MeshField& field : fields) link(file, field.dataset, vtkhdf_path(field));
}

} // namespace kontor::output
