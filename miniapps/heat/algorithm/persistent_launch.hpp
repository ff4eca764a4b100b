// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/kernels/persistent.hpp"
#include "heat/problem/domain.hpp"
#include "stepping/norm_parts.hpp"

#include <kontor/comm/peer_memory.hpp>

#include <string>

namespace kontor::heat {

/// Sweeps of a domain by one kernel, which waits for those of the other ranks.
template <class T>
class PersistentLaunch {
 public:
  using ExecutionSpace = typename FieldView<T>::execution_space;
  using MemorySpace = typename FieldView<T>::memory_space;

  /// Local. Why the domain's sweeps cannot be made so, equal on all ranks; nothing if they can.
  static std::optional<std::string> refusal(const Domain<T>&);

  /// Collective. The domain must outlive this. Throws comm::UsageError on all ranks if memory cannot be mapped.
  explicit PersistentLaunch(const Domain<T>&);

  /// Local; waits for nothing. So many sweeps from field `from`; all ranks must make as many. Each norm_every-th of
  /// them has a norm, whose part goes to a slot; 0: none has.
  void queue(const ExecutionSpace&, int from, int sweeps, Norm, int norm_every, const stepping::NormSlots&);

  /// Local, after the kernels have ended. Throws comm::Error if one has waited for another rank in vain.
  void check() const { memory_.check(); }

 private:
  /// One kernel. In registers it leaves the last field alone: queue() makes two, as a run's last sweep is verified by
  /// the field before it.
  void queue_kernel(const ExecutionSpace&, int from, int sweeps, Norm, int norm_every, const stepping::NormSlots&);

  const Domain<T>* domain_;
  comm::PeerMemory<MemorySpace> memory_; ///< counters of bands, words from below, words from above
  PersistentSweeps with_;
  Kokkos::View<double*, MemorySpace> parts_;
  RegisterShape registers_;
  Kokkos::View<Word*, MemorySpace> between_; ///< rows between bands in registers
};

extern template class PersistentLaunch<float>;
extern template class PersistentLaunch<double>;

} // namespace kontor::heat
