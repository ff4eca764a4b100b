// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What decks say: keys that do not go together, process grids and sizes that are chosen, and matrices in HDF5 files.
#include "machine/blas.hpp"
#include "run/tests/first_ranks.hpp"
#include "run/tests/sized.hpp"
#include "run_product.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/config/deck.hpp>
#include <kontor/output/file.hpp>

#include <fmt/format.h>

#include <sys/resource.h>

namespace kontor::matmul::test {
namespace {

Options read(const std::string& text, int ranks) {
  const auto deck = config::Deck::parse("app: matmul\n" + text, "test.yaml");
  Options options;
  miniapp::RunOptions run;
  deck.read([&](config::Visitor& v) {
    options.describe(v);
    run.describe(v);
  });
  options.resolve(deck, ranks, run);
  return options;
}

void expect_refused(const std::string& text, int ranks, const std::vector<std::string>& facts) {
  expect_facts(error_of([&] { read(text, ranks); }), facts, text);
}

TEST(Deck, RefusesWhatDoesNotGoTogether) {
  expect_refused("decomposition: {process_grid: [2, 3]}", 4, {"test.yaml:2:", "[2, 3]", "6", "4"});
  expect_refused("decomposition: {process_grid: [2]}", 2, {"process_grid", "length 1"});
  expect_refused("problem: {a: {kind: dataset}}", 1, {"problem.a.file", "empty"});
  expect_refused("problem: {a: {dataset: x}}", 1, {"test.yaml:2:", "problem.a.dataset", "kind", "dataset"});
  expect_refused("problem: {b: {expression: i+j}}", 1, {"problem.b.expression", "kind", "expression"});
  expect_refused("problem: {alpha: 1e39, precision: float}", 1, {"problem.alpha", "1e+39", "float", "3.4"});
  expect_refused("problem: {beta: -1e-320}", 1, {"problem.beta", "-1e-320", "double", "2.2"});
  // 2^64 + 4
  expect_refused("decomposition: {process_grid: [4, 4611686018427387905]}", 4,
                 {"process_grid", "4611686018427387905", "4"});
  expect_refused("problem: {a: {expression: x}}", 1, {"problem.a.expression", "x", "i", "j"});
}

TEST(Deck, RefusesWhatWouldNotBeUsed) {
  expect_refused("problem: {c: {kind: integers}}", 1, {"test.yaml:2:", "problem.c.kind", "integers", "beta"});
  expect_refused("problem: {a: {kind: expression, expression: i+j, seed: 7}}", 1,
                 {"problem.a.seed", "kind", "random or integers"});
  expect_refused("problem: {write_c: true}\noutput: {fields: none}", 1,
                 {"test.yaml:2:", "problem.write_c", "output.fields", "none"});
  expect_refused("output: {every: 10}", 1, {"test.yaml:2:", "output.every", "10", "no series"});
  // What a printed deck has: everything, as it is by itself.
  read("output: {every: 0}", 1);
  read("problem: {write_c: true}", 1);
}

TEST(Deck, ChoosesTheGridOfLeastVolume) {
  using Grid = std::vector<std::int64_t>;
  EXPECT_EQ(read("problem: {m: 100, n: 100, k: 100}", 4).process_grid, (Grid{2, 2}));
  EXPECT_EQ(read("problem: {m: 10, n: 1000, k: 1000}", 4).process_grid, (Grid{1, 4})); // A is small
  EXPECT_EQ(read("problem: {m: 1000, n: 10, k: 1000}", 4).process_grid, (Grid{4, 1})); // B is
  EXPECT_EQ(read("problem: {m: 100, n: 100, k: 100}", 5).process_grid, (Grid{1, 5}));
}

TEST(Deck, WhatDoesNotFitIsRefusedBeforeItIsAllocated) {
  const auto o = on_grid(integers(2000000, 1000, 2000000), {1, world().size()}); // A: 32 TB
  expect_facts(error_of<comm::AgreedError>([&] { run_product<double>(world(), o); }),
               {"out of memory", "GB", "smaller problem"});
}

/// OpenBLAS would try forever to map its buffer.
TEST(Deck, ABlasWithoutRoomIsFound) {
  const bool told = miniapp::host_blas().name.find("OpenBLAS") != std::string::npos;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  const rlimit tight{rlim_t{1} << 20, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &tight), 0);
  const bool starts = miniapp::blas_can_start(1);
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(starts, !told);
  EXPECT_TRUE(miniapp::blas_can_start(1));
}

void expect_run_refused(const Options& o, const std::vector<std::string>& facts) {
  expect_facts(error_of([&] { run_product<double>(world(), o); }), facts);
}

/// C of one product is A of the next.
TEST(Dataset, IsReadAsItWasWritten) {
  const miniapp::test::Folder folder("matmul-dataset");
  const auto path = folder / "c.h5";
  for (const auto& grid : grids(world().size())) {
    auto o = on_grid(integers(), grid);
    o.write_c = true;
    const auto product = serial_product<double>(o);
    {
      output::File file(world().native(), path);
      App<> made(o);
      made.app.run();
      made.app.write_fields(file, "/fields");
      file.commit();
    }
    Options next = o;
    next.size = {17, 5, 23};
    next.op_a = Operation::transpose;
    next.a = {.kind = MatrixKind::dataset, .dataset = "/fields/C"};
    next.a.file.path = path;
    const auto found = run_product<double>(world(), next);
    EXPECT_EQ(found.a, product);
    EXPECT_TRUE(found.verification.passed());
    next.size.k = 22;
    expect_run_refused(next, {"/fields/C", "(23, 17)", "(22, 17)"});
    next.a.dataset = "nothing";
    expect_run_refused(next, {"nothing", path});
  }
}

TEST(Formula, IsRefusedIfItIsNotFinite) {
  for (const char* keys : {"a: {kind: expression, expression: sqrt(i-3)}", "b: {kind: expression, expression: 0/0}",
                           "beta: 2, c: {kind: expression, expression: 1/0}"})
    expect_run_refused(read(fmt::format("problem: {{m: 23, n: 17, k: 31, {}}}", keys), world().size()),
                       {"test.yaml:2:", "expression", "i = 0, j = 0"});
}

TEST(Dataset, IsRefusedIfItIsNotFinite) {
  const miniapp::test::Folder folder("matmul-spoilt");
  const auto path = folder / "a.h5";
  {
    const bool first = world().rank() == 0;
    std::vector<double> values(static_cast<std::size_t>(first ? 23 * 31 : 0), 1);
    if (first) values.back() = std::nan("");
    output::File file(world().native(), path);
    file.dataset("spoilt", {{23, 31}, {0, 0}, {first ? 23u : 0u, first ? 31u : 0u}}, values.data());
    file.commit();
  }
  auto o = on_grid(integers(), grids(world().size()).back());
  o.a = {.kind = MatrixKind::dataset, .dataset = "spoilt"};
  o.a.file.path = path;
  expect_run_refused(o, {"spoilt", "nan", "i = 22, j = 30"});
}

Options sized(const std::string& text, int ranks, double free_memory) {
  return miniapp::test::sized<Options>("matmul", text, ranks, free_memory);
}

double number(std::int64_t n) { return static_cast<double>(n); }

/// Parts of A and B of a rank have as many elements as one rank's matrices, and its part of C is m x n.
TEST(Sizes, OfARank) {
  for (const int ranks : {1, 2, 3, 4, 6, 8, 12}) {
    const auto o = sized("problem: {m: 100, n: 200, k: 300, local: true}", ranks, 0);
    const auto rows = o.process_grid[0], columns = o.process_grid[1];
    EXPECT_EQ(rows * columns, ranks);
    EXPECT_EQ(o.size.m, 100 * rows);
    EXPECT_EQ(o.size.n, 200 * columns);
    EXPECT_NEAR(100 * number(o.size.k) / number(columns) + 200 * number(o.size.k) / number(rows), 300. * 300, 300);
  }
  EXPECT_EQ(sized("problem: {m: 10, n: 10, k: 10, local: true}", 9, 0).size.k, 30);
}

/// On one rank three matrices; on four, blocks of A and B twice.
TEST(Sizes, FillAShareOfMemory) {
  for (const std::string precision : {"double", "float"}) {
    const double element = precision == "double" ? 8 : 4;
    const auto filled = [&](int ranks) {
      const auto size =
          sized("problem: {m: 100, n: 100, k: 100, memory_share: 0.5, precision: " + precision + "}", ranks, 4e9).size;
      EXPECT_EQ(size.m, size.n);
      EXPECT_EQ(size.m, size.k);
      return number(size.m) * number(size.m) * element;
    };
    EXPECT_NEAR(filled(1), 2e9 / 3, 0.03 * 2e9);
    EXPECT_NEAR(filled(4), 4 * 2e9 / 5, 0.03 * 4 * 2e9);
  }
}

TEST(Sizes, ThatAreTooLargeAreRefused) {
  miniapp::test::expect_facts(miniapp::test::error_of([] {
                                sized("problem: {n: 2000000000, local: true}\ndecomposition: {process_grid: [1, 2]}", 2,
                                      0);
                              }),
                              {"deck.yaml:2:", "problem.n", "problem.local", "4000000000", "2147483647"});
}

} // namespace
} // namespace kontor::matmul::test
