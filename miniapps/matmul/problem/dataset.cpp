// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matmul/problem/dataset.hpp"

#include "grid/view_output.hpp"
#include "matmul/problem/redistribution.hpp"

#include <kontor/output/error.hpp>
#include <kontor/output/reader.hpp>

namespace kontor::matmul {
namespace {

template <class T>
output::Block block_of(const StoredSize& size, const LocalMatrix<T>& matrix) {
  const auto unsigned_of = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
  return {{unsigned_of(size.rows), unsigned_of(size.columns)},
          {unsigned_of(matrix.rows.begin), unsigned_of(matrix.columns.begin)},
          {unsigned_of(matrix.rows.size), unsigned_of(matrix.columns.size)}};
}

/// Local. Room for this rank's block of a matrix of which each rank of the first layer has one.
template <class T>
LocalMatrix<T> make_block(const ProcessGrid& grid, const StoredSize& size) {
  const auto mine = wanted_parts(size, grid.shape, false)(grid.all.rank());
  return {Matrix<T>("matmul/block of a dataset", mine.rows.size, mine.columns.size), mine.rows, mine.columns};
}

/// Collective; waits. From parts `before` to parts `after`.
template <class T>
void redistribute(const ProcessGrid& grid, const PartsOfRank& before, const PartsOfRank& after, const Matrix<T>& from,
                  const Matrix<T>& to) {
  const Staging<T> staging{Buffer<T>("matmul/staging out", from.size()), Buffer<T>("matmul/staging in", to.size())};
  ChosenMethod method(grid.all);
  Redistribution<T>(method, "distribution of a dataset", before, after, from, to, staging, Space()).run();
  device::fence(Space(), "matmul/redistributed");
}

} // namespace

template <class T>
void read_matrix(const ProcessGrid& grid, const Options& options, const MatrixOptions& source, const StoredSize& size,
                 const LocalMatrix<T>& matrix) {
  try {
    const output::Reader reader(grid.all.native(), source.file.path);
    if (options.distribution == Distribution::block)
      return grid::read_view(reader, source.dataset, block_of(size, matrix), matrix.elements);
    const auto block = make_block<T>(grid, size);
    grid::read_view(reader, source.dataset, block_of(size, block), block.elements);
    redistribute(grid, wanted_parts(size, grid.shape, false), given_parts(options, size, grid.shape), block.elements,
                 matrix.elements);
  } catch (const output::Error& error) {
    source.location.fail(error.what(), "E-FILE-FORMAT");
  }
}

template <class T>
void write_matrix(output::File& file, const std::string& name, const ProcessGrid& grid, const Options& options,
                  const StoredSize& size, const LocalMatrix<T>& matrix) {
  if (options.distribution == Distribution::block)
    return grid::write_view(file, name, block_of(size, matrix), matrix.elements);
  const auto block = make_block<T>(grid, size);
  redistribute(grid, given_parts(options, size, grid.shape), wanted_parts(size, grid.shape, false), matrix.elements,
               block.elements);
  grid::write_view(file, name, block_of(size, block), block.elements);
}

template void read_matrix(const ProcessGrid&, const Options&, const MatrixOptions&, const StoredSize&,
                          const LocalMatrix<float>&);
template void read_matrix(const ProcessGrid&, const Options&, const MatrixOptions&, const StoredSize&,
                          const LocalMatrix<double>&);
template void write_matrix(output::File&, const std::string&, const ProcessGrid&, const Options&, const StoredSize&,
                           const LocalMatrix<float>&);
template void write_matrix(output::File&, const std::string&, const ProcessGrid&, const Options&, const StoredSize&,
                           const LocalMatrix<double>&);

} // namespace kontor::matmul
