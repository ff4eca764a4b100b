// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mesh/source.hpp"

#include "element/hexahedron.hpp"
#include "grid/axis_parts.hpp"
#include "grid/functions.hpp"
#include "machine/user_error.hpp"
#include "mesh/permutation.hpp"

#include <kontor/comm/reductions.hpp>
#include <kontor/output/error.hpp>
#include <kontor/output/reader.hpp>

#include <fmt/format.h>

#include <limits>
#include <set>

namespace kontor::mesh {
namespace {

using element::corner_x, element::corner_y, element::corner_z;

using Index3 = std::array<GlobalIndex, 3>;

Index3 index_in(GlobalIndex number, const Index3& extents) {
  return {number % extents[0], number / extents[0] % extents[1], number / extents[0] / extents[1]};
}

/// Numbers of a box's elements or nodes, natural or random.
class Numbering {
 public:
  Numbering(const Options& options, const Index3& extents, std::uint64_t stream)
      : extents_(extents), order_(count(), static_cast<std::uint64_t>(options.seed) * 2 + stream),
        random_(options.numbering == NumberingKind::random) {}

  GlobalIndex count() const { return extents_[0] * extents_[1] * extents_[2]; }
  GlobalIndex number(const Index3& at) const {
    const auto natural = at[0] + extents_[0] * (at[1] + extents_[1] * at[2]);
    return random_ ? order_(natural) : natural;
  }
  Index3 index(GlobalIndex number) const { return index_in(random_ ? order_.inverse(number) : number, extents_); }

