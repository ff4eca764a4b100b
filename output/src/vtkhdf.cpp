// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "objects.hpp"
#include "stored.hpp"

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

/// Of what VTK has of a field at one time: of images always three dimensions, the slowest first, of one layer of cells
/// beyond their own.
Extents shown_extents(const Mesh& mesh, const MeshField& field) {
  const auto* image = std::get_if<Image>(&mesh);
  if (!image) return extents(mesh, field);
  Extents result;
  for (int axis = 2; axis >= 0; --axis)
    result.push_back(image->cells[axis] + (field.centering == Centering::points ? 1 : 0));
  return result;
}

Handle open(hid_t file, const std::string& dataset) {
  return {H5Dopen2(file, dataset.c_str(), H5P_DEFAULT), H5Dclose, "H5Dopen2", dataset};
}

/// Makes a dataset of the values of others of the file, which are not copied: pieces of these extents, in C order, of
/// one source after the other, each as often as it takes.
void write_virtual(hid_t file, const std::string& name, const Extents& extent, const Extents& piece,
                   const std::vector<std::string>& sources) {
  const Handle first = open(file, sources.front()), type(H5Dget_type(first), H5Tclose, "H5Dget_type", name);
  const std::vector<hsize_t> all(extent.begin(), extent.end()), count(piece.begin(), piece.end());
  const auto space_of = [&](const std::vector<hsize_t>& counts) {
    return Handle(H5Screate_simple(static_cast<int>(counts.size()), counts.data(), nullptr), H5Sclose,
                  "H5Screate_simple", name);
  };
  const Handle creation = timeless(H5P_DATASET_CREATE), space = space_of(all);
  const std::uint64_t pieces = elements(extent) / elements(piece);
  for (std::uint64_t n = 0; n < pieces; ++n) {
    std::vector<hsize_t> offset(all.size());
    for (std::size_t d = all.size(), rest = n; d-- > 0; rest /= all[d] / count[d])
      offset[d] = rest % (all[d] / count[d]) * count[d];
    const Handle place = space_of(all);
    check(H5Sselect_hyperslab(place, H5S_SELECT_SET, offset.data(), nullptr, count.data(), nullptr),
          "H5Sselect_hyperslab", name);
    const auto& source = sources[n * sources.size() / pieces];
    const Extents found = extents_of(open(file, source), source);
    check(H5Pset_virtual(creation, place, ".", source.c_str(), space_of({found.begin(), found.end()})),
          "H5Pset_virtual", name);
  }
  make_group(file, name.substr(0, name.rfind('/')));
  Handle(H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose, "H5Dcreate2", name);
}

/// Writes small datasets and attributes below a group.
class Below {
 public:
  Below(hid_t file, std::string path) : file_(file), path_(std::move(path)) { make_group(file_, path_); }

  template <class T>
  void dataset(const std::string& name, const std::vector<T>& values) const {
    write_array(file_, path_ + "/" + name, native_type<T>(), {values.size()}, values.data());
  }
  void attribute(const char* name, hid_t type, const std::vector<hsize_t>& extent, const void* data) const {
    write_attribute(file_, path_, name, type, extent, data);
  }

 private:
  hid_t file_;
  std::string path_;
};

void write_kind(const Below& vtk, const std::string& text, std::int64_t version) {
  // VTK compares the text with its length in bytes: fixed, ASCII, no terminator.
  vtk.attribute("Type", string_type(text.size(), H5T_CSET_ASCII), {}, text.data());
  const std::array<std::int64_t, 2> numbers{version, 0};
  vtk.attribute("Version", native_type<std::int64_t>(), {2}, numbers.data());
}

void write_image(const Below& vtk, const Image& image) {
  std::array<std::int64_t, 6> whole{}; // first and last point
  for (int axis = 0; axis < 3; ++axis) whole[2 * axis + 1] = static_cast<std::int64_t>(image.cells[axis]);
  const std::array<double, 9> direction{1, 0, 0, 0, 1, 0, 0, 0, 1};
  const auto spacing = shown_spacing(image);
  vtk.attribute("WholeExtent", native_type<std::int64_t>(), {6}, whole.data());
  vtk.attribute("Origin", native_type<double>(), {3}, image.origin.data());
  vtk.attribute("Spacing", native_type<double>(), {3}, spacing.data());
  vtk.attribute("Direction", native_type<double>(), {9}, direction.data());
}

