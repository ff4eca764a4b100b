// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks of a process grid, brought together in pieces that are contiguous in the file.
#include "../src/checksum.hpp"
#include "../src/transfer.hpp"
#include "support.hpp"

extern "C" void kontor_fault_arm(long long after, int lose_silently);

namespace kontor::output {
namespace {

const std::string name = "/u";
constexpr std::uint64_t address = 24; // of the values in the file

/// More than one piece for each of four ranks.
const Extents large{19, 110, 1001};

/// This rank's block: ranks are a grid along the last two dimensions, as square as can be.
Block block_of_grid() {
  const auto ranks = static_cast<std::uint64_t>(world_size()), rank = static_cast<std::uint64_t>(world_rank());
  const std::uint64_t along_y = ranks % 2 == 0 && ranks > 2 ? 2 : 1;
  const std::array<std::uint64_t, 3> parts{1, along_y, ranks / along_y}, part{0, rank / parts[2], rank % parts[2]};
  Block block{large, {}, {}};
  for (std::size_t d = 0; d < 3; ++d) {
    block.offset.push_back(large[d] * part[d] / parts[d]);
    block.extent.push_back(large[d] * (part[d] + 1) / parts[d] - block.offset[d]);
  }
  return block;
}

/// Where the library that makes disks full takes part.
std::filesystem::path empty_file() {
  const auto path = folder("pieces") / "pieces.h5.0.tmp";
  write_text(path, "");
  return path;
}

/// Writes the block in pieces; compares the file and the checksums with the whole array.
template <class T>
Share expect_whole(const Block& block, const BlockValues& values) {
  const auto path = empty_file();
  const Share share = write_pieces(MPI_COMM_WORLD, path, address, {name, block, values}, world_size());
  const Box all{Extents(block.global.size(), 0), block.global};
  const auto expected = numbered<T>({block.global, all.offset, all.extent});
  std::array<std::uint64_t, 2> sums{share.handed_over, 0};
  for (const Box& box : share.written) sums[1] += elements(box.extent);
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(sums[0], box_sum(expected.data(), sizeof(T), all, block.global));
  EXPECT_EQ(sums[1], expected.size());
  if (world_rank() == 0) {
    const std::string bytes(reinterpret_cast<const char*>(expected.data()), sizeof(T) * expected.size());
    EXPECT_TRUE(read_text(path).substr(address) == bytes);
  }
  remove_file(path);
  return share;
}

void expect_several_pieces(const Share& share) {
  for (const Box& box : share.written) EXPECT_LE(elements(box.extent) * sizeof(double), long_row_bytes);
  if (world_size() > 1) {
    EXPECT_GT(share.written.size(), 1U) << "one piece only, where several are to be tried";
  }
}

TEST(Pieces, AreOfValuesInMemory) {
  const Block block = block_of_grid();
  const auto values = numbered<double>(block);
  expect_several_pieces(expect_whole<double>(block, BlockValues{H5T_NATIVE_DOUBLE, block.extent, values.data(), {}}));
}

TEST(Pieces, AreOfPaddedValues) {
  const Block block = block_of_grid();
  const auto values = numbered<double>(block);
  const auto& n = block.extent;
  const std::uint64_t row = n[2] + 3, plane = row * (n[1] + 1);
  std::vector<double> padded(n[0] * plane, -1);
  for (std::uint64_t k = 0; k < n[0]; ++k)
    for (std::uint64_t j = 0; j < n[1]; ++j)
      std::copy_n(values.data() + (k * n[1] + j) * n[2], n[2], padded.data() + k * plane + j * row);
  const Strides strides{static_cast<std::int64_t>(plane), static_cast<std::int64_t>(row), 1};
  expect_several_pieces(expect_whole<double>(block, BlockValues{H5T_NATIVE_DOUBLE, n, padded.data(), strides}));
}

/// Few elements, pieces for each rank, rows longer than a piece, and one dimension.
TEST(Pieces, OfAnyShape) {
  for (const auto& global : {Extents{3, 5, 7}, {70, 11, 301}, {2, 1200000}, {700001}}) {
    const Block block = uneven_block(global, static_cast<int>(global.size()) - 1);
    const auto values = numbered<std::int32_t>(block);
    expect_whole<std::int32_t>(block, BlockValues{H5T_NATIVE_INT32, block.extent, values.data(), {}});
  }
}

/// A write fails after a piece and a half, on one rank.
TEST(Pieces, AWriteThatFailsInTheMiddleIsAnErrorOfAll) {
  const Block block = block_of_grid();
  const auto values = numbered<double>(block);
  const BlockValues of_block(H5T_NATIVE_DOUBLE, block.extent, values.data(), {});
  for (int failing = 0; failing < world_size(); ++failing) {
    SCOPED_TRACE(testing::Message() << "on rank " << failing);
    const auto path = empty_file();
    if (world_rank() == failing) kontor_fault_arm(3 << 20, 0);
    const std::string text = error_of([&] {
      write_pieces(MPI_COMM_WORLD, path, address, {name, block, of_block}, world_size());
    });
    kontor_fault_arm(-1, 0);
    expect_facts(text, {"write failed: No space left on device"});
  }
}

/// Checksums of files are those that earlier versions have written, of whole words or not.
TEST(Checksum, IsThatOfEarlierFiles) {
  std::array<unsigned char, 100> bytes{};
  for (unsigned i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 37 + 11);
  EXPECT_EQ(checksum(bytes.data(), 0, 7), 0x7c2b12c8d22f166aU);
  EXPECT_EQ(checksum(bytes.data(), 5, 7), 0x85aaf66943124359U);
  EXPECT_EQ(checksum(bytes.data(), 32, 7), 0x66a6ffff56cdb82fU);
  EXPECT_EQ(checksum(bytes.data(), 64, 7), 0x9ab0e10f8d22e851U);
  EXPECT_EQ(checksum(bytes.data(), 100, 7), 0xeb5286acda23dcd1U);
}

} // namespace
} // namespace kontor::output
