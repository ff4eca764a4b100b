// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of a deck at a block's cells or points, and the check that they are finite.
#include "common.hpp"
#include "grid/functions.hpp"

#include <kontor/config/deck.hpp>

#include <gtest/gtest.h>

#include <string>

namespace kontor::grid::test {
namespace {

constexpr std::array<std::string_view, 4> variables{"x", "y", "z", "t"};

/// As an app has it: an option of a deck.
config::Expression read_expression(const std::string& formula) {
  config::Expression result;
  const auto deck = config::Deck::parse("app: x\nproblem:\n  initial: \"" + formula + "\"\n", "d.yaml");
  deck.read([&](config::Visitor& v) {
    v.section("problem", "", [&](config::Visitor& p) { p.value("initial", result, variables, ""); });
  });
  return result;
}

TEST(Functions, AreEvaluatedAtCellsOrPoints) {
  const comm::Communicator world(MPI_COMM_WORLD);
  const auto cartesian = cartesian_for(world, {9, 10}, {false, false});
  for (const auto centering : {Centering::cells, Centering::points}) {
    const auto block = make_block({centering, {9, 10}, {1, 2}, {0.5, 0.25}}, cartesian);
    const BlockView<double> values("test/values", 1, block.extents[1], block.extents[0]);
    FiniteCheck finite;
    fill<double>(values, block, DeckFunction(read_expression("100*x+y+1000*z+t")), 1e4, finite);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
    const double middle = centering == Centering::cells ? 0.5 : 0;
    for (std::int64_t j = 0; j < block.extents[1]; ++j)
      for (std::int64_t i = 0; i < block.extents[0]; ++i) {
        const double x = 1 + (static_cast<double>(block.offset[0] + i) + middle) * 0.5;
        const double y = 2 + (static_cast<double>(block.offset[1] + j) + middle) * 0.25;
        EXPECT_EQ(host(0, j, i), 100 * x + y + 1e4);
      }
    EXPECT_NO_THROW(finite.agree(world));
  }
}

/// A cell with indices of 64 bits: with others a copy does not compile.
struct WideIndices {
  using execution_space = Kokkos::DefaultHostExecutionSpace;
  double* cell;
  static std::size_t extent(int) { return 1; }
  KOKKOS_FUNCTION double& operator()(std::int64_t, std::int64_t, std::int64_t) const { return *cell; }
  template <class Index>
  double& operator()(Index, Index, Index) const = delete;
};

TEST(Copies, HaveIndicesOf64Bits) {
  double from = 1, to = 0;
  copy_values(WideIndices{&to}, WideIndices{&from});
  EXPECT_EQ(to, 1);
}

/// The point is the last rank's, and all ranks say the same of it.
TEST(Functions, ThatAreNotFiniteOnOneRankAreAnErrorOfAll) {
  const comm::Communicator world(MPI_COMM_WORLD);
  const auto cartesian = make_cartesian(world, {world.size()}, {false});
  const auto block = make_block({Centering::points, {4 * world.size() + 1}, {0}, {0.25}}, cartesian);
  const BlockView<double> values("test/values", 1, 1, block.extents[0]);
  const auto text = "x < " + std::to_string(world.size()) + " ? x : 1/(x-x)";
  FiniteCheck finite;
  fill<double>(values, block, DeckFunction(read_expression(text)), 7, finite);
  expect_facts(error_of([&] { finite.agree(world); }),
               {"d.yaml:3:12: problem.initial", text, "x = " + std::to_string(world.size()) + ",", "t = 7", "inf"});
}

} // namespace
} // namespace kontor::grid::test
