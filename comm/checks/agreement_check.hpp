// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/device/noncopyable.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Check level `cross_rank` of what all ranks do together: that they do the same.
namespace kontor::comm {

/// A call that all ranks of a communicator make, in words: "bcast of View 'a', (4) double, from root 0".
struct CollectiveCall {
  std::string operation;             ///< equal on all ranks: "bcast"
  std::string subject{};             ///< may differ from rank to rank: "View 'a'"
  std::vector<std::string> fields{}; ///< equal on all ranks: "(4) double", "from root 0"
  /// What this rank has found wrong by itself.
  std::optional<std::string> problem{};
  std::vector<std::int64_t> sends{};   ///< elements for each rank; empty where there is nothing to compare
  std::vector<std::int64_t> expects{}; ///< elements from each rank; empty like `sends`
};

/// "bcast of View 'a', (4) double, root 0"
std::string to_string(const CollectiveCall&);

/// Collective; does nothing below check level `cross_rank`. Compares what the ranks are about to do. Throws on every
/// rank UsageError if one of them has a problem, and AgreedError, naming two ranks that differ, unless all make the
/// same call. Throws Error on the ranks that came, naming those that did not, if not all come within Options::timeout;
/// the communicator is then of no more use. MPI_Iallreduce of three numbers on checking_calls(), and messages between
/// all ranks only where something is wrong.
void check_agreement(const Communicator&, const CollectiveCall&);

/// The same in two steps, for calls that may not wait.
class AgreementCheck : device::NonCopyable {
 public:
  /// Collective, without waiting. Only at check level `cross_rank`.
  AgreementCheck(const Communicator&, CollectiveCall);
  ~AgreementCheck();

  /// Local. Whether all ranks have come. Throws as check_agreement() does; the timeout counts from the first call.
  bool test();

  /// Waits for all ranks and throws as check_agreement() does. Returns which two ranks differ in how many elements
  /// travel between them, in the same words on all ranks, if some do.
  std::optional<std::string> finish();

 private:
  struct Records;
  /// Throws Error: says who came and who did not.
  [[noreturn]] void fail_timeout() const;
  bool counts_differ() const;
  void tell_records();
  void compare_calls() const;
  std::optional<std::string> compare_counts() const;
  /// Collective. The texts of all ranks.
  std::vector<std::string> texts_of_all(const std::string& mine) const;

  Communicator comm_;
  CollectiveCall call_;
  std::int64_t number_ = 0;
  bool compared_ = false;
  std::shared_ptr<Records> records_; // outlives this as long as MPI writes into it
};

} // namespace kontor::comm
