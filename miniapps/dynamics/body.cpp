// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dynamics/body.hpp"

#include "grid/functions.hpp"
#include "machine/first_touch.hpp"
#include "machine/memory.hpp"

#include <string>

namespace kontor::dynamics {
namespace {

/// Collective. Asks for memory first: that of a box's Views is known, and a mesh that is too large would fill the host.
mesh::LocalMesh mesh_that_fits(const Options& options, const comm::Communicator& comm) {
  double share = options.mesh.box() ? 1.0 / comm.size() : 0;
  for (const auto count : options.mesh.elements) share *= static_cast<double>(count);
  miniapp::require_memory(comm, options.bytes(share, share));
  return mesh::make_mesh(options.mesh, comm, options.shared_nodes);
}

} // namespace

template <class T>
Body<T>::Body(const Options& given, const comm::Communicator& comm)
    : options(given), mesh(mesh_that_fits(given, comm)), order{mesh.edge, mesh.elements()} {
  constexpr int w = width<T>;
  const auto blocks = static_cast<std::size_t>(order.all().end), count = static_cast<std::size_t>(mesh.nodes());
  miniapp::require_memory(comm, given.bytes(static_cast<double>(blocks * w), static_cast<double>(count)));
  const auto of_elements = [&](const char* name, int numbers) {
    return ElementView<T>(std::string("dynamics/") + name, blocks, numbers);
  };
  nodes = {NodeView<T* [3]>("dynamics/place", count),
           NodeView<T* [3]>("dynamics/displacement", count),
           NodeView<T* [6]>("dynamics/motion", count),
           NodeView<double* [3]>("dynamics/node force", count),
           miniapp::zeroed<double>("dynamics/node mass", count),
           miniapp::zeroed<bool>("dynamics/held", count)};
  elements = {mesh::BlockCorners("dynamics/corner", blocks, 8, w),
              of_elements("material", 3),
              of_elements("rate", 9),
              of_elements("stretch", 6),
              of_elements("rotation", 9),
              of_elements("stress", 6),
              of_elements("hourglass", 12),
              ElementView<T>("dynamics/viscous", options.hourglass.viscosity > 0 ? blocks : 0, viscous_numbers),
              of_elements("stable step", 1),
              Kokkos::View<T* [3]>("dynamics/force", 8 * blocks * w)};
  clock = Clock("dynamics/clock");
  initial = NodeView<T* [6]>("dynamics/initial", count);
  mesh::set_nodes(nodes.place, [&](LocalIndex n, int i) { return static_cast<T>(mesh.place[n].place[i]); });
  mesh::set_on_host(nodes.held, [&](const auto& held) {
    for (LocalIndex n = 0; n < mesh.nodes(); ++n) held(n) = mesh.place[n].held;
  });
  mesh::set_on_host(elements.corner, [&](const auto& corner) {
    for (LocalIndex e = 0; e < mesh.elements(); ++e)
      order.each_lane(e, [&](LocalIndex block, int l) {
        for (int c = 0; c < 8; ++c) corner(block, c, l) = mesh.corner[e][c];
      });
  });
  const auto of_nodes = mesh::corners_of_nodes(mesh);
  sums = {options.assembly, of_nodes, order, elements.corner, elements.force, nodes.force};
  take_material(comm, of_nodes);
  const std::vector<grid::DeckFunction> formulas(options.velocity.begin(), options.velocity.end());
  grid::FiniteCheck finite;
  mesh::set_nodes(initial, [&](LocalIndex n, int i) {
    const auto& [place, held] = mesh.place[n];
    if (i < 3) return static_cast<T>(place[i]);
    const double velocity = formulas[i - 3].at(place, finite);
    return held ? T(0) : static_cast<T>(velocity);
  });
  finite.agree(comm);
  reset();
}

/// Lame's constants, and the masses of elements and nodes.
template <class T>
void Body<T>::take_material(const comm::Communicator& comm, const mesh::NodeCorners& of_nodes) {
  const grid::DeckFunction young(options.young), density(options.density), poisson(options.poisson);
  auto positive = grid::FiniteCheck::positive();
  grid::FiniteCheck compressible([](double value) { return value >= 0 && value < 0.5; }, "from 0 to below 0.5");
  std::vector<std::array<double, 3>> materials;
  for (LocalIndex e = 0; e < mesh.elements(); ++e) {
    const auto points = mesh.points(e);
    const auto at = mesh::centre(points);
    const double modulus = young.at(at, positive), nu = poisson.at(at, compressible);
    materials.push_back({modulus * nu / ((1 + nu) * (1 - 2 * nu)), modulus / (2 * (1 + nu)),
                         density.at(at, positive) * volume(points)});
  }
  positive.agree(comm);
  compressible.agree(comm);
  mesh::set_elements(elements.material, order, [&](LocalIndex e, int i) { return static_cast<T>(materials[e][i]); });
  mesh::set_on_host(nodes.mass, [&](const auto& mass) {
    Kokkos::deep_copy(mass, 0.0);
    for (LocalIndex n = 0; n < mesh.nodes(); ++n)
      for (auto k = of_nodes.first[n]; k < of_nodes.first[n + 1]; ++k)
        mass(n) += materials[of_nodes.corner[k] / 8][2] / 8;
  });
  if (options.shared_nodes == mesh::SharedNodes::redundant) return; // those of ghosts are not used
  auto sums = mesh::make_exchange(comm, mesh, nodes.mass, options.shared_nodes, "masses at common nodes");
  sums.start();
  sums.finish();
  device::fence(Space(), "dynamics/masses");
}

template <class T>
void Body<T>::reset() {
  Kokkos::deep_copy(nodes.motion, initial);
  Kokkos::deep_copy(nodes.displacement, T(0));
  Kokkos::deep_copy(elements.force, T(0));
  Kokkos::deep_copy(clock, 0.0);
  for (const auto& field : std::array{elements.rate, elements.stress, elements.hourglass, elements.viscous})
    Kokkos::deep_copy(field, all_lanes<Lanes<T>>(0));
  const auto stretch = elements.stretch, rotation = elements.rotation;
  Kokkos::parallel_for(
      "dynamics/reset", range(Space(), order.all()), KOKKOS_LAMBDA(LocalIndex block) {
        for (int i = 0; i < 6; ++i) stretch(block, i) = all_lanes<Lanes<T>>(i < 3 ? 1 : 0);
        for (int i = 0; i < 9; ++i) rotation(block, i) = all_lanes<Lanes<T>>(i % 4 == 0 ? 1 : 0);
      });
  device::fence(Space(), "dynamics/reset");
}

template struct Body<float>;
template struct Body<double>;

} // namespace kontor::dynamics
