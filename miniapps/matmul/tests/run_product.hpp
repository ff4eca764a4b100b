// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/matmul.hpp"
#include "matmul/options.hpp"
#include "matmul/problem/elements.hpp"
#include "methods.hpp"
#include "run/tests/loan.hpp"
#include "run/tests/refusal.hpp"

#include <kontor/comm/communicator.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

/// Products of small matrices, known whole to every rank.
namespace kontor::matmul::test {

using namespace miniapp::test;

/// Collective at first. All ranks, with backend raw.
inline const comm::Communicator& world() { return comm::test::cached_communicator(comm::test::method("raw")); }

/// Columns one after the other.
struct Dense {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> elements;

  double& operator()(std::int64_t i, std::int64_t j) { return elements[i + j * rows]; }
  double operator()(std::int64_t i, std::int64_t j) const { return elements[i + j * rows]; }
  bool operator==(const Dense&) const = default;
};

/// Collective. A distributed matrix as a whole, on every rank.
template <class T>
Dense gathered(const comm::Communicator& comm, const LocalMatrix<T>& mine, const MatrixSize& size) {
  Dense all{size.rows, size.columns, std::vector<double>(size.rows * size.columns)};
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), mine.elements);
  for (std::int64_t j = 0; j < mine.columns.size(); ++j)
    for (std::int64_t i = 0; i < mine.rows.size(); ++i) all(mine.rows.begin + i, mine.columns.begin + j) += host(i, j);
  MPI_Allreduce(MPI_IN_PLACE, all.elements.data(), static_cast<int>(all.elements.size()), MPI_DOUBLE, MPI_SUM,
                comm.native());
  return all;
}

/// Of random numbers or integers, by what element (i, j) is.
template <class T>
Dense whole(const MatrixOptions& options, const MatrixSize& size) {
  Dense all{size.rows, size.columns, std::vector<double>(size.rows * size.columns)};
  for (std::int64_t j = 0; j < size.columns; ++j)
    for (std::int64_t i = 0; i < size.rows; ++i) {
      const auto bits = random::bits_at(static_cast<std::uint64_t>(options.seed), i, j);
      all(i, j) = options.kind == MatrixKind::integers ? small_integer(bits) : random::uniform<T>(bits);
    }
  return all;
}

/// alpha op(A) op(B) + beta C by three loops, in double precision.
template <class T>
Dense serial_product(const Options& o) {
  const auto a = whole<T>(o.a, o.stored_a()), b = whole<T>(o.b, o.stored_b());
  auto c = whole<T>(o.c, o.stored_c());
  for (std::int64_t j = 0; j < o.size.n; ++j)
    for (std::int64_t i = 0; i < o.size.m; ++i) {
      double sum = 0;
      for (std::int64_t l = 0; l < o.size.k; ++l)
        sum += (o.transposed_a() ? a(l, i) : a(i, l)) * (o.transposed_b() ? b(j, l) : b(l, j));
      c(i, j) = o.alpha * sum + o.beta * c(i, j);
    }
  return c;
}

/// A product with all that a run lends it.
template <class T = double>
struct App : miniapp::test::Loan {
  Matmul<T> app;

  explicit App(const Options& options, bool overlap = true, const comm::Communicator& comm = world(),
               bool as_on_device = stepping::on_device)
      : Loan("matmul", comm.share()), app(options, context(overlap), as_on_device) {}
};

/// What a run gives back.
struct Found {
  Dense a, b, c;
  miniapp::Verification verification;
  nlohmann::ordered_json record;
};

/// Collective. The product of the second of two repeats.
template <class T>
Found run_product(const comm::Communicator& comm, const Options& options, bool overlap = true,
                  bool as_on_device = stepping::on_device) {
  App<T> made(options, overlap, comm, as_on_device);
  auto& app = made.app;
  app.warm_up();
  for (int repeat = 0; repeat < 2; ++repeat) {
    app.reset();
    app.run();
  }
  const auto& o = options;
  return {gathered(comm, app.a(), o.stored_a()), gathered(comm, app.b(), o.stored_b()),
          gathered(comm, app.c(), o.stored_c()), app.verify(), app.record()};
}

/// Every way to write so many ranks as a product of rows and columns.
inline std::vector<GridShape> grids(int ranks) {
  std::vector<GridShape> shapes;
  for (int rows = 1; rows <= ranks; ++rows)
    if (ranks % rows == 0) shapes.push_back({rows, ranks / rows});
  return shapes;
}

/// The options with a process grid.
inline Options on_grid(Options options, const GridShape& grid) {
  options.process_grid = {grid.rows, grid.columns};
  return options;
}

/// A product of small integers, uneven on any grid.
inline Options integers(std::int64_t m = 23, std::int64_t n = 17, std::int64_t k = 31) {
  Options options;
  options.size = {m, n, k};
  options.a.kind = options.b.kind = options.c.kind = MatrixKind::integers;
  return options;
}

} // namespace kontor::matmul::test
