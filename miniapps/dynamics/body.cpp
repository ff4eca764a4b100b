// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dynamics/body.hpp"

#include "grid/functions.hpp"
#include "machine/first_touch.hpp"
#include "machine/memory.hpp"

#include <algorithm>
#include <string>

namespace kontor::dynamics {
namespace {

std::array<double, 3> centre(const mesh::LocalMesh& mesh, LocalIndex element) {
  std::array<double, 3> sum{};
  for (const auto node : mesh.corner[element])
    for (int d = 0; d < 3; ++d) sum[d] += mesh.place[node].place[d] / 8;
  return sum;
}

double volume(const mesh::LocalMesh& mesh, LocalIndex element) {
  Corners<double> x;
  double b[8];
  for (int c = 0; c < 8; ++c)
    for (int d = 0; d < 3; ++d) x.at[d][c] = mesh.place[mesh.corner[element][c]].place[d];
  shift_to_corner(x);
  volume_gradient<0>(x, b);
  return dot(x.at[0], b) / 12;
}

/// Collective. Asks for memory first: that of a box's Views is known, and a mesh that is too large would fill the host.
mesh::LocalMesh mesh_that_fits(const Options& options, const comm::Communicator& comm) {
  double share = options.mesh.box() ? 1.0 / comm.size() : 0;
  for (const auto count : options.mesh.elements) share *= static_cast<double>(count);
  miniapp::require_memory(
      comm, {{"dynamics/elements", options.bytes(share, 0)}, {"dynamics/nodes", options.bytes(0, share)}});
  return mesh::make_mesh(options.mesh, comm, options.seam);
}

} // namespace

template <class T>
Body<T>::Body(const Options& given, const comm::Communicator& comm)
    : options(given), mesh(mesh_that_fits(given, comm)) {
  constexpr int w = width<T>;
  edge = {0, (mesh.edge + w - 1) / w};
  interior = {edge.end, edge.end + (mesh.elements() - mesh.edge + w - 1) / w};
  const auto blocks = static_cast<std::size_t>(interior.end), count = static_cast<std::size_t>(mesh.nodes());
  miniapp::require_memory(comm, {{"dynamics/elements", given.bytes(static_cast<double>(blocks * w), 0)},
                                 {"dynamics/nodes", given.bytes(0, static_cast<double>(count))}});
  const auto of_elements = [&](const char* name, int numbers) {
    return ElementView<T>(std::string("dynamics/") + name, blocks, numbers);
  };
  nodes = {NodeView<T* [3]>("dynamics/place", count),
           NodeView<T* [3]>("dynamics/displacement", count),
           NodeView<T* [6]>("dynamics/motion", count),
           NodeView<double* [3]>("dynamics/node force", count),
           miniapp::zeroed<double>("dynamics/node mass", count),
           miniapp::zeroed<bool>("dynamics/held", count)};
  elements = {Kokkos::View<LocalIndex***>("dynamics/corner", blocks, 8, w),
              Kokkos::View<bool**>("dynamics/counts", blocks, w),
              of_elements("material", 3),
              of_elements("rate", 9),
              of_elements("stretch", 6),
              of_elements("rotation", 9),
              of_elements("stress", 6),
              of_elements("hourglass", 12),
              of_elements("stable step", 1),
              Kokkos::View<T* [3]>("dynamics/force", 8 * blocks * w)};
  clock = Clock("dynamics/clock");
  initial_ = NodeView<T* [6]>("dynamics/initial", count);
  const auto of_nodes = mesh::corners_of_nodes(mesh);
  take_mesh(of_nodes);
  take_material(comm, of_nodes);
  take_velocity(comm);
  reset();
}

/// Places of nodes, corners of elements, and elements of nodes by their numbers.
template <class T>
void Body<T>::take_mesh(const mesh::NodeCorners& of_nodes) {
  const auto place = Kokkos::create_mirror_view(nodes.place);
  const auto held = Kokkos::create_mirror_view(nodes.held);
  for (LocalIndex n = 0; n < mesh.nodes(); ++n) {
    for (int d = 0; d < 3; ++d) place(n, d) = static_cast<T>(mesh.place[n].place[d]);
    held(n) = mesh.place[n].held;
  }
  const auto corner = Kokkos::create_mirror_view(elements.corner);
  const auto counts = Kokkos::create_mirror_view(elements.counts);
  for (LocalIndex e = 0; e < mesh.elements(); ++e)
    for (auto s = slot(e); s < slots_end(e); ++s) {
      for (int c = 0; c < 8; ++c) corner(s / width<T>, c, s % width<T>) = mesh.corner[e][c];
      counts(s / width<T>, s % width<T>) = s == slot(e);
    }

  corners = {Kokkos::View<LocalIndex*>("dynamics/first corner", of_nodes.first.size()),
             Kokkos::View<LocalIndex*>("dynamics/node corners", of_nodes.corner.size() + ForceRows::ahead)};
  const auto first = Kokkos::create_mirror_view(corners.first), row = Kokkos::create_mirror_view(corners.row);
  std::ranges::copy(of_nodes.first, first.data());
  for (std::size_t k = 0; k < row.size(); ++k) // those ahead are never used
    row(k) = k < of_nodes.corner.size() ? elements.corner_row(slot(of_nodes.corner[k] / 8), of_nodes.corner[k] % 8) : 0;

  Kokkos::deep_copy(nodes.place, place);
  Kokkos::deep_copy(nodes.held, held);
  Kokkos::deep_copy(elements.corner, corner);
  Kokkos::deep_copy(elements.counts, counts);
  Kokkos::deep_copy(corners.first, first);
  Kokkos::deep_copy(corners.row, row);
}

/// Lame's constants, and the masses of elements and nodes.
template <class T>
void Body<T>::take_material(const comm::Communicator& comm, const mesh::NodeCorners& of_nodes) {
  const grid::DeckFunction young(options.young), density(options.density), poisson(options.poisson);
  auto positive = grid::FiniteCheck::positive();
  grid::FiniteCheck compressible([](double value) { return value >= 0 && value < 0.5; }, "from 0 to below 0.5");
  const auto material = Kokkos::create_mirror_view(elements.material);
  std::vector<double> masses;
  for (LocalIndex e = 0; e < mesh.elements(); ++e) {
    const auto at = centre(mesh, e);
    const double modulus = young.at(at, positive), nu = poisson.at(at, compressible);
    masses.push_back(density.at(at, positive) * volume(mesh, e));
    const double values[] = {modulus * nu / ((1 + nu) * (1 - 2 * nu)), modulus / (2 * (1 + nu)), masses.back()};
    for (auto s = slot(e); s < slots_end(e); ++s)
      for (int i = 0; i < 3; ++i) lane(material(s / width<T>, i), s % width<T>) = static_cast<T>(values[i]);
  }
  positive.agree(comm);
  compressible.agree(comm);
  Kokkos::deep_copy(elements.material, material);

  const auto mass = Kokkos::create_mirror_view(nodes.mass);
  Kokkos::deep_copy(mass, 0.0);
  for (LocalIndex n = 0; n < mesh.nodes(); ++n)
    for (auto k = of_nodes.first[n]; k < of_nodes.first[n + 1]; ++k) mass(n) += masses[of_nodes.corner[k] / 8] / 8;
  Kokkos::deep_copy(nodes.mass, mass);
  if (options.seam == mesh::Seam::recompute) return; // those of ghosts are not used
  auto sums = mesh::make_seam(comm, mesh, nodes.mass, options.seam, "masses at common nodes");
  sums.start();
  sums.finish();
  device::fence(Space(), "dynamics/masses");
}

template <class T>
void Body<T>::take_velocity(const comm::Communicator& comm) {
  const std::vector<grid::DeckFunction> formulas(options.velocity.begin(), options.velocity.end());
  grid::FiniteCheck finite;
  const auto motion = Kokkos::create_mirror_view(initial_);
  for (LocalIndex n = 0; n < mesh.nodes(); ++n)
    for (int d = 0; d < 3; ++d) {
      const auto& [place, held] = mesh.place[n];
      const double velocity = formulas[d].at(place, finite);
      motion(n, d) = static_cast<T>(place[d]);
      motion(n, 3 + d) = held ? T(0) : static_cast<T>(velocity);
    }
  finite.agree(comm);
  Kokkos::deep_copy(initial_, motion);
}

template <class T>
void Body<T>::reset() {
  Kokkos::deep_copy(nodes.motion, initial_);
  Kokkos::deep_copy(nodes.displacement, T(0));
  Kokkos::deep_copy(elements.force, T(0));
  Kokkos::deep_copy(clock, 0.0);
  for (const auto& field : std::array{elements.rate, elements.stress, elements.hourglass})
    Kokkos::deep_copy(field, all_lanes<Lanes<T>>(0));
  const auto stretch = elements.stretch, rotation = elements.rotation;
  Kokkos::parallel_for(
      "dynamics/reset", range(Space(), 0, interior.end), KOKKOS_LAMBDA(LocalIndex block) {
        for (int i = 0; i < 6; ++i) stretch(block, i) = all_lanes<Lanes<T>>(i < 3 ? 1 : 0);
        for (int i = 0; i < 9; ++i) rotation(block, i) = all_lanes<Lanes<T>>(i % 4 == 0 ? 1 : 0);
      });
  device::fence(Space(), "dynamics/reset");
}

template struct Body<float>;
template struct Body<double>;

} // namespace kontor::dynamics
