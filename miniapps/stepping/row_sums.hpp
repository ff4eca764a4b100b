// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine/simulation.hpp"
#include "stepping/independent.hpp"
#include "stepping/team_sums.hpp"

#include <kontor/device/compat.hpp>

#include <Kokkos_Core.hpp>

#include <string>

/// Loops over rows that leave sums.
namespace kontor::stepping {
namespace detail {

template <class Row>
concept HasScalars = requires(const Row& row) {
  row.scalars();
};
struct NoScalars {};

template <class Row>
KOKKOS_INLINE_FUNCTION auto scalars_of(const Row& row) {
  if constexpr (HasScalars<Row>)
    return row.scalars();
  else
    return NoScalars{};
}
template <class Row, class Scalars>
KOKKOS_INLINE_FUNCTION auto call_row(const Row& row, std::int64_t i, const Scalars& scalars) {
  if constexpr (HasScalars<Row>)
    return row(i, scalars);
  else
    return row(i);
}

/// What a host does in one piece.
inline constexpr std::int64_t chunk_rows = 4096;

template <class Row>
struct ChunksOfRows {
  Row row;
  std::int64_t rows;

  KOKKOS_FUNCTION void operator()(std::int64_t chunk) const {
    const auto begin = chunk * chunk_rows, end = begin + chunk_rows < rows ? begin + chunk_rows : rows;
    const auto scalars = scalars_of(row);
    KONTOR_INDEPENDENT
    for (auto i = begin; i < end; ++i) call_row(row, i, scalars);
  }
};

/// On a host a row after the other would wait for each addition; here lanes go side by side.
template <int count, class Row>
struct InLanes {
  static constexpr std::int64_t lanes = 16;
  Row row;
  std::int64_t rows;

  KOKKOS_FUNCTION void operator()(std::int64_t chunk, PartialSums<count>& sums) const {
    const auto begin = chunk * chunk_rows, end = begin + chunk_rows < rows ? begin + chunk_rows : rows;
    const auto scalars = scalars_of(row);
    double parts[count][lanes] = {};
    auto i = begin;
    for (; i + lanes <= end; i += lanes) {
      KONTOR_INDEPENDENT
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        const auto terms = call_row(row, i + lane, scalars);
        for (int k = 0; k < count; ++k) parts[k][lane] += terms.value[k];
      }
    }
    for (; i < end; ++i) {
      const auto terms = call_row(row, i, scalars);
      for (int k = 0; k < count; ++k) parts[k][i % lanes] += terms.value[k];
    }
    for (int k = 0; k < count; ++k) {
      double sum = 0;
      for (const auto part : parts[k]) sum += part;
      sums.value[k] += sum;
    }
  }
};

/// Threads of a team.
inline constexpr int team_threads = device::kernels_on_host ? 1 : 256;

/// Teams of a loop: as many as run at once. Each waits for scalars and for its part to be in memory, and more would do
/// so one after the other.
inline int most_teams() { return std::max(1, static_cast<int>(Space().concurrency()) / team_threads); }

/// A row is a thread's, which computes the scalars for itself.
template <class Row>
struct EachRow {
  Row row;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { call_row(row, i, scalars_of(row)); }
};

/// On a device a thread has several rows where there are many. Each computes the scalars for itself: to wait for the
/// one of the team that does takes longer, and the rows could not be read meanwhile.
template <int count, class Row, class Last>
struct RowsOfTeams {
  Row row;
  std::int64_t rows;
  TeamParts::Places places;
  Last last;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const auto scalars = scalars_of(row);
    const std::int64_t threads = team.team_size(), step = team.league_size() * threads;
    PartialSums<count> sums;
    for (std::int64_t i = team.league_rank() * threads + team.team_rank(); i < rows; i += step) {
      if constexpr (count > 0)
        sums += call_row(row, i, scalars);
      else
        call_row(row, i, scalars);
    }
    add_up<count>(team, team.league_rank(), sums, places, last);
  }
};

template <int count, class Row, class Last>
void launch_teams(const std::string& label, const Space& instance, std::int64_t rows, const Row& row,
                  const TeamParts::Places& places, const Last& last) {
  const int teams = teams_of(rows, team_threads, most_teams());
  Kokkos::parallel_for(label, policy_of_teams(instance, teams, team_threads),
                       RowsOfTeams<count, Row, Last>{row, rows, places, last});
}

} // namespace detail

/// Local; waits for nothing. Calls row(i) for the rows from 0 on; what it returns is lost. Where a row has scalars(),
/// what that returns comes as a second argument; it is called before any row that gets it.
template <class Row>
void for_rows(const std::string& label, const Space& instance, std::int64_t rows, const Row& row) {
  if constexpr (device::kernels_on_host) {
    const auto chunks = (rows + detail::chunk_rows - 1) / detail::chunk_rows;
    miniapp::compute("cg/vectors", rows, rows, [&] {
      Kokkos::parallel_for(label, Policy(instance, 0, chunks), detail::ChunksOfRows<Row>{row, rows});
    });
  } else {
    const Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>, ManyThreads> policy(instance, 0, rows);
    Kokkos::parallel_for(label, by_value_at_launch(policy), detail::EachRow<Row>{row});
  }
}

/// Local; waits for nothing. The same, and then last(PartialSums<0>) by one thread, which may write what scalars() has
/// read.
template <class Row, class Last>
void for_rows_then(const std::string& label, const Space& instance, std::int64_t rows, const Row& row,
                   const TeamParts& parts, const Last& last) {
  if constexpr (device::kernels_on_host) {
    for_rows(label, instance, rows, row);
    last(PartialSums<0>());
  } else {
    detail::launch_teams<0>(label, instance, rows, row, parts.places(), last);
  }
}

/// Local; waits for nothing. Calls row(i), which returns PartialSums<count>, for the rows from 0 on, and then
/// last(PartialSums<count>) by one thread, with the sums of what it returned, such as StoreTo. row() may write what
/// belongs to its row, last() what scalars() has read. The order of additions depends on the number of rows and of
/// threads alone.
template <int count, class Row, class Last>
void for_rows_with_sums(const std::string& label, const Space& instance, std::int64_t rows, const Row& row,
                        const TeamParts& parts, const Last& last) {
  if constexpr (device::kernels_on_host) {
    const auto chunks = (rows + detail::chunk_rows - 1) / detail::chunk_rows;
    PartialSums<count> sums;
    miniapp::compute("cg/vectors", rows, rows, [&] {
      Kokkos::parallel_reduce(label, Policy(instance, 0, chunks), detail::InLanes<count, Row>{row, rows},
                              Kokkos::Sum<PartialSums<count>>(sums));
    });
    last(sums);
  } else {
    detail::launch_teams<count>(label, instance, rows, row, parts.places(), last);
  }
}

/// What for_rows_then() and for_rows_with_sums() need, of so many sums at most; nothing on a host.
inline TeamParts parts_of_rows(int sums) {
  return device::kernels_on_host ? TeamParts() : TeamParts(sums, detail::most_teams());
}

} // namespace kontor::stepping
