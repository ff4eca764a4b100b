// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dynamics/check/deck.hpp"
#include "dynamics/check/wave.hpp"
#include "mesh/checks.hpp"
#include "mesh/rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

namespace kontor::dynamics {

using Matrix = std::array<Point, 3>;

/// Local. Sets velocities of all nodes to `of_velocity` x, and displacements to this part of them; a step lasts 1.
template <class T>
void impose(Body<T>& body, const Matrix& of_velocity, double part) {
  const auto place = on_host(body.nodes.place);
  mesh::set_nodes(body.nodes.motion, [&](LocalIndex n, int i) {
    double sum = 0;
    for (int j = 0; j < 3; ++j) sum += (i < 3 ? part : 1) * of_velocity[i % 3][j] * static_cast<double>(place(n, j));
    return i < 3 ? place(n, i) + static_cast<T>(sum) : static_cast<T>(sum);
  });
  Kokkos::deep_copy(body.clock, 1.0);
}

/// Local; waits. In a warm-up: changes the state. What `elements`, the run's kernels over all elements, make of a
/// linear velocity field, whose gradient is constant (the patch test), and of a rigid rotation, which has no stress.
template <class T>
std::vector<miniapp::Check> check_kernels(Body<T>& body, const std::function<void()>& elements) {
  const auto& mesh = body.mesh;
  const double bound = 64 * epsilon<T> * mesh::lost_digits(mesh);
  // A step of length 1 from where the body would have been; the middle of the step is the mesh itself.
  constexpr Matrix rate{{{0.3, -0.7, 0.2}, {0.5, 0.1, -0.4}, {-0.6, 0.8, -0.2}}};
  impose(body, rate, 0.5);
  elements();
  // Rotations leave invariants of the strain rate as they are: its trace and its squares.
  double trace = 0, squares = 0;
  for (int i = 0; i < 3; ++i) {
    trace += rate[i][i];
    for (int j = 0; j < 3; ++j) squares += std::pow((rate[i][j] + rate[j][i]) / 2, 2);
  }
  const auto strain = on_host(body.elements.rate);
  double patch = 0;
  for (LocalIndex e = 0; e < mesh.elements(); ++e) {
    double d[6];
    body.order.read(strain, e, d);
    const auto found = element::invariants_of(d);
    patch = worst(worst(patch, std::abs(found.trace - trace)), std::abs(found.squares - squares));
  }

  body.reset();
  const Matrix turn{{{2.0 / 3, -1.0 / 3, 2.0 / 3}, {2.0 / 3, 2.0 / 3, -1.0 / 3}, {-1.0 / 3, 2.0 / 3, 2.0 / 3}}};
  Matrix moved = turn;
  for (int i = 0; i < 3; ++i) moved[i][i] -= 1;
  impose(body, moved, 1);
  elements();
  const auto rotation = on_host(body.elements.rotation), stress = on_host(body.elements.stress),
             material = on_host(body.elements.material);
  double rigid = 0;
  for (LocalIndex e = 0; e < mesh.elements(); ++e) {
    const T modulus = body.order.number(material, e, 0) + 2 * body.order.number(material, e, 1);
    for (int i = 0; i < 6; ++i)
      rigid = worst(rigid, std::abs(static_cast<double>(body.order.number(stress, e, i) / modulus)));
    for (int i = 0; i < 9; ++i)
      rigid = worst(rigid, std::abs(static_cast<double>(body.order.number(rotation, e, i)) - turn[i / 3][i % 3]));
  }
  body.reset();
  return {{"patch", patch, bound}, {"rotation", rigid, bound}};
}

/// What a rank knows of the last step, on the host.
template <class T>
struct LastStep {
  const Body<T>& body;
  device::HostMirror<NodeView<T* [3]>> displacement = on_host(body.nodes.displacement);
  device::HostMirror<NodeView<T*[6]>> motion = on_host(body.nodes.motion), initial = on_host(body.initial);
  device::HostMirror<NodeView<double* [3]>> force = on_host(body.nodes.force);
  device::HostMirror<Kokkos::View<double*>> mass = on_host(body.nodes.mass);
  device::HostMirror<ElementView<T>> material = on_host(body.elements.material),
                                     rotation = on_host(body.elements.rotation), stress = on_host(body.elements.stress),
                                     hourglass = on_host(body.elements.hourglass),
                                     viscous = on_host(body.elements.viscous);
  device::HostMirror<Kokkos::View<T* [3]>> of_element = on_host(body.elements.force);
  device::HostMirror<Clock> clock = on_host(body.clock);

