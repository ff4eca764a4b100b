// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/matrix.hpp"
#include "cg/team_sums.hpp"

#include <kontor/comm/kokkos/compat.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

/// A format's rows given to threads. Included by one source a format, which launches its kernels.
namespace kontor::cg {

/// Half-open range of positions: what a format counts its rows by, padding included.
struct Positions {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t count() const { return end - begin; }
};

/// Kernels whose threads sum rows together: all of a team call sum(team, positions, row).
template <class Kernel>
concept Staged = requires {
  typename Kernel::Stage;
};

namespace detail {

/// Blocks of positions one after the other, as a processor wants them.
template <class Kernel, bool with_dot>
struct InBlocks {
  static constexpr std::int64_t size = 4096;
  Kernel kernel;
  Positions range;
  double* parts;

  void operator()(std::int64_t block) const {
    const auto begin = range.begin + block * size;
    const double part = kernel.template block<with_dot>(begin, std::min(begin + size, range.end));
    if constexpr (with_dot) parts[block] = part;
  }
};

/// A position is a thread's, as a device wants it. A team has so many and adds up its part of the dot: to
/// have the last team add up the parts of all, each would have to wait until its rows are in memory.
template <class Kernel, bool with_dot>
struct InTeams {
  Kernel kernel;
  Positions range;
  int block;
  bool backwards; ///< the last positions first
  double* parts;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int place = backwards ? team.league_size() - 1 - team.league_rank() : team.league_rank();
    const auto first = range.begin + static_cast<std::int64_t>(place) * block;
    const auto position = first + team.team_rank();
    double part = 0;
    if constexpr (Staged<Kernel>) {
      const Positions of_team{first, first + block < range.end ? first + block : range.end};
      const std::int64_t row = position < of_team.end ? kernel.row_of(position) : -1;
      const double value = kernel.sum(team, of_team, row);
      if (row >= 0) {
        kernel.y[row] = value;
        part = kernel.x[row] * value;
      }
    } else { // a block has as many positions as a team has threads
      const std::int64_t row = position < range.end ? kernel.row_of(position) : -1;
      if (row >= 0) {
        const double value = kernel.sum(position, row);
        Kokkos::single(Kokkos::PerThread(team), [&] { kernel.y[row] = value; }); // nvcc takes fewer registers
        part = kernel.x[row] * value;
      }
    }
    if constexpr (with_dot) {
      team.team_reduce(Kokkos::Sum<double>(part));
      if (team.team_rank() == 0) parts[place] = part;
    }
  }
};

inline std::int64_t quotient_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

} // namespace detail

/// Local; waits for nothing. *sum = the first `count` parts, put together in an order that depends on their
/// number alone. The parts are used up. `zero` is a 0 in the memory of the space.
void add_parts(const Space& instance, double* parts, std::int64_t count, double* sum, int* zero);

/// A matrix of a format. `Format` has a label, says where the positions of a part are, what bytes a product
/// moves, and how a device's teams are made: their threads, positions of a block, bytes of scratch memory.
/// Its Kernel has x, y and block() of many positions; for teams row_of() a position, -1 if there is none,
/// and sum() of a position and its row, or, if it is Staged, of all rows of a team.
template <class Format>
class Product final : public Matrix {
 public:
  using Kernel = typename Format::Kernel;

  Product(Format format, const ProductTuning& tuning) : format_(std::move(format)), tuning_(tuning) {
    if constexpr (!comm::on_host<Space>) tuning_.teams = true;
    parts_ = Vector("cg/parts of a dot", parts(Part::interior) + parts(Part::boundary));
  }

  void multiply(const Space& instance, Part part, const Vector& x, const Vector& y) const override {
    if (part != Part::boundary) launch<false>(instance, Part::interior, x, y);
    if (part != Part::interior) launch<false>(instance, Part::boundary, x, y);
  }

  void multiply_and_dot(const Space& instance, Part part, const Vector& x, const Vector& y,
                        double* sum) const override {
    std::int64_t count = 0;
    for (const auto p : {Part::interior, Part::boundary}) {
      if (part != p && part != Part::all) continue;
      launch<true>(instance, p, x, y);
      count += parts(p);
    }
    add_parts(instance, parts_.data() + (part == Part::boundary ? parts(Part::interior) : 0), count, sum,
              zero_.data());
  }

  double bytes() const override { return format_.bytes(); }

 private:
  std::int64_t block() const {
    return tuning_.teams ? format_.team(tuning_).block : detail::InBlocks<Kernel, true>::size;
  }
  /// How many parts of the dot a part of the rows leaves.
  std::int64_t parts(Part part) const {
    return detail::quotient_up(format_.positions(part).count(), block());
  }

  template <bool with_dot>
  void launch(const Space& instance, Part part, const Vector& x, const Vector& y) const {
    const auto range = format_.positions(part);
    const auto blocks = parts(part);
    if (blocks == 0) return;
    double* const to = parts_.data() + (part == Part::boundary ? parts(Part::interior) : 0);
    const auto kernel = format_.kernel(x.data(), y.data());
    if constexpr (comm::on_host<Space>) {
      if (!tuning_.teams) {
        Kokkos::parallel_for(Format::label, Policy(instance, 0, blocks),
                             detail::InBlocks<Kernel, with_dot>{kernel, range, to});
        return;
      }
    }
    const auto team = format_.team(tuning_);
    auto& backwards = backwards_[static_cast<std::size_t>(part)];
    backwards = tuning_.alternate && !backwards;
    Kokkos::parallel_for(Format::label,
                         policy_of_teams(instance, static_cast<int>(blocks), team.threads, team.scratch),
                         detail::InTeams<Kernel, with_dot>{kernel, range, team.block, backwards, to});
  }

  Format format_;
  ProductTuning tuning_;
  Vector parts_; ///< of the interior rows' blocks or teams, then of the others'
  Kokkos::View<int, Space> zero_{"cg/zero"};
  mutable std::array<bool, 3> backwards_{}; ///< each product begins with what the last one has left in caches
};

} // namespace kontor::cg
