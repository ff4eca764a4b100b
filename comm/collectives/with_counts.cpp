// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "collectives/perform.hpp"

#include <kontor/comm/with_counts.hpp>

#include <fmt/format.h>

#include <numeric>

namespace kontor::comm {

std::int64_t Counts::total() const { return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0}); }

std::vector<std::int64_t> Counts::offsets() const {
  std::vector<std::int64_t> offsets(size() + 1, 0);
  std::inclusive_scan(counts_.begin(), counts_.end(), offsets.begin() + 1);
  return offsets;
}

} // namespace kontor::comm

namespace kontor::comm::detail {
namespace {

/// A number for each rank where a rank has those of all, else one.
using Numbers = Kokkos::View<std::int64_t*, Kokkos::HostSpace>;

Numbers make_numbers(std::size_t size) {
  return Numbers(Kokkos::view_alloc(std::string("comm/counts"), Kokkos::WithoutInitializing), size);
}

} // namespace

Counts WithCounts::learn(const Communicator& comm, std::size_t size, const std::string& label) const {
  const bool at_root = comm.rank() == root;
  const bool has_all = numbers.flow == Flow::among_all || at_root;
  const auto told = make_numbers(has_all ? static_cast<std::size_t>(comm.size()) : 1);
  for (std::size_t r = 0; r < told.size(); ++r) told(r) = given && has_all ? (*given)[r] : 0;
  if (!given) told(has_all ? comm.rank() : 0) = static_cast<std::int64_t>(size);

  Problem problem;
  if (given && has_all && cached(comm).check != CheckLevel::off)
    problem = counts_problem(comm, *given, fmt::format("View '{}'", label), static_cast<std::int64_t>(size));
  if (problem) problem = fmt::format("{}_with_counts: {}", data.blocking, *problem);
  const Collective telling{.kind = numbers, .root = root, .problem = &problem};
  auto found = told;
  if (given && numbers.flow == Flow::among_all) {
    found = make_numbers(told.size()); // an all-to-all in place takes MPI longer
    call<false>(On<>(comm), telling, told, found);
  } else {
    call<false>(On<>(comm), telling, told);
  }
  if (numbers.flow == Flow::among_all) return found;
  if (numbers.flow == Flow::from_root) return {found(at_root ? root : 0)};
  return at_root ? Counts(found) : Counts();
}

} // namespace kontor::comm::detail
