// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dynamics/body.hpp"
#include "dynamics/check/mesh.hpp"
#include "element/plain_hexahedron.hpp"
#include "run/record/result.hpp"
#include "run/verify/places.hpp"

#include <kontor/comm/reductions.hpp>
#include <kontor/config/function.hpp>

/// A body against its deck: what the kernels have been given, and where a repeat begins.
namespace kontor::dynamics {

using mesh::CornerPoints, mesh::Point, miniapp::worst;

template <class T>
constexpr double epsilon = std::numeric_limits<T>::epsilon();

/// Collective, waits. The mesh, velocities at the start, materials and marks of held nodes, at a sample of places.
template <class T>
std::vector<miniapp::Check> check_deck(const Body<T>& body, const comm::Communicator& comm, std::uint64_t seed,
                                       std::vector<std::string>& judged) {
  constexpr std::int64_t most_of_a_kind = 1000;
  const auto& [o, mesh] = std::tie(body.options, body.mesh);
  auto random = miniapp::generator_of(seed, comm.rank());
  const auto sample = sample_of(mesh, most_of_a_kind, random);
  double different = different_from_deck(o.mesh, comm, mesh, sample), start = 0, material = 0;
  const auto place = on_host(body.nodes.place);
  const auto initial = on_host(body.initial);
  const auto held = on_host(body.nodes.held);
  for (LocalIndex n = 0; n < mesh.nodes(); ++n) different += held(n) == mesh.place[n].held ? 0 : 1;
  std::vector<config::Function> velocity;
  for (const auto& formula : o.velocity) velocity.emplace_back(formula);
  for (const auto n : sample.nodes) {
    const auto& x = mesh.place[n].place;
    for (int i = 0; i < 3; ++i) {
      const auto at = static_cast<T>(x[i]), v = static_cast<T>(held(n) ? 0 : velocity[i](x[0], x[1], x[2], 0));
      start += (place(n, i) == at && initial(n, i) == at ? 0 : 1) + (initial(n, 3 + i) == v ? 0 : 1);
    }
  }
  const config::Function young(o.young), poisson(o.poisson), density(o.density);
  const auto found = on_host(body.elements.material);
  for (const auto e : sample.elements) {
    const auto x = mesh.points(e);
    Point middle{};
    double digits = 1; // that volumes lose
    const auto element = element::integrate_element(x);
    for (const auto& corner : x) {
      for (int d = 0; d < 3; ++d) middle[d] += corner[d] / 8;
      digits =
          std::max({digits, element::norm(corner) / element.size(), element::distance(corner, x[0]) / element.size()});
    }
    const auto at = [&](const config::Function& formula) { return formula(middle[0], middle[1], middle[2], 0); };
    const double nu = at(poisson), bulk = at(young) / (3 * (1 - 2 * nu)), mu = 1.5 * bulk * (1 - 2 * nu) / (1 + nu),
                 lambda = 3 * bulk * nu / (1 + nu), mass = at(density) * element.volume;
    double m[3];
    body.order.read(found, e, m);
    for (const double error : {(m[0] - lambda) / (lambda + mu), m[1] / mu - 1, (m[2] / mass - 1) / digits})
      material = worst(material, std::abs(error));
  }
  const auto counted = [&](const std::vector<LocalIndex>& some, const std::vector<bool>& once) {
    return comm::allreduce(comm, std::ranges::count_if(some, [&](LocalIndex i) { return once[i]; }),
                           comm::ReduceOp::sum);
  };
  judged.push_back(
      miniapp::words_of_sample(counted(sample.nodes, mesh.counted), mesh.all_nodes, "nodes and ") +
      miniapp::words_of_sample(counted(sample.elements, mesh.own), mesh.all_elements, "elements against the deck"));
  return {{"mesh", different, 0.5}, {"start", start, 0.5}, {"material", material, 32 * epsilon<T>}};
}

/// Local, waits. How many numbers of elements are not 1, where `ones` has a bit, or 0.
template <class T>
double different_numbers(const ElementView<T>& view, const Blocks& blocks, unsigned ones) {
  double count = 0;
  const int numbers = static_cast<int>(view.extent(1));
  Kokkos::parallel_reduce(
      "dynamics/elements at start", range(Space(), blocks),
      KOKKOS_LAMBDA(LocalIndex block, double& sum) {
        for (int i = 0; i < numbers; ++i)
          for (int l = 0; l < width<T>; ++l) sum += lane(view(block, i), l) == static_cast<T>(ones >> i & 1) ? 0 : 1;
      },
      count);
  return count;
}

/// Collective, waits. A body before its first step: where and as fast as at its start, without stress.
template <class T>
miniapp::Verification check_start(const Body<T>& body, const comm::Communicator& comm) {
  double count = 0;
  const auto nodes = body.nodes;
  const auto initial = body.initial;
  Kokkos::parallel_reduce(
      "dynamics/nodes at start", range(Space(), 0, body.mesh.nodes()),
      KOKKOS_LAMBDA(LocalIndex n, double& sum) {
        for (int i = 0; i < 3; ++i)
          sum += (nodes.displacement(n, i) == 0 ? 0 : 1) + (nodes.motion(n, i) == nodes.place(n, i) ? 0 : 1) +
                 (nodes.motion(n, 3 + i) == initial(n, 3 + i) ? 0 : 1);
      },
      count);
  const auto& e = body.elements;
  const auto all = body.order.all();
  count += different_numbers<T>(e.stretch, all, 7) + different_numbers<T>(e.rotation, all, 0x111) +
           different_numbers<T>(e.stress, all, 0) + different_numbers<T>(e.hourglass, all, 0);
  const auto clock = on_host(body.clock);
  for (int i = 0; i < clock_entries; ++i) count += i == least_stable || clock(i) == 0 ? 0 : 1;
  return {.measure = "numbers at a repeat's start that are not the deck's",
          .error = comm::allreduce(comm, count, comm::ReduceOp::sum),
          .judged = {"start of each repeat: all nodes and elements"}};
}

} // namespace kontor::dynamics
