// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/view_output.hpp"
#include "matmul/algorithm/process_grid.hpp"
#include "matmul/options.hpp"
#include "matmul/problem/matrix.hpp"

#include <kontor/config/error.hpp>
#include <kontor/output/file.hpp>
#include <kontor/output/reader.hpp>

#include <fmt/format.h>

/// A product in a checkpoint: C of each layer after some steps. A and B are made again.
namespace kontor::matmul {

namespace detail {

/// As it lies in memory, columns of C are rows here, so that a file's blocks are written in long pieces.
template <class T>
using Transposed = Kokkos::View<T**, Kokkos::LayoutRight, typename Matrix<T>::device_type, Kokkos::MemoryUnmanaged>;
template <class T>
Transposed<T> transposed(const LocalMatrix<T>& c) {
  return Transposed<T>(c.elements.data(), c.elements.extent(1), c.elements.extent(0));
}

inline std::string name_of(int layer) { return fmt::format("/state/C/{}", layer); }

/// This rank's block in the dataset of a layer; of others than its own nothing.
template <class T>
output::Block block_of(const Options& o, const LocalMatrix<T>& c, bool own_layer) {
  const auto number = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
  output::Block block{{number(o.size.n), number(o.size.m)}, {0, 0}, {0, 0}};
  if (!own_layer) return block;
  block.offset = {number(c.columns.begin), number(c.rows.begin)};
  block.extent = {number(c.columns.size), number(c.rows.size)};
  return block;
}

inline std::vector<std::int64_t> numbers_of(const GridShape& grid) { return {grid.layers, grid.rows, grid.columns}; }

inline std::string words_of(const std::vector<std::int64_t>& grid) {
  return grid.at(0) > 1 ? fmt::format("{} layers of {} x {} ranks", grid[0], grid.at(1), grid.at(2))
                        : fmt::format("{} x {} ranks", grid.at(1), grid.at(2));
}

} // namespace detail

struct StepsMade {
  std::int64_t made = 0;
  std::int64_t all = 0;
};

/// Collective. This rank's C, cut as the multiplication has it, of its layer.
template <class T>
void write_state(output::File& file, const ProcessGrid& grid, const Options& o, const StepsMade& steps,
                 const LocalMatrix<T>& c) {
  for (int layer = 0; layer < grid.shape.layers; ++layer)
    grid::write_view(file, detail::name_of(layer), detail::block_of(o, c, layer == grid.place.layer),
                     detail::transposed(c));
  file.attributes("/state", {{"steps_made", steps.made}, {"steps", steps.all}});
  if (o.algorithm != Algorithm::summa) file.attributes("/state", {{"process_grid", detail::numbers_of(grid.shape)}});
}

/// Collective. C after so many steps, which are returned. Throws config::Error on all ranks where the multiplication
/// cannot go on: with Cannon's algorithm blocks of C lack different panels of k, so the process grid must be the one
/// that it was; by SUMMA all of C lacks the same, and any ranks go on.
template <class T>
std::int64_t read_state(const output::Reader& reader, const ProcessGrid& grid, const Options& o, std::int64_t steps,
                        const LocalMatrix<T>& c) {
  const auto found = reader.attributes("/state");
  const auto now = detail::numbers_of(grid.shape);
  const auto then = o.algorithm == Algorithm::summa ? now : found.at("process_grid").get<std::vector<std::int64_t>>();
  const auto path = reader.path().string();
  if (then != now)
    throw config::Error(
        {fmt::format("restart: decomposition.process_grid gives {}; in {} it is {}, where blocks of C lack "
                     "different panels of k. With product.algorithm cannon or cannon_25d go on with the same "
                     "process grid; only summa goes on with any",
                     detail::words_of(now), path, detail::words_of(then))},
        "E-CHECKPOINT-DECK");
  if (found.at("steps").get<std::int64_t>() != steps)
    throw config::Error({fmt::format("restart: there are {} steps to make, and in {} there are {}: it is "
                                     "another product",
                                     steps, path, found.at("steps").get<std::int64_t>())},
                        "E-CHECKPOINT-DECK");
  for (int layer = 0; layer < grid.shape.layers; ++layer)
    grid::read_view(reader, detail::name_of(layer), detail::block_of(o, c, layer == grid.place.layer),
                    detail::transposed(c));
  return found.at("steps_made").get<std::int64_t>();
}

} // namespace kontor::matmul
