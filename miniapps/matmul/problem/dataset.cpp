// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matmul/problem/dataset.hpp"

#include "grid/view_output.hpp"
#include "matmul/problem/redistribution.hpp"

#include <kontor/output/error.hpp>
#include <kontor/output/reader.hpp>

namespace kontor::matmul {
namespace {

output::Block block_of(const StoredSize& size, const MatrixParts& parts) {
  const auto unsigned_of = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
  return {{unsigned_of(size.rows), unsigned_of(size.columns)},
          {unsigned_of(parts.rows.begin), unsigned_of(parts.columns.begin)},
          {unsigned_of(parts.rows.size), unsigned_of(parts.columns.size)}};
}

/// Blocks of a matrix, one a rank, beside parts that are dealt in turn.
template <class T>
class Blocks {
 public:
  Blocks(const ProcessGrid& grid, const Options& options, const StoredSize& size)
      : grid_(grid), options_(options), size_(size),
        elements_("matmul/block of a dataset", mine().rows.size, mine().columns.size) {}

  MatrixParts mine() const { return blocks()(grid_.all.rank()); }
  const Matrix<T>& elements() const { return elements_; }

  void give(const Matrix<T>& to) const { move(true, elements_, to); }
  void take(const Matrix<T>& from) const { move(false, from, elements_); }

 private:
  PartsOfRank blocks() const {
    return parts_of_first_layer(grid_.shape, [this](int row, int column) {
      return wanted_part(size_, grid_.shape, false, row, column);
    });
  }
  void move(bool give, const Matrix<T>& from, const Matrix<T>& to) const {
    const auto given = parts_of_first_layer(grid_.shape, [this](int row, int column) {
      return given_part(options_, size_, grid_.shape, row, column);
    });
    const Staging<T> staging{Buffer<T>("matmul/staging out", from.size()),
                             Buffer<T>("matmul/staging in", to.size())};
    ChosenMethod method(grid_.all);
    Redistribution<T>(method, "distribution of a dataset", give ? blocks() : given, give ? given : blocks(),
                      from, to, staging, Space())
        .run();
    device::fence(Space(), "matmul/redistributed");
  }

  const ProcessGrid& grid_;
  const Options& options_;
  StoredSize size_;
  Matrix<T> elements_;
};

} // namespace

template <class T>
void read_matrix(const ProcessGrid& grid, const Options& options, const MatrixOptions& source,
                 const StoredSize& size, const LocalMatrix<T>& matrix) {
  try {
    const output::Reader reader(grid.all.native(), source.file.path);
    if (options.distribution == Distribution::block)
      return grid::read_view(reader, source.dataset, block_of(size, {matrix.rows, matrix.columns}),
                             matrix.elements);
    const Blocks<T> blocks(grid, options, size);
    grid::read_view(reader, source.dataset, block_of(size, blocks.mine()), blocks.elements());
    blocks.give(matrix.elements);
  } catch (const output::Error& error) {
    source.location.fail(error.what());
  }
}

template <class T>
void write_matrix(output::File& file, const std::string& name, const ProcessGrid& grid,
                  const Options& options, const StoredSize& size, const LocalMatrix<T>& matrix) {
  if (options.distribution == Distribution::block)
    return grid::write_view(file, name, block_of(size, {matrix.rows, matrix.columns}), matrix.elements);
  const Blocks<T> blocks(grid, options, size);
  blocks.take(matrix.elements);
  grid::write_view(file, name, block_of(size, blocks.mine()), blocks.elements());
}

template void read_matrix(const ProcessGrid&, const Options&, const MatrixOptions&, const StoredSize&,
                          const LocalMatrix<float>&);
template void read_matrix(const ProcessGrid&, const Options&, const MatrixOptions&, const StoredSize&,
                          const LocalMatrix<double>&);
template void write_matrix(output::File&, const std::string&, const ProcessGrid&, const Options&,
                           const StoredSize&, const LocalMatrix<float>&);
template void write_matrix(output::File&, const std::string&, const ProcessGrid&, const Options&,
                           const StoredSize&, const LocalMatrix<double>&);

} // namespace kontor::matmul
