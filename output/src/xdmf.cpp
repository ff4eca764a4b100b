// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/output/xdmf.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdint>

namespace kontor::output {

namespace fs = std::filesystem;

namespace {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) switch (c) {
    case '&': result += "&amp;"; break;
    case '<': result += "&lt;"; break;
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

// A 2-D field is described as one layer of cells: ParaView (5.11) puts a 2DCoRectMesh into the y-z plane.
std::string grid(const Image& image, const std::string& file, int precision, const Snapshot& snapshot) {
  const auto cells = slowest_first(image.cells);
  const std::array<std::uint64_t, 3> points{cells[0] + 1, cells[1] + 1, cells[2] + 1};
  std::string text = fmt::format(
      "    <Grid Name=\"mesh\" GridType=\"Uniform\">\n"
      "      <Time Value=\"{}\"/>\n"
      "      <Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"{}\"/>\n"
      "      <Geometry GeometryType=\"ORIGIN_DXDYDZ\">\n"
      "        <DataItem Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">{}</DataItem>\n"
      "        <DataItem Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">{}</DataItem>\n"
      "      </Geometry>\n",
      snapshot.time, fmt::join(points, " "), fmt::join(slowest_first(image.origin), " "),
      fmt::join(slowest_first(image.spacing), " "));
  for (const auto& [name, path] : snapshot.cell_data)
    text += fmt::format(
        "      <Attribute Name=\"{}\" AttributeType=\"Scalar\" Center=\"Cell\">\n"
        "        <DataItem Dimensions=\"{}\" NumberType=\"Float\" Precision=\"{}\" Format=\"HDF\">"
        "{}:{}</DataItem>\n"
        "      </Attribute>\n",
        escaped(name), fmt::join(cells, " "), precision, escaped(file), escaped(path));
  return text + "    </Grid>\n";
}

} // namespace

fs::path xdmf_path(const fs::path& h5) {
  return fs::path(h5).replace_extension(".xmf");
}

std::string xdmf(const fs::path& h5, const Image& image, int dimensions, int precision,
                 const std::vector<Snapshot>& snapshots) {
  if ((dimensions != 3 && (dimensions != 2 || image.cells[2] != 1)) || (precision != 4 && precision != 8) ||
      snapshots.empty())
    throw Error(fmt::format(
        "output: {}: {} dimensions with {} layers, {} bytes a value, {} snapshots; allowed are 3, "
        "or 2 with one layer, 4 or 8, and at least one",
        xdmf_path(h5).string(), dimensions, image.cells[2], precision, snapshots.size()));
  std::string grids;
  for (const Snapshot& snapshot : snapshots)
    grids += grid(image, h5.filename().string(), precision, snapshot);
  if (snapshots.size() > 1)
    grids = "    <Grid Name=\"times\" GridType=\"Collection\" CollectionType=\"Temporal\">\n" + grids +
            "    </Grid>\n";
  return "<?xml version=\"1.0\"?>\n<Xdmf Version=\"2.0\">\n  <Domain>\n" + grids + "  </Domain>\n</Xdmf>\n";
}

} // namespace kontor::output
