// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/problem/distribute.hpp"

#include "cg/memory.hpp"
#include "cg/problem/arriving_rows.hpp"
#include "cg/problem/chunked_scatter.hpp"

#include <kontor/comm/gather.hpp>

#include <fmt/format.h>

#include <limits>
#include <optional>

namespace kontor::cg {
namespace {

Sizes scatter_sizes(const comm::Communicator& comm, const WholeSystem& whole) {
  std::vector<Sizes> all;
  for (std::size_t r = 0; r < whole.plan.interior.size(); ++r)
    all.push_back({whole.matrix.rows, whole.plan.first[r + 1] - whole.plan.first[r], whole.plan.interior[r],
                   whole.plan.entries[r]});
  std::vector<Sizes> mine(1);
  comm::scatter(comm, view_of(all), view_of(mine), 0);
  return mine.front();
}

void require_room(const comm::Communicator& comm, const Sizes& sizes, const SolverOptions& solver) {
  std::optional<std::string> problem;
  constexpr std::int64_t most = std::numeric_limits<LocalIndex>::max();
  if (sizes.own > most)
    problem = fmt::format("rank {} would have {} rows; the most is {}: use more ranks [E-DECK-RANKS]", comm.rank(),
                          sizes.own, most);
  comm.agree(problem);
  const PartSize part{.rows = static_cast<double>(sizes.own), .entries = static_cast<double>(sizes.entries)};
  miniapp::require_memory(comm, views_of_rank(solver, part));
}

template <class Put>
void send_rows(const WholeSystem& whole, const Put& put) {
  const auto& plan = whole.plan;
  const auto value = [](const std::vector<double>& values, std::size_t row) {
    return values.empty() ? 0 : values[row];
  };
  for (const auto number : plan.rows) {
    const auto row = static_cast<std::size_t>(number);
    put(plan.owner[row], SentRow{number, plan.lengths[row], value(whole.rhs, row), value(whole.initial, row)});
  }
}

template <class Put>
void send_entries(const WholeSystem& whole, const Put& put) {
  const auto& plan = whole.plan;
  std::vector<LocalIndex> local(plan.rows.size());
  for (int rank = 0; rank < plan.ranks(); ++rank)
    for (auto i = plan.first[static_cast<std::size_t>(rank)]; i < plan.first[static_cast<std::size_t>(rank) + 1]; ++i)
      local[static_cast<std::size_t>(plan.rows[static_cast<std::size_t>(i)])] =
          static_cast<LocalIndex>(i - plan.first[static_cast<std::size_t>(rank)]);
  for_each_entry(whole.matrix, [&](std::int64_t r, std::int64_t c, double value) {
    const auto row = static_cast<std::size_t>(r), column = static_cast<std::size_t>(c);
    const int to = plan.owner[row], owner = plan.owner[column];
    put(to, SentEntry{to == owner ? local[column] : c, value, local[row], owner});
  });
}

} // namespace

LinearSystem distribute(const comm::Communicator& comm, WholeSystem whole, RhsKind rhs, const SolverOptions& solver) {
  const auto sizes = scatter_sizes(comm, whole);
  require_room(comm, sizes, solver);
  ArrivingRows arriving(sizes, rhs);

  scatter_in_chunks<SentRow>(
      comm, sizes.own, [&](const auto& put) { send_rows(whole, put); }, [&](const SentRow& row) { arriving.add(row); });
  scatter_in_chunks<SentEntry>(
      comm, sizes.entries, [&](const auto& put) { send_entries(whole, put); },
      [&](const SentEntry& entry) { arriving.add(entry, comm.rank()); });
  whole = {};
  return arriving.finish(comm);
}

} // namespace kontor::cg
