// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend/method.hpp>
#include <kontor/comm/communicator.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/comm/views/pinned_pool.hpp>
#include <kontor/device/noncopyable.hpp>

#include <mpi.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

/// What the layer itself needs of a communicator, and its users do not.
namespace kontor::comm::detail {

class Checks;

/// Collective over `parent`. It reports errors instead of aborting.
MPI_Comm duplicate(MPI_Comm parent);

/// The checks of messages at level `cross_rank`; made in checks/, which lies above.
std::shared_ptr<Checks> make_checks(MPI_Comm messages, MPI_Comm answers, double timeout);

/// Where messages of the layer's own travel.
struct Channel {
  MPI_Comm comm;
  int tag;
};

/// What the handles to a communicator share.
class Internals final : public CachedProperties, device::NonCopyable {
 public:
  Internals();
  /// Collective. After an error the other ranks may be gone: then nothing is waited for, and MPI keeps what is left.
  ~Internals();

  /// Collective. Takes charge of the communicator.
  void open(MPI_Comm owned, const Options&);

  /// The backend of the one-shot calls and of reductions: that of the options or, where they leave the choice to each
  /// exchange, the first of the registry that moves data.
  Backend& backend() const { return *first_backend_; }
  /// Collective where it is the first call for this memory. The methods that an exchange of Views in it can use: one
  /// where the options leave nothing open. Throws UsageError on every rank if there is none.
  const std::vector<Method>& methods(MemoryKind);

  /// The message tags that plans have. Equal on all ranks.
  int most_tags() const;
  /// Local, in the same order on all ranks: the first of `count` message tags, most_tags() at most, that no plan uses.
  int reserve_tags(int count);
  /// Local, in the same order on all ranks: where the next sparse exchange takes place. The one before has another tag.
  Channel next_sparse_channel();

  /// Local; any thread. MPI's type of one element, made when first used where MPI has none of its own. Lasts as long as
  /// the communicator.
  MPI_Datatype element_type(Scalar);
  /// Local; any thread. MPI's operation for a reduction's functor, made when first used. Lasts like the communicator.
  MPI_Op operation(MPI_User_function*, bool commutative);

  /// What checks of level `cross_rank` of what all ranks do together talk over; MPI_COMM_NULL at the other levels.
  MPI_Comm checking_calls() const { return checked_calls_; }
  /// Local, in the same order on all ranks: 1, 2, 3 ...
  std::int64_t number_call() { return ++calls_; }
  /// The messages that are checked at level `cross_rank`; null at the other levels.
  Checks* checks() const { return checks_.get(); }

  /// Local; any thread. The operation goes on without its owner. What MPI may use, `memory` and `more`, lives until it
  /// is complete, at the latest when the communicator ends.
  void detach(MPI_Request request, std::shared_ptr<void> memory, std::shared_ptr<void> more = nullptr);
  /// Local. Whether this rank may wait for the others where they end something together: no exception is passing, no
  /// error has left messages behind, and MPI has not ended.
  bool ends_together() const;
  /// Local. Other ranks may be gone, because a wait has timed out: when the communicator ends it waits for nothing, and
  /// leaks what is under way, memory included.
  void leak_at_end() { *unsafe_to_free_ = true; }

 private:
  friend class comm::Communicator;

  /// An operation that goes on without its owner, and what must outlive it.
  struct Detached {
    MPI_Request request;
    std::shared_ptr<void> memory;
    std::shared_ptr<void> more;
  };
  /// Under the lock. Frees what MPI is done with.
  void sweep();

  MPI_Comm exchanges_ = MPI_COMM_NULL; ///< of plans: a message must not land in one
  MPI_Comm checked_messages_ = MPI_COMM_NULL;
  MPI_Comm checked_calls_ = MPI_COMM_NULL;
  std::int64_t calls_ = 0;
  Options options_;
  std::shared_ptr<bool> unsafe_to_free_;
  std::vector<Method> all_methods_;                ///< whatever the memory, without their backends
  std::array<std::vector<Method>, 2> methods_for_; ///< Views in host and in device memory
  std::unique_ptr<BackendSet> backends_;
  std::shared_ptr<Backend> first_backend_; ///< of the first method
  std::shared_ptr<Checks> checks_;
  int rank_ = 0;
  int next_tag_ = 0;
  int sparse_exchanges_ = 0;
  std::vector<int> dims_;
  std::vector<int> coordinates_;
  std::vector<bool> periodic_;
  std::mutex detaching_;
  std::vector<Detached> detached_;
  PinnedPool pool_;   ///< for Views in device memory that MPI is not handed
  std::mutex making_; ///< of the handles below, which calls still under way may use
  std::map<std::pair<MPI_User_function*, bool>, MPI_Op> operations_;
  std::map<std::uint32_t, MPI_Datatype> byte_types_; ///< by size
};

/// Local. Throws CallError if the communicator was moved from.
inline Internals& internals(const Communicator& comm) { return static_cast<Internals&>(cached(comm)); }

} // namespace kontor::comm::detail
