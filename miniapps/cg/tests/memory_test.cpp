// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of a problem that fill a memory, and what is asked for beside what is allocated.
#include "cg/options.hpp"
#include "cg/problem/memory.hpp"
#include "run/tests/sized.hpp"
#include "run/tests/view_bytes.hpp"
#include "small_system.hpp"

namespace kontor::cg::test {
namespace {

Options sized(const std::string& problem, int ranks, double free_memory) {
  return miniapp::test::sized<Options>("cg", "problem: {" + problem + "}", ranks, free_memory);
}

const std::string elements = "kind: fe_heat, fe_heat: {elements: [20, 10, 10], boundary: {x_min: "
                             "{temperature: 1}}}, ";
const std::string points = "kind: stencil, stencil: {points: [20, 10, 10]}, ";

std::vector<std::int64_t> sizes_of(const Options& options) {
  return options.kind == ProblemKind::stencil ? options.stencil.points : options.fe_heat.elements;
}

double product(const std::vector<std::int64_t>& sizes) {
  return static_cast<double>(sizes[0]) * static_cast<double>(sizes[1]) * static_cast<double>(sizes[2]);
}

TEST(Sizes, OfARank) {
  for (const auto& problem : {elements, points})
    for (const int ranks : {1, 2, 3, 8}) {
      const auto options = sized(problem + "local: true", ranks, 0);
      for (int axis = 0; axis < 3; ++axis)
        EXPECT_EQ(sizes_of(options)[axis], (axis == 0 ? 20 : 10) * options.process_grid[axis]);
    }
}

/// A csr matrix of 27 entries of 12 bytes a row with vectors around it.
TEST(Sizes, FillAShareOfMemory) {
  for (const auto& problem : {elements, points})
    for (const int ranks : {1, 2, 3}) {
      const auto sizes = sizes_of(sized(problem + "memory_share: 0.5", ranks, 4e8));
      const double bytes = 2e8 / (product(sizes) / ranks);
      EXPECT_GT(bytes, 27 * 12);
      EXPECT_LT(bytes, 27 * 12 + 200);
      EXPECT_NEAR(static_cast<double>(sizes[0]) / static_cast<double>(sizes[1]), 2, 0.05);
      const auto half = sizes_of(sized(problem + "memory_share: 0.25", ranks, 4e8));
      EXPECT_NEAR(product(half), product(sizes) / 2, 0.05 * product(sizes));
    }
}

TEST(Sizes, OfAFileAreWhatTheyAre) {
  for (const std::string key : {"local: true", "memory_share: 0.5"})
    expect_facts(error_of([&] { sized("kind: matrix_market, matrix_market: {file: a.mtx}, " + key, 1, 1e9); }),
                 {"deck.yaml:2:", "problem." + key.substr(0, key.find(':')), "problem.kind"});
}

/// Bytes that an app and its run have at most.
double most_of(const Options& options, const comm::Communicator& comm) {
  return miniapp::test::most_view_bytes([&] {
    App app(options, comm);
    app.cg.warm_up();
    app.verified();
  });
}

/// 27 points, 24 x 24 x 12 of them a rank.
TEST(Memory, IsAskedForBeforeItIsAllocated) {
  if (!device::kernels_on_host) GTEST_SKIP() << "libraries have memory of their own on devices";
  Options options;
  options.stencil.points = {24, 24, 12 * world().size()};
  options.process_grid = {1, 1, world().size()};
  auto& solver = options.solver;
  solver.max_iterations = 3;
  solver.tolerance = 0;
  solver.launch = stepping::Launch::per_kernel;
  constexpr double rows = 24 * 24 * 12;
  const int ends = (world().rank() == 0 ? 1 : 0) + (world().rank() == world().size() - 1 ? 1 : 0);
  const PartSize part{.rows = rows,
                      .ghosts = world().size() > 1 ? 24. * 24 * 2 : 0,
                      .entries = 70. * 70 * (36 - ends)}; // of 3 x 3 x 3 a row those in the box
  for (const auto format : {Format::csr, Format::sell, Format::matrix_free})
    for (const auto method : {Method::classic, Method::merged, Method::pipelined})
      for (const auto preconditioner : preconditioners()) {
        if (format != Format::csr && method != Method::classic)
          continue; // what they have does not depend on each other
        if (world().size() > 1 && preconditioner != PreconditionerKind::none) continue;
        solver.format = format;
        solver.method = method;
        solver.preconditioner = preconditioner;
        const double used = most_of(options, world()), asked = bytes_of_rank(solver, part);
        SCOPED_TRACE(fmt::format("{}: {} bytes asked for, {} allocated", words_of(solver).dump(), asked, used));
        EXPECT_GE(asked, used);
        EXPECT_LT(asked, 2 * used);
      }
}

TEST(Memory, OfAnIterationIsMoreThanThatOfAProduct) {
  const PartSize part{.rows = 100, .entries = 2700};
  SolverOptions options{.format = Format::matrix_free};
  EXPECT_EQ(working_set(options, part, 2000), 2000 + 2 * 800); // x and r beside p and q
  options.preconditioner = PreconditionerKind::chebyshev;
  EXPECT_EQ(working_set(options, part, 2000), 2000 + (2 + 1 + 4) * 800);
}

} // namespace
} // namespace kontor::cg::test
