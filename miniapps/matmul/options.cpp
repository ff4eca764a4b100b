// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matmul/options.hpp"

#include "grid/sizing.hpp"
#include "matmul/costs.hpp"

#include <kontor/config/unused.hpp>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace kontor::matmul {
namespace {

using config::Named;
using config::Visitor;

constexpr std::array<Named<MatrixKind>, 4> kinds{{{"random", MatrixKind::random},
                                                  {"integers", MatrixKind::integers},
                                                  {"expression", MatrixKind::expression},
                                                  {"dataset", MatrixKind::dataset}}};
constexpr std::array<Named<Operation>, 2> operations{{{"none", Operation::none}, {"transpose", Operation::transpose}}};
constexpr std::array<Named<Gemm>, 2> gemms{{{"vendor", Gemm::vendor}, {"plain", Gemm::plain}}};
constexpr std::array<std::string_view, 2> indices{"i", "j"};

constexpr std::int64_t most_rows = std::int64_t{1} << 31; // of a BLAS with 32-bit sizes, and one more

void describe_source(Visitor& v, MatrixOptions& o) {
  v.choice<MatrixKind>("kind", o.kind, kinds,
                       "Its elements: random from -1 to 1, integers from -4 to 4, a formula, or a dataset");
  v.value("expression", o.expression, indices, "Element (i, j), from 0, of the matrix as it is stored");
  v.value("file", o.file, "HDF5 file of the dataset");
  v.value("dataset", o.dataset, "Its name: 2-D, of as many rows and columns as the matrix is stored with");
  v.value("seed", o.seed, "Of random numbers and integers", {.min = 0});
}

void resolve_source(MatrixOptions& o, const std::string& key, const config::Deck& deck) {
  o.location = deck.location(key);
  const bool dataset = o.kind == MatrixKind::dataset;
  if (dataset && o.file.path.empty()) deck.fail(key + ".file", "is empty; it must name an HDF5 file", "E-DECK-KEY");
  if (dataset && o.dataset.empty())
    deck.fail(key + ".dataset", "is empty; it must name a dataset of the file", "E-DECK-KEY");
}

/// Keys that only one choice reads: a deck that gives them to another one means something else than it gets.
void refuse_unused(const Options& o, const config::Deck& deck, const miniapp::RunOptions& run) {
  const config::UnusedKeys unused(deck, o);
  unused.refuse_unless(o.beta != 0, "problem.c", "problem.beta must not be 0");
  for (const auto& [matrix, key] :
       {std::pair(&o.a, std::string("problem.a")), {&o.b, "problem.b"}, {&o.c, "problem.c"}}) {
    const auto kind = matrix->kind;
    const auto needs = [&key = key](const char* kinds) { return fmt::format("{}.kind must be {}", key, kinds); };
    unused.refuse_unless(kind == MatrixKind::random || kind == MatrixKind::integers, key + ".seed",
                         needs("random or integers"));
    for (const auto* name : {".file", ".dataset"})
      unused.refuse_unless(kind == MatrixKind::dataset, key + name, needs("dataset"));
    unused.refuse_unless(kind == MatrixKind::expression, key + ".expression", needs("expression"));
  }
  if (o.write_c && run.fields == miniapp::FieldSelection::none)
    deck.fail("problem.write_c", "is true, but output.fields is none, so that C would not be written; leave "
                                 "one of them out");
  run.refuse_series(deck, "a product");
}

void resolve_factor(double factor, const char* key, miniapp::Precision precision, const config::Deck& deck) {
  miniapp::with_scalar(precision, [&]<class T>(T) {
    constexpr double least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
    const double size = std::abs(factor);
    if (size != 0 && !(size >= least && size <= most))
      deck.fail(key,
                fmt::format("is {}; problem.precision {} has 0 and sizes from {:.4g} to {:.4g}", factor,
                            miniapp::name_of_scalar<T>, least, most),
                "E-DECK-RANGE");
  });
}

void resolve_grid(Options& o, const config::Deck& deck, int ranks) {
  constexpr std::string_view key = "decomposition.process_grid";
  if (o.process_grid.size() == 1)
    deck.fail(key, "has length 1; it must have rows and columns, or none", "E-DECK-RANGE");
  if (o.process_grid.empty()) {
    o.process_grid = least_volume_grid(o.size, ranks);
    return;
  }
  const auto rows = o.process_grid[0], columns = o.process_grid[1];
  if (ranks % rows != 0 || ranks / rows != columns) // their product may not fit into 64 bits
    deck.fail(key,
              fmt::format("[{}, {}] is for {:.12g} ranks, but there are {}", rows, columns,
                          static_cast<double>(rows) * static_cast<double>(columns), ranks),
              "E-DECK-RANKS");
}

/// See Options::resolve_sizes(). A rank has m k / columns elements of A and n k / rows of B.
grid::Sizes size_of_all(const grid::Sizes& of_rank, const GridShape& grid) {
  const auto m = static_cast<double>(of_rank[0]), n = static_cast<double>(of_rank[1]);
  const double k = static_cast<double>(of_rank[2]) * (m + n) / (m / grid.columns + n / grid.rows);
  return {of_rank[0] * grid.rows, of_rank[1] * grid.columns, std::llround(k)};
}

} // namespace

