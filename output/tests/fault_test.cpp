// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who may write a name, what is there beside it, how files take their names; and what was there before survives
// whatever goes wrong, and every rank learns of it.
#include "support.hpp"

extern "C" void kontor_fault_arm(long long after);
extern "C" void kontor_fault_rename(int after);
extern "C" void kontor_fault_unlink(int fails);

namespace kontor::output {
namespace {

/// The disk works again when the test ends.
class Fault : public testing::Test {
 protected:
  Fault() { write_text(path_, "previous"); }
  ~Fault() override {
    kontor_fault_arm(-1);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  void write_and_commit() {
    const Block block = uneven_block({700, 1000}, 1);
    const auto values = numbered<double>(block);
    File file(MPI_COMM_WORLD, path_);
    file.record("/run", {{"app", "heat"}, {"history", {1.0, 2.0, 3.0}}});
    file.dataset("/fields/u", block, values.data());
    file.commit();
  }

  void expect_previous_file() {
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_TRUE(read_text(path_) == "previous") << "the previous file has changed";
    EXPECT_EQ(left_beside(path_), std::vector<std::filesystem::path>{});
    MPI_Barrier(MPI_COMM_WORLD);
  }

  std::filesystem::path path_ = folder("fault") / "field.h5";
};

TEST_F(Fault, WithoutCommitNothingChanges) {
  {
    File file(MPI_COMM_WORLD, path_);
    file.record("/run", {{"app", "heat"}});
    EXPECT_EQ(left_beside(path_).size(), 1);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  expect_previous_file();
}

TEST_F(Fault, AFullDiskIsAnError) {
  if (hdf5_version().starts_with("2")) GTEST_SKIP() << "HDF5 2.2 of Debian sid ends the program by an assertion";
  // From the first byte on, within the structure, within the field, and everywhere but on rank 0.
  for (const long long after : {0, 60, 1000, 200000})
    for (const bool everywhere : {true, false}) {
      if (!everywhere && (world_size() == 1 || after == 200000)) continue;
      SCOPED_TRACE(testing::Message() << after << " bytes, rank 0 too: " << everywhere);
      if (everywhere || world_rank() != 0) kontor_fault_arm(after);
      const std::string text = error_of([this] { write_and_commit(); });
      kontor_fault_arm(-1);
      expect_facts(text, {"field.h5: "});
      expect_facts(text, {"No space left on device", "no file was replaced [E-FILE-WRITE]"});
      expect_previous_file();
    }
}

TEST_F(Fault, AFileWithAnErrorCannotBeCommitted) {
  File file(MPI_COMM_WORLD, path_);
  file.record("/run", {{"app", "heat"}});
  expect_facts(error_of([&] { file.record("/run", {{"app", "heat"}}); }), {"H5Dcreate2 of /run failed"}); // it is there
  expect_facts(error_of([&] { file.commit(); }), {"cannot be committed after an error"});
}

namespace fs = std::filesystem;

/// An empty folder; the file system works again when the test ends.
class Names : public testing::Test {
 protected:
  Names() : folder_(folder("names")) { remove_all(); }
  ~Names() override {
    kontor_fault_rename(-1);
    kontor_fault_unlink(0);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  void remove_all() const {
    on_rank_0([&] {
      for (const auto& entry : fs::directory_iterator(folder_)) fs::remove(entry.path());
    });
  }
  std::string refusal(const fs::path& path) const {
    return error_of([&] { File(MPI_COMM_WORLD, path); });
  }
  /// The names in the folder, in order.
  std::vector<std::string> names() const {
    MPI_Barrier(MPI_COMM_WORLD);
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder_)) all.push_back(entry.path().filename().string());
    std::sort(all.begin(), all.end());
    MPI_Barrier(MPI_COMM_WORLD);
    return all;
  }

  fs::path folder_;
  fs::path path_ = folder_ / "field.h5";
};

using Texts = std::vector<std::string>;

TEST_F(Names, ThatCannotBeReplacedAreNamedWithTheReason) {
  for (const auto& [path, reason] : {std::pair<std::string, std::string>("no/such/plate.h5", "No such file"),
                                     {folder_.string(), "directory"},
                                     {"/dev/null", "not a regular file"}}) {
    const auto text = refusal(path);
    expect_facts(text, {' ' + path + ": ", reason, "output.file or -o [E-FILE-WRITE]"});
  }
  expect_facts(refusal(std::string("a\0b.h5", 6)), {"NUL"});
  EXPECT_EQ(names(), Texts{});
}

TEST_F(Names, TwoFilesOfANameAreBothWholeAndTheLastIsThere) {
  write_text(folder_ / "x.json", "previous");
  File first(MPI_COMM_WORLD, path_), second(MPI_COMM_WORLD, path_, {folder_ / "x.json"});
  first.record("/run", {{"text", "first"}});
  second.record("/run", {{"text", "second"}});
  first.commit();
  EXPECT_NE(read_text(path_).find("first"), std::string::npos);
  EXPECT_EQ(read_text(folder_ / "x.json"), "previous");
  MPI_Barrier(MPI_COMM_WORLD);
  second.commit();
  EXPECT_NE(read_text(path_).find("second"), std::string::npos);
  EXPECT_EQ(names(), Texts{"field.h5"}) << "the earlier sidecar does not describe the new file";
}

TEST_F(Names, WhatADeadRunLeftIsRemovedAndNothingElse) {
  for (const char* name : {"field.h5.0123abcd.tmp", "field.h5.deadBEEF.tmp", "field.h5.tmp", "mine"})
    write_text(folder_ / name, "precious");
  on_rank_0([&] { fs::create_symlink("mine", folder_ / "field.h5.11111111.tmp"); });
  File(MPI_COMM_WORLD, path_).commit();
  EXPECT_EQ(names(), (Texts{"field.h5", "field.h5.11111111.tmp", "field.h5.deadBEEF.tmp", "field.h5.tmp", "mine"}));
  for (const char* name : {"field.h5.11111111.tmp", "field.h5.deadBEEF.tmp", "field.h5.tmp", "mine"})
    EXPECT_EQ(read_text(folder_ / name), "precious");
}

TEST_F(Names, WhatCannotBeRemovedALaterRunRemoves) {
  kontor_fault_unlink(1);
  for (std::size_t left : {1, 2}) { // the second cannot remove what the first has left either
    File(MPI_COMM_WORLD, path_);
    EXPECT_EQ(names().size(), left);
  }
  kontor_fault_unlink(0);
  File(MPI_COMM_WORLD, path_).commit();
  EXPECT_EQ(names(), Texts{"field.h5"});
}

TEST_F(Names, ALinkIsReplacedAndNotWhatItLinksTo) {
  write_text(folder_ / "linked", "precious");
  on_rank_0([&] { fs::create_symlink("linked", path_); });
  File(MPI_COMM_WORLD, path_).commit();
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(path_)));
  EXPECT_EQ(read_text(folder_ / "linked"), "precious");
}

/// A file and two sidecars, over earlier ones.
class Together : public Names {
 protected:
  /// The Error's text.
  std::string replace(int working_renames) {
    for (const auto& name : all_) write_text(folder_ / name, "previous");
    return error_of([&] {
      File file(MPI_COMM_WORLD, path_, {folder_ / all_[1], folder_ / all_[2]});
      file.sidecar(folder_ / all_[1], "new");
      file.sidecar(folder_ / all_[2], "new");
      kontor_fault_rename(working_renames);
      file.commit();
    });
  }
  bool is_previous(const std::string& name) const { return read_text(folder_ / name) == "previous"; }

