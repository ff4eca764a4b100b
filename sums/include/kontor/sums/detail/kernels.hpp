// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/sums/accumulator.hpp>
#include <kontor/sums/block_sum.hpp>
#include <kontor/sums/detail/tile.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

/// The kernels of exact sums.
namespace kontor::sums::detail {

/// A function of (row, i) made of one of i.
template <class Value>
struct OneRow {
  Value value;
  KOKKOS_INLINE_FUNCTION auto operator()(std::int64_t, std::int64_t i) const { return value(i); }
};

/// The products of two Views' elements.
template <class X, class Y>
struct Product {
  X x;
  Y y;
  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t i) const {
    return static_cast<double>(x(i)) * static_cast<double>(y(i));
  }
};

/// A View's elements.
template <class X>
struct Element {
  X x;
  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t i) const { return x(i); }
};

/// One of several values that belong together.
template <class Values>
KOKKOS_INLINE_FUNCTION double value_of(const Values& values, int s) {
  if constexpr (requires { values[0]; })
    return values[s];
  else
    return values;
}

/// The kernel of a host: each work item adds up a part of the values by itself. `together` sums.
template <int together, class Value>
struct AddParts {
  Value value;
  std::int64_t rows, length;
  std::int64_t* accumulators; ///< of the first sum, one for each work item
  std::int64_t to_next_sum;
  std::int64_t parts;

  void operator()(std::int64_t part) const {
    std::array<BlockSum, together> sums;
    const std::int64_t count = rows * length;
    const std::int64_t end = count / parts * (part + 1) + std::min(part + 1, count % parts);
    std::int64_t at = count / parts * part + std::min(part, count % parts);
    std::int64_t row = length > 0 ? at / length : 0;
    std::int64_t i = length > 0 ? at % length : 0;
    int filled = 0;
    while (at < end) {
      const auto n = static_cast<int>(std::min({length - i, end - at, std::int64_t{BlockSum::room - filled}}));
      if constexpr (together == 1) {
        double* __restrict const out = sums[0].values() + filled;
        for (int j = 0; j < n; ++j) out[j] = value(row, i + j);
      } else {
        for (int j = 0; j < n; ++j) {
          const auto values = value(row, i + j);
          for (int s = 0; s < together; ++s) sums[s].values()[filled + j] = values[s];
        }
      }
      at += n;
      i += n;
      filled += n;
      if (i == length) {
        ++row;
        i = 0;
      }
      if (filled < BlockSum::room && at < end) continue;
      for (auto& sum : sums) sum.add(filled);
      filled = 0;
    }
    for (int s = 0; s < together; ++s) sums[s].move_to(accumulators + s * to_next_sum + part * sums::length);
  }
};

/// The kernel of a device: each team adds a tile of tile_depth values of each thread.
template <int together, class Value>
struct AddTiles {
  Value value;
  std::int64_t rows, length;
  std::int64_t* accumulators; ///< of the first sum: teams take turns
  std::int64_t to_next_sum;
  int copies;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    double values[together][tile_depth];
    const std::int64_t count = rows * length;
    const std::int64_t first = std::int64_t{team.league_rank()} * team.team_size() * tile_depth + team.team_rank();
    for (int v = 0; v < tile_depth; ++v) {
      const std::int64_t at = first + std::int64_t{v} * team.team_size();
      for (int s = 0; s < together; ++s) values[s][v] = 0;
      if (at < count) fetch(at, v, values);
    }
    std::int64_t* const accumulator = accumulators + std::int64_t{team.league_rank() % copies} * sums::length;
    for (int s = 0; s < together; ++s) add_tile(team, values[s], accumulator + s * to_next_sum);
  }

 private:
  KOKKOS_FUNCTION void fetch(std::int64_t at, int v, double (&values)[together][tile_depth]) const {
    std::int64_t row = 0;
    std::int64_t i = at;
    if (rows > 1 && rows * length <= 0xffffffff) { // a division of 32 bits takes a fraction of the time
      row = static_cast<std::uint32_t>(at) / static_cast<std::uint32_t>(length);
      i = at - row * length;
    } else if (rows > 1) {
      row = at / length;
      i = at - row * length;
    }
    const auto found = value(row, i);
    for (int s = 0; s < together; ++s) values[s][v] = value_of(found, s);
  }
};

/// The copies of each sum become one accumulator, with digits of at most copies 2^(digit_bits - 1), and are 0 then. A
/// team a sum.
struct Gather {
  std::int64_t* copies;
  int count; ///< of copies
  std::int64_t* carries;
  std::int64_t* out;
  double* rounded_out; ///< null, or where the sums go, rounded

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const std::int64_t sum = team.league_rank();
    std::int64_t* const from = copies + sum * count * length;
    std::int64_t* const carried = carries + sum * length;
    std::int64_t* const to = out + sum * length;
    const auto all = Kokkos::TeamThreadRange(team, length);
    const int number = count;
    Kokkos::parallel_for(all, [=](int place) {
      const bool carrying = place + 1 < digits;
      std::int64_t total = 0;
      std::int64_t up = 0;
      for (int c = 0; c < number; ++c) {
        std::int64_t& digit = from[c * length + place];
        total += carrying ? rest_of(digit) : digit;
        up += carrying ? carry_of(digit) : 0;
        digit = 0;
      }
      to[place] = total;
      carried[place] = up;
    });
    team.team_barrier();
    Kokkos::parallel_for(all, [=](int place) {
      if (place > 0 && place < digits) to[place] += carried[place - 1];
    });
    if (!rounded_out) return;
    team.team_barrier();
    if (team.team_rank() == 0) rounded_out[sum] = sums::rounded(to);
  }
};

/// Makes room in accumulators.
struct Carry {
  std::int64_t* accumulators;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { carry(accumulators + i * length); }
};

/// Rounds each of several sums.
struct Round {
  const std::int64_t* accumulators;
  double* sums;
  KOKKOS_FUNCTION void operator()(std::int64_t k) const { sums[k] = sums::rounded(accumulators + k * length); }
};

} // namespace kontor::sums::detail
