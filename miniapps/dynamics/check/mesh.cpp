// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dynamics/check/mesh.hpp"

#include "mesh/permutation.hpp"
#include "run/verify/digest.hpp"
#include "run/verify/places.hpp"

#include <kontor/comm/reductions.hpp>
#include <kontor/config/function.hpp>
#include <kontor/output/error.hpp>
#include <kontor/output/values_at.hpp>

#include <numeric>

namespace kontor::dynamics {
namespace {

using namespace mesh;

using Index3 = std::array<GlobalIndex, 3>;

/// Which corner: 0 or 1 along each axis.
constexpr Index3 corner_at(int c) { return {c % 4 == 1 || c % 4 == 2, c % 4 >= 2, c >= 4}; }

/// Where an element or a node of the box is.
Index3 index_of(const mesh::Options& options, GlobalIndex number, bool node) {
  Index3 n{};
  for (int d = 0; d < 3; ++d) n[d] = options.elements[d] + (node ? 1 : 0);
  if (options.numbering == NumberingKind::random)
    number =
        Permutation(n[0] * n[1] * n[2], static_cast<std::uint64_t>(2 * options.seed + (node ? 1 : 0))).inverse(number);
  return {number % n[0], number / n[0] % n[1], number / (n[0] * n[1])};
}

bool is_held(const mesh::Options& options, int face) { return std::ranges::count(options.held, face) > 0; }

double of_box(const mesh::Options& options, const comm::Communicator& comm, const LocalMesh& mesh,
              const Sample& sample) {
  double different = 0;
  for (const auto e : sample.elements) {
    const auto at = index_of(options, mesh.element[e], false);
    for (int c = 0; c < 8; ++c) {
      const auto found = index_of(options, mesh.node[mesh.corner[e][c]], true);
      for (int d = 0; d < 3; ++d) different += found[d] == at[d] + corner_at(c)[d] ? 0 : 1;
    }
  }
  std::vector<config::Function> map;
  for (const auto& formula : options.map) map.emplace_back(formula);
  for (const auto n : sample.nodes) {
    const auto at = index_of(options, mesh.node[n], true);
    Point x{};
    for (int d = 0; d < 3; ++d)
      x[d] = options.size[d] * static_cast<double>(at[d]) / static_cast<double>(options.elements[d]);
    for (int d = 0; d < 3; ++d) different += mesh.place[n].place[d] == map[d](x[0], x[1], x[2], 0) ? 0 : 1;
  }
  double held = 0, free = 1;
  for (LocalIndex n = 0; n < mesh.nodes(); ++n) {
    const auto at = index_of(options, mesh.node[n], true);
    bool wanted = false;
    for (int d = 0; d < 3; ++d)
      wanted = wanted || (at[d] == 0 && is_held(options, 2 * d)) ||
               (at[d] == options.elements[d] && is_held(options, 2 * d + 1));
    different += mesh.place[n].held == wanted ? 0 : 1;
    held += mesh.counted[n] && mesh.place[n].held ? 1 : 0;
  }
  double elements = 1, nodes = 1;
  for (int d = 0; d < 3; ++d) {
    elements *= static_cast<double>(options.elements[d]);
    nodes *= static_cast<double>(options.elements[d] + 1);
    free *= static_cast<double>(options.elements[d] + 1 - is_held(options, 2 * d) - is_held(options, 2 * d + 1));
  }
  return different + std::abs(comm::allreduce(comm, held, comm::ReduceOp::sum) - (nodes - free)) +
         std::abs(static_cast<double>(mesh.all_elements) - elements) +
         std::abs(static_cast<double>(mesh.all_nodes) - nodes);
}

double of_file(const mesh::Options& options, const comm::Communicator& comm, const LocalMesh& mesh,
               const Sample& sample) {
  using Rows = std::vector<std::vector<std::uint64_t>>;
  Rows corners, places;
  std::vector<double> of_corners, of_places;
  for (const auto e : sample.elements)
    for (std::uint64_t c = 0; c < 8; ++c) {
      corners.push_back({static_cast<std::uint64_t>(mesh.element[e]), c});
      of_corners.push_back(static_cast<double>(mesh.node[mesh.corner[e][c]]));
    }
  for (const auto n : sample.nodes)
    for (std::uint64_t d = 0; d < 3; ++d) {
      places.push_back({static_cast<std::uint64_t>(mesh.node[n]), d});
      of_places.push_back(mesh.place[n].place[d]);
    }
  double different = 0;
  try {
    const bool same = output::values_at(options.file.path, "/mesh/connectivity", corners) == of_corners &&
                      output::values_at(options.file.path, "/mesh/coordinates", places) == of_places;
    different = same ? 0 : 1;
  } catch (const output::Error&) {
    different = INFINITY;
  }
  std::array<double, 6> box; // least coordinates, and greatest with the other sign
  box.fill(INFINITY);
  std::vector<double> edge(mesh.node.size(), INFINITY); // the shortest
  for (LocalIndex n = 0; n < mesh.nodes(); ++n)
    for (int f = 0; f < 6; ++f) box[f] = std::min(box[f], (f % 2 == 0 ? 1 : -1) * mesh.place[n].place[f / 2]);
  box = comm::allreduce(comm, box, comm::ReduceOp::min);
  for (LocalIndex e = 0; e < mesh.elements(); ++e)
    for (int a = 0; a < 8; ++a)
      for (int b = 0; b < 8; ++b) {
        const auto from = corner_at(a), to = corner_at(b);
        if (std::abs(from[0] - to[0]) + std::abs(from[1] - to[1]) + std::abs(from[2] - to[2]) != 1) continue;
        const auto n = mesh.corner[e][a];
        edge[n] = std::min(edge[n], element::distance(mesh.place[n].place, mesh.place[mesh.corner[e][b]].place));
      }
  for (auto n = mesh.shared; n < mesh.updated; ++n) { // of the others not all elements are here
    bool wanted = false;
    for (const int f : options.held)
      wanted = wanted || (f % 2 == 0 ? 1 : -1) * mesh.place[n].place[f / 2] <= box[f] + 0.01 * edge[n];
    different += mesh.place[n].held == wanted ? 0 : 1;
  }
  return different;
}

/// Collective. 0 if each number below `count` is that of one thing of all ranks.
double not_each_once(const comm::Communicator& comm, GlobalIndex count, const std::vector<GlobalIndex>& numbers,
                     const std::vector<bool>& once) {
  const auto digest = [](GlobalIndex n) { return miniapp::digest_of(static_cast<std::uint64_t>(n), n); };
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) sum += once[i] ? digest(numbers[i]) : 0;
  for (GlobalIndex n = comm.rank(); n < count; n += comm.size()) sum -= digest(n);
  return comm::allreduce(comm, sum, comm::ReduceOp::sum) == 0 ? 0 : 1;
}

} // namespace

