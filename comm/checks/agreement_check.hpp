// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

#include <cstdint>
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
/// the communicator is then of no more use. MPI_Iallreduce of three numbers on checking_calls(), and more only where
/// something is wrong.
void check_agreement(const Communicator&, const CollectiveCall&);

namespace detail {

/// Local. Whether another rank has come to a call and given up waiting for the others.
bool another_rank_timed_out(const Communicator&);

/// Where this rank gives up on the call of that number, or another one has. Tells the other ranks that this one has
/// come, listens for a while who else has, and says in words who came and who did not.
std::string who_is_missing(const Communicator&, std::int64_t number);

} // namespace detail
} // namespace kontor::comm
