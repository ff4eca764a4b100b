// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every rank tells every other one a hash of what it is about to do. Only where those differ do two ranks
// send their words as well, and only where some rank does not come do the others tell each other that they
// have: a call that is right costs one small MPI_Ialltoall.
#include "checked.hpp"
#include "missing_ranks.hpp"
#include "support/deadline.hpp"

#include <kontor/comm/backend/mpi_check.hpp>
#include <kontor/comm/detail/agreement_check.hpp>
#include <kontor/comm/detail/communicator_internals.hpp>
#include <kontor/comm/detail/timeout.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace kontor::comm {

using mpi::check;

namespace {

/// Checks of several calls may be under way at once.
int words_tag(std::int64_t number) {
  return 2 + static_cast<int>(number % 16384);
}

/// FNV-1a
std::uint64_t hash_of(const CollectiveCall& call, std::int64_t number) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&](std::string_view text) {
    for (const unsigned char c : text) hash = (hash ^ c) * 0x100000001b3u;
    hash = (hash ^ 0xff) * 0x100000001b3u; // no text has this byte
  };
  add(std::to_string(number));
  add(call.operation);
  for (const auto& field : call.fields) add(field);
  return hash;
}

} // namespace

std::string to_string(const CollectiveCall& call) {
  auto text = call.operation;
  if (!call.subject.empty()) text += " of " + call.subject;
  for (const auto& field : call.fields) text += ", " + field;
  return text;
}

struct AgreementCheck::Records {
  /// What one rank tells another.
  struct Record {
    std::uint64_t hash = 0;
    std::int64_t has_problem = 0;
    std::int64_t sends = 0;
    std::int64_t expects = 0;
  };
  std::vector<Record> mine;
  std::vector<Record> theirs;
  MPI_Request request = MPI_REQUEST_NULL;
  std::optional<mpi::Deadline> deadline{};
};

AgreementCheck::AgreementCheck(const Communicator& comm, CollectiveCall call)
    : comm_(comm.share()), call_(std::move(call)), records_(std::make_shared<Records>()) {
  const auto count_of = [](const std::vector<std::int64_t>& counts, int r) {
    return counts.empty() ? std::int64_t{0} : counts[r];
  };
  auto& [mine, theirs, request, deadline] = *records_;
  number_ = detail::internals(comm).number_call();
  const auto hash = hash_of(call_, number_);
  for (int r = 0; r < comm.size(); ++r)
    mine.push_back({hash, call_.problem ? 1 : 0, count_of(call_.sends, r), count_of(call_.expects, r)});
  theirs.resize(mine.size());
  check(MPI_Ialltoall(mine.data(), sizeof(Records::Record), MPI_BYTE, theirs.data(), sizeof(Records::Record),
                      MPI_BYTE, detail::internals(comm).checking_calls(), &request),
        "MPI_Ialltoall");
}

AgreementCheck::~AgreementCheck() {
  if (records_ && records_->request != MPI_REQUEST_NULL)
    detail::internals(comm_).adopt(records_->request, records_);
}

bool AgreementCheck::test() {
  auto& deadline = records_->deadline;
  if (!deadline) deadline.emplace(comm_.options().timeout);
  detail::internals(comm_).checks()->progress();
  int all_came = 0;
  check(MPI_Test(&records_->request, &all_came, MPI_STATUS_IGNORE), "MPI_Test");
  if (detail::another_rank_timed_out(comm_) || (!all_came && deadline->passed())) give_up();
  if (all_came) compare_calls();
  return all_came != 0;
}

void AgreementCheck::give_up() const {
  detail::internals(comm_).abandon();
  throw Error(fmt::format("{}: {}", to_string(call_), detail::who_is_missing(comm_, number_)));
}

std::optional<std::string> AgreementCheck::finish() {
  constexpr double any_time = 0; // test() ends it
  mpi::Deadline(any_time).wait([&] { return test(); });
  return compare_counts();
}

/// The outcome is the same on all ranks, because all of them have the same records.
void AgreementCheck::compare_calls() const {
  const auto& theirs = records_->theirs;
  const auto with_problem =
      std::find_if(theirs.begin(), theirs.end(), [](const auto& r) { return r.has_problem != 0; });
  if (with_problem != theirs.end()) {
    const auto rank = static_cast<int>(with_problem - theirs.begin());
    const auto problem =
        fmt::format("on rank {}: {}: {}", rank, to_string(call_), call_.problem.value_or(""));
    throw UsageError(said_by(rank, problem));
  }
  const auto other = std::find_if(theirs.begin(), theirs.end(),
                                  [&](const auto& r) { return r.hash != theirs.front().hash; });
  if (other == theirs.end()) return;
  const auto rank = static_cast<int>(other - theirs.begin());
  const auto first = said_by(0, to_string(call_));
  const auto second = said_by(rank, to_string(call_));
  throw AgreedError(fmt::format("rank 0 calls {}, but rank {} calls {}", first, rank, second));
}

std::optional<std::string> AgreementCheck::compare_counts() const {
  const auto& [mine, theirs, request, deadline] = *records_;
  const auto differ = [&](int from, std::int64_t sent, int to, std::int64_t expected) {
    return fmt::format("rank {} sends {} elements to rank {}, which expects {}", from, sent, to, expected);
  };
  const int me = comm_.rank();
  for (int r = 0; r < comm_.size(); ++r) {
    if (theirs[r].sends != mine[r].expects) return differ(r, theirs[r].sends, me, mine[r].expects);
    if (theirs[r].expects != mine[r].sends) return differ(me, mine[r].sends, r, theirs[r].expects);
  }
  return std::nullopt;
}

std::string AgreementCheck::said_by(int speaker, const std::string& words) const {
  const auto text = std::make_shared<std::array<char, 1024>>();
  const auto length = static_cast<int>(text->size());
  const int tag = words_tag(number_);
  if (speaker == comm_.rank()) {
    words.copy(text->data(), text->size() - 1);
    for (int r = 0; r < comm_.size(); ++r) {
      if (r == speaker) continue;
      MPI_Request request = MPI_REQUEST_NULL;
      check(MPI_Isend(text->data(), length, MPI_CHAR, r, tag, detail::internals(comm_).checking_calls(),
                      &request),
            "MPI_Isend");
      detail::internals(comm_).adopt(request, text);
    }
  } else {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Irecv(text->data(), length, MPI_CHAR, speaker, tag, detail::internals(comm_).checking_calls(),
                    &request),
          "MPI_Irecv");
    if (!mpi::wait_at_most(request, comm_.options().timeout)) {
      detail::internals(comm_).adopt(request, text);
      return "something of which it has not told";
    }
  }
  return text->data();
}

void check_agreement(const Communicator& comm, const CollectiveCall& call) {
  if (detail::internals(comm).checking_calls() == MPI_COMM_NULL) return;
  auto mismatch = AgreementCheck(comm, call).finish();
  if (call.sends.empty()) return;
  CollectiveCall verdict{call.operation};
  verdict.problem = std::move(mismatch);
  try {
    AgreementCheck(comm, std::move(verdict)).finish();
  } catch (const UsageError& error) {
    throw AgreedError(error.what());
  }
}

} // namespace kontor::comm
