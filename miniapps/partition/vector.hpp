// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace kontor::partition {

/// One value for each of this rank's rows, in the memory of the default space.
using Vector = Kokkos::View<double*>;
using Space = Vector::execution_space;

/// Rows and columns of the whole matrix, and of this rank's part.
using GlobalIndex = std::int64_t;
using LocalIndex = std::int32_t;

/// A position in the order in which a format has its rows, on a device, where 64 bits would take two registers: rows
/// and their padding fit.
using StorageIndex = std::uint32_t;

/// Lists of this rank's rows, and numbers of entries.
using Rows = Kokkos::View<LocalIndex*>;
using Offsets = Kokkos::View<std::int64_t*>;

using Policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;

} // namespace kontor::partition
