// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/device/compat.hpp>

namespace kontor::stepping {

/// Whether the kernels of a step are queued, as a device has it, or made one after the other, as a CPU does: where
/// kernels run, unless a test says otherwise.
#if defined(KONTOR_AS_ON_DEVICE) // tests go the device's way on a CPU too
inline constexpr bool on_device = true;
#else
inline constexpr bool on_device = !device::kernels_on_host;
#endif

/// The policy, whose functor travels with the launch: Kokkos has those of more than a few hundred bytes in memory that
/// the next launch overwrites, from which no graph can replay them.
template <class AnyPolicy>
auto by_value_at_launch(const AnyPolicy& policy) {
  return Kokkos::Experimental::require(policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight);
}

} // namespace kontor::stepping