  /// The file that `text` names after `words`; what it holds, and it is removed.
  std::string take_named(const std::string& text, const std::string& words) {
    const auto begin = text.find(words);
    if (begin == std::string::npos) return "not named in: " + text;
    const fs::path path =
        text.substr(begin + words.size(), text.find_first_of(" ;", begin + words.size()) - begin - words.size());
    const std::string found = read_text(path);
    remove_file(path);
    return found;
  }

  Texts all_{"field.h5", "field.json", "field.xmf"};
};

TEST_F(Together, AllAreReplaced) {
  EXPECT_EQ(replace(-1), "");
  EXPECT_EQ(names(), all_);
  EXPECT_EQ(read_text(folder_ / "field.json"), "new");
  EXPECT_EQ(read_text(folder_ / "field.xmf"), "new");
  EXPECT_FALSE(is_previous("field.h5"));
}

// Two renames put the earlier sidecars away, the third is the file's.
TEST_F(Together, UntilTheFileHasItsNameNothingHasChanged) {
  for (const int working : {0, 1, 2}) {
    SCOPED_TRACE(working);
    const std::string text = replace(working);
    expect_facts(text, {"Input/output error; no file was replaced"});
    EXPECT_TRUE(take_named(text, "the new one is ").find("HDF") == 1) << "this run's file is kept";
    EXPECT_EQ(names(), all_);
    for (const auto& name : all_) EXPECT_TRUE(is_previous(name)) << name;
  }
}

TEST_F(Together, AnEarlierSidecarIsNeverBesideANewFile) {
  for (const int working : {3, 4}) {
    SCOPED_TRACE(working);
    const std::string text = replace(working);
    const auto &missing = all_[working - 2], &other = all_[5 - working];
    expect_facts(text, {"cannot be renamed to " + (folder_ / missing).string() + ": Input/output error",
                        "written were " + path_.string() + ", " + (folder_ / other).string()});
    EXPECT_FALSE(is_previous("field.h5"));
    EXPECT_FALSE(fs::exists(folder_ / missing));
    EXPECT_EQ(read_text(folder_ / other), "new");
    remove_all();
  }
}

TEST_F(Together, ASidecarMustBeNamedAtTheBeginning) {
  expect_facts(error_of([&] { File(MPI_COMM_WORLD, path_).sidecar(folder_ / "field.xmf", "new"); }),
               {"field.xmf: was not among the sidecars"});
  EXPECT_EQ(names(), Texts{});
}

} // namespace
} // namespace kontor::output
