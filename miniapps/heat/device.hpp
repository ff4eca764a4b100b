// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/field.hpp"

#include <kontor/comm/kokkos/compat.hpp>

namespace kontor::heat {

/// Whether sweeps are queued, as a device has it, or made one after the other, as a CPU does.
#if defined(KONTOR_HEAT_AS_ON_DEVICE) // tests go the device's way on a CPU too
inline constexpr bool on_device = true;
#else
inline constexpr bool on_device = !comm::on_host<FieldView<double>::execution_space>;
#endif

} // namespace kontor::heat
