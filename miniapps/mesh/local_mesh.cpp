// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mesh/local_mesh.hpp"

#include "element/hexahedron.hpp"
#include "machine/user_error.hpp"
#include "partition/bisection.hpp"
#include "partition/metis_partition.hpp"

#include <kontor/comm/reductions.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

namespace kontor::mesh {
namespace {

using partition::ByRank;
using partition::exchange_by_rank;

/// A node that another rank has, too.
struct Sharer {
  GlobalIndex node;
  int rank;
};

struct NodeRecord {
  NodePlace place;
  int owner;
};

std::vector<GlobalIndex> nodes_of(const std::vector<Element>& elements) {
  std::vector<GlobalIndex> nodes;
  for (const auto& element : elements) nodes.insert(nodes.end(), element.corner.begin(), element.corner.end());
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

/// Collective. Throws if two elements have the same nodes: each is looked for by the rank of its least node.
void reject_twins(const std::string& file, const comm::Communicator& comm, const MeshShare& share,
                  const std::vector<Element>& elements) {
  ByRank<Element> sorted;
  for (auto element : elements) {
    std::ranges::sort(element.corner);
    sorted[share.nodes.rank_of(element.corner[0])].push_back(element);
  }
  std::vector<Element> seen;
  for (const auto& [rank, list] : exchange_by_rank(comm, "elements by node", sorted))
    seen.insert(seen.end(), list.begin(), list.end());
  std::ranges::sort(seen, {}, [](const Element& e) { return std::tie(e.corner, e.number); });
  std::optional<std::string> problem;
  const auto twin = std::ranges::adjacent_find(seen, {}, &Element::corner);
  if (twin != seen.end())
    problem = fmt::format("{}: elements {} and {} have the same nodes, {}; leave one out", file, twin->number,
                          (twin + 1)->number, fmt::join(twin->corner, ", "));
  miniapp::agree_on_user_error(comm, problem, "E-FILE-FORMAT");
}

/// The file, or the first key of the deck, to which elements owe their shapes.
std::string origin_of_shapes(const Options& options) {
  if (!options.box()) return options.file.path;
  for (std::size_t d = 0; d < axes.size(); ++d)
    if (options.map[d].text() != axes[d]) return options.map[d].location().text();
  return "problem.size";
}

/// Local. Why an element has no good shape, if so: its volume, and the triple products of the edges at its corners,
/// must be positive.
std::optional<std::string> shape_problem(const Options& options, const Element& element, const CornerPoints& x) {
  const auto edge = [&](int from, int to, int axis) { return x[to][axis] - x[from][axis]; };
  for (int c = 0; c < 8; ++c) {
    const auto n = element::neighbours_of(c);
    double product = 0;
    for (int i = 0, j = 1, k = 2; i < 3; ++i, j = (j + 1) % 3, k = (k + 1) % 3)
      product += edge(c, n.a, i) * (edge(c, n.b, j) * edge(c, n.c, k) - edge(c, n.b, k) * edge(c, n.c, j));
    if (!(product > 0))
      return fmt::format(
          "{}: element {} is inverted or degenerate at its node {}, near ({:.6g}): the edges there span a volume of "
          "{:.3g}; {}",
          origin_of_shapes(options), element.number, element.corner[c], fmt::join(x[c], ", "), product,
          options.box() ? "it must be above 0"
                        : "nodes 0 to 3 must go around a face, seen from inside clockwise, and 4 to 7 lie across");
  }
  return std::nullopt;
}

/// Numbers of this rank for those of the mesh.
using LocalNumbers = std::unordered_map<GlobalIndex, LocalIndex>;

/// Local. Fills in the elements, those at the edge first.
void take_elements(LocalMesh& mesh, std::vector<Element> elements, const LocalNumbers& local) {
  const auto at_edge = [&](const Element& element) {
    return std::ranges::any_of(element.corner, [&](GlobalIndex node) {
      const auto n = local.at(node);
      return n < mesh.shared || n >= mesh.updated;
    });
  };
  std::ranges::sort(elements, {}, &Element::number);
  const auto interior = std::stable_partition(elements.begin(), elements.end(), at_edge);
  mesh.edge = static_cast<LocalIndex>(interior - elements.begin());
  for (const auto& [number, corner] : elements) {
    mesh.element.push_back(number);
    std::ranges::transform(corner, mesh.corner.emplace_back().begin(), [&](GlobalIndex n) { return local.at(n); });
  }
}

/// Collective. The rank of each element of the share.
std::vector<int> ranks_of_elements(const Options& options, const comm::Communicator& comm, const MeshShare& share) {
  std::vector<int> ranks;
  if (options.partition == PartitionMethod::grid) {
    for (const auto& element : share.element) ranks.push_back(rank_in_process_grid(options, element.number));
  } else if (options.partition == PartitionMethod::bisection) {
    std::vector<partition::NumberedPoint> centres;
    const auto corners = corner_places(comm, share, share.element);
    for (std::size_t n = 0; n < corners.size(); ++n) centres.push_back({centre(corners[n]), share.element[n].number});
    ranks = partition::bisect(comm, centres, comm.size());
  } else {
    std::vector<std::int64_t> nodes;
    for (const auto& element : share.element) nodes.insert(nodes.end(), element.corner.begin(), element.corner.end());
    ranks = partition::metis_mesh_parts(comm, nodes, 8, share.nodes.count, comm.size());
  }
  return ranks;
}

/// Collective. Sends the elements of a share to their ranks, and finds the nodes and elements that these share.
LocalMesh distribute(const Options& options, const comm::Communicator& comm, const MeshShare& share,
                     const std::vector<int>& rank, SharedNodes shared_nodes) {
  const int me = comm.rank();
  reject_twins(options.file.path, comm, share, share.element);
  ByRank<Element> sent;
  for (std::size_t n = 0; n < share.element.size(); ++n) sent[rank[n]].push_back(share.element[n]);
  std::vector<Element> own;
  for (const auto& [from, list] : exchange_by_rank(comm, "elements of a mesh", sent))
    own.insert(own.end(), list.begin(), list.end());

  // The directory learns which ranks have elements of each node, and tells all of them.
  const auto touched = nodes_of(own);
  ByRank<GlobalIndex> told;
  for (const auto node : touched) told[share.nodes.rank_of(node)].push_back(node);
  std::vector<std::vector<int>> ranks(share.node.size());
  const auto first = share.nodes.first(me);
  for (const auto& [from, list] : exchange_by_rank(comm, "nodes of elements", told))
    for (const auto node : list) ranks[node - first].push_back(from); // in the order of ranks
  std::optional<std::string> problem;
  ByRank<Sharer> sharers;
  std::vector<NodeRecord> records;
  for (std::size_t n = 0; n < ranks.size(); ++n) {
    const auto node = first + static_cast<GlobalIndex>(n);
    if (ranks[n].empty() && !problem)
      problem = fmt::format("{}: node {} has no element; leave it out", options.file.path, node);
    records.push_back({share.node[n], ranks[n].empty() ? 0 : ranks[n].front()});
    for (const int a : ranks[n])
      for (const int b : ranks[n])
        if (a != b) sharers[a].push_back({node, b});
  }
  miniapp::agree_on_user_error(comm, problem, "E-FILE-FORMAT");
  if (share.elements.count > 1 && share.nodes.count == 8 * share.elements.count)
    throw config::Error({fmt::format("{}: the {} elements share no node, so that each moves by itself; give corners at "
                                     "one place the same node",
                                     options.file.path, share.elements.count)},
                        "E-FILE-FORMAT");
  std::unordered_map<GlobalIndex, NodeRecord> known;
  const auto learn = [&](const std::vector<GlobalIndex>& nodes) {
    const auto found = look_up(comm, share.nodes, nodes, records);
    for (std::size_t n = 0; n < nodes.size(); ++n) known[nodes[n]] = found[n];
  };
  learn(touched);

  ByRank<Element> lent; // to the owners of their nodes
  for (const auto& element : own) {
    CornerPoints points;
    std::set<int> owners;
    for (int c = 0; c < 8; ++c) {
      const auto& [place, owner] = known.at(element.corner[c]);
      points[c] = place.place;
      if (owner != me) owners.insert(owner);
    }
    if (!problem) problem = shape_problem(options, element, points);
    for (const int owner : owners) lent[owner].push_back(element);
  }
  miniapp::agree_on_user_error(comm, problem, options.box() ? errors::Id("E-DECK-EXPRESSION") : "E-FILE-FORMAT");

  LocalMesh mesh;
  mesh.all_elements = share.elements.count;
  mesh.all_nodes = share.nodes.count;
  auto elements = own;
  if (shared_nodes == SharedNodes::redundant) {
    for (const auto& [from, list] : exchange_by_rank(comm, "elements at shared nodes", lent))
      elements.insert(elements.end(), list.begin(), list.end());
    learn(nodes_of(elements));
  }
  ByRank<GlobalIndex> common; // SharedNodes::sum
  for (const auto& [from, list] : exchange_by_rank(comm, "sharers of nodes", sharers))
    for (const auto& [node, other] : list) common[other].push_back(node);

  // The order of local nodes: their group, the owner of ghosts, the number.
  std::set<GlobalIndex> at_shared;
  if (shared_nodes == SharedNodes::sum)
    for (const auto& [other, nodes] : common) at_shared.insert(nodes.begin(), nodes.end());
  const auto place_in_order = [&](GlobalIndex node) {
    const int owner = known.at(node).owner;
    if (shared_nodes == SharedNodes::sum) return std::tuple(at_shared.contains(node) ? 0 : 1, 0, node);
    return std::tuple(owner == me ? 0 : 1, owner, node);
  };
  for (const auto& [node, record] : known) mesh.node.push_back(node);
  std::ranges::sort(mesh.node, {}, place_in_order);
  LocalNumbers local;
  for (const auto node : mesh.node) {
    local[node] = static_cast<LocalIndex>(local.size());
    mesh.place.push_back(known.at(node).place);
    mesh.counted.push_back(known.at(node).owner == me);
  }
  const auto owned = static_cast<LocalIndex>(std::ranges::count(mesh.counted, true));
  mesh.updated = shared_nodes == SharedNodes::sum ? mesh.nodes() : owned;
  mesh.shared = static_cast<LocalIndex>(at_shared.size());
  const auto locals = [&](std::vector<GlobalIndex> nodes) {
    std::ranges::sort(nodes);
    std::vector<LocalIndex> result;
    for (const auto node : nodes) result.push_back(local.at(node));
    return result;
  };

  auto received = common, sent_nodes = common;
  if (shared_nodes == SharedNodes::redundant) {
    received.clear();
    for (auto n = mesh.updated; n < mesh.nodes(); ++n) received[known.at(mesh.node[n]).owner].push_back(mesh.node[n]);
    sent_nodes = exchange_by_rank(comm, "ghosts of a mesh", received);
  }
  std::map<int, Neighbour> by_rank;
  for (const auto& [other, nodes] : received) by_rank[other].received = locals(nodes);
  for (const auto& [other, nodes] : sent_nodes) by_rank[other].sent = locals(nodes);
  for (auto& [other, neighbour] : by_rank)
    mesh.neighbours.push_back({other, std::move(neighbour.sent), std::move(neighbour.received)});

  take_elements(mesh, std::move(elements), local);
  std::ranges::sort(own, {}, &Element::number);
  for (const auto number : mesh.element)
    mesh.own.push_back(std::ranges::binary_search(own, number, {}, &Element::number));
  return mesh;
}

} // namespace

Point centre(const CornerPoints& corners) {
  Point sum{};
  for (const auto& point : corners)
    for (int d = 0; d < 3; ++d) sum[d] += point[d] / 8;
  return sum;
}

LocalMesh make_mesh(const Options& options, const comm::Communicator& comm, SharedNodes shared_nodes) {
  const auto share = options.box() ? share_of_box(options, comm) : read_share(options, comm);
  return distribute(options, comm, share, ranks_of_elements(options, comm, share), shared_nodes);
}

PartSizes part_sizes(const comm::Communicator& comm, const LocalMesh& mesh) {
  const auto own = static_cast<double>(std::ranges::count(mesh.own, true));
  const std::array mine{own, static_cast<double>(mesh.nodes()),
                        static_cast<double>(mesh.shared + mesh.nodes() - mesh.updated),
                        static_cast<double>(mesh.neighbours.size()), static_cast<double>(mesh.elements()) - own};
  return {comm::allreduce(comm, mine, comm::ReduceOp::min), comm::allreduce(comm, mine, comm::ReduceOp::max),
          comm::allreduce(comm, mine, comm::ReduceOp::sum)};
}

} // namespace kontor::mesh
