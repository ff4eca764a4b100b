// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions and Views at a block's cells or points, in memory and in files.
#include "common.hpp"
#include "grid/block_output.hpp"
#include "grid/functions.hpp"
#include "grid/view_output.hpp"

#include <kontor/config/deck.hpp>

#include <mpi.h>

#include <filesystem>

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
  const auto cartesian = cartesian_for({9, 10}, {false, false});
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
    EXPECT_NO_THROW(finite.agree(world()));
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
  const auto cartesian = make_cartesian(world(), {world().size()}, {false});
  const auto block = make_block({Centering::points, {4 * world().size() + 1}, {0}, {0.25}}, cartesian);
  const BlockView<double> values("test/values", 1, 1, block.extents[0]);
  const auto text = "x < " + std::to_string(world().size()) + " ? x : 1/(x-x)";
  FiniteCheck finite;
  fill<double>(values, block, DeckFunction(read_expression(text)), 7, finite);
  expect_facts(error_of([&] { finite.agree(world()); }),
               {"d.yaml:3:12: problem.initial", text, "x = " + std::to_string(world().size()) + ",", "t = 7", "inf"});
}

TEST(BlockOutput, HasTheAxesOfFiles) {
  Block block;
  block.dimensions = 2;
  block.global = {7, 9, 1};
  block.offset = {3, 4, 0};
  block.extents = {4, 5, 1};
  block.lower = {-1, 2, 0};
  block.spacing = {0.5, 0.25, 1};
  using Extents = std::vector<std::uint64_t>;
  const auto part = block_in_file(block);
  EXPECT_EQ(part.global, (Extents{9, 7}));
  EXPECT_EQ(part.offset, (Extents{4, 3}));
  EXPECT_EQ(part.extent, (Extents{5, 4}));
  for (const auto centering : {Centering::cells, Centering::points}) {
    block.centering = centering;
    const auto image = image_of(block);
    const std::uint64_t less = centering == Centering::points ? 1 : 0;
    EXPECT_EQ(image.dimensions, 2);
    EXPECT_EQ(image.cells, (std::array<std::uint64_t, 3>{7 - less, 9 - less, 1}));
    EXPECT_EQ(image.origin, (std::array{-1.0, 2.0, 0.0}));
    EXPECT_EQ(image.spacing, (std::array{0.5, 0.25, 1.0}));
    const auto field = mesh_field<float>(block, "T", "/fields/T");
    EXPECT_EQ(output::extents(image, field.centering), part.global);
    EXPECT_EQ(field.scalar, output::Scalar::float32);
  }
}

using Range = Kokkos::pair<int, int>;

/// An array cut along its slowest dimension, two indices a rank.
output::Block block_of(std::vector<std::uint64_t> extent) {
  output::Block block{extent, std::vector<std::uint64_t>(extent.size(), 0), extent};
  block.global[0] *= static_cast<std::uint64_t>(world().size());
  block.offset[0] = extent[0] * static_cast<std::uint64_t>(world().rank());
  return block;
}

/// Writes part(all), filled by value(indices ...), in both ways, and reads it back in both into part(other).
template <class All, class Part, class Value>
void expect_back(const output::Block& block, const All& all, const All& other, const Part& part, const Value& value) {
  const auto host = Kokkos::create_mirror_view(all);
  const auto values = part(host);
  const auto for_each = [](const auto& view, const auto& action) {
    for (std::size_t a = 0; a < view.extent(0); ++a)
      for (std::size_t b = 0; b < view.extent(1); ++b)
        for (std::size_t c = 0; c < view.extent(2); ++c) action(view.access(a, b, c), a, b, c);
  };
  for_each(values, [&](auto& element, auto... index) { element = value(index...); });
  Kokkos::deep_copy(all, host);

  const std::filesystem::path path = "view_output_" + std::to_string(block.global[0]) + ".h5";
  {
    output::File file(MPI_COMM_WORLD, path);
    write_view(file, "/in place", block, part(all));
    write_view<decltype(part(all)), true>(file, "/staged", block, part(all));
    file.commit();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  {
    const output::Reader reader(MPI_COMM_WORLD, path);
    for (const char* name : {"/in place", "/staged"})
      for (const bool staged : {false, true}) {
        Kokkos::deep_copy(other, 0);
        staged ? read_view<decltype(part(other)), true>(reader, name, block, part(other))
               : read_view(reader, name, block, part(other));
        const auto back = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), other);
        for_each(part(back), [&](const auto& element, auto... index) {
          EXPECT_EQ(element, value(index...)) << name << (staged ? ", staged" : "");
        });
      }
  }
  if (world().rank() == 0) std::filesystem::remove(path);
  MPI_Barrier(MPI_COMM_WORLD);
}

int value_of(std::size_t a, std::size_t b, std::size_t c) {
  return static_cast<int>(1000 * world().rank() + 100 * a + 10 * b + c + 1);
}

TEST(ViewOutput, PaddedFieldsComeBack) {
  const Kokkos::View<double***, Kokkos::LayoutRight> all("all", 4, 5, 16), other("other", 4, 5, 16);
  const auto own = [](const auto& view) { return Kokkos::subview(view, Range(1, 3), Range(1, 4), Range(8, 15)); };
  expect_back(block_of({2, 3, 7}), all, other, own, value_of);
}

TEST(ViewOutput, ALayerIsWrittenInTwoDimensions) {
  const Kokkos::View<float***, Kokkos::LayoutRight> all("all", 1, 4, 9), other("other", 1, 4, 9);
  const auto own = [](const auto& view) { return Kokkos::subview(view, Range(0, 1), Range(1, 3), Range(2, 7)); };
  expect_back(block_of({2, 5}), all, other, own, value_of);
}

TEST(ViewOutput, MatricesAndVectorsOfAnyLayoutComeBack) {
  const auto whole = [](const auto& view) { return view; };
  const Kokkos::View<double**, Kokkos::LayoutLeft> matrix("matrix", 3, 4), other("other", 3, 4);
  expect_back(block_of({3, 4}), matrix, other, whole, value_of);
  const Kokkos::View<std::int64_t*> vector("vector", 5), other_vector("other", 5);
  expect_back(block_of({5}), vector, other_vector, whole, value_of);
}

} // namespace
} // namespace kontor::grid::test
