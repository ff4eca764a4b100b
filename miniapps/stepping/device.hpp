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

} // namespace kontor::stepping
