// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/in_teams.hpp"
#include "cg/matrix/matrix.hpp"
#include "cg/matrix/thread_rows.hpp"
#include "cg/names.hpp"
#include "stepping/team_sums.hpp"

#include <kontor/device/compat.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

/// A format's rows given to threads. Included by one source a format, which launches its kernels.
namespace kontor::cg {

namespace detail {

/// Blocks of positions one after the other, as a processor wants them.
template <class Kernel, bool with_dot>
struct InBlocks {
  static constexpr std::int64_t size = 4096;
  Kernel kernel;
  RowRange range;
  double* parts;

  void operator()(std::int64_t block) const {
    const auto begin = range.begin + block * size;
    const double part = kernel.template block<with_dot>(begin, std::min(begin + size, range.end));
    if constexpr (with_dot) parts[block] = part;
  }
};

/// Threads of a team, and as many teams as run at once.
inline constexpr int team_threads = device::kernels_on_host ? 1 : 256;
inline int most_teams() { return std::max(1, static_cast<int>(Space().concurrency()) / team_threads); }

} // namespace detail

/// The teams of a kernel.
struct TeamOfProduct {
  int block = detail::team_threads; ///< positions that it has at a time, at most as many as threads
  std::size_t scratch = 0;          ///< bytes
};

/// Local; waits for nothing. *sum = the first `count` parts, put together in an order that depends on their number
/// alone. The parts are used up. `zero` is a 0 in the memory of the space.
void add_parts(const Space& instance, double* parts, std::int64_t count, double* sum, int* zero);

/// A matrix of a format. `Format` has a label, says where the positions of a part are, what bytes a product moves, and,
/// if its Kernel is Staged, how a device's teams are made: positions of a block, bytes of scratch memory. The Kernel
/// has x, y and block() of many positions; for teams place_of() a position, with its row, and sum() of a vector, a
/// position and its place, or, if it is Staged, of all rows of a team.
template <class Format>
class Product final : public Matrix {
 public:
  using Kernel = typename Format::Kernel;

  Product(Format format, const ProductTuning& tuning) : format_(std::move(format)), tuning_(tuning) {
    if constexpr (!device::kernels_on_host) tuning_.teams = true;
    if constexpr (!Staged<Kernel>)
      thread_rows_.emplace(ThreadRows{format_.kernel(nullptr, nullptr), format_.positions(Part::all)});
    if (tuning_.teams)
      team_parts_ = TeamParts(1, detail::most_teams());
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
    add_parts(instance, parts_.data() + (part == Part::boundary ? parts(Part::interior) : 0), count, sum, zero_.data());
  }

  const ThreadRows* thread_rows() const override { return thread_rows_ ? &*thread_rows_ : nullptr; }

  std::int64_t positions() const override { return tuning_.teams ? format_.positions(Part::all).count() : 0; }
  double bytes() const override { return format_.bytes(); }

 private:
  /// How many parts of the dot a part of the rows leaves, in blocks.
  std::int64_t parts(Part part) const {
    return quotient_up(format_.positions(part).count(), detail::InBlocks<Kernel, true>::size);
  }
  TeamOfProduct team() const {
    if constexpr (Staged<Kernel>) return format_.team();
    return {};
  }

  template <bool with_dot>
  void launch(const Space& instance, Part part, const Vector& x, const Vector& y) const {
    const auto range = format_.positions(part);
    const auto blocks = parts(part);
    if (blocks == 0) return;
    double* const to = parts_.data() + (part == Part::boundary ? parts(Part::interior) : 0);
    if constexpr (device::kernels_on_host)
      Kokkos::parallel_for(Format::label, Policy(instance, 0, blocks),
                           detail::InBlocks<Kernel, with_dot>{format_.kernel(x.data(), y.data()), range, to});
  }

  template <bool with_dot>
  void launch_teams(const Space& instance, Part part, const Vector& x, const Vector& y, double* sum) const {
    const auto range = format_.positions(part);
    if (range.count() == 0 && !with_dot) return;
    const auto team = this->team();
    const int count = teams_of(range.count(), team.block, detail::most_teams());
    auto& backwards = backwards_[static_cast<std::size_t>(part)];
    backwards = !backwards && static_cast<std::int64_t>(count) * team.block >= range.count();
    Kokkos::parallel_for(Format::label, policy_of_teams<Bounds>(instance, count, detail::team_threads, team.scratch),
                         detail::InTeams<Kernel, with_dot>{format_.kernel(x.data(), y.data()), range, team.block,
                                                           backwards, team_parts_.places(), sum, skip_if_});
  }

  /// Where teams have scratch memory, fewer of them run at once.
  using Bounds = std::conditional_t<Staged<Kernel>, Kokkos::LaunchBounds<256, 4>, ManyThreads>;

  Format format_;
  ProductTuning tuning_;
  Vector parts_; ///< of the interior rows' blocks, then of the others'
  TeamParts team_parts_;
  std::optional<ThreadRows> thread_rows_;
  Kokkos::View<int, Space> zero_{"cg/zero"};
  mutable std::array<bool, 3> backwards_{}; ///< each product begins with what the last one has left in caches
};

} // namespace kontor::cg
