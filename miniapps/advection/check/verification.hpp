// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "advection/options.hpp"
#include "grid/block.hpp"
#include "grid/field.hpp"
#include "run/record/result.hpp"

#include <kontor/comm/communicator.hpp>

#include <Kokkos_Core.hpp>

namespace kontor::advection {

/// Collective, waits. Compares the field after all steps, and the samples (gathering, probe) of the cells `probed` of a
/// rank, with the exact solution of the scheme. Of many values a random sample by the seed is compared.
miniapp::Verification verify(const comm::Communicator& ring, const Options&, const grid::Block&,
                             const grid::FieldView<double>& field, const std::vector<std::int64_t>& probed,
                             const Kokkos::View<double**>& samples, std::uint64_t seed);

/// Collective, waits. Compares a sample of a field that no step has changed with the deck's initial values.
miniapp::Verification verify_start(const comm::Communicator& ring, const Options&, const grid::Block&,
                                   const grid::FieldView<double>& field, std::uint64_t seed);

} // namespace kontor::advection
