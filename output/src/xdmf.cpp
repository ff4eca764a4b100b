// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agree.hpp"
#include "disk.hpp"

#include <kontor/output/xdmf.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <fstream>

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
struct Mesh {
  Mesh(const Image& image, int dimensions) {
    for (int d = dimensions - 1; d >= 0; --d) {
      cells.push_back(image.cells[d]);
      points.push_back(image.cells[d] + 1);
      origin.push_back(image.origin[d]);
      spacing.push_back(image.spacing[d]);
    }
  }
  std::vector<std::uint64_t> cells, points;
  std::vector<double> origin, spacing;
};

std::string grid(const Mesh& mesh, const std::string& file, int precision, const Snapshot& snapshot) {
  const std::size_t dimensions = mesh.cells.size();
  std::string text = fmt::format("    <Grid Name=\"mesh\" GridType=\"Uniform\">\n"
                                 "      <Time Value=\"{}\"/>\n"
                                 "      <Topology TopologyType=\"{}DCoRectMesh\" Dimensions=\"{}\"/>\n"
                                 "      <Geometry GeometryType=\"{}\">\n"
                                 "        <DataItem Dimensions=\"{}\" NumberType=\"Float\" Precision=\"8\" "
                                 "Format=\"XML\">{}</DataItem>\n"
                                 "        <DataItem Dimensions=\"{}\" NumberType=\"Float\" Precision=\"8\" "
                                 "Format=\"XML\">{}</DataItem>\n"
                                 "      </Geometry>\n",
                                 snapshot.time, dimensions, fmt::join(mesh.points, " "),
                                 dimensions == 2 ? "ORIGIN_DXDY" : "ORIGIN_DXDYDZ", dimensions,
                                 fmt::join(mesh.origin, " "), dimensions, fmt::join(mesh.spacing, " "));
  for (const auto& [name, path] : snapshot.cell_data)
    text += fmt::format(
        "      <Attribute Name=\"{}\" AttributeType=\"Scalar\" Center=\"Cell\">\n"
        "        <DataItem Dimensions=\"{}\" NumberType=\"Float\" Precision=\"{}\" Format=\"HDF\">"
        "{}:{}</DataItem>\n"
        "      </Attribute>\n",
        escaped(name), fmt::join(mesh.cells, " "), precision, escaped(file), escaped(path));
  return text + "    </Grid>\n";
}

std::string document(const fs::path& h5, const Mesh& mesh, int precision,
                     const std::vector<Snapshot>& snapshots) {
  std::string grids;
  for (const Snapshot& snapshot : snapshots) grids += grid(mesh, h5.filename().string(), precision, snapshot);
  if (snapshots.size() > 1)
    grids = "    <Grid Name=\"times\" GridType=\"Collection\" CollectionType=\"Temporal\">\n" + grids +
            "    </Grid>\n";
  return "<?xml version=\"1.0\"?>\n<Xdmf Version=\"2.0\">\n  <Domain>\n" + grids + "  </Domain>\n</Xdmf>\n";
}

} // namespace

void write_xdmf(MPI_Comm comm, const fs::path& h5, const Image& image, int dimensions, int precision,
                const std::vector<Snapshot>& snapshots) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  collectively(comm, [&] {
    if (rank != 0) return;
    fs::path target = h5;
    target.replace_extension(".xmf");
    fs::path temporary = target;
    temporary += ".tmp";
    if ((dimensions != 2 && dimensions != 3) || (precision != 4 && precision != 8) || snapshots.empty())
      throw Error(fmt::format(
          "output: {}: {} dimensions, {} bytes a value, {} snapshots; allowed are 2 or 3, 4 or 8, "
          "and at least one",
          target.string(), dimensions, precision, snapshots.size()));
    check_creatable(target, temporary);
    try {
      std::ofstream stream(temporary, std::ios::trunc);
      stream << document(h5, Mesh(image, dimensions), precision, snapshots);
      stream.close();
      if (!stream) throw Error("writing failed");
      sync(temporary);
      replace(temporary, target);
    } catch (const Error& error) {
      discard(temporary);
      throw Error(fmt::format("output: {}: {}", temporary.string(), error.what()));
    }
  });
}

} // namespace kontor::output
