// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What decks say: keys that do not go together, process grids that are chosen, and matrices in HDF5 files.
#include "run_product.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/config/deck.hpp>
#include <kontor/output/file.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <filesystem>
#include <string>
#include <unistd.h>

namespace kontor::matmul::test {
namespace {

Options read(const std::string& text, int ranks) {
  const auto deck = config::Deck::parse("app: matmul\n" + text, "test.yaml");
  Options options;
  deck.read([&](config::Visitor& v) { options.describe(v); });
  options.resolve(deck, ranks);
  return options;
}

void expect_refused(const std::string& text, int ranks, std::initializer_list<const char*> facts) {
  try {
    read(text, ranks);
    ADD_FAILURE() << "was not refused: " << text;
  } catch (const config::Error& error) {
    for (const char* fact : facts)
      EXPECT_NE(std::string(error.what()).find(fact), std::string::npos) << fact << " in: " << error.what();
  }
}

TEST(Deck, RefusesWhatDoesNotGoTogether) {
  expect_refused("product: {layers: 2}", 4, {"test.yaml:2:", "product.layers", "2", "cannon_25d"});
  expect_refused("product: {algorithm: cannon_25d, layers: 3}", 4, {"product.layers", "3", "4 ranks"});
  expect_refused("decomposition: {process_grid: [2, 3]}", 4, {"test.yaml:2:", "[2, 3]", "6", "4"});
  expect_refused("decomposition: {process_grid: [2]}", 2, {"process_grid", "length 1"});
  expect_refused("problem: {a: {kind: dataset}}", 1, {"problem.a.file", "empty"});
  expect_refused("problem: {m: 0}", 1, {"problem.m", "0"});
  expect_refused("problem: {a: {expression: x}}", 1, {"problem.a.expression", "x", "i", "j"});
}

TEST(Deck, ChoosesTheGridOfLeastVolume) {
  using Grid = std::vector<std::int64_t>;
  EXPECT_EQ(read("problem: {m: 100, n: 100, k: 100}", 4).process_grid, (Grid{2, 2}));
  EXPECT_EQ(read("problem: {m: 10, n: 1000, k: 1000}", 4).process_grid, (Grid{1, 4})); // A is small
  EXPECT_EQ(read("problem: {m: 1000, n: 10, k: 1000}", 4).process_grid, (Grid{4, 1})); // B is
  EXPECT_EQ(read("problem: {m: 100, n: 100, k: 100}", 5).process_grid, (Grid{1, 5}));
  EXPECT_EQ(read("product: {algorithm: cannon_25d, layers: 2}", 8).process_grid, (Grid{2, 2}));
}

TEST(Deck, WhatDoesNotFitIsRefusedBeforeItIsAllocated) {
  const int ranks = world().size();
  const bool layers = ranks % 2 == 0;
  auto o = on_grid(integers(2000000, 1000, 2000000),
                   layers ? GridShape{2, 1, ranks / 2} : GridShape{1, 1, ranks}); // A: 32 TB
  o.algorithm = Algorithm::cannon_25d;
  try {
    run_product<double>(world(), o);
    ADD_FAILURE() << "was not refused";
  } catch (const comm::AgreedError& error) {
    for (const char* fact :
         {"out of memory", "matmul/A", "GB", layers ? "product.layers" : "smaller problem"})
      EXPECT_NE(std::string(error.what()).find(fact), std::string::npos) << fact << " in: " << error.what();
  }
}

/// C of one product is A of the next.
TEST(Dataset, IsReadAsItWasWritten) {
  int process = ::getpid();
  MPI_Bcast(&process, 1, MPI_INT, 0, world().native());
  const auto path =
      std::filesystem::temp_directory_path() / ("kontor_matmul_" + std::to_string(process) + ".h5");
  auto o = on_grid(integers(), grids(world().size(), 1).back());
  o.write_c = true;
  const auto product = serial_product<double>(o);
  for (const auto distribution : {Distribution::block, Distribution::block_cyclic}) {
    o.distribution = distribution;
    o.block_size = {3, 2};
    {
      miniapp::Timers timers("matmul");
      miniapp::Progress progress(miniapp::Progress::Style::silent);
      output::File file(world().native(), path);
      Matmul<double> app(o, {world(), true, timers, progress});
      app.run();
      app.write_fields(file);
      file.commit();
    }
    Options next = o;
    next.size = {17, 5, 23};
    next.a = {.kind = MatrixKind::dataset, .dataset = "/fields/C", .operation = Operation::transpose};
    next.a.file.path = path.string();
    const auto found = run_product<double>(world(), next);
    EXPECT_EQ(found.a, product);
    EXPECT_TRUE(found.verification.passed());
    next.size.k = 22;
    try {
      run_product<double>(world(), next);
      ADD_FAILURE() << "was not refused";
    } catch (const config::Error& error) {
      for (const char* fact : {"/fields/C", "(23, 17)", "(22, 17)"})
        EXPECT_NE(std::string(error.what()).find(fact), std::string::npos) << error.what();
    }
  }
  if (world().rank() == 0) std::filesystem::remove(path);
}

} // namespace
} // namespace kontor::matmul::test
