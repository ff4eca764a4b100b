// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What was written is read back, on ranks that have other parts of it, and what cannot be read is an error of all.
#include "support.hpp"

#include <kontor/output/reader.hpp>
#include <kontor/output/seal.hpp>

#include <csignal>
#include <sys/stat.h>
#include <unistd.h>

namespace kontor::output {
namespace {

using Json = nlohmann::ordered_json;

Json sample() {
  return {{"app", "heat"},
          {"title", "plaque d'été, 40 °C"},
          {"deck", std::string(100000, '#')},
          {"hosts", {"node-1", "node-22"}},
          {"huge", 18446744073709551615u},
          {"ratio", 0.1},
          {"none", Json::array()},
          {"timers", {{{"region", "compute"}, {"calls", 10}}, {{"region", "wait"}, {"calls", 20}, {"once", true}}}}};
}

class Reading : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    File file(MPI_COMM_WORLD, path());
    file.record("/run", world_rank() == 0 ? sample() : Json{{"wrong", 1}}); // rank 0's counts
    write<double>(file, "/fields/line", {17});
    write<float>(file, "/fields/plane", {13, 7});
    write<std::int32_t>(file, "/fields/solid", {6, 5, 11});
    write<std::int64_t>(file, "/fields/large", {520, 4099}); // more than one piece
    file.commit();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  template <class T>
  static void write(File& file, const std::string& name, const std::vector<std::uint64_t>& global) {
    const Block block = uneven_block(global, 0);
    file.dataset(name, block, numbered<T>(block).data());
  }
  static std::filesystem::path path(const char* name = "read.h5") { return folder("reader") / name; }

