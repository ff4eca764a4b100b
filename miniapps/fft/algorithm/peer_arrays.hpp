// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fft/problem/pencil.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/peer_memory.hpp>

#include <optional>
#include <string>
#include <vector>

namespace kontor::fft {

/// How far a rank is: each transpose is a turn, of which all ranks make as many. Who has begun a turn has made what
/// others read in it, and has read what it reads in the one before.
struct alignas(64) Turns {
  device::Counter begun;
};

/// A rank whose arrays this one reads, and which reads this one's.
struct Neighbour {
  const Turns* turns;
  int rank;
};

///@{
/// Local; queued on the instance, and on a host waited for.
inline void begin_turn(const Space& instance, Turns* own) {
  Kokkos::parallel_for(
      "fft/begin turn", Kokkos::RangePolicy<Space>(instance, 0, 1),
      KOKKOS_LAMBDA(int) { device::store_release(own->begun, device::load_relaxed(own->begun) + 1); });
}
/// Until all neighbours have begun this rank's turn.
inline void await_turn(const Space& instance, const Turns* own, const Kokkos::View<Neighbour*>& neighbours,
                       const comm::PeerWait& wait) {
  Kokkos::parallel_for(
      "fft/await turn", Kokkos::RangePolicy<Space>(instance, 0, static_cast<int>(neighbours.extent(0))),
      KOKKOS_LAMBDA(int i) {
        wait.until(neighbours(i).turns->begun, device::load_relaxed(own->begun), neighbours(i).rank);
      });
}
///@}

/// Two arrays of each rank. In a turn a rank's kernels read the first ones of their row or column and write the rank's
/// own second one, or the reverse, and so in turn.
template <class Value>
class PeerArrays {
 public:
  using Memory = comm::PeerMemory<Space::memory_space>;

  /// Collective. Of as many values as the largest rank needs. Others are reached only if they are neighbours.
  PeerArrays(const comm::Communicator& comm, const std::vector<int>& neighbours, std::size_t values)
      : rank_(comm.rank()), values_(comm::allreduce(comm, values, comm::ReduceOp::max)),
        memory_(comm, sizeof(Turns) + 2 * values_ * sizeof(Value), "fft/arrays") {
    std::vector<Neighbour> all;
    for (const int rank : neighbours) all.push_back({turns(rank), rank});
    neighbours_ = Kokkos::View<Neighbour*>("fft/neighbours", all.size());
    const Kokkos::View<Neighbour*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> list(all.data(), all.size());
    Kokkos::deep_copy(neighbours_, list);
  }

  /// Local. The first array (0) or the second one (1) of a rank, for kernels of this one.
  Value* array(int rank, int which) const {
    auto* const first = reinterpret_cast<Value*>(memory_.of(rank) + sizeof(Turns));
    return first + static_cast<std::size_t>(which) * values_;
  }
  Kokkos::View<Value*> own(int which) const { return Kokkos::View<Value*>(array(rank_, which), values_); }
  /// Local. Where a rank has what lies there in this rank's arrays.
  Value* of(int rank, const Value* own) const { return array(rank, 0) + (own - array(rank_, 0)); }

  /// Local; queued on the instance. Afterwards arrays of others can be read that they made before their turn, and own
  /// ones overwritten that others read in the turn before.
  void turn(const Space& instance) const {
    begin_turn(instance, turns(rank_));
    await_turn(instance, turns(rank_), neighbours_, memory_.wait());
  }
  /// Local, after kernels have ended. Throws comm::Error if one has waited in vain.
  void check() const { memory_.check(); }

 private:
  Turns* turns(int rank) const { return reinterpret_cast<Turns*>(memory_.of(rank)); }

  int rank_;
  std::size_t values_;
  Memory memory_;
  Kokkos::View<Neighbour*> neighbours_;
};

} // namespace kontor::fft
