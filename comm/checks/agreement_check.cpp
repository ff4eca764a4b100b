// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ranks sum up hashes of what they are about to do: a call that is right costs one MPI_Iallreduce of three numbers.
// Only where the sums say that something is wrong does every rank tell every other one what it does, by numbers and
// then in words. Only where some rank does not come do the others tell each other that they have.
#include "checks/agreement_check.hpp"

#include "base/deadline.hpp"
#include "checks/all_ranks.hpp"
#include "checks/checked.hpp"
#include "communicator/internals.hpp"

#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

namespace kontor::comm {

using mpi::check;

namespace agreement {

/// What one rank tells another, where something is wrong.
struct Record {
  std::uint64_t hash = 0;
  std::int64_t has_problem = 0;
  std::int64_t sends = 0;
  std::int64_t expects = 0;
};

/// What is summed over the ranks; numbers that grow too large begin again at 0.
struct Sums {
  std::uint64_t hash = 0;     ///< of the call: if all are equal, the sum is so many times this rank's
  std::uint64_t problems = 0; ///< how many ranks have one
  std::uint64_t counts = 0;   ///< what is sent minus what is expected: 0 if they are equal for all pairs
};

} // namespace agreement

namespace {

using agreement::Record;
using agreement::Sums;

/// Texts, as they travel.
using Text = std::array<char, 1024>;

/// Checks of several calls may be under way at once.
constexpr int tags = 8192;
int text_tag(std::int64_t number) { return 2 + static_cast<int>(number % tags); }
int record_tag(std::int64_t number) { return text_tag(number) + tags; }

/// FNV-1a
class Hash {
 public:
  void add(std::string_view text) {
    for (const unsigned char c : text) value_ = (value_ ^ c) * 0x100000001b3u;
    value_ = (value_ ^ 0xff) * 0x100000001b3u; // no text has this byte
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

std::uint64_t hash_of(const CollectiveCall& call, std::int64_t number) {
  Hash hash;
  hash.add(std::to_string(number));
  hash.add(call.operation);
  for (const auto& field : call.fields) hash.add(field);
  return hash.value();
}

/// Of elements that travel between two ranks.
std::uint64_t hash_of(int from, int to, std::int64_t count) {
  if (count == 0) return 0; // the same as not to speak of it
  Hash hash;
  hash.add(fmt::format("{} {} {}", from, to, count));
  return hash.value();
}

std::int64_t count_of(const std::vector<std::int64_t>& counts, int rank) {
  return counts.empty() ? 0 : counts[static_cast<std::size_t>(rank)];
}

Sums sums_of(const CollectiveCall& call, std::int64_t number, int rank, int size) {
  Sums sums{hash_of(call, number), call.problem ? 1u : 0u};
  if (call.sends.empty() && call.expects.empty()) return sums;
  for (int r = 0; r < size; ++r)
    sums.counts += hash_of(rank, r, count_of(call.sends, r)) - hash_of(r, rank, count_of(call.expects, r));
  return sums;
}

} // namespace

std::string to_string(const CollectiveCall& call) {
  auto text = call.operation;
  if (!call.subject.empty()) text += " of " + call.subject;
  for (const auto& field : call.fields) text += ", " + field;
  return text;
}

struct AgreementCheck::Records {
  agreement::Sums mine{};
  agreement::Sums all{};
  MPI_Request request = MPI_REQUEST_NULL;
  std::optional<mpi::Deadline> deadline{};
  std::vector<agreement::Record> own{};    ///< for each rank; these only where something is wrong
  std::vector<agreement::Record> theirs{}; ///< of each rank
};

AgreementCheck::AgreementCheck(const Communicator& comm, CollectiveCall call)
    : comm_(comm.share()), call_(std::move(call)), records_(std::make_shared<Records>()) {
  number_ = detail::internals(comm).number_call();
  records_->mine = sums_of(call_, number_, comm.rank(), comm.size());
  static_assert(sizeof(Sums) == 3 * sizeof(std::uint64_t));
  check(MPI_Iallreduce(&records_->mine, &records_->all, 3, MPI_UINT64_T, MPI_SUM,
                       detail::internals(comm).checking_calls(), &records_->request),
        "MPI_Iallreduce");
}

AgreementCheck::~AgreementCheck() {
  if (records_->request != MPI_REQUEST_NULL) detail::internals(comm_).detach(records_->request, records_);
}

bool AgreementCheck::test() {
  if (compared_) return true;
  auto& [mine, all, request, deadline, own, theirs] = *records_;
  if (!deadline) deadline.emplace(comm_.options().timeout);
  detail::internals(comm_).checks()->progress();
  const bool all_came = mpi::test(request);
  if (detail::another_rank_timed_out(comm_) || (!all_came && deadline->passed())) fail_timeout();
  if (!all_came) return false;
  const bool differ = all.hash != mine.hash * static_cast<std::uint64_t>(comm_.size());
  if (differ || all.problems != 0 || counts_differ()) tell_records();
  if (differ || all.problems != 0) compare_calls();
  compared_ = true;
  return true;
}

bool AgreementCheck::counts_differ() const { return records_->all.counts != 0; }

/// Every rank to every other one, because all of them find the same sums.
void AgreementCheck::tell_records() {
  auto& [mine, all, request, deadline, own, theirs] = *records_;
  for (int r = 0; r < comm_.size(); ++r)
    own.push_back({mine.hash, call_.problem ? 1 : 0, count_of(call_.sends, r), count_of(call_.expects, r)});
  theirs = detail::exchange_with_all(comm_, own, record_tag(number_));
}

void AgreementCheck::fail_timeout() const {
  detail::internals(comm_).leak_at_end();
  throw Error(fmt::format("{}: {}", to_string(call_), detail::who_is_missing(comm_, number_)), "E-COMM-TIMEOUT");
}

std::optional<std::string> AgreementCheck::finish() {
  constexpr double any_time = 0; // test() ends it
  mpi::Deadline(any_time).wait([&] { return test(); });
  return counts_differ() ? compare_counts() : std::nullopt;
}

/// The outcome is the same on all ranks, because all of them have the same records and texts.
void AgreementCheck::compare_calls() const {
  const auto& theirs = records_->theirs;
  const auto call = to_string(call_);
  const auto texts =
      texts_of_all(call_.problem ? fmt::format("on rank {}: {}: {}", comm_.rank(), call, *call_.problem) : call);
  const auto text_of = [&](std::ptrdiff_t rank) {
    return texts[rank].empty() ? "something of which it has not told" : texts[rank];
  };
  const auto with_problem =
      std::ranges::find_if(theirs, [](const auto& r) { return r.has_problem != 0; }) - theirs.begin();
  if (with_problem < comm_.size()) throw UsageError(text_of(with_problem));
  const auto other =
      std::ranges::find_if(theirs, [&](const auto& r) { return r.hash != theirs.front().hash; }) - theirs.begin();
  if (other < comm_.size())
    throw AgreedError(fmt::format("rank 0 calls {}, but rank {} calls {}", text_of(0), other, text_of(other)));
}

/// Only the two ends of a mismatch see it. Each rank tells all others the first one that it sees; the lowest rank's
/// counts, so the outcome is the same on all ranks.
std::optional<std::string> AgreementCheck::compare_counts() const {
  const auto& mine = records_->own;
  const auto& theirs = records_->theirs;
  const int me = comm_.rank();
  std::string first;
  const auto compare = [&](int from, int to, std::int64_t sent, std::int64_t expected) {
    if (first.empty() && sent != expected)
      first = fmt::format("rank {} sends {} elements to rank {}, which expects {}", from, sent, to, expected);
  };
  for (int r = 0; r < comm_.size(); ++r) {
    compare(me, r, mine[r].sends, theirs[r].expects);
    compare(r, me, theirs[r].sends, mine[r].expects);
  }
  for (const auto& text : texts_of_all(first))
    if (!text.empty()) return text;
  return std::nullopt;
}

std::vector<std::string> AgreementCheck::texts_of_all(const std::string& mine) const {
  Text text{};
  mine.copy(text.data(), text.size() - 1);
  const auto all = detail::exchange_with_all(comm_, std::vector{text}, text_tag(number_));
  std::vector<std::string> texts;
  for (const auto& one : all) texts.emplace_back(one.data());
  return texts;
}

void check_agreement(const Communicator& comm, const CollectiveCall& call) {
  if (detail::internals(comm).checking_calls() == MPI_COMM_NULL) return;
  if (const auto mismatch = AgreementCheck(comm, call).finish())
    throw AgreedError(fmt::format("{}: {}", call.operation, *mismatch));
}

} // namespace kontor::comm
