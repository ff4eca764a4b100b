// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "calls/perform.hpp"

#include <kontor/comm/with_counts.hpp>

#include <fmt/format.h>

namespace kontor::comm::detail {
namespace {

Numbers make_numbers(std::size_t size) {
  return Numbers(Kokkos::view_alloc(std::string("comm/counts"), Kokkos::WithoutInitializing), size);
}

} // namespace

Problem WithCounts::problem(const Communicator& comm, std::size_t size, const std::string& label) const {
  const bool gives_all = numbers.flow == Flow::among_all || comm.rank() == root;
  if (!given || !gives_all || internals(comm).cached().check == CheckLevel::off) return std::nullopt;
  const auto wrong = counts_problem(comm, *given, fmt::format("View '{}'", label), static_cast<std::int64_t>(size));
  if (!wrong) return std::nullopt;
  return fmt::format("{}_with_counts: {}", data.blocking, *wrong);
}

Numbers WithCounts::to_tell(const Communicator& comm, std::size_t size) const {
  const bool has_all = numbers.flow == Flow::among_all || comm.rank() == root;
  const auto told = make_numbers(has_all ? static_cast<std::size_t>(comm.size()) : 1);
  for (std::size_t r = 0; r < told.size(); ++r) told(r) = given && has_all ? (*given)[r] : 0;
  if (!given) told(has_all ? comm.rank() : 0) = static_cast<std::int64_t>(size);
  return told;
}

Counts WithCounts::learn(const Communicator& comm, std::size_t size, const std::string& label) const {
  const auto told = to_tell(comm, size);
  const auto wrong = problem(comm, size, label);
  if (!given || numbers.flow == Flow::from_root) {
    run(On<>(comm), of_numbers(wrong), told);
    return learned(comm, told);
  }
  const auto received = make_numbers(told.size()); // an all-to-all in place takes MPI longer
  run(On<>(comm), of_numbers(wrong), told, received);
  return learned(comm, received);
}

Counts WithCounts::learned(const Communicator& comm, const Numbers& found) const {
  if (numbers.flow == Flow::among_all) return found;
  const bool at_root = comm.rank() == root;
  if (numbers.flow == Flow::from_root) return {found(at_root ? root : 0)};
  return at_root ? Counts(found) : Counts();
}

} // namespace kontor::comm::detail
