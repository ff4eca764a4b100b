// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "collective_forms.hpp"

/// Collective operations between parts, one of each rank, and the whole: the bits that MPI moves.
namespace kontor::comm::test {

/// The Views of a test, by number.
enum { of_part, of_whole, of_other };

/// What MPI moves between the part of each rank and the whole, in bytes.
class MpiParts {
 public:
  /// `sizes`: the elements of each rank's part.
  MpiParts(const Communicator& comm, const std::vector<int>& sizes, std::size_t element)
      : comm_(comm.native()), rank_(comm.rank()) {
    for (const int n : sizes) {
      offsets_.push_back(counts_.empty() ? 0 : offsets_.back() + counts_.back());
      counts_.push_back(n * static_cast<int>(element));
    }
  }
  void allgather(const void* own, void* all) const {
    MPI_Allgatherv(own, counts_[rank_], MPI_BYTE, all, counts_.data(), offsets_.data(), MPI_BYTE, comm_);
  }
  void gather(const void* own, void* all, int root) const {
    MPI_Gatherv(own, counts_[rank_], MPI_BYTE, all, counts_.data(), offsets_.data(), MPI_BYTE, root, comm_);
  }
  void scatter(const void* all, void* own, int root) const {
    MPI_Scatterv(all, counts_.data(), offsets_.data(), MPI_BYTE, own, counts_[rank_], MPI_BYTE, root, comm_);
  }
  /// As many elements from each rank as to it.
  void alltoall(const void* from, void* to) const {
    MPI_Alltoallv(from, counts_.data(), offsets_.data(), MPI_BYTE, to, counts_.data(), offsets_.data(), MPI_BYTE,
                  comm_);
  }

 private:
  MPI_Comm comm_;
  int rank_;
  std::vector<int> counts_;
  std::vector<int> offsets_;
};

/// The calls with a part and a whole, some with a root. In place, the root has the whole only, and the others have
/// their parts.
struct PartCalls {
  Forms allgather;
  Forms allgather_in_place;
  Forms gather;
  Forms gather_at_root;
  Forms gather_elsewhere;
  Forms scatter;
  Forms scatter_at_root;
  Forms scatter_elsewhere;
};

/// `root`: that of the calls, which becomes each rank in turn.
inline void expect_parts(const Communicator& comm, Twins& views, const MpiParts& mpi, const PartCalls& calls,
                         int& root) {
  const auto allgather = [&](const Given& given, void* all) { mpi.allgather(given[of_part].data(), all); };
  const auto in_place = [&](const Given&, void* all) { mpi.allgather(MPI_IN_PLACE, all); };
  views.expect(of_whole, true, allgather, calls.allgather);
  views.expect(of_whole, true, in_place, calls.allgather_in_place);
  for (root = 0; root < comm.size(); ++root) {
    SCOPED_TRACE("root " + std::to_string(root));
    const bool at_root = comm.rank() == root;
    const auto gather = [&](const Given& given, void* all) { mpi.gather(given[of_part].data(), all, root); };
    const auto gather_in_place = [&](const Given& given, void* all) {
      mpi.gather(at_root ? MPI_IN_PLACE : given[of_part].data(), all, root);
    };
    const auto scatter = [&](const Given& given, void* own) { mpi.scatter(given[of_whole].data(), own, root); };
    const auto scatter_in_place = [&](const Given& given, void* own) {
      mpi.scatter(given[of_whole].data(), at_root ? MPI_IN_PLACE : own, root);
    };
    views.expect(of_whole, at_root, gather, calls.gather);
    views.expect(of_whole, at_root, gather_in_place, at_root ? calls.gather_at_root : calls.gather_elsewhere);
    views.expect(of_part, true, scatter, calls.scatter);
    views.expect(of_part, !at_root, scatter_in_place, at_root ? calls.scatter_at_root : calls.scatter_elsewhere);
  }
}

} // namespace kontor::comm::test
