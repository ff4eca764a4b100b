// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/view_output.hpp"
#include "matmul/matrix.hpp"
#include "matmul/product.hpp"

#include <kontor/config/error.hpp>
#include <kontor/output/file.hpp>
#include <kontor/output/reader.hpp>

#include <fmt/format.h>

/// A product in a checkpoint: C after some steps. A and B are made again.
namespace kontor::matmul {

namespace detail {

/// As it lies in memory, columns of C are rows here, so that a file's blocks are written in long pieces.
template <class T>
using Transposed = Kokkos::View<T**, Kokkos::LayoutRight, typename Matrix<T>::device_type, Kokkos::MemoryUnmanaged>;
template <class T>
Transposed<T> transposed(const LocalMatrix<T>& c) {
  return Transposed<T>(c.elements.data(), c.elements.extent(1), c.elements.extent(0));
}

template <class T>
output::Block block_of_state(const MatrixSize& size, const LocalMatrix<T>& c) {
  const auto number = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
  return {{number(size.columns), number(size.rows)},
          {number(c.columns.begin), number(c.rows.begin)},
          {number(c.columns.size()), number(c.rows.size())}};
}

} // namespace detail

struct StepsMade {
  std::int64_t made = 0;
  std::int64_t all = 0;
};

/// Collective. This rank's C, of a matrix of that size.
template <class T>
void write_state(output::File& file, const GridShape& grid, const MatrixSize& size, const StepsMade& steps,
                 const LocalMatrix<T>& c) {
  grid::write_view(file, "/state/C", detail::block_of_state(size, c), detail::transposed(c));
  file.record("/state/numbers", {{"steps_made", steps.made},
                                 {"steps", steps.all},
                                 {"process_grid", std::vector<std::int64_t>{grid.rows, grid.columns}}});
}

/// Collective. C after so many steps, which are returned. Throws config::Error on all ranks if the process grid is
/// another: blocks of C lack different panels of k.
template <class T>
std::int64_t read_state(const output::Reader& reader, const GridShape& grid, const MatrixSize& size, std::int64_t steps,
                        const LocalMatrix<T>& c) {
  const auto found = reader.record("/state/numbers");
  const auto then = found.at("process_grid").get<std::vector<std::int64_t>>();
  const auto path = reader.path().string();
  if (then != std::vector<std::int64_t>{grid.rows, grid.columns})
    throw config::Error(
        {fmt::format("restart: decomposition.process_grid gives {} x {} ranks; in {} it is {} x {}, where blocks of C "
                     "lack different panels of k; resume on the same process grid",
                     grid.rows, grid.columns, path, then.at(0), then.at(1))},
        "E-CHECKPOINT-DECK");
  if (found.at("steps").get<std::int64_t>() != steps)
    throw config::Error({fmt::format("restart: there are {} steps to make, and in {} there are {}: it is "
                                     "another product",
                                     steps, path, found.at("steps").get<std::int64_t>())},
                        "E-CHECKPOINT-DECK");
  grid::read_view(reader, "/state/C", detail::block_of_state(size, c), detail::transposed(c));
  return found.at("steps_made").get<std::int64_t>();
}

} // namespace kontor::matmul
