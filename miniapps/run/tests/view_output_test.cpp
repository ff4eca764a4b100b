// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views of any rank, layout and padding are written as they are, and read back, in place and by way of
// staging memory.
#include "run/view_output.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <filesystem>

namespace kontor::miniapp {
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

/// Writes the View in both ways, and reads both into views like it.
template <class View, class Value>
void expect_back(const output::Block& block, const View& view, const View& other, const Value& value) {
  const std::filesystem::path path = "view_output_" + std::to_string(block.global[0]) + ".h5";
  {
    output::File file(MPI_COMM_WORLD, path);
    write_view(file, "/in place", block, view);
    write_view_staged(file, "/staged", block, view);
    file.commit();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  {
    const output::Reader reader(MPI_COMM_WORLD, path);
    for (const char* name : {"/in place", "/staged"})
      for (const bool staged : {false, true}) {
        Kokkos::deep_copy(other, 0);
        staged ? read_view_staged(reader, name, block, other) : read_view(reader, name, block, other);
        value(other, std::string(name) + (staged ? ", staged" : ""));
      }
  }
  if (rank_of_world() == 0) std::filesystem::remove(path);
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(ViewOutput, PaddedFieldsComeBack) {
  const Kokkos::View<double***, Kokkos::LayoutRight> all("all", 4, 5, 16), other_all("other", 4, 5, 16);
  const auto own = [](const auto& view) {
    return Kokkos::subview(view, Range(1, 3), Range(1, 4), Range(8, 15));
  };
  const auto view = own(all);
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 7; ++i) view(k, j, i) = 100 * rank_of_world() + 21 * k + 7 * j + i + 1;
  expect_back(block_of({2, 3, 7}), view, own(other_all), [&](const auto& found, const std::string& how) {
    for (int k = 0; k < 2; ++k)
      for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 7; ++i) EXPECT_EQ(found(k, j, i), view(k, j, i)) << how;
  });
}

TEST(ViewOutput, ALayerIsWrittenInTwoDimensions) {
  const Kokkos::View<float***, Kokkos::LayoutRight> all("all", 1, 4, 9), other_all("other", 1, 4, 9);
  const auto own = [](const auto& view) {
    return Kokkos::subview(view, Range(0, 1), Range(1, 3), Range(2, 7));
  };
  const auto view = own(all);
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < 5; ++i) view(0, j, i) = static_cast<float>(100 * rank_of_world() + 5 * j + i + 1);
  expect_back(block_of({2, 5}), view, own(other_all), [&](const auto& found, const std::string& how) {
    for (int j = 0; j < 2; ++j)
      for (int i = 0; i < 5; ++i) EXPECT_EQ(found(0, j, i), view(0, j, i)) << how;
  });
}

TEST(ViewOutput, MatricesAndVectorsOfAnyLayoutComeBack) {
  const Kokkos::View<double**, Kokkos::LayoutLeft> matrix("matrix", 3, 4), other("other", 3, 4);
  const Kokkos::View<std::int64_t*> vector("vector", 5), other_vector("other", 5);
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 4; ++i) matrix(j, i) = 100 * rank_of_world() + 4 * j + i + 1;
  for (int i = 0; i < 5; ++i) vector(i) = 100 * rank_of_world() + i + 1;
  expect_back(block_of({3, 4}), matrix, other, [&](const auto& found, const std::string& how) {
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 4; ++i) EXPECT_EQ(found(j, i), matrix(j, i)) << how;
  });
  expect_back(block_of({5}), vector, other_vector, [&](const auto& found, const std::string& how) {
    for (int i = 0; i < 5; ++i) EXPECT_EQ(found(i), vector(i)) << how;
  });
}

} // namespace
} // namespace kontor::miniapp