  Point of_corner(LocalIndex e, int corner) const {
    const auto row = corner_row(of_element, body.order.slot(e), corner);
    return {static_cast<double>(of_element(row, 0)), static_cast<double>(of_element(row, 1)),
            static_cast<double>(of_element(row, 2))};
  }
  /// Where a node was when forces were computed, and its velocity half a step earlier. Ghosts are there still.
  std::pair<Point, Point> at_forces(LocalIndex n) const {
    Point x, v;
    const bool moved = n < body.mesh.updated && !body.mesh.place[n].held;
    for (int i = 0; i < 3; ++i) {
      const double now = static_cast<double>(motion(n, 3 + i));
      x[i] = static_cast<double>(motion(n, i)) - (moved ? clock(last_step) * now : 0);
      v[i] = now - (moved ? (clock(step_before) + clock(last_step)) / 2 * force(n, i) / mass(n) : 0);
    }
    return {x, v};
  }
};

/// Sums over this rank's elements and nodes, each of all ranks once.
struct Sums {
  double mass = 0, kinetic = 0, start = 0, internal = 0;
  double taken = 0, held = 0; ///< by viscosity; held nodes that have moved
  Point momentum{}, start_momentum{};
};
/// Greatest values of this rank's elements and nodes.
struct Extremes {
  double strain = 0, force_error = 0, force = 0, speed = 0, digits = 1;
  double moved = 0, start = 0; ///< displacement; velocity
  double rate = 0;             ///< differences of the corners' velocities over the element's size
  double step = -INFINITY;     ///< minus the least stable one
  double broken = -INFINITY;   ///< minus the number of the first element that is inverted or not finite
};

/// Local. Plain forms of what the kernels did in the last step with the elements of this rank.
template <class T>
void judge_elements(const LastStep<T>& last, Sums& sums, Extremes& extremes) {
  const auto& body = last.body;
  const auto& resistance = body.options.hourglass;
  for (LocalIndex e = 0; e < body.mesh.elements(); ++e) {
    if (!body.mesh.own[e]) continue;
    CornerPoints x, v;
    for (int c = 0; c < 8; ++c) std::tie(x[c], v[c]) = last.at_forces(body.mesh.corner[e][c]);
    const auto element = integrate_element(x);
    double material[3], s[6], r[9], held[12];
    body.order.read(last.material, e, material);
    body.order.read(last.stress, e, s);
    body.order.read(last.rotation, e, r);
    body.order.read(last.hourglass, e, held);
    const auto [lambda, mu, mass] = material;
    const double modulus = lambda + 2 * mu;
    if (resistance.viscosity > 0) sums.taken += static_cast<double>(body.order.number(last.viscous, e, 12));

    const double greatest = modulus * element.squares / element.volume, spring = resistance.stiffness * greatest / 8;
    const double frequency = std::sqrt(8 * greatest / mass), damper = resistance.viscosity * frequency * mass / 32;
    std::array<Point, 4> resisting{};
    double held_squares = 0;
    for (int mode = 0; mode < 4; ++mode)
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) resisting[mode][i] += r[3 * i + j] * held[3 * mode + j];
        for (int c = 0; c < 8; ++c) resisting[mode][i] += damper * v[c][i] * element.gamma[mode][c];
        held_squares += std::pow(held[3 * mode + i], 2);
      }
    const auto force = element::plain_forces(element, r, s, resisting);
    for (int c = 0; c < 8; ++c)
      for (int i = 0; i < 3; ++i) {
        extremes.force = worst(extremes.force, std::abs(force[c][i]));
        extremes.force_error = worst(extremes.force_error, std::abs(force[c][i] - last.of_corner(e, c)[i]));
      }

    const auto [trace, squares] = element::invariants_of(s);
    sums.internal += element.volume / (4 * mu) * (squares - lambda * trace * trace / (3 * lambda + 2 * mu)) +
                     (spring > 0 ? held_squares / (2 * spring) : 0);
    extremes.strain = worst(extremes.strain, std::sqrt(squares) / (2 * mu));
    extremes.speed = std::max(extremes.speed, std::sqrt(modulus * element.volume / mass));
    for (int c = 0; c < 8; ++c) {
      extremes.digits = std::max(extremes.digits, 1 + element::norm(x[c]) / element.size());
      extremes.rate = worst(extremes.rate, element::distance(v[c], v[0]) / element.size());
    }
    const double xi = resistance.viscosity;
    const double stable = 2 * (std::sqrt(1 + xi * xi) - xi) / (frequency * std::sqrt(1 + resistance.stiffness));
    const bool whole = element.volume > 0 && stable > 0 && std::isfinite(element.volume);
    extremes.step = std::max(extremes.step, whole ? -stable : 0.0);
    if (!whole) extremes.broken = std::max(extremes.broken, -static_cast<double>(body.mesh.element[e]));
  }
}

