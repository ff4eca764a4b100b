// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views of any rank, layout and padding are written as they are, and read back, in place and by way of staging memory.
#include "grid/view_output.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <filesystem>

namespace kontor::grid {
namespace {

using Range = Kokkos::pair<int, int>;

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// An array cut along its slowest dimension, two indices a rank.
output::Block block_of(std::vector<std::uint64_t> extent) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  output::Block block{extent, std::vector<std::uint64_t>(extent.size(), 0), extent};
  block.global[0] *= static_cast<std::uint64_t>(ranks);
  block.offset[0] = extent[0] * static_cast<std::uint64_t>(rank_of_world());
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
    write_view_staged(file, "/staged", block, part(all));
    file.commit();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  {
    const output::Reader reader(MPI_COMM_WORLD, path);
    for (const char* name : {"/in place", "/staged"})
      for (const bool staged : {false, true}) {
        Kokkos::deep_copy(other, 0);
        staged ? read_view_staged(reader, name, block, part(other)) : read_view(reader, name, block, part(other));
        const auto back = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), other);
        for_each(part(back), [&](const auto& element, auto... index) {
          EXPECT_EQ(element, value(index...)) << name << (staged ? ", staged" : "");
        });
      }
  }
  if (rank_of_world() == 0) std::filesystem::remove(path);
  MPI_Barrier(MPI_COMM_WORLD);
}

int value_of(std::size_t a, std::size_t b, std::size_t c) {
  return static_cast<int>(1000 * rank_of_world() + 100 * a + 10 * b + c + 1);
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
} // namespace kontor::grid
