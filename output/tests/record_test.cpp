// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes files in both ways of access; check_record.py reads them with h5py.
#include "../src/transfer.hpp"
#include "support.hpp"

#include <kontor/output/xdmf.hpp>

namespace kontor::output {
namespace {

nlohmann::ordered_json sample_record() {
  return {{"app", "heat"},
          {"title", "plaque d'été, 40 °C"},
          {"empty", ""},
          {"deck", std::string(100000, '#')},
          {"ranks", world_size()},
          {"offset", -3},
          {"huge", 18446744073709551615u},
          {"ratio", 0.1},
          {"overlap", true},
          {"nothing", nullptr},
          {"hosts", {"node-1", "node-22"}},
          {"process_grid", {2, 3}},
          {"mixed", {1, 2.5}},
          {"none", nlohmann::ordered_json::array()},
          {"verification", {{"passed", true}, {"error", 1e-9}, {"measure", "max norm"}}},
          {"history", {{"iteration", {0, 10, 20}}, {"residual", {1.0, 0.5, 0.25}}}},
          {"timers",
           {{{"region", "compute"}, {"calls", 10}, {"median", 0.5}, {"slowest_rank", 0}},
            {{"region", "wait for halo"}, {"calls", 20}, {"median", 0.25}, {"slowest_rank", 1}}}}};
}

/// One file with 2-D and 3-D fields, cut along each dimension. Rank 0's record counts, so others have
/// another.
void write_all(const std::filesystem::path& path, Access access) {
  File file(MPI_COMM_WORLD, path, access);
  file.record("/run", world_rank() == 0 ? sample_record() : nlohmann::ordered_json{{"wrong", 1}});
  const auto write = [&]<class T>(const std::string& name, const Block& block, T) {
    const auto values = numbered<T>(block);
    file.dataset(name, block, values.data());
  };
  write("/fields/line", uneven_block({17}, 0), double{});
  write("/fields/rows", uneven_block({13, 7}, 0), double{});
  write("/fields/columns", uneven_block({13, 7}, 1), float{});
  write("/fields/slabs", uneven_block({6, 5, 11}, 0), double{});
  write("/fields/bars", uneven_block({6, 5, 11}, 1), float{});
  write("/fields/sticks", uneven_block({6, 5, 11}, 2), std::int32_t{});
  write("/checkpoint/deep/index", uneven_block({6, 5, 11}, 2), std::int64_t{});
  write("/fields/large", uneven_block({1300, 4099}, 1), double{}); // more than one piece
  file.attributes("/fields/rows", {{"unit", "K"}, {"step", 12}, {"spacing", {0.5, 0.25}}});
  file.commit();
}

TEST(Record, IsWrittenTheSameInBothWays) {
  const auto path = folder("record");
  write_all(path / "parallel.h5", Access::parallel);
  write_all(path / "gathered.h5", Access::gathered);
  for (const char* name : {"parallel.h5", "gathered.h5"})
    EXPECT_EQ(left_beside(path / name), std::vector<std::filesystem::path>{});
  EXPECT_TRUE(read_text(path / "parallel.h5") == read_text(path / "gathered.h5")) << "files differ";
}

TEST(Record, VisualisationFilesAreWritten) {
  const auto path = folder("record");
  for (const int dimensions : {2, 3}) {
    const std::vector<std::uint64_t> global =
        dimensions == 2 ? std::vector<std::uint64_t>{4, 6} : std::vector<std::uint64_t>{3, 4, 6};
    const Image image{
        .cells = {6, 4, dimensions == 2 ? 1u : 3u}, .origin = {1, 2, 3}, .spacing = {0.5, 0.25, 0.125}};
    const auto h5 = path / ("image" + std::to_string(dimensions) + "d.h5");
    const Block block = uneven_block(global, 0);
    File file(MPI_COMM_WORLD, h5, Access::automatic, {xdmf_path(h5)});
    auto values = numbered<double>(block);
    file.dataset("/fields/u", block, values.data());
    for (double& value : values) value *= -2;
    file.dataset("/fields/v", block, values.data());
    file.image_data(image, {{"u", "/fields/u"}, {"v", "/fields/v"}});
    file.sidecar(xdmf_path(h5), xdmf(h5, image, dimensions, 8,
                                     {{.time = 0, .cell_data = {{"a<b & \"c\"", "/fields/u"}}},
                                      {.time = 0.5, .cell_data = {{"a<b & \"c\"", "/fields/v"}}}}));
    const std::vector<std::filesystem::path> written{h5, xdmf_path(h5)}, none;
    EXPECT_EQ(file.commit(), world_rank() == 0 ? written : none);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_EQ(left_beside(xdmf_path(h5)), none);
  }
}

TEST(Record, AnAxisMayHaveMoreThanTwoToThe31Elements) {
  const auto path = folder("record") / "sparse";
  write_text(path, "");
  // Rank r has three rows of five, which lie far apart.
  const std::uint64_t far = std::uint64_t{1} << 31, row = far + 1000, address = 512;
  const auto rank = static_cast<std::uint64_t>(world_rank());
  const std::string name = "/u";
  const Block block{{3, row}, {0, far + 10 * rank}, {3, 5}};
  std::vector<std::int32_t> values(15);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(100 * rank + i);
  EXPECT_EQ(error_of([&] {
              write_parallel(MPI_COMM_WORLD, path, address, {name, block, H5T_NATIVE_INT32, values.data()});
            }),
            "");
  std::ifstream file(path);
  std::vector<std::int32_t> found(5);
  for (std::uint64_t y = 0; y < 3; ++y) {
    file.seekg(static_cast<std::streamoff>(address + 4 * (y * row + block.offset[1])));
    file.read(reinterpret_cast<char*>(found.data()), 20);
    EXPECT_TRUE(std::equal(found.begin(), found.end(), values.begin() + 5 * static_cast<int>(y)))
        << "row " << y;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::filesystem::remove(path);
}

TEST(Record, WhatCannotBeStoredIsNamed) {
  const auto path = folder("record") / "never.h5";
  const auto text_of = [&](const nlohmann::ordered_json& tree) {
    return error_of([&] { File(MPI_COMM_WORLD, path).record("/run", tree); });
  };
  EXPECT_NE(text_of({{"bad", {1, "two"}}}).find("/run/bad mixes values that one HDF5 type cannot hold"),
            std::string::npos);
  EXPECT_NE(text_of({{"t", {{{"a", 1}}, {{"b", 1}}}}}).find("rows of table /run/t have different keys ('a'"),
            std::string::npos);
  EXPECT_NE(text_of({{"a/b", nlohmann::ordered_json::object()}}).find("'a/b' cannot name a member of /run"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              File(MPI_COMM_WORLD, path).attributes("/nowhere", {{"a", 1}});
            }).find("never.h5: H5Acreate_by_name of /nowhere@a failed: "),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Record, BlocksThatDoNotFillTheArrayAreRefused) {
  const auto path = folder("record") / "never.h5";
  const std::vector<double> values(100);
  const auto text_of = [&](const Block& block) {
    return error_of([&] { File(MPI_COMM_WORLD, path).dataset("/u", block, values.data()); });
  };
  EXPECT_NE(text_of({{100}, {0}, {world_rank() == 0 ? 1u : 0u}})
                .find("1 elements together; the array (100) has 100"),
            std::string::npos);
  EXPECT_NE(text_of({{5, 5}, {0, 3}, {5, 3}}).find("offset (0, 3) and extent (5, 3) in (5, 5)"),
            std::string::npos);
  EXPECT_NE(text_of({{5, 5}, {0}, {5, 3}}).find("2 global extents, 1 offsets and 2 extents"),
            std::string::npos);
  if (world_size() > 1) {
    EXPECT_NE(text_of({{world_rank() == 0 ? 5u : 6u}, {0}, {3}})
                  .find("ranks disagree on the extents of /u: (5) and (6)"),
              std::string::npos);
  }
}

} // namespace
} // namespace kontor::output