/// Local. Sums over nodes that no other rank counts.
template <class T>
void judge_nodes(const LastStep<T>& last, Sums& sums, Extremes& extremes) {
  const auto& mesh = last.body.mesh;
  for (LocalIndex n = 0; n < mesh.nodes(); ++n) {
    if (!mesh.counted[n]) continue;
    const auto before = last.at_forces(n).second;
    sums.mass += last.mass(n);
    for (int i = 0; i < 3; ++i) {
      const double now = static_cast<double>(last.motion(n, 3 + i)),
                   start = static_cast<double>(last.initial(n, 3 + i));
      const double moved = std::abs(static_cast<double>(last.displacement(n, i)));
      if (mesh.place[n].held) sums.held += moved == 0 && now == 0 ? 0 : 1;
      extremes.moved = worst(extremes.moved, moved);
      extremes.start = worst(extremes.start, std::abs(start));
      sums.kinetic += last.mass(n) * before[i] * now / 2;
      sums.start += last.mass(n) * start * start / 2;
      sums.start_momentum[i] += last.mass(n) * start;
      sums.momentum[i] += last.mass(n) * now;
    }
  }
}

/// Local. The greatest difference of displacements along x from those of the nodes of a line.
template <class T>
double line_error(const LastStep<T>& last, const std::vector<double>& line) {
  const auto& mesh = last.body.mesh;
  const double h = last.body.options.mesh.size[0] / static_cast<double>(line.size() - 1);
  double most = 0;
  for (LocalIndex n = 0; n < mesh.updated; ++n) {
    const auto i = static_cast<std::size_t>(std::lround(mesh.place[n].place[0] / h));
    most = worst(most, std::abs(static_cast<double>(last.displacement(n, 0)) - line.at(i)));
  }
  return most;
}

template <class Numbers>
Numbers reduce(const comm::Communicator& comm, const Numbers& numbers, comm::ReduceOp op) {
  constexpr std::size_t count = sizeof(Numbers) / sizeof(double);
  return std::bit_cast<Numbers>(comm::allreduce(comm, std::bit_cast<std::array<double, count>>(numbers), op));
}

