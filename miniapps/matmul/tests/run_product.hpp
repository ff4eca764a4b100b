// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/matmul.hpp"
#include "matmul/options.hpp"
#include "run/progress.hpp"
#include "run/timers.hpp"

#include <kontor/comm/communicator.hpp>

#include <vector>

namespace kontor::matmul::test {

/// Columns one after the other.
struct Dense {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> elements;
  double& operator()(std::int64_t i, std::int64_t j) { return elements[static_cast<std::size_t>(i + j * rows)]; }
  double operator()(std::int64_t i, std::int64_t j) const {
    return elements[static_cast<std::size_t>(i + j * rows)];
  }
};

/// Collective. A distributed matrix as a whole, on every rank; `mine` counts where `has` is true.
template <class T>
Dense gather(const comm::Communicator&, const LocalMatrix<T>& mine, bool has, std::int64_t rows,
             std::int64_t columns);

/// What the deck's matrices are, by the formulas alone.
Dense whole(const MatrixOptions&, std::int64_t rows, std::int64_t columns);

/// alpha op(A) op(B) + beta C by three loops.
Dense serial_product(const Options&);

/// The keys that a deck leaves open, as resolve() does.
Options on_grid(Options, std::vector<std::int64_t> process_grid, std::int64_t layers = 1);

} // namespace kontor::matmul::test
