// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/with_counts.hpp>

#include <cstdint>
#include <string>
#include <vector>

/// An all-to-all among neighbours, for ranks that talk to the same few others again and again.
namespace kontor::comm {

/// The ranks that this one exchanges with, on a graph communicator. Movable.
class Neighbours {
 public:
  /// Collective. Each rank is a neighbour of its neighbours, which level `local` verifies: else AgreedError. Itself
  /// always is one. A rank that is there twice, or none, is a CallError. MPI_Comm_split and
  /// MPI_Dist_graph_create_adjacent.
  Neighbours(const Communicator&, std::vector<int> ranks);

  /// All ranks.
  const Communicator& comm() const { return comm_; }
  /// In ascending order, this one included.
  const std::vector<int>& ranks() const { return ranks_; }
  /// The graph communicator, for MPI.
  MPI_Comm native() const { return graph_.native(); }

 private:
  Communicator comm_;
  std::vector<int> ranks_;
  Communicator graph_;
};

namespace detail {

/// Collective. What this rank's neighbours send it, by ranks of comm().
Counts learn_counts(const Neighbours&, const Counts& send_counts, std::size_t size, const std::string& label);

/// Collective. MPI_Neighbor_alltoallv.
void exchange(const Neighbours&, const Buffer& in, const Counts& send_counts, const Buffer& out,
              const Counts& received);

} // namespace detail

/// Collective. What alltoallv_with_counts() does on neighbours.comm(), where elements go to neighbours only. Both Views
/// have rank 1, are contiguous and lie in host memory. Throws CallError if the counts are not those of `in`, or if one
/// that is not 0 is of no neighbour. MPI_Neighbor_alltoall of the counts, then MPI_Neighbor_alltoallv.
template <SentView In, ReceivedView Out = ReceivedOf<In>>
[[nodiscard]] Received<Out> alltoallv_with_counts(const Neighbours& neighbours, const In& in, const Counts& send_counts,
                                                  Received<Out> into = {}) {
  static_assert(static_cast<int>(In::rank) == 1 && memory_of<In>() == MemoryKind::host &&
                    memory_of<Out>() == MemoryKind::host &&
                    !std::is_same_v<typename In::array_layout, Kokkos::LayoutStride>,
                "kontor::comm: a View that goes to neighbours is a contiguous host View of rank 1");
  const auto received = detail::learn_counts(neighbours, send_counts, in.size(), in.label());
  into.resize(in.label(), received);
  detail::exchange(neighbours, to_buffer(in), send_counts, to_buffer(into.data), received);
  return into;
}

} // namespace kontor::comm
