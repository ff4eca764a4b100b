// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend/backend.hpp>
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

class Communicator;

namespace detail {
/// What the handles to a communicator share, as far as the one-shot calls look it up each time.
struct CachedProperties {
  MPI_Comm comm = MPI_COMM_NULL;
  CheckLevel check = CheckLevel::local;
  int size = 1;
  int tag_limit = 32767;
  /// Device memory goes to MPI on path `direct`, and on path `auto` where MPI itself says that it takes it. Equal on
  /// all ranks.
  Lowering lowering;
};
CachedProperties& cached(const Communicator&);
} // namespace detail

/// "No neighbour there": a transfer to or from it does not take place.
inline constexpr int no_rank = -1;

/// Where a rank is asked for: whoever has sent a message.
inline constexpr int any_source = -2;

/// Local. A process grid of `ranks` ranks, as even as can be: the zeros in `dims` are filled in, its other entries
/// stay. Throws UsageError if those do not divide the ranks or are negative. MPI_Dims_create.
std::vector<int> balanced_dims(int ranks, std::vector<int> dims);

/// The ranks that exchange Views, and the backend by which they do. Has an MPI communicator of its own, which reports
/// errors instead of aborting, so Kontor's messages never meet the caller's.
/// Messages: from as many threads as MPI allows (MPI_THREAD_MULTIPLE), with a tag or a peer for each thread. Exchanges
/// and collective operations: one thread at a time. Kokkos packs non-contiguous Views from one thread at a time, and
/// counts references to Views without threads unless it is built with them.
/// A host handle: movable, not copyable, so capturing one in a kernel does not compile.
class Communicator {
 public:
  /// Collective over `parent`. Throws UsageError on every rank if the options differ between them, or the backend is
  /// unknown, absent or cannot do what they ask. MPI must be initialised, and should not end before this.
  explicit Communicator(MPI_Comm parent, const Options& = {});

  /// Collective over `comm`, which the caller has made, as by MPI_Comm_split, and gives away: it is not duplicated, and
  /// this frees it. Throws as the constructor does; then `comm` stays the caller's.
  static Communicator adopt(MPI_Comm comm, const Options& = {});

  /// Collective over `parent`. A Cartesian communicator of 1 to 3 dimensions, ranks in row-major order as MPI has them
  /// (the last dimension varies fastest). Throws UsageError on every rank unless all give the same, and the product of
  /// `dims` is the number of ranks.
  Communicator(const Communicator& parent, const std::vector<int>& dims, const std::vector<bool>& periodic);

  Communicator(Communicator&&) noexcept = default;
  Communicator& operator=(Communicator&&) noexcept = default;
  /// Collective where it is the last handle.
  ~Communicator() = default;

  /// Collective. The ranks that give the same colour, in the order of their keys and then of their ranks, with this
  /// one's options. Each rank belongs to exactly one of the new communicators. Throws AgreedError on every rank if a
  /// colour is negative. MPI_Comm_split.
  Communicator split(int colour, int key = 0) const;

  /// Collective. The same, for when some ranks are to be in none of the new communicators: they give std::nullopt and
  /// get it. MPI_Comm_split with MPI_UNDEFINED.
  std::optional<Communicator> split(std::optional<int> colour, int key = 0) const;

  /// Collective over a Cartesian communicator. The ranks that differ along the kept dimensions only, as a Cartesian
  /// communicator of those. Throws UsageError on every rank unless all give the same `keep`, which has one entry for
  /// each dimension and keeps one at least. MPI_Cart_sub.
  Communicator sub(const std::vector<bool>& keep) const;

  /// Collective over a process grid of 2 dimensions: the ranks with this one's first coordinate; those with its second.
  Communicator row() const { return sub({false, true}); }
  /// The ranks with this one's second coordinate; see row().
  Communicator column() const { return sub({true, false}); }

  /// Local. Another handle to the same communicator; the last one frees it.
  Communicator share() const {
    if (!shared_) [[unlikely]]
      refuse_moved_from();
    return Communicator(shared_);
  }

  /// Local. Whether this is a handle to a communicator, which it is until it is moved from. All other calls throw
  /// CallError then.
  explicit operator bool() const { return shared_ != nullptr; }

  /// This rank, from 0.
  int rank() const;
  /// The number of ranks.
  int size() const;
  /// What it was made with; its parts have the same.
  const Options& options() const;
  /// What the backend can do; where it is left to `auto`, the usual one.
  const Capabilities& capabilities() const;
  /// What a user should know about this choice of backend on these ranks, such as messages that it hands to another
  /// transport; empty if there is nothing to say.
  std::string remark() const;
  /// The MPI communicator, for code that moves over one call at a time. It stays the property of this.
  MPI_Comm native() const;

  /// The extents of the process grid; empty, like the next two, unless the communicator is Cartesian.
  const std::vector<int>& dims() const;
  /// Where this rank is, from 0 along each dimension.
  const std::vector<int>& coordinates() const;
  /// Whether each dimension is closed to a ring.
  const std::vector<bool>& periodic() const;
  /// The rank `displacement` steps along `dim`; no_rank beyond a closed end. Throws CallError without that dimension.
  int neighbour(int dim, int displacement) const;

  /// Local. The rank at these coordinates of the process grid, one for each dimension. Where a dimension is periodic
  /// they go on around it; beyond a closed end: no_rank. So neighbours across a corner can be asked for. Throws
  /// CallError unless there is one for each dimension.
  int rank_at(std::vector<int> coordinates) const;

  /// Collective. If any rank comes with a problem, throws AgreedError with the lowest such rank's text on every rank;
  /// so an error that one rank sees becomes an error of all of them instead of a hang.
  void agree(const std::optional<std::string>& problem) const;

  /// The highest message tag that MPI takes.
  int tag_limit() const;

 private:
  friend detail::CachedProperties& detail::cached(const Communicator&);
  struct Owned {
    MPI_Comm comm;
  };
  Communicator(Owned, const Options&);
  /// Collective over this, which the part is of; none on a rank whose part is null. Where one part cannot be opened,
  /// all ranks throw AgreedError.
  std::optional<Communicator> open_part(Owned part) const;
  explicit Communicator(std::shared_ptr<detail::CachedProperties> shared) : shared_(std::move(shared)) {}
  void read_cartesian();
  [[noreturn]] static void refuse_moved_from();
  std::shared_ptr<detail::CachedProperties> shared_; ///< an Internals
};

/// Local. Throws CallError if the communicator was moved from.
inline detail::CachedProperties& detail::cached(const Communicator& comm) {
  if (!comm.shared_) [[unlikely]]
    comm.refuse_moved_from();
  return *comm.shared_;
}

} // namespace kontor::comm
