// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/output/xdmf.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kontor::output {

namespace fs = std::filesystem;

namespace {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) switch (c) {
    case '&': result += "&amp;"; break;
    case '<': result += "&lt;"; break;
    case '>': result += "&gt;"; break; // "]]>" has a meaning of its own
    case '"': result += "&quot;"; break;
    default: result += c;
    }
  return result;
}

/// XDMF lists extents and coordinates slowest first.
template <class T>
std::array<T, 3> slowest_first(const std::array<T, 3>& values) {
  return {values[2], values[1], values[0]};
}

/// Numbers that are in the HDF5 file.
template <class Extents>
std::string stored(const std::string& dataset, Scalar scalar, const Extents& extents, const std::string& file) {
  const bool real = scalar == Scalar::float64 || scalar == Scalar::float32;
  const bool eight = scalar == Scalar::float64 || scalar == Scalar::int64;
  return fmt::format("        <DataItem Dimensions=\"{}\" NumberType=\"{}\" Precision=\"{}\" Format=\"HDF\">"
                     "{}:{}</DataItem>\n",
                     fmt::join(extents, " "), real ? "Float" : "Int", eight ? 8 : 4, escaped(file), escaped(dataset));
}

template <class Extents>
std::string values(const MeshField& field, const Extents& extents, const std::string& file) {
  return fmt::format(
      "      <Attribute Name=\"{}\" AttributeType=\"{}\" Center=\"{}\">\n{}      </Attribute>\n", escaped(field.name),
      field.components == 9   ? "Tensor"
      : field.components == 3 ? "Vector"
                              : "Scalar",
      field.centering == Centering::points ? "Node" : "Cell", stored(field.dataset, field.scalar, extents, file));
}

// ParaView (5.11) puts a 2DCoRectMesh into the y-z plane, and does not read cells of a 3DCoRectMesh that has one layer
// of points. So cells are a layer between two layers of points, and points are one.
std::string grid_of_image(const Image& image, const std::string& file, const Snapshot& snapshot) {
  const auto& fields = snapshot.fields;
  const auto points = std::ranges::find(fields, Centering::points, &MeshField::centering);
  const auto of_cells = std::ranges::find(fields, Centering::cells, &MeshField::centering);
  if (image.dimensions < 3 && points != fields.end() && of_cells != fields.end())
    throw Error(
        fmt::format("output: {} is of cells and {} of points; XDMF shows one of them on a mesh of {} dimensions",
                    of_cells->name, points->name, image.dimensions),
        "E-INTERNAL");
  const auto cells = slowest_first(image.cells);
  std::array<std::uint64_t, 3> count{};
  count.fill(points != fields.end() ? 1 : 2);
  for (int d = 3 - image.dimensions; d < 3; ++d) count[d] = cells[d] + 1;
  std::string text = fmt::format(
      "    <Grid Name=\"mesh\" GridType=\"Uniform\">\n"
      "      <Time Value=\"{}\"/>\n"
      "      <Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"{}\"/>\n"
      "      <Geometry GeometryType=\"ORIGIN_DXDYDZ\">\n"
      "        <DataItem Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">{}</DataItem>\n"
      "        <DataItem Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">{}</DataItem>\n"
      "      </Geometry>\n",
      snapshot.time, fmt::join(count, " "), fmt::join(slowest_first(image.origin), " "),
      fmt::join(slowest_first(shown_spacing(image)), " "));
  for (const MeshField& field : fields)
    text += values(field, field.centering == Centering::points ? count : cells, file);
  return text + "    </Grid>\n";
}

std::string grid_of_hexahedra(const Hexahedra& mesh, const std::string& file, const Snapshot& snapshot) {
  using Extents = std::vector<std::uint64_t>;
  auto text =
      fmt::format("    <Grid Name=\"mesh\" GridType=\"Uniform\">\n"
                  "      <Time Value=\"{}\"/>\n"
                  "      <Topology TopologyType=\"Hexahedron\" NumberOfElements=\"{}\">\n{}      </Topology>\n"
                  "      <Geometry GeometryType=\"XYZ\">\n{}      </Geometry>\n",
                  snapshot.time, mesh.cells, stored(mesh.connectivity, Scalar::int64, Extents{mesh.cells, 8}, file),
                  stored(mesh.coordinates, Scalar::float64, Extents{mesh.points, 3}, file));
  for (const MeshField& field : snapshot.fields) text += values(field, extents(mesh, field), file);
  return text + "    </Grid>\n";
}

} // namespace

fs::path xdmf_path(const fs::path& h5) { return fs::path(h5).replace_extension(".xmf"); }

std::string xdmf(const fs::path& h5, const Mesh& mesh, const std::vector<Snapshot>& snapshots) {
  const auto* image = std::get_if<Image>(&mesh);
  if (image) extents(*image, Centering::cells); // throws if there are none
  if (snapshots.empty())
    throw Error(fmt::format("output: {}: there are no fields to describe", xdmf_path(h5).string()), "E-INTERNAL");
  std::string text;
  const auto file = h5.filename().string();
  for (const Snapshot& snapshot : snapshots)
    text +=
        image ? grid_of_image(*image, file, snapshot) : grid_of_hexahedra(std::get<Hexahedra>(mesh), file, snapshot);
  if (snapshots.size() > 1)
    text = "    <Grid Name=\"times\" GridType=\"Collection\" CollectionType=\"Temporal\">\n" + text + "    </Grid>\n";
  return "<?xml version=\"1.0\"?>\n<Xdmf Version=\"2.0\">\n  <Domain>\n" + text + "  </Domain>\n</Xdmf>\n";
}

} // namespace kontor::output
