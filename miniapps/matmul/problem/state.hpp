// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/algorithm/process_grid.hpp"
#include "matmul/options.hpp"
#include "matmul/problem/matrix.hpp"

#include <kontor/output/file.hpp>
#include <kontor/output/reader.hpp>

#include <cstdint>

/// A product in a checkpoint: C of each layer after some steps. A and B are made again.
namespace kontor::matmul {

struct StepsMade {
  std::int64_t made = 0;
  std::int64_t all = 0;
};

/// Collective. This rank's C, cut as the multiplication has it, of its layer.
template <class T>
void write_state(output::File&, const ProcessGrid&, const Options&, const StepsMade&, const LocalMatrix<T>& c);

/// Collective. C after so many steps, which are returned. Throws config::Error on all ranks where the multiplication
/// cannot go on: with Cannon's algorithm blocks of C lack different panels of k, so the process grid must be the one
/// that it was; by SUMMA all of C lacks the same, and any ranks go on.
template <class T>
std::int64_t read_state(const output::Reader&, const ProcessGrid&, const Options&, std::int64_t steps,
                        const LocalMatrix<T>& c);

} // namespace kontor::matmul
