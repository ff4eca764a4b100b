// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/matmul.hpp"
#include "matmul/options.hpp"
#include "run/tests/loan.hpp"
#include "run/tests/refusal.hpp"

#include <kontor/comm/communicator.hpp>

#include <cstdint>
#include <vector>

/// Products of small matrices, known whole to every rank.
namespace kontor::matmul::test {

using miniapp::test::error_of;
using miniapp::test::expect_facts;

/// Collective at first. All ranks, with backend raw.
const comm::Communicator& world();

/// Columns one after the other.
struct Dense {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> elements;

  double& operator()(std::int64_t i, std::int64_t j) { return elements[i + j * rows]; }
  double operator()(std::int64_t i, std::int64_t j) const { return elements[i + j * rows]; }
  bool operator==(const Dense&) const = default;
};

/// Collective. A distributed matrix of the first layer as a whole, on every rank.
template <class T>
Dense gathered(const ProcessGrid&, const LocalMatrix<T>&, const StoredSize&);

/// Of random numbers or integers, by what element (i, j) is.
template <class T>
Dense whole(const MatrixOptions&, const StoredSize&);

/// alpha op(A) op(B) + beta C by three loops, in double precision.
template <class T>
Dense serial_product(const Options&);

/// A product with all that a run lends it.
template <class T = double>
struct App : miniapp::test::Loan {
  Matmul<T> app;

  explicit App(const Options& options, bool overlap = true, const comm::Communicator& comm = world(),
               bool as_on_device = stepping::on_device)
      : Loan("matmul", comm.share()), app(options, context(overlap), as_on_device) {}
};

/// What a run gives back.
struct Product {
  Dense a, b, c;
  miniapp::Verification verification;
  miniapp::AppRecord record;
};

/// Collective. The product of the second of two repeats.
template <class T>
Product run_product(const comm::Communicator&, const Options&, bool overlap = true,
                    bool as_on_device = stepping::on_device);

/// Every way to write so many ranks as a product: layers, rows and columns.
std::vector<GridShape> grids(int ranks, int most_layers);

/// The options with a process grid.
Options on_grid(Options, const GridShape&);

/// A product of small integers, uneven on any grid.
Options integers(std::int64_t m = 23, std::int64_t n = 17, std::int64_t k = 31);

} // namespace kontor::matmul::test