void Options::describe(Visitor& v) {
  v.section("problem", "The product C = alpha op(A) op(B) + beta C", [&](Visitor& p) {
    p.value("m", size.m, "Rows of C", {.min = 1, .max = most_rows - 1});
    p.value("n", size.n, "Columns of C", {.min = 1, .max = most_rows - 1});
    p.value("k", size.k, "Columns of op(A), rows of op(B)", {.min = 1, .max = most_rows - 1});
    sizing.describe(p, "m, n and k");
    p.choice<miniapp::Precision>("precision", precision, miniapp::precision_names, "Scalar type");
    p.value("alpha", alpha, "Factor of the product");
    p.value("beta", beta, "Factor of what C was before");
    p.section("a", "The matrix A", [&](Visitor& s) {
      describe_source(s, a);
      s.choice<Operation>("op", op_a, operations, "What op(A) is; transpose: A is stored k x m");
    });
    p.section("b", "The matrix B", [&](Visitor& s) {
      describe_source(s, b);
      s.choice<Operation>("op", op_b, operations, "What op(B) is; transpose: B is stored n x k");
    });
    p.section("c", "What C is before, where beta is not 0", [&](Visitor& s) { describe_source(s, c); });
    p.value("write_c", write_c, "Write the product as the dataset /fields/C");
  });
  v.section("product", "How it is computed", [&](Visitor& p) {
    p.choice<Gemm>("gemm", gemm, gemms, "Local products: BLAS or cuBLAS, or the loops of a textbook (plain)");
    p.value("blas_threads", blas_threads, "Threads of a rank's BLAS; 0: as many as its kernels have",
            {.min = 0, .max = 4096});
  });
  v.section("decomposition", "Parts of the ranks", [&](Visitor& s) {
    s.value("process_grid", process_grid, "Rows and columns of ranks; empty: the least volume", {.min = 1}, {0, 2});
  });
}

void Options::resolve_sizes(const config::Deck& deck, int ranks, const grid::FreeMemory& free_memory) {
  if (!sizing.wanted()) return;
  auto o = *this;
  resolve_grid(o, deck, ranks);
  const auto shape = o.shape();
  const auto of_all = [&](const grid::Sizes& of_rank) { return size_of_all(of_rank, shape); };
  const auto bytes = [&](const grid::Sizes& whole) {
    o.size = {whole[0], whole[1], whole[2]};
    return miniapp::with_scalar(precision, [&]<class T>(T) { return bytes_of_rank(o, shape, {}, sizeof(T)); });
  };
  const bool local = sizing.local;
  const auto whole =
      grid::resolve_sizes(sizing, {size.m, size.n, size.k},
                          {{"problem.m", "problem.n", "problem.k"}, most_rows - 1, of_all, bytes}, deck, free_memory);
  size = {whole[0], whole[1], whole[2]};
  if (local && process_grid.empty() && least_volume_grid(size, shape.rows * shape.columns) != o.process_grid)
    process_grid = o.process_grid;
}

void Options::resolve(const config::Deck& deck, int ranks, const miniapp::RunOptions& run) {
  refuse_unused(*this, deck, run);
  resolve_source(a, "problem.a", deck);
  resolve_source(b, "problem.b", deck);
  resolve_source(c, "problem.c", deck);
  resolve_factor(alpha, "problem.alpha", precision, deck);
  resolve_factor(beta, "problem.beta", precision, deck);
  resolve_grid(*this, deck, ranks);
}

} // namespace kontor::matmul
