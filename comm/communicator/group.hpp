// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/backend_set.hpp"
#include "communicator/handle_cache.hpp"

#include <kontor/comm/communicator/internals.hpp>
#include <kontor/comm/views/pinned_pool.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace kontor::comm::detail {

/// Collective over `parent`. It reports errors instead of aborting.
MPI_Comm duplicate(MPI_Comm parent);

/// The checks of messages at level `cross_rank`; made in checks/, which lies above.
std::shared_ptr<Checks> make_checks(MPI_Comm messages, MPI_Comm answers, int rank, double timeout);

/// What the handles to a communicator share.
struct Group final : Internals {
  Group() = default;
  /// Collective. After an error the other ranks may be gone: then nothing is waited for, and MPI keeps what
  /// is left.
  ~Group();

  /// Collective. Takes charge of the communicator.
  void open(MPI_Comm owned, const Options&);

  /// An operation that goes on without its owner, and what must outlive it.
  struct Adopted {
    MPI_Request request;
    std::shared_ptr<void> keep;
  };
  /// Under the lock. Frees what MPI is done with.
  void sweep();

  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm exchanges = MPI_COMM_NULL; ///< of plans: a message must not land in one
  MPI_Comm checked_messages = MPI_COMM_NULL;
  MPI_Comm checked_calls = MPI_COMM_NULL;
  std::int64_t calls = 0;
  Options options;
  std::shared_ptr<bool> unsafe_to_free;
  std::vector<Method> all_methods;                ///< whatever the memory, without their backends
  std::array<std::vector<Method>, 2> methods_for; ///< Views in host and in device memory
  std::optional<BackendSet> backends;
  std::shared_ptr<Backend> first_backend; ///< of the first method
  std::shared_ptr<Checks> message_checks;
  int rank = 0;
  int size = 1;
  int tag_limit = 32767;
  int next_tag = 0;
  int sparse_exchanges = 0;
  std::vector<int> dims;
  std::vector<int> coordinates;
  std::vector<bool> periodic;
  std::mutex adopting;
  std::vector<Adopted> adopted;
  PinnedPool pool; ///< for Views in device memory that MPI is not handed
  mpi::HandleCache handles;
};

} // namespace kontor::comm::detail
