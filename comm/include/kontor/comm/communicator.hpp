// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend.hpp>
#include <kontor/comm/detail/method.hpp>
#include <kontor/comm/error.hpp>
#include <kontor/comm/options.hpp>

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kontor::comm {

namespace detail {
class Checks;
class PinnedPool;

/// What the one-shot calls look up each time: all at once, because looking up is a call.
struct CachedProperties {
  MPI_Comm comm = MPI_COMM_NULL;
  CheckLevel check = CheckLevel::local;
  int size = 1;
  int tag_limit = 32767;
};

/// Where messages of the layer's own travel.
struct Channel {
  MPI_Comm comm;
  int tag;
};

/// What MPI may still use, although its owner is gone.
class InFlight {
 public:
  virtual ~InFlight() = default;
  /// Local. Whether MPI is done with it.
  virtual bool over() noexcept = 0;
};
} // namespace detail

/// "No neighbour there": a transfer to or from it does not take place.
inline constexpr int no_rank = -1;

/// Where a rank is asked for: whoever has sent a message.
inline constexpr int any_source = -2;

/// Local. A process grid of `ranks` ranks, as even as can be: the zeros in `dims` are filled in, its other
/// entries stay. Throws UsageError if those do not divide the ranks. MPI_Dims_create.
std::vector<int> balanced_dims(int ranks, std::vector<int> dims);

/// The ranks that exchange Views, and the backend by which they do. Has an MPI communicator of its own,
/// which reports errors instead of aborting, so Kontor's messages never meet the caller's.
/// A host handle: movable, not copyable, so capturing one in a kernel does not compile.
class Communicator {
 public:
  /// Collective over `parent`. Throws UsageError on every rank if the options differ between them, or the
  /// backend is unknown, absent or cannot do what they ask. MPI must be initialised, and should not end
  /// before this.
  explicit Communicator(MPI_Comm parent, const Options& = {});

  /// Collective over `parent`. A Cartesian communicator of 1 to 3 dimensions, ranks in row-major order as
  /// MPI has them (the last dimension varies fastest). Throws UsageError unless the product of `dims` is
  /// the number of ranks.
  Communicator(const Communicator& parent, const std::vector<int>& dims, const std::vector<bool>& periodic);

  Communicator(Communicator&&) noexcept = default;
  Communicator& operator=(Communicator&&) noexcept = default;
  ~Communicator() = default;

  /// Collective. The ranks that give the same colour, in the order of their keys and then of their ranks,
  /// with this one's options. Each rank belongs to exactly one of the new communicators. Throws AgreedError
  /// on every rank if a colour is negative. MPI_Comm_split.
  Communicator split(int colour, int key = 0) const;

  /// Collective. The same, for when some ranks are to be in none of the new communicators: they give
  /// std::nullopt and get it. MPI_Comm_split with MPI_UNDEFINED.
  std::optional<Communicator> split(std::optional<int> colour, int key = 0) const;

  /// Collective over a Cartesian communicator. The ranks that differ along the kept dimensions only, as a
  /// Cartesian communicator of those. Throws UsageError unless `keep` has one entry for each dimension and
  /// keeps one at least. MPI_Cart_sub.
  Communicator sub(const std::vector<bool>& keep) const;

  /// Collective over a process grid of 2 dimensions: the ranks with this one's first coordinate, and those
  /// with its second one.
  Communicator row() const { return sub({false, true}); }
  /// The ranks with this one's second coordinate; see row().
  Communicator column() const { return sub({true, false}); }

  /// Local. Another handle to the same communicator; the last one frees it.
  Communicator share() const {
    if (!group_) [[unlikely]]
      group();
    return Communicator(group_);
  }

  /// Local. Whether this is a handle to a communicator, which it is until it is moved from. All other calls
  /// throw CallError then.
  explicit operator bool() const { return group_ != nullptr; }

  /// This rank, from 0.
  int rank() const;
  /// The number of ranks.
  int size() const;
  /// What it was made with; its parts have the same.
  const Options& options() const;
  /// What the backend can do; where it is left to `auto`, the usual one.
  const Capabilities& capabilities() const;
  /// What a user should know about this choice of backend on these ranks, such as messages that it hands to
  /// another transport; empty if there is nothing to say.
  std::string remark() const;
  /// What carries collective operations.
  Backend& backend() const;

  /// Collective where it is the first call for this memory. The ways that an exchange of Views in it can go:
  /// one where the options leave nothing open. Throws UsageError on every rank if there is none.
  const std::vector<Method>& methods(MemoryKind) const;

  /// The MPI communicator, for code that moves over one call at a time. It stays the property of this.
  MPI_Comm native() const;

  /// The extents of the process grid; empty, like the next two, unless the communicator is Cartesian.
  const std::vector<int>& dims() const;
  /// Where this rank is, from 0 along each dimension.
  const std::vector<int>& coordinates() const;
  /// Whether each dimension is closed to a ring.
  const std::vector<bool>& periodic() const;
  /// The rank `displacement` steps along `dim`; no_rank beyond a closed end. Throws CallError unless the
  /// process grid has that dimension.
  int neighbour(int dim, int displacement) const;

  /// Local. The rank at these coordinates of the process grid, one for each dimension. Where a dimension is
  /// periodic they go on around it; beyond a closed end: no_rank. So neighbours across a corner can be asked
  /// for. Throws CallError unless there is one for each dimension.
  int rank_at(std::vector<int> coordinates) const;

  /// Collective. If any rank comes with a problem, throws AgreedError with the lowest such rank's text on
  /// every rank; so an error that one rank sees becomes an error of all of them instead of a hang.
  void agree(const std::optional<std::string>& problem) const;

  /// Local, in the same order on all ranks: the first of `count` message tags that no other plan uses.
  int reserve_tags(int count) const;

  /// Local, in the same order on all ranks: where the next sparse exchange takes place. The one before has
  /// another tag.
  detail::Channel next_sparse_channel() const;

  /// The highest message tag that MPI takes.
  int tag_limit() const;

  /// Local; any thread. MPI's type of one element, made when first used where MPI has none of its own. Lasts
  /// as long as the communicator.
  MPI_Datatype element_type(Scalar) const;
  /// Local; any thread. MPI's operation for a reduction's functor, made when first used. Lasts as long as the
  /// communicator.
  MPI_Op operation(MPI_User_function*, bool commutative) const;

  /// What the checks of level `cross_rank` talk over, so that they never meet messages; MPI_COMM_NULL at the
  /// other levels.
  MPI_Comm checking() const;
  /// The same for what all ranks do together.
  MPI_Comm checking_calls() const;
  /// Local, in the same order on all ranks: 1, 2, 3 ...
  std::int64_t number_call() const;

  /// What messages need to know of it at once.
  const detail::CachedProperties& cached() const;

  /// Whether calls with Views in device memory hand that to MPI: on path `direct`, and on path `auto` where
  /// MPI itself says that it takes it. Equal on all ranks.
  bool hands_device_memory_to_mpi() const;
  /// What such Views travel through elsewhere.
  detail::PinnedPool& pinned_pool() const;

  /// The messages that are checked at level `cross_rank`; null at the other levels.
  detail::Checks* checks() const;

  /// Local; any thread. Takes charge of an operation that its owner has dropped: `keep` lives until it is
  /// complete, at the latest when the communicator ends.
  void adopt(MPI_Request request, std::shared_ptr<void> keep) const;

  /// Local; any thread. The same for what an error has left, which may never be complete: when the
  /// communicator ends it is not waited for, but left to MPI, memory included.
  void keep(std::unique_ptr<detail::InFlight>) const;

  /// Local. Whether this rank may wait for the others where they end something together: no exception is
  /// passing, no error has left messages behind, and MPI has not ended.
  bool ends_together() const;

  /// Local. A wait was given up, so other ranks may be gone: when the communicator ends it waits for nothing,
  /// and leaves to MPI what is under way, memory included.
  void abandon() const;

 private:
  struct Group;
  struct Owned {
    MPI_Comm comm;
  };
  Communicator(Owned, const Options&);
  void read_cartesian();
  explicit Communicator(std::shared_ptr<Group> group) : group_(std::move(group)) {}
  Group& group() const;
  std::shared_ptr<Group> group_;
};

} // namespace kontor::comm
