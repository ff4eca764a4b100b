// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dynamics/body.hpp"

#include "machine/first_touch.hpp"
#include "machine/memory.hpp"
#include "machine/user_error.hpp"

#include <kontor/config/function.hpp>

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <optional>
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

/// A formula of the deck with the values that are allowed. `problem` becomes the first value that is not.
class Formula {
 public:
  using Allowed = bool (*)(double);
  Formula(const config::Expression& expression, Allowed allowed, const char* words)
      : expression_(expression), function_(expression), allowed_(allowed), words_(words) {}

  double operator()(const std::array<double, 3>& at, std::optional<std::string>& problem) {
    const double value = function_(at[0], at[1], at[2], 0);
    if (!problem && !(std::isfinite(value) && allowed_(value)))
      problem = fmt::format("{}: '{}' is {} at ({:.6g}, {:.6g}, {:.6g}); allowed: {}", expression_.location().text(),
                            expression_.text(), value, at[0], at[1], at[2], words_);
    return value;
  }

 private:
  const config::Expression& expression_;
  config::Function function_;
  Allowed allowed_;
  const char* words_;
};

/// Elements in the order of their numbers, which sums are made in.
std::vector<LocalIndex> by_number(const mesh::LocalMesh& mesh) {
  std::vector<LocalIndex> order(mesh.element.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](LocalIndex e) { return mesh.element[e]; });
  return order;
}

template <class View>
auto mirror(const View& view) {
  return Kokkos::create_mirror_view(view);
}

} // namespace

template <class T>
Body<T>::Body(const Options& given, const comm::Communicator& comm)
    : options(given), mesh(mesh::make_mesh(given.mesh, comm, given.seam)) {
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
  take_mesh();
  take_material(comm);
  take_velocity(comm);
  reset();
}

/// Places of nodes, corners of elements, and elements of nodes by their numbers.
template <class T>
void Body<T>::take_mesh() {
  const auto place = mirror(nodes.place);
  const auto held = mirror(nodes.held);
  for (LocalIndex n = 0; n < mesh.nodes(); ++n) {
    for (int d = 0; d < 3; ++d) place(n, d) = static_cast<T>(mesh.place[n].place[d]);
    held(n) = mesh.place[n].held;
  }
  const auto corner = mirror(elements.corner);
  const auto counts = mirror(elements.counts);
  for (LocalIndex e = 0; e < mesh.elements(); ++e)
    for (auto s = slot(e); s < slots_end(e); ++s) {
      for (int c = 0; c < 8; ++c) corner(s / width<T>, c, s % width<T>) = mesh.corner[e][c];
      counts(s / width<T>, s % width<T>) = s == slot(e);
    }

  corners = {Kokkos::View<LocalIndex*>("dynamics/first corner", mesh.nodes() + 1),
             Kokkos::View<LocalIndex*>("dynamics/node corners", 8 * mesh.element.size() + NodeCorners::ahead)};
  const auto first = mirror(corners.first), row = mirror(corners.row);
  Kokkos::deep_copy(first, 0);
  Kokkos::deep_copy(row, 0);
  for (const auto& of_element : mesh.corner)
    for (const auto node : of_element) ++first(node + 1);
  for (LocalIndex n = 0; n < mesh.nodes(); ++n) first(n + 1) += first(n);
  std::vector<LocalIndex> next(first.data(), first.data() + mesh.nodes());
  for (const auto e : by_number(mesh))
    for (int c = 0; c < 8; ++c) row(next[mesh.corner[e][c]]++) = elements.corner_row(slot(e), c);

  Kokkos::deep_copy(nodes.place, place);
  Kokkos::deep_copy(nodes.held, held);
  Kokkos::deep_copy(elements.corner, corner);
  Kokkos::deep_copy(elements.counts, counts);
  Kokkos::deep_copy(corners.first, first);
  Kokkos::deep_copy(corners.row, row);
}

/// Lame's constants, and the masses of elements and nodes.
template <class T>
void Body<T>::take_material(const comm::Communicator& comm) {
  const auto positive = [](double value) { return value > 0; };
  const auto compressible = [](double value) { return value >= 0 && value < 0.5; };
  Formula young(options.young, positive, "above 0"), density(options.density, positive, "above 0"),
      poisson(options.poisson, compressible, "from 0 to below 0.5");
  std::optional<std::string> problem;
  const auto material = mirror(elements.material);
  std::vector<double> masses;
  for (LocalIndex e = 0; e < mesh.elements(); ++e) {
    const auto at = centre(mesh, e);
    const double modulus = young(at, problem), nu = poisson(at, problem);
    masses.push_back(density(at, problem) * volume(mesh, e));
    const double values[] = {modulus * nu / ((1 + nu) * (1 - 2 * nu)), modulus / (2 * (1 + nu)), masses.back()};
    for (auto s = slot(e); s < slots_end(e); ++s)
      for (int i = 0; i < 3; ++i) lane(material(s / width<T>, i), s % width<T>) = static_cast<T>(values[i]);
  }
  miniapp::agree_on_user_error(comm, problem, "E-DECK-EXPRESSION");
  Kokkos::deep_copy(elements.material, material);

  const auto mass = mirror(nodes.mass);
  Kokkos::deep_copy(mass, 0.0);
  for (const auto e : by_number(mesh))
    for (const auto node : mesh.corner[e]) mass(node) += masses[e] / 8;
  Kokkos::deep_copy(nodes.mass, mass);
  if (options.seam == mesh::Seam::recompute) return; // those of ghosts are not used
  auto sums = mesh::make_seam(comm, mesh, nodes.mass, options.seam, "masses at common nodes");
  sums.start();
  sums.finish();
  device::fence(Space(), "dynamics/masses");
}

template <class T>
void Body<T>::take_velocity(const comm::Communicator& comm) {
  std::vector<Formula> formulas;
  for (const auto& formula : options.velocity)
    formulas.emplace_back(
        formula, [](double) { return true; }, "finite numbers");
  std::optional<std::string> problem;
  const auto motion = mirror(initial_);
  for (LocalIndex n = 0; n < mesh.nodes(); ++n)
    for (int d = 0; d < 3; ++d) {
      const auto& [place, held] = mesh.place[n];
      const double velocity = formulas[d](place, problem);
      motion(n, d) = static_cast<T>(place[d]);
      motion(n, 3 + d) = held ? T(0) : static_cast<T>(velocity);
    }
  miniapp::agree_on_user_error(comm, problem, "E-DECK-EXPRESSION");
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