/// Collective, waits. Judges the state after `steps` steps by conservation laws, by plain forms of the kernels, by the
/// wave equation where it applies, and by what plain MPI brings from other ranks. `exchange` makes the exchange of
/// shared nodes once more; `of_kernels` are from check_kernels().
template <class T>
miniapp::Verification verify(const Body<T>& body, const comm::Communicator& given, std::int64_t steps,
                             std::vector<miniapp::Check> checks, std::uint64_t seed,
                             const std::function<void()>& exchange) {
  const comm::Communicator comm(given.native(), comm::Options{}); // what is verified takes no part
  const LastStep<T> last{body};
  Sums sums;
  Extremes extremes;
  judge_elements(last, sums, extremes);
  judge_nodes(last, sums, extremes);
  std::vector<std::string> judged;
  for (const auto& check : check_deck(body, comm, seed, judged)) checks.push_back(check);
  double m[3];
  const double of_masses = mesh::error_of_sums(
      comm, body.mesh, seed, [&](LocalIndex n) { return Point{last.mass(n)}; },
      [&](LocalIndex e, int) {
        body.order.read(last.material, e, m);
        return Point{m[2] / 8};
      });
  const double at_shared = mesh::error_of_sums(
      comm, body.mesh, seed, [&](LocalIndex n) { return mesh::row_of<3>(last.force, n); },
      [&](LocalIndex e, int c) { return last.of_corner(e, c); });
  const auto line = line_of(body.options, steps, last.clock(elapsed));
  const std::array of_line{line ? line_error(last, line->chain) : 0, line ? line_error(last, line->exact) : 0};
  exchange();
  const auto copied = on_host(body.nodes.motion);
  const double copies =
      mesh::different_copies(comm, body.mesh, [&](LocalIndex n) { return mesh::row_of<6>(copied, n); });

  sums = reduce(comm, sums, comm::ReduceOp::sum);
  extremes = reduce(comm, extremes, comm::ReduceOp::max);
  if (!(extremes.start > 0))
    return miniapp::inconclusive("problem.velocity is 0 at all nodes that are not held: nothing moves");
  if (!(sums.start > 0))
    return miniapp::inconclusive(fmt::format("the kinetic energy of velocities of {:.2g} is below the smallest number: "
                                             "choose a faster problem.velocity",
                                             extremes.start));

  constexpr double large = 0.1, coarse = 0.25; // a wrong answer could hide in larger bounds
  if (4 * extremes.strain > coarse && std::isfinite(extremes.strain))
    return miniapp::inconclusive(
        fmt::format("the strain is {:.2g}: above {} the bounds would hide a wrong answer; choose "
                    "a slower problem.velocity",
                    extremes.strain, coarse / 4));

  if (const double digits = 64 * epsilon<T> * extremes.digits; digits > large && std::isfinite(digits))
    return miniapp::inconclusive(fmt::format("rounding of coordinates makes {:.2g} of an element's strain: place the "
                                             "body nearer to the origin, or choose problem.precision: double",
                                             digits));

  const double rounds = static_cast<double>(steps), count = static_cast<double>(body.mesh.all_elements);
  const double rounding = 8 * epsilon<T> * rounds;
  if (steps > 0 && extremes.moved <= rounding * extremes.start * last.clock(elapsed))
    return miniapp::inconclusive("all nodes are where they began, as without a step: choose other time.steps");
  std::vector<std::string> open;
  const auto judge_unless_coarse = [&](miniapp::Check check, const char* advice) {
    const bool judged = !(check.bound > coarse && std::isfinite(check.bound));
    if (judged)
      checks.push_back(check);
    else
      open.push_back(fmt::format("{}, whose bound would be {:.2g}: {}", check.name, check.bound, advice));
    return judged;
  };
  checks.push_back({"mass", of_masses, 8 * epsilon<T>});
  checks.push_back({"held", sums.held, 0.5});
  checks.push_back({"shared_nodes", at_shared, 64 * epsilon<double>});
  checks.push_back({"copies", copies, 0.5});
  if (extremes.force > 0)
    checks.push_back({"forces", extremes.force_error / extremes.force, 256 * epsilon<T> * extremes.digits});
  // Kept by the scheme for a linear body: v(n-1/2) M v(n+1/2) / 2 plus internal energy, and what viscosity has taken.
  const double energy = (sums.kinetic + sums.internal + sums.taken) / sums.start - 1;
  // A step that changes from h to h + d changes the energy by at most 2 |d| / h of it.
  const double of_steps = 2 * last.clock(variation);
  bool of_all_steps =
      judge_unless_coarse({"energy", std::abs(energy), rounding + extremes.strain + of_steps},
                          body.options.step ? "make fewer steps" : "give time.step, or make fewer steps");
  const double travelled = extremes.speed * last.clock(elapsed);
  const auto moves = [&](LocalIndex n) {
    return last.initial(n, 3) != 0 || last.initial(n, 4) != 0 || last.initial(n, 5) != 0;
  };
  if (mesh::held_out_of_reach(comm, body.mesh, moves, steps)) {
    double change = 0, size = std::sqrt(2 * sums.start * sums.mass);
    for (int i = 0; i < 3; ++i) change = worst(change, std::abs(sums.momentum[i] - sums.start_momentum[i]) / size);
    judge_unless_coarse({"momentum", change, rounding + 8 * epsilon<double> * count},
                        "make fewer steps"); // of sums too
  }
  const double stable = -extremes.step; // 0 if an element is inside out
  if (body.options.step)
    checks.push_back({"step", stable > 0 ? *body.options.step / stable : INFINITY, 1 + 1e-5});
  else {
    const double bound = 16 * epsilon<T> * extremes.digits;
    if ((steps - 1) % body.options.every == 0)
      checks.push_back({"minimum", std::abs(last.clock(least_stable) / stable - 1), bound});
    // The step is the stable one of a step before: elements were deformed in between.
    const double between = static_cast<double>(body.options.every) * last.clock(step_before);
    judge_unless_coarse({"step", std::abs(last.clock(last_step) / (body.options.safety * stable) - 1),
                         bound + 4 * extremes.rate * between},
                        "choose a smaller time.every");
  }
  if (line && line->greatest > 0) {
    const double strain = std::max(line->strain, extremes.strain);
    const double bound = rounding * extremes.digits + 4 * strain * (1 + strain * travelled / line->greatest);
    if (judge_unless_coarse({"line", of_line[0] / line->greatest, bound}, "make fewer steps")) {
      of_all_steps = true;
      judge_unless_coarse({"wave", of_line[1] / line->greatest, bound + line->truncation}, "take more elements");
    }
  }

  auto result = miniapp::judge(comm, checks);
  judged.insert(judged.begin(), fmt::format("all {} elements in the last step", body.mesh.all_elements));
  if (of_all_steps) judged.push_back(line ? "all steps by a line of nodes and by energy" : "all steps by energy");
  result.judged = std::move(judged);
  if (std::isfinite(extremes.broken))
    result.remark = fmt::format("element {} is inverted or not finite", std::llround(-extremes.broken));
  else if (!open.empty())
    result.remark = fmt::format("not judged: {}", fmt::join(open, "; "));
  // Other checks see the last step alone, in which stress and hourglass resistance are as they have been added up.
  result.conclusive = of_all_steps || result.error > result.tolerance;
  return result;
}

} // namespace kontor::dynamics