  static std::string error_of_opening(const std::filesystem::path& path) {
    return error_of([&] { Reader(MPI_COMM_WORLD, path); });
  }
};

TEST_F(Reading, RecordsAreAsTheyWereWritten) {
  const Reader reader(MPI_COMM_WORLD, path());
  EXPECT_EQ(reader.record("/run").dump(1), sample().dump(1));
  EXPECT_TRUE(reader.has("/run") && reader.has("fields/plane") && reader.has("/"));
  EXPECT_FALSE(reader.has("/run/nothing") || reader.has("/no/where") || reader.has("/fields/plane/x"));
}

TEST_F(Reading, BlocksAreReadByEachRank) {
  const Reader reader(MPI_COMM_WORLD, path());
  const auto expect_block = [&]<class T>(const std::string& name, const Block& block, T) {
    SCOPED_TRACE(name);
    const auto info = reader.info(name);
    EXPECT_EQ(info.extents, block.global);
    EXPECT_EQ(info.type, name_of(scalar_of<T>));
    std::vector<T> values(numbered<T>(block).size());
    reader.read(name, block, values.data());
    EXPECT_TRUE(values == numbered<T>(block));
  };
  expect_block("/fields/line", uneven_block({17}, 0), double{});
  expect_block("/fields/plane", uneven_block({13, 7}, 1), float{});
  for (const int cut : {0, 1, 2}) expect_block("/fields/solid", uneven_block({6, 5, 11}, cut), std::int32_t{});
  expect_block("/fields/large", uneven_block({520, 4099}, 1), std::int64_t{});
  const auto rank = static_cast<std::uint64_t>(world_rank());
  expect_block("/fields/solid", {{6, 5, 11}, {1, rank, 2}, {4, 1, 8}}, std::int32_t{}); // neither all nor once
  expect_block("/fields/solid", {{6, 5, 11}, {1, 0, 2}, {rank == 0 ? 0u : 1u, 5, 8}}, std::int32_t{});
}

TEST_F(Reading, ValuesGoWhereverTheyBelong) {
  const Reader reader(MPI_COMM_WORLD, path());
  const Block block{{6, 5, 11}, {1, 0, 3}, {4, 5, 6}};
  const auto values = numbered<std::int32_t>(block);
  std::vector<std::int32_t> stored(values.size());
  reader.read("/fields/solid", block, Store<std::int32_t>([&](const Box& box, const std::int32_t* from) {
                for (std::uint64_t k = 0; k < box.extent[0]; ++k)
                  for (std::uint64_t j = 0; j < box.extent[1]; ++j)
                    for (std::uint64_t i = 0; i < box.extent[2]; ++i)
                      stored[((box.offset[0] + k) * 5 + box.offset[1] + j) * 6 + box.offset[2] + i] = *from++;
              }));
  EXPECT_TRUE(stored == values);
}

TEST_F(Reading, WhatIsNotAsWantedIsAnErrorOfAll) {
  const Reader reader(MPI_COMM_WORLD, path());
  std::vector<double> room(100);
  const auto text_of = [&](const std::string& name, const Block& block) {
    return error_of([&] { reader.read(name, block, room.data()); });
  };
  const Block line{{17}, {0}, {17}};
  expect_facts(text_of("/fields/u", line), {"read.h5: ", "no object /fields/u"});
  expect_facts(text_of("/nowhere/u", line), {"no object /nowhere/u"});
  expect_facts(text_of("/fields/line/u", line), {"no object /fields/line/u"});
  expect_facts(text_of("/fields", line), {"/fields is a group, not a dataset"});
  expect_facts(text_of("/fields/plane", {{13, 7}, {0, 0}, {1, 7}}), {"/fields/plane are float32; float64 is wanted"});
  expect_facts(text_of("/fields/line", {{18}, {0}, {18}}), {"/fields/line is (17); (18) is wanted"});
  expect_facts(text_of("/fields/line", {{17, 1}, {0, 0}, {17, 1}}), {"/fields/line is (17); (17, 1) is wanted"});
  // On one rank only.
  const auto last = world_rank() == world_size() - 1;
  expect_facts(text_of("/fields/line", {{17}, {last ? 10u : 0u}, {8}}), {"out of range: offset (10) and extent (8)"});
  expect_facts(error_of([&] {
                 reader.read<double>("/fields/line", line, Store<double>([&](const Box&, const double*) {
                                       if (last) throw std::runtime_error("device lost");
                                     }));
               }),
               {"device lost"});
  expect_facts(error_of([&] { return reader.record("/fields/line"); }), {"/fields/line is no text"});
  expect_facts(error_of([&] { return reader.record("/runs"); }), {"no object /runs"});
  EXPECT_EQ(text_of("/fields/line", line), ""); // after all of these
}

TEST_F(Reading, WhatIsNoWholeFileIsRefused) {
  expect_facts(error_of_opening(path("absent.h5")), {"absent.h5: No such file or directory"});
  expect_facts(error_of_opening(path("absent.h5").parent_path()), {"it is a directory"});
  write_text(path("text.h5"), "app: heat\n");
  expect_facts(error_of_opening(path("text.h5")), {"text.h5: ", "file signature not found"});
  const auto pipe = path("pipe.h5");
  on_rank_0([&] { ::mkfifo(pipe.c_str(), 0600); });
  expect_facts(error_of_opening(pipe), {"it is not a regular file"});
  remove_file(pipe);
  // Cut off anywhere: refused, or an error when what is missing is read.
  const std::string whole = read_text(path());
  for (const double part : {0.00001, 0.01, 0.5, 0.999}) {
    SCOPED_TRACE(part);
    write_text(path("cut.h5"), whole.substr(0, static_cast<std::size_t>(part * static_cast<double>(whole.size()))));
    expect_facts(error_of_opening(path("cut.h5")), {"cut.h5: "});
  }
}

TEST_F(Reading, ACrashNamesTheFile) {
  if (world_size() > 1) GTEST_SKIP() << "one rank tells the same";
  const Reader reader(MPI_COMM_SELF, path());
  const Block line{{17}, {0}, {17}};
  EXPECT_EXIT(
      reader.read<double>("/fields/line", line, Store<double>([](const Box&, const double*) { std::raise(SIGSEGV); })),
      testing::ExitedWithCode(3), "read\\.h5: .*\\[E-FILE-DAMAGED\\]");
}

/// Every byte of a sealed file counts, and its end.
TEST(Seal, TellsWhatIsNotAsItWasWritten) {
  const auto path = folder("reader") / "sealed.h5", sealed = folder("reader") / "sealed-000000012.h5";
  const Block block = uneven_block({64, 48}, 0);
  const auto values = numbered<double>(block);
  const auto write = [&] {
    File file(MPI_COMM_WORLD, path);
    file.dataset("/state/u", block, values.data());
    file.record("/checkpoint", {{"step", 12}, {"deck", "app: heat"}});
    file.commit_as(sealed);
  };
  const auto found = [&](const std::string& bytes) {
    write_text(sealed, bytes);
    return error_of([&] { check_seal(MPI_COMM_WORLD, sealed); });
  };
  write();
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(left_beside(path).empty());
  EXPECT_EQ(error_of([&] { check_seal(MPI_COMM_WORLD, sealed); }), "");
  EXPECT_EQ(Reader(MPI_COMM_WORLD, sealed).record("/checkpoint")["step"], 12);
  const std::string whole = read_text(sealed);
  for (const std::size_t place : {std::size_t{0}, std::size_t{700}, whole.size() / 2, whole.size() - 45,
                                  whole.size() - 30, whole.size() - 12, whole.size() - 1}) {
    std::string changed = whole;
    changed[place] = static_cast<char>(changed[place] ^ 4);
    EXPECT_NE(found(changed), "") << "byte " << place << " of " << whole.size();
  }
  std::string changed = whole;
  ++changed[700];
  expect_facts(found(changed), {"sealed-000000012.h5: its bytes 0 to "});
  expect_facts(error_of([&] { Reader(MPI_COMM_WORLD, sealed); }), {"its bytes 0 to ", "[E-FILE-DAMAGED]"});
  for (const std::size_t length : {std::size_t{0}, std::size_t{7}, whole.size() / 2, whole.size() - 1})
    EXPECT_NE(found(whole.substr(0, length)), "") << length << " bytes";
  EXPECT_NE(found(whole + "x"), "");
  EXPECT_EQ(found(whole), "");
  remove_file(sealed);
  expect_facts(error_of([&] { check_seal(MPI_COMM_WORLD, sealed); }), {"No such file"});
}

} // namespace
} // namespace kontor::output
