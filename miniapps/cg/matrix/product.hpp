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

/// Of kernels that keep nothing in a team's scratch memory.
struct NoStage {};

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

/// A position is a thread's, as a device wants it. A team has `blocks` of so many positions each.
template <class Kernel, bool with_dot>
struct InTeams {
  Kernel kernel;
  Positions range;
  int block;
  int blocks;
  bool backwards; ///< the last positions first
  TeamParts::Places places;
  Store<1> store;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int place = backwards ? team.league_size() - 1 - team.league_rank() : team.league_rank();
    const auto stage = kernel.stage(team);
    SumsOf<1> dot;
    for (int b = 0; b < blocks; ++b) {
      Positions of_team;
      of_team.begin = range.begin + (static_cast<std::int64_t>(place) * blocks + b) * block;
      of_team.end = of_team.begin + block < range.end ? of_team.begin + block : range.end;
      if (of_team.begin >= range.end) break;
      const auto position = of_team.begin + team.team_rank();
      const std::int64_t row = position < of_team.end ? kernel.row_of(position) : -1;
      const double value = kernel.sum(team, stage, of_team, position, row);
      if (row < 0) continue;
      kernel.y[row] = value;
      if constexpr (with_dot) dot[0] += kernel.x[row] * value;
    }
    if constexpr (with_dot) add_up<1>(team, place, dot, places, store);
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
/// Its Kernel has x, y and block() of many positions; for teams row_of() a position, stage(), which all
/// threads call first, and sum(), which all call for each block of positions, those without a row (-1) too.
template <class Format>
class Product final : public Matrix {
 public:
  using Kernel = typename Format::Kernel;

  Product(Format format, const ProductTuning& tuning) : format_(std::move(format)), tuning_(tuning) {
    if (tuning.teams)
      parts_of_teams_ = TeamParts(1, tuning.most_teams);
    else
      parts_ = Vector("cg/parts of a dot", parts(Part::interior) + parts(Part::boundary));
  }

  void multiply(const Space& instance, Part part, const Vector& x, const Vector& y) const override {
    if (tuning_.teams) return launch_teams<false>(instance, part, x, y, nullptr);
    if (part != Part::boundary) launch<false>(instance, Part::interior, x, y);
    if (part != Part::interior) launch<false>(instance, Part::boundary, x, y);
  }

  void multiply_and_dot(const Space& instance, Part part, const Vector& x, const Vector& y,
                        double* sum) const override {
    if (tuning_.teams) return launch_teams<true>(instance, part, x, y, sum);
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
  /// How many parts of the dot a part of the rows leaves on a processor.
  std::int64_t parts(Part part) const {
    return detail::quotient_up(format_.positions(part).count(), detail::InBlocks<Kernel, true>::size);
  }

  template <bool with_dot>
  void launch(const Space& instance, Part part, const Vector& x, const Vector& y) const {
    const auto blocks = parts(part);
    if (blocks == 0) return;
    double* const to = parts_.data() + (part == Part::boundary ? parts(Part::interior) : 0);
    if constexpr (comm::on_host<Space>)
      Kokkos::parallel_for(Format::label, Policy(instance, 0, blocks),
                           detail::InBlocks<Kernel, with_dot>{format_.kernel(x.data(), y.data()),
                                                              format_.positions(part), to});
  }

  template <bool with_dot>
  void launch_teams(const Space& instance, Part part, const Vector& x, const Vector& y, double* sum) const {
    const auto range = format_.positions(part);
    if (range.count() == 0 && !with_dot) return;
    const auto team = format_.team(tuning_);
    const auto shape = TeamShape::of(range.count(), team.block, tuning_.most_teams);
    auto& backwards = backwards_[static_cast<std::size_t>(part)];
    backwards = tuning_.alternate && !backwards;
    Kokkos::parallel_for(Format::label, policy_of_teams(instance, shape.teams, team.threads, team.scratch),
                         detail::InTeams<Kernel, with_dot>{format_.kernel(x.data(), y.data()),
                                                           range,
                                                           team.block,
                                                           shape.blocks,
                                                           backwards,
                                                           parts_of_teams_.places(),
                                                           {sum}});
  }

  Format format_;
  ProductTuning tuning_;
  Vector parts_; ///< of the interior rows' blocks, then of the others'
  Kokkos::View<int, Space> zero_{"cg/zero"};
  TeamParts parts_of_teams_;
  mutable std::array<bool, 3> backwards_{}; ///< each product begins with what the last one has left in caches
};

} // namespace kontor::cg
