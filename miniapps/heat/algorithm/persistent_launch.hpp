// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/kernels/persistent.hpp"
#include "heat/problem/domain.hpp"
#include "stepping/norm_parts.hpp"

#include <kontor/comm/peer_memory.hpp>
#include <kontor/device/gpu.hpp>

#include <string>

namespace kontor::heat {

/// The norms of sweeps that kernels make: each `every`-th sweep has one. 0: none has.
struct SweepNorms {
  Norm kind;
  int every;
  stepping::NormSlots slots;
};

/// Sweeps of a domain by one kernel, which waits for those of the other ranks.
template <class T>
class PersistentLaunch {
 public:
  using ExecutionSpace = typename FieldView<T>::execution_space;
  using MemorySpace = typename FieldView<T>::memory_space;

  static constexpr int most_norms = 64; ///< of a kernel

  /// Local. Why the domain's sweeps cannot be made so, equal on all ranks; nothing if they can.
  static std::optional<std::string> refusal(const Domain<T>&);

  /// Collective. The domain must outlive this. Throws comm::UsageError on all ranks if memory cannot be mapped.
  explicit PersistentLaunch(const Domain<T>&);

  /// Local; waits for nothing. So many sweeps from field `from`, with norms whose parts go to slots; all ranks must
  /// make as many. Without exchanges: as if there were no other rank, while no other kernel runs.
  void queue(const ExecutionSpace&, int from, int sweeps, const SweepNorms&, bool exchanges = true);
  /// Collective; waits for the device. The same, but sweeps end, without the host, after the first of those norms that
  /// is below the tolerance, but for rounding. Returns how many were made. Throws as check() does.
  int sweep_until(const ExecutionSpace&, int from, int sweeps, const SweepNorms&, double tolerance);

  /// Local, after the kernels have ended. Throws comm::Error if one has waited for another rank in vain.
  void check() const { memory_.check(); }

 private:
  void queue_sweeps(const ExecutionSpace&, int from, int sweeps, const SweepNorms&);
  void queue_kernel(const ExecutionSpace&, int from, int sweeps, Norm, int norm_every);
  void combine(const ExecutionSpace&, int sweeps, const SweepNorms&);

  const Domain<T>* domain_;
  RegisterShape registers_;
  int teams_;                            ///< of a rank, at most
  comm::PeerMemory<MemorySpace> memory_; ///< counters of bands, words from below, words from above, parts of norms
  PersistentSweeps with_;
  Kokkos::View<double*, MemorySpace> parts_;
  Kokkos::View<Word*, MemorySpace> between_; ///< rows between bands in registers
  Kokkos::View<stepping::PeerParts, MemorySpace> norm_parts_;
  Kokkos::View<device::Counter, MemorySpace> ended_;
  Kokkos::View<device::Counter, device::PinnedSpace> told_; ///< the same, for the host
};

extern template class PersistentLaunch<float>;
extern template class PersistentLaunch<double>;

} // namespace kontor::heat
