// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ranks sum up hashes of what they are about to do: a call that is right costs one MPI_Iallreduce of three numbers.
// Only where the sums say that something is wrong do they agree on the lowest rank's words: all of them have come then.
// Only where some rank does not come do the others tell each other that they have.
#include "checks/agreement_check.hpp"

#include "base/agree.hpp"
#include "base/deadline.hpp"
#include "checks/checked.hpp"
#include "communicator/internals.hpp"

#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

namespace kontor::comm {
namespace {

using mpi::check;

/// What is summed over the ranks; numbers that grow too large begin again at 0.
struct Sums {
  std::uint64_t hash = 0;     ///< of the call: if all are equal, the sum is so many times this rank's
  std::uint64_t problems = 0; ///< how many ranks have one
  std::uint64_t counts = 0;   ///< what is sent minus what is expected: 0 if they are equal for all pairs
};

/// FNV-1a
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const unsigned char c : text) hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

/// What must be equal on all ranks.
std::string key_of(const CollectiveCall& call, std::int64_t number) {
  auto key = fmt::format("{}\xff{}", number, call.operation); // no text has this byte
  for (const auto& field : call.fields) key += '\xff' + field;
  return key;
}

std::int64_t count_of(const std::vector<std::int64_t>& counts, int rank) {
  return counts.empty() ? 0 : counts[static_cast<std::size_t>(rank)];
}

/// Of elements that travel between two ranks.
std::uint64_t hash_of(int from, int to, std::int64_t count) {
  if (count == 0) return 0; // the same as not to speak of it
  return hash_of(fmt::format("{} {} {}", from, to, count));
}

Sums sums_of(const CollectiveCall& call, const std::string& key, int rank, int size) {
  Sums sums{hash_of(key), call.problem ? 1u : 0u};
  if (call.sends.empty() && call.expects.empty()) return sums;
  for (int r = 0; r < size; ++r)
    sums.counts += hash_of(rank, r, count_of(call.sends, r)) - hash_of(r, rank, count_of(call.expects, r));
  return sums;
}

/// The sums of all ranks. Throws Error at the timeout.
Sums over_ranks(const Communicator& comm, const CollectiveCall& call, std::int64_t number, const Sums& mine) {
  auto& internals = detail::internals(comm);
  const auto sums = std::make_shared<std::array<Sums, 2>>(std::array{mine, Sums()}); // as long as MPI writes there
  static_assert(sizeof(Sums) == 3 * sizeof(std::uint64_t));
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallreduce(&sums->front(), &sums->back(), 3, MPI_UINT64_T, MPI_SUM, internals.checking_calls(), &request),
        "MPI_Iallreduce");
  bool others_gave_up = false;
  const auto all_came = [&] {
    internals.checks()->progress();
    const bool came = mpi::test(request);
    others_gave_up = detail::another_rank_timed_out(comm);
    return came || others_gave_up;
  };
  if (mpi::Deadline(comm.options().timeout).wait(all_came) && !others_gave_up) return sums->back();
  if (request != MPI_REQUEST_NULL) internals.detach(request, sums);
  internals.leak_at_end();
  throw Error(fmt::format("{}: {}", to_string(call), detail::who_is_missing(comm, number)), "E-COMM-TIMEOUT");
}

/// Collective. Which two ranks differ in how many elements travel between them, as far as this rank sees it.
std::optional<std::string> count_mismatch(const Communicator& comm, const CollectiveCall& call) {
  struct Pair {
    std::int64_t sends, expects;
  };
  const int me = comm.rank();
  std::vector<Pair> mine, theirs(static_cast<std::size_t>(comm.size()));
  for (int r = 0; r < comm.size(); ++r) mine.push_back(Pair{count_of(call.sends, r), count_of(call.expects, r)});
  check(MPI_Alltoall(mine.data(), 2, MPI_INT64_T, theirs.data(), 2, MPI_INT64_T,
                     detail::internals(comm).checking_calls()),
        "MPI_Alltoall");
  constexpr const char* words = "{}: rank {} sends {} elements to rank {}, which expects {}";
  for (int r = 0; r < comm.size(); ++r) {
    if (mine[r].sends != theirs[r].expects)
      return fmt::format(words, call.operation, me, mine[r].sends, r, theirs[r].expects);
    if (theirs[r].sends != mine[r].expects)
      return fmt::format(words, call.operation, r, theirs[r].sends, me, mine[r].expects);
  }
  return std::nullopt;
}

} // namespace

std::string to_string(const CollectiveCall& call) {
  auto text = call.operation;
  if (!call.subject.empty()) text += " of " + call.subject;
  for (const auto& field : call.fields) text += ", " + field;
  return text;
}

void check_agreement(const Communicator& comm, const CollectiveCall& call) {
  auto& internals = detail::internals(comm);
  const auto ranks = internals.checking_calls();
  if (ranks == MPI_COMM_NULL) return;
  const auto number = internals.number_call();
  const auto key = key_of(call, number);
  const auto mine = sums_of(call, key, comm.rank(), comm.size());
  const auto all = over_ranks(comm, call, number, mine);
  std::optional<std::string> wrong;
  if (all.problems != 0) {
    if (call.problem) wrong = fmt::format("on rank {}: {}: {}", comm.rank(), to_string(call), *call.problem);
    throw UsageError(mpi::first_problem(ranks, wrong).value());
  }
  if (all.hash != mine.hash * static_cast<std::uint64_t>(comm.size()))
    wrong = mpi::difference(ranks, key, "calls", to_string(call));
  else if (all.counts != 0)
    wrong = count_mismatch(comm, call);
  else
    return;
  throw AgreedError(mpi::first_problem(ranks, wrong).value());
}

} // namespace kontor::comm
