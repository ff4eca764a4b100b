// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What was written is read back, on ranks that have other parts of it, and what cannot be read is an error of all.
#include "../src/box.hpp"
#include "../src/tree.hpp"
#include "support.hpp"

#include <kontor/output/reader.hpp>
#include <kontor/output/seal.hpp>

#include <cerrno>
#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

namespace kontor::output {
namespace {

using Json = nlohmann::ordered_json;

/// Members in alphabetical order, after attributes, as a reader finds them.
Json sample() {
  return {{"app", "heat"},
          {"empty", ""},
          {"hosts", {"node-1", "node-22"}},
          {"huge", 18446744073709551615u},
          {"overlap", true},
          {"ratio", 0.1},
          {"history", {{"iteration", {0, 10, 20}}, {"norm", {1.0, 0.5, 0.25}}}},
          {"none", Json::array()},
          {"timers", {{{"region", "compute"}, {"calls", 10}}, {{"region", "wait, été"}, {"calls", 20}}}},
          {"verification", {{"measure", "max norm"}, {"passed", false}}}};
}

class Reading : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    File file(MPI_COMM_WORLD, path());
    file.record("/run", sample());
    write<double>(file, "/fields/line", {17});
    write<float>(file, "/fields/plane", {13, 7});
    write<std::int32_t>(file, "/fields/solid", {6, 5, 11});
    write<std::int64_t>(file, "/fields/large", {520, 4099}); // more than one piece
    file.attributes("/fields/plane", {{"sweeps", 12}, {"spacing", {0.5, 0.25}}});
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
  EXPECT_EQ(reader.record("/fields"), (Json{{"line", numbered<double>({{17}, {0}, {17}})}})); // others have ranks
  EXPECT_EQ(reader.attributes("/fields/plane"), (Json{{"spacing", {0.5, 0.25}}, {"sweeps", 12}}));
  EXPECT_EQ(reader.names("/"), (std::vector<std::string>{"fields", "run"}));
  EXPECT_TRUE(reader.has("/run/timers") && reader.has("fields/plane") && reader.has("/"));
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
  std::vector<std::int32_t> padded(4 * 7 * 9, -1), turned(values.size()), stored(values.size());
  reader.read("/fields/solid", block, padded.data() + 9 + 2, {63, 9, 1});
  reader.read("/fields/solid", block, turned.data(), {1, 4, 20});
  reader.read("/fields/solid", block, Store<std::int32_t>([&](const Box& box, const std::int32_t* from) {
                for (std::uint64_t k = 0; k < box.extent[0]; ++k)
                  for (std::uint64_t j = 0; j < box.extent[1]; ++j)
                    for (std::uint64_t i = 0; i < box.extent[2]; ++i)
                      stored[((box.offset[0] + k) * 5 + box.offset[1] + j) * 6 + box.offset[2] + i] = *from++;
              }));
  EXPECT_TRUE(stored == values);
  for (std::size_t k = 0; k < 4; ++k)
    for (std::size_t j = 0; j < 7; ++j)
      for (std::size_t i = 0; i < 9; ++i) {
        const bool inside = j >= 1 && j <= 5 && i >= 2 && i <= 7;
        const auto value = inside ? values[(k * 5 + j - 1) * 6 + i - 2] : -1;
        ASSERT_EQ(padded[k * 63 + j * 9 + i], value) << k << " " << j << " " << i;
        if (inside) {
          ASSERT_EQ(turned[(i - 2) * 20 + (j - 1) * 4 + k], value);
        }
      }
}

TEST_F(Reading, WhatIsNotAsWantedIsAnErrorOfAll) {
  const Reader reader(MPI_COMM_WORLD, path());
  std::vector<double> room(100);
  const auto text_of = [&](const std::string& name, const Block& block) {
    return error_of([&] { reader.read(name, block, room.data()); });
  };
  const Block line{{17}, {0}, {17}};
  expect_facts(text_of("/fields/u", line),
               {"read.h5: ", "no object /fields/u", "/fields has large, line, plane, solid"});
  expect_facts(text_of("/nowhere/u", line), {"no object /nowhere/u", "/ has fields, run"});
  expect_facts(text_of("/fields/line/u", line), {"no object /fields/line/u"});
  expect_facts(text_of("/fields", line), {"/fields is a group, not a dataset", "has large, line"});
  expect_facts(text_of("/fields/plane", {{13, 7}, {0, 0}, {1, 7}}), {"/fields/plane are float32; float64 is wanted"});
  expect_facts(text_of("/run/timers", line), {"/run/timers are table; float64 is wanted"});
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
  expect_facts(error_of([&] { return reader.names("/fields/line"); }), {"is a dataset, not a group"});
  expect_facts(error_of([&] { return reader.record("/runs"); }), {"no object /runs", "/ has fields, run"});
  EXPECT_EQ(text_of("/fields/line", line), ""); // after all of these
}

TEST_F(Reading, WhatIsNoWholeFileIsRefused) {
  expect_facts(error_of_opening(path("absent.h5")), {"absent.h5: No such file or directory"});
  expect_facts(error_of_opening(path("absent.h5").parent_path()), {"it is a directory"});
  write_text(path("text.h5"), "app: heat\n");
  expect_facts(error_of_opening(path("text.h5")), {"text.h5: it is not an HDF5 file", "10 bytes"});
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

/// Extents, and properties of datasets, for the HDF5 library.
Handle space_of(hsize_t extent) {
  return {H5Screate_simple(1, &extent, nullptr), H5Sclose, "H5Screate_simple", "a dataset"};
}
Handle properties() { return {H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "H5Pcreate", "a dataset"}; }
void add_dataset(hid_t file, const char* name, hid_t type, hid_t space, hid_t creation) {
  H5Dclose(H5Dcreate2(file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT));
}

/// The driver has no other file.
TEST_F(Reading, LinksToOtherFilesAreNotFollowed) {
  const auto linked = path("linked.h5");
  write_hdf5(linked,
             [](hid_t file) { H5Lcreate_external("read.h5", "/fields/line", file, "line", H5P_DEFAULT, H5P_DEFAULT); });
  const Reader reader(MPI_COMM_WORLD, linked);
  std::vector<double> room(17);
  expect_facts(error_of([&] {
                 reader.read("line", {{17}, {0}, {17}}, room.data());
               }),
               {"linked.h5: ", "line is a link to /fields/line of the file read.h5"});
}

/// HDF5 would read them from any file that a dataset names.
TEST_F(Reading, ValuesInOtherFilesAreNotRead) {
  const auto names_others = path("names_others.h5"), other = path("other.bin"), whole = path();
  write_text(other, std::string(64, 'x'));
  write_hdf5(names_others, [&](hid_t file) {
    const Handle space = space_of(8), outside = properties(), mapped = properties();
    H5Pset_external(outside, std::filesystem::absolute(other).c_str(), 0, 64);
    H5Pset_virtual(mapped, space, std::filesystem::absolute(whole).c_str(), "/fields/line", space);
    add_dataset(file, "outside", H5T_NATIVE_DOUBLE, space, outside);
    add_dataset(file, "mapped", H5T_NATIVE_DOUBLE, space, mapped);
  });
  const Reader reader(MPI_COMM_WORLD, names_others);
  std::vector<double> room(8);
  for (const auto* name : {"outside", "mapped"}) {
    const auto said = error_of([&] { reader.read(name, {{8}, {0}, {8}}, room.data()); });
    expect_facts(said, {"names_others.h5: ", name, "in another file", name[0] == 'o' ? "other.bin" : "read.h5"});
    EXPECT_EQ(error_of([&] { return reader.info(name); }), said);
  }
  expect_facts(error_of([&] { return reader.record("/"); }), {"in another file"});
}

TEST_F(Reading, AFileThatIsCutOffWhileItIsReadIsAnError) {
  const auto cut = path("cut.h5");
  write_text(cut, read_text(path()));
  const Reader reader(MPI_COMM_WORLD, cut);
  on_rank_0([&] { std::filesystem::resize_file(cut, std::filesystem::file_size(cut) / 2); });
  const Block block = uneven_block({520, 4099}, 0);
  std::vector<std::int64_t> values(numbered<std::int64_t>(block).size());
  expect_facts(error_of([&] { reader.read("/fields/large", block, values.data()); }),
               {"cut.h5: ", "/fields/large", "failed"});
}

/// Groups may be members of themselves.
TEST_F(Reading, GroupsHaveAnEnd) {
  if (world_size() > 2) GTEST_SKIP() << "fewer ranks tell the same";
  const auto deep = path("deep.h5");
  for (const int levels : {64, 65}) {
    SCOPED_TRACE(levels);
    std::string group;
    for (int n = 0; n < levels; ++n) group += "/g";
    write_hdf5(deep, [&](hid_t file) { make_group(file, group); });
    const Reader reader(MPI_COMM_WORLD, deep);
    const auto said = error_of([&] { return reader.record("/"); });
    if (levels == 64)
      EXPECT_EQ(said, "");
    else
      expect_facts(said, {"deep.h5: /g/g/", "/g is 65 groups deep"});
  }
}

/// Writes a file with a dataset, /run/u, that claims to have so many bytes, of which none is there. Returns the file's
/// size, which is the same for any number.
std::uint64_t write_claim(const std::filesystem::path& path, std::uint64_t bytes, bool chunks) {
  write_hdf5(path, [&](hid_t file) {
    make_group(file, "run");
    const Handle there = properties(), absent = properties();
    const hsize_t one_chunk = 1000;
    H5Pset_alloc_time(there, H5D_ALLOC_TIME_EARLY);
    if (chunks) H5Pset_chunk(absent, 1, &one_chunk);
    add_dataset(file, "padding", H5T_NATIVE_INT8, space_of(16384), there);
    add_dataset(file, "run/u", H5T_NATIVE_INT8, space_of(bytes), absent);
  });
  return std::filesystem::file_size(path);
}

TEST_F(Reading, DatasetsAreNoLargerThanTheFileCanHold) {
  const auto claim = path("claim.h5");
  for (const bool chunks : {false, true}) {
    SCOPED_TRACE(chunks);
    const auto size = write_claim(claim, 2000, chunks), most = chunks ? 1100 * size : size;
    ASSERT_EQ(write_claim(claim, most, chunks), size);
    EXPECT_EQ(Reader(MPI_COMM_WORLD, claim).info("/run/u").extents, Extents{most});
    ASSERT_EQ(write_claim(claim, most + 1, chunks), size);
    const auto claimed = "/run/u claims to have " + std::to_string(most + 1) + " bytes",
               there = "the file has " + std::to_string(size) + " only";
    const Reader reader(MPI_COMM_WORLD, claim);
    for (const auto& said :
         {error_of([&] { return reader.info("/run/u"); }), error_of([&] { return reader.record("/run"); })})
      expect_facts(said, {"claim.h5: ", claimed, there});
  }
}

TEST_F(Reading, AnArrayOfARecordHasSoManyValues) {
  const auto large = path("large.h5");
  constexpr std::uint64_t too_many = 16'777'217; // so many itself would take 600 MiB
  write_claim(large, too_many, true);
  const Reader reader(MPI_COMM_WORLD, large);
  expect_facts(error_of([&] { return reader.record("/run"); }),
               {"large.h5: ", "/run/u has 16777217 values", "a record has 16777216 at most"});
  EXPECT_EQ(reader.info("/run/u").extents, Extents{too_many}); // it may be a field
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
    file.commit_sealed(sealed);
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
  for (const std::size_t length : {std::size_t{0}, std::size_t{7}, whole.size() / 2, whole.size() - 1})
    EXPECT_NE(found(whole.substr(0, length)), "") << length << " bytes";
  EXPECT_NE(found(whole + "x"), "");
  EXPECT_EQ(found(whole), "");
  remove_file(sealed);
  expect_facts(error_of([&] { check_seal(MPI_COMM_WORLD, sealed); }), {"No such file"});
}

} // namespace
} // namespace kontor::output