 private:
  Index3 extents_;
  Permutation order_;
  bool random_;
};

Index3 cells_of(const Options& options) { return {options.elements[0], options.elements[1], options.elements[2]}; }
Index3 points_of(const Options& options) {
  return {options.elements[0] + 1, options.elements[1] + 1, options.elements[2] + 1};
}
Numbering elements_of(const Options& options) { return {options, cells_of(options), 0}; }
Numbering nodes_of(const Options& options) { return {options, points_of(options), 1}; }

bool on_held_face(const Options& options, const std::array<bool, 6>& on_face) {
  return std::ranges::any_of(options.held, [&](int face) { return on_face[face]; });
}

/// Collective. Of each node of the share; infinite of one that has no element.
std::vector<double> shortest_edges(const comm::Communicator& comm, const MeshShare& share) {
  partition::ByRank<Numbered<double>> sent;
  const auto corners = corner_places(comm, share, share.element);
  for (std::size_t e = 0; e < corners.size(); ++e)
    for (int c = 0; c < 8; ++c) {
      const auto& x = corners[e];
      const auto n = element::neighbours_of(c);
      const auto node = share.element[e].corner[c];
      sent[share.nodes.rank_of(node)].push_back(
          {node, std::min({element::distance(x[c], x[n.a]), element::distance(x[c], x[n.b]),
                           element::distance(x[c], x[n.c])})});
    }
  std::vector<double> edges(share.node.size(), std::numeric_limits<double>::infinity());
  for (const auto& [rank, list] : partition::exchange_by_rank(comm, "edges of a mesh", sent))
    for (const auto& [node, length] : list) {
      auto& shortest = edges[node - share.nodes.first(comm.rank())];
      shortest = std::min(shortest, length);
    }
  return edges;
}

} // namespace

MeshShare share_of_box(const Options& options, const comm::Communicator& comm) {
  const auto elements = elements_of(options), nodes = nodes_of(options);
  MeshShare share{{elements.count(), comm.size()}, {nodes.count(), comm.size()}, {}, {}};
  for (auto n = share.elements.first(comm.rank()); n < share.elements.first(comm.rank() + 1); ++n) {
    const auto at = elements.index(n);
    Element element{n, {}};
    for (int c = 0; c < 8; ++c)
      element.corner[c] = nodes.number({at[0] + corner_x(c), at[1] + corner_y(c), at[2] + corner_z(c)});
    share.element.push_back(element);
  }
  const std::vector<grid::DeckFunction> map(options.map.begin(), options.map.end());
  grid::FiniteCheck finite;
  const auto cells = cells_of(options);
  for (auto n = share.nodes.first(comm.rank()); n < share.nodes.first(comm.rank() + 1); ++n) {
    const auto at = nodes.index(n);
    std::array<double, 3> x{}, place{};
    std::array<bool, 6> on_face{};
    for (int d = 0; d < 3; ++d) {
      x[d] = options.size[d] * static_cast<double>(at[d]) / static_cast<double>(cells[d]);
      on_face[2 * d] = at[d] == 0;
      on_face[2 * d + 1] = at[d] == cells[d];
    }
    for (int d = 0; d < 3; ++d) place[d] = map[d].at(x, finite);
    share.node.push_back({place, on_held_face(options, on_face)});
  }
  finite.agree(comm);
  return share;
}

int rank_in_process_grid(const Options& options, GlobalIndex element) {
  const auto at = elements_of(options).index(element), cells = cells_of(options);
  int rank = 0;
  for (int d = 2; d >= 0; --d) {
    const auto parts = options.process_grid[d];
    GlobalIndex part = std::min(parts - 1, at[d] * parts / cells[d]);
    while (at[d] >= grid::part_of_axis(cells[d], parts, part).end) ++part;
    while (at[d] < grid::part_of_axis(cells[d], parts, part).begin) --part;
    rank = rank * static_cast<int>(parts) + static_cast<int>(part);
  }
  return rank;
}

MeshShare read_share(const Options& options, const comm::Communicator& comm) try {
  const output::Reader reader(comm.native(), options.file.path);
  const auto extents_of = [&](const char* dataset, std::uint64_t columns) {
    const auto extents = reader.info(dataset).extents;
    if (extents.size() != 2 || extents[1] != columns || extents[0] == 0)
      throw output::Error(fmt::format("{} in {} has no rows of {} numbers", dataset, options.file.path, columns));
    return extents;
  };
  const auto of_elements = extents_of("/mesh/connectivity", 8), of_nodes = extents_of("/mesh/coordinates", 3);
  MeshShare share{{static_cast<GlobalIndex>(of_elements[0]), comm.size()},
                  {static_cast<GlobalIndex>(of_nodes[0]), comm.size()},
                  {},
                  {}};
  const auto read = [&]<class Narrow>(Narrow, const char* dataset, const auto& extents, const Directory& rows,
                                      auto& values) {
    values.resize(static_cast<std::size_t>(rows.size(comm.rank())));
    const output::Block block{
        extents, {static_cast<std::uint64_t>(rows.first(comm.rank())), 0}, {values.size(), extents[1]}};
    auto* const to = values.empty() ? nullptr : values.front().data();
    if (reader.info(dataset).type != output::name_of(output::scalar_of<Narrow>)) return reader.read(dataset, block, to);
    std::vector<Narrow> narrow(values.size() * extents[1]);
    reader.read(dataset, block, narrow.data());
    std::ranges::copy(narrow, to);
  };
  std::vector<std::array<std::int64_t, 8>> corners;
  std::vector<std::array<double, 3>> places;
  read(std::int32_t(), "/mesh/connectivity", of_elements, share.elements, corners);
  read(float(), "/mesh/coordinates", of_nodes, share.nodes, places);

  std::optional<std::string> problem;
  auto number = share.elements.first(comm.rank());
  for (const auto& corner : corners) {
    for (const auto node : corner)
      if (!problem && (node < 0 || node >= share.nodes.count))
        problem = fmt::format("{}: element {} has node {}; there are nodes 0 to {}", options.file.path, number, node,
                              share.nodes.count - 1);
    if (!problem && std::set(corner.begin(), corner.end()).size() < 8)
      problem = fmt::format("{}: element {} has a node twice", options.file.path, number);
    share.element.push_back({number++, corner});
  }
  miniapp::agree_on_user_error(comm, problem, "E-FILE-FORMAT");

  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::array<double, 6> box; // least coordinates, and greatest with the other sign
  box.fill(infinity);
  for (const auto& place : places)
    for (int d = 0; d < 3; ++d) {
      box[2 * d] = std::min(box[2 * d], place[d]);
      box[2 * d + 1] = std::min(box[2 * d + 1], -place[d]);
    }
  box = comm::allreduce(comm, box, comm::ReduceOp::min);
  for (const auto& place : places) share.node.push_back({place, false});
  const auto edges = shortest_edges(comm, share);
  for (std::size_t n = 0; n < places.size(); ++n) {
    const double near = 0.01 * edges[n];
    std::array<bool, 6> on_face{};
    for (int d = 0; d < 3; ++d) {
      on_face[2 * d] = places[n][d] <= box[2 * d] + near;
      on_face[2 * d + 1] = places[n][d] >= -box[2 * d + 1] - near;
    }
    share.node[n].held = on_held_face(options, on_face);
  }
  return share;
} catch (const output::Error& error) { // on all ranks
  options.file.location.fail(
      fmt::format("must be an HDF5 file with /mesh/coordinates (nodes x 3, float64 or float32) and "
                  "/mesh/connectivity (elements x 8, int64 or int32): {}",
                  error.what()),
      "E-FILE-FORMAT");
}

std::vector<CornerPoints> corner_places(const comm::Communicator& comm, const MeshShare& share,
                                        const std::vector<Element>& elements) {
  std::vector<GlobalIndex> numbers;
  for (const auto& element : elements) numbers.insert(numbers.end(), element.corner.begin(), element.corner.end());
  const auto places = look_up(comm, share.nodes, numbers, share.node);
  std::vector<CornerPoints> result(elements.size());
  for (std::size_t n = 0; n < numbers.size(); ++n) result[n / 8][n % 8] = places[n].place;
  return result;
}

} // namespace kontor::mesh