Sample sample_of(const LocalMesh& mesh, std::int64_t most, std::mt19937_64& random) {
  std::vector<int> elements(mesh.node.size());
  for (const auto& corners : mesh.corner)
    for (const auto n : corners) ++elements[n];
  std::vector<bool> at_shared(mesh.node.size());
  for (const auto& neighbour : mesh.neighbours)
    for (const auto* list : {&neighbour.sent, &neighbour.received})
      for (const auto n : *list) at_shared[n] = true;
  std::array<std::vector<LocalIndex>, 4> kinds;
  for (LocalIndex n = 0; n < mesh.nodes(); ++n)
    kinds[mesh.place[n].held ? 0 : at_shared[n] ? 1 : elements[n] < 8 ? 2 : 3].push_back(n);
  Sample sample;
  for (const auto& kind : kinds)
    for (const auto i : miniapp::sample_numbers(static_cast<std::int64_t>(kind.size()), most, random))
      sample.nodes.push_back(kind[i]);
  for (const auto e : miniapp::sample_numbers(mesh.elements(), 2 * most, random))
    sample.elements.push_back(static_cast<LocalIndex>(e));
  return sample;
}

double different_from_deck(const mesh::Options& options, const comm::Communicator& comm, const LocalMesh& mesh,
                           const Sample& sample) {
  return (options.box() ? of_box : of_file)(options, comm, mesh, sample) +
         not_each_once(comm, mesh.all_elements, mesh.element, mesh.own) +
         not_each_once(comm, mesh.all_nodes, mesh.node, mesh.counted);
}

} // namespace kontor::dynamics
