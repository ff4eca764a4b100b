// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/matrix.hpp"

#include <kontor/comm/kokkos/compat.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
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

/// A position is a thread's, or some lanes', as a device wants it. A team adds up its part of the dot: a
/// reduction over all rows by the same kernel takes twice as long as the product.
template <class Kernel, bool with_dot>
struct InTeams {
  Kernel kernel;
  Positions range;
  double* parts;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const auto position =
        range.begin + static_cast<std::int64_t>(team.league_rank()) * team.team_size() + team.team_rank();
    const std::int64_t row = position < range.end ? kernel.row_of(position) : -1;
    double part = 0;
    if (row >= 0) {
      const double value = kernel.sum(team, position, row);
      Kokkos::single(Kokkos::PerThread(team), [&] { kernel.y[row] = value; });
      part = kernel.x[row] * value;
    }
    if constexpr (with_dot) {
      team.team_reduce(Kokkos::Sum<double>(part));
      if (team.team_rank() == 0) parts[team.league_rank()] = part;
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

/// A matrix of a format. `Format` has a label, a Kernel (x, y; row_of() and sum() of a position, block() of
/// many), and says where the positions of a part are and what bytes a product moves.
template <class Format>
class Product final : public Matrix {
 public:
  using Kernel = typename Format::Kernel;

  Product(Format format, const ProductTuning& tuning) : format_(std::move(format)), tuning_(tuning) {
    if constexpr (comm::on_host<Space>) tuning_.team = tuning_.lanes = 1;
    tuning_.lanes = std::min(tuning_.lanes, Format::most_lanes);
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
    if (tuning_.teams) return tuning_.team / tuning_.lanes;
    return detail::InBlocks<Kernel, true>::size;
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
    Kokkos::parallel_for(Format::label,
                         Kokkos::TeamPolicy<Space>(instance, static_cast<int>(blocks),
                                                   static_cast<int>(block()), tuning_.lanes),
                         detail::InTeams<Kernel, with_dot>{kernel, range, to});
  }

  Format format_;
  ProductTuning tuning_;
  Vector parts_; ///< of the interior rows' teams, then of the others'
  Kokkos::View<int, Space> zero_{"cg/zero"};
};

} // namespace kontor::cg