void write_hexahedra(hid_t file, const Below& vtk, const Hexahedra& mesh) {
  constexpr std::uint64_t corners = 8;
  constexpr std::uint8_t kind = 12; // VTK_HEXAHEDRON
  const auto number = [&](const char* name, std::uint64_t value) {
    vtk.dataset<std::int64_t>(name, {static_cast<std::int64_t>(value)});
  };
  number("NumberOfPoints", mesh.points);
  number("NumberOfCells", mesh.cells);
  number("NumberOfConnectivityIds", corners * mesh.cells);
  std::vector<std::int64_t> offsets(mesh.cells + 1);
  for (std::size_t cell = 0; cell < offsets.size(); ++cell) offsets[cell] = static_cast<std::int64_t>(corners * cell);
  vtk.dataset("Offsets", offsets);
  vtk.dataset("Types", std::vector(mesh.cells, kind));
  write_virtual(file, group + "/Points", {mesh.points, 3}, {mesh.points, 3}, {mesh.coordinates});
  const Extents row{corners * mesh.cells}; // of the corners of all cells, where the file has a row for each
  write_virtual(file, group + "/Connectivity", row, row, {mesh.connectivity});
}

/// What VTK reads at each time: the same mesh, and the values that begin there.
void write_steps(hid_t file, const Mesh& mesh, const std::vector<Snapshot>& snapshots) {
  const Below steps(file, group + "/Steps");
  const auto count = static_cast<std::int64_t>(snapshots.size());
  steps.attribute("NSteps", native_type<std::int64_t>(), {}, &count);
  std::vector<double> times;
  for (const Snapshot& snapshot : snapshots) times.push_back(snapshot.time);
  steps.dataset("Values", times);
  const bool image = std::holds_alternative<Image>(mesh);
  for (const char* name : {"PartOffsets", "PointOffsets", "CellOffsets", "ConnectivityIdOffsets"})
    if (!image) steps.dataset(name, std::vector<std::int64_t>(times.size(), 0));
  if (!image) steps.dataset("NumberOfParts", std::vector<std::int64_t>(times.size(), 1));
  for (const MeshField& field : snapshots.back().fields) {
    std::vector<std::int64_t> begins;
    for (std::size_t n = 0; n < times.size(); ++n)
      begins.push_back(static_cast<std::int64_t>(n * (image ? 1 : extents(mesh, field).front())));
    Below(file, group + "/Steps" + group_of(field.centering) + "Offsets").dataset(field.name, begins);
  }
}

void check_extents(hid_t file, const Mesh& mesh, const MeshField& field) {
  const auto found = extents_of(open(file, field.dataset), field.dataset), wanted = extents(mesh, field);
  if (found != wanted)
    throw Error(fmt::format("{} is ({}); values of {} of this mesh are ({})", field.dataset, fmt::join(found, ", "),
                            field.centering == Centering::points ? "points" : "cells", fmt::join(wanted, ", ")));
}

/// The datasets that have a field, one for each snapshot.
std::vector<std::string> sources_of(hid_t file, const Mesh& mesh, const std::vector<Snapshot>& snapshots,
                                    const MeshField& field) {
  std::vector<std::string> sources;
  for (const Snapshot& snapshot : snapshots) {
    const auto found = std::ranges::find(snapshot.fields, field.name, &MeshField::name);
    if (found == snapshot.fields.end()) throw Error(fmt::format("there is no {} at all times", field.name));
    check_extents(file, mesh, *found);
    sources.push_back(found->dataset);
  }
  return sources;
}

} // namespace

std::array<double, 3> shown_spacing(const Image& image) {
  auto spacing = image.spacing;
  const double width = *std::min_element(spacing.begin(), spacing.begin() + image.dimensions);
  std::fill(spacing.begin() + image.dimensions, spacing.end(), width);
  return spacing;
}

std::string vtkhdf_path(const MeshField& field) { return group + group_of(field.centering) + "/" + field.name; }

Extents vtkhdf_index(const Mesh& mesh, const MeshField& field, Extents index, std::uint64_t snapshots) {
  if (std::holds_alternative<Hexahedra>(mesh)) {
    index[0] += (snapshots - 1) * extents(mesh, field).front();
    return index;
  }
  index.insert(index.begin(), 3 - index.size(), 0);
  if (snapshots > 1) index.insert(index.begin(), snapshots - 1);
  return index;
}

void write_vtkhdf(hid_t file, const Mesh& mesh, const std::vector<Snapshot>& snapshots) {
  const bool series = snapshots.size() > 1;
  const auto* image = std::get_if<Image>(&mesh);
  for (const MeshField& field : snapshots.back().fields) {
    const auto sources = sources_of(file, mesh, snapshots, field);
    Extents extent = shown_extents(mesh, field), piece = extents(mesh, field);
    piece.insert(piece.begin(), extent.size() - piece.size(), 1); // the only layer, or each of two layers of points
    if (series && image) {
      extent.insert(extent.begin(), snapshots.size());
      piece.insert(piece.begin(), 1);
    } else {
      extent[0] *= snapshots.size();
    }
    write_virtual(file, vtkhdf_path(field), extent, piece, sources);
  }
  const Below vtk(file, group);
  write_kind(vtk, image ? "ImageData" : "UnstructuredGrid", series ? 2 : 1);
  if (image)
    write_image(vtk, *image);
  else
    write_hexahedra(file, vtk, std::get<Hexahedra>(mesh));
  if (series) write_steps(file, mesh, snapshots);
}

} // namespace kontor::output
