// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who may write a name, what is there beside it, how files take their names; and what was there before survives
// whatever goes wrong, and every rank learns of it.
#include "support.hpp"

#include <sys/resource.h>
#include <unistd.h>

extern "C" void kontor_fault_arm(long long after, int lose_silently);
extern "C" void kontor_fault_rename(int after);
extern "C" void kontor_fault_locks(int none);
extern "C" void kontor_fault_unlink(int fails);

namespace kontor::output {
namespace {

/// The disk works again when the test ends.
class Fault : public testing::TestWithParam<Access> {
 protected:
  Fault() : path_(folder(GetParam() == Access::parallel ? "fault_parallel" : "fault_gathered") / "field.h5") {
    write_text(path_, "previous");
  }
  ~Fault() override {
    kontor_fault_arm(-1, 0);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  void write_and_commit() {
    const Block block = uneven_block({700, 1000}, 1);
    const auto values = numbered<double>(block);
    File file(MPI_COMM_WORLD, path_, GetParam());
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

  std::filesystem::path path_;
};

TEST_P(Fault, WithoutCommitNothingChanges) {
  {
    File file(MPI_COMM_WORLD, path_, GetParam());
    file.record("/run", {{"app", "heat"}});
    EXPECT_EQ(left_beside(path_).size(), 2) << "a temporary and a lock";
    MPI_Barrier(MPI_COMM_WORLD);
  }
  expect_previous_file();
}

TEST_P(Fault, WithoutMemoryHdf5IsNotStarted) {
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit little = before;
  little.rlim_cur = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + (2 << 20); // for MPI
  std::string said;
  setrlimit(RLIMIT_AS, &little);
  try {
    const File file(MPI_COMM_WORLD, path_, GetParam());
  } catch (const Error& error) {
    said = error.what();
  }
  setrlimit(RLIMIT_AS, &before);
  expect_facts(said, {"out of memory: HDF5"});
  expect_previous_file();
}

TEST_P(Fault, AFullDiskIsAnError) {
  // From the first byte on, within the structure, within the field, and everywhere but on rank 0.
  for (const long long after : {0, 60, 1000, 200000})
    for (const bool everywhere : {true, false}) {
      if (!everywhere && (world_size() == 1 || GetParam() == Access::gathered || after == 200000)) continue;
      SCOPED_TRACE(testing::Message() << after << " bytes, rank 0 too: " << everywhere);
      if (everywhere || world_rank() != 0) kontor_fault_arm(after, 0);
      const std::string text = error_of([this] { write_and_commit(); });
      kontor_fault_arm(-1, 0);
      expect_facts(text, {"field.h5: "});
      EXPECT_TRUE(text.find("No space left on device") != std::string::npos ||
                  text.find("is the disk full?") != std::string::npos)
          << text;
      expect_previous_file();
    }
}

TEST_P(Fault, LostStructureIsNoticed) {
  for (const long long after : {0, 60, 1000, 200000}) {
    SCOPED_TRACE(after);
    kontor_fault_arm(after, 1);
    EXPECT_NE(error_of([this] { write_and_commit(); }), "");
    kontor_fault_arm(-1, 0);
    expect_previous_file();
  }
}

TEST_P(Fault, LostValuesAreNoticed) {
  const int writers = GetParam() == Access::gathered ? 1 : world_size();
  for (int writer = 0; writer < writers; ++writer) {
    const Block block = uneven_block({700, 1000}, 1);
    const auto values = numbered<double>(block);
    int empty = values.empty();
    MPI_Bcast(&empty, 1, MPI_INT, writer, MPI_COMM_WORLD);
    if (empty) continue;
    SCOPED_TRACE(testing::Message() << "lost on rank " << writer);
    const std::string text = error_of([&] {
      File file(MPI_COMM_WORLD, path_, GetParam());
      if (world_rank() == writer) kontor_fault_arm(10000, 1);
      file.dataset("/fields/u", block, values.data());
      kontor_fault_arm(-1, 0);
      file.dataset("/fields/v", block, values.data()); // behind the loss, so that the file has its length
      file.commit();
    });
    expect_facts(text, {"/fields/u read back from the file is not what was written"});
    expect_previous_file();
  }
}

TEST_P(Fault, AFileWithAnErrorCannotBeCommitted) {
  File file(MPI_COMM_WORLD, path_, GetParam());
  EXPECT_NE(error_of([&] { file.record("/run", {{"bad", {1, "two"}}}); }), "");
  expect_facts(error_of([&] { file.commit(); }), {"cannot be committed after an error"});
}

INSTANTIATE_TEST_SUITE_P(Access, Fault, testing::Values(Access::parallel, Access::gathered),
                         [](const auto& info) { return info.param == Access::parallel ? "parallel" : "gathered"; });

namespace fs = std::filesystem;

/// An empty folder; the file system works again when the test ends.
class Names : public testing::Test {
 protected:
  Names() : folder_(folder("names")) { remove_all(); }
  ~Names() override {
    kontor_fault_rename(-1);
    kontor_fault_locks(0);
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

TEST_F(Names, ASecondFileOfANameIsRefusedAndTheFirstIsWhole) {
  write_text(folder_ / "x.json", "previous");
  {
    File file(MPI_COMM_WORLD, path_, Access::automatic, {folder_ / "x.json"});
    char host[256] = {};
    gethostname(host, sizeof host - 1);
    const std::string text = refusal(path_);
    int pid = getpid();
    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    expect_facts(text,
                 {"field.h5: process " + std::to_string(pid) + " on host " + host + ", since 2", "[E-FILE-LOCKED]"});
    expect_facts(error_of([&] { File(MPI_COMM_WORLD, folder_ / "other.h5", Access::automatic, {folder_ / "x.json"}); }),
                 {"x.json: process "});
    file.record("/run", {{"app", "heat"}});
    file.commit();
  }
  EXPECT_EQ(names(), Texts{"field.h5"}) << "the earlier sidecar does not describe the new file";
  EXPECT_EQ(refusal(path_), "");
}

TEST_F(Names, WithoutLocksBothFilesAreWholeAndTheLastIsThere) {
  kontor_fault_locks(1);
  File first(MPI_COMM_WORLD, path_), second(MPI_COMM_WORLD, path_);
  first.record("/run", {{"text", "first"}});
  second.record("/run", {{"text", "second"}});
  first.commit();
  EXPECT_NE(read_text(path_).find("first"), std::string::npos);
  MPI_Barrier(MPI_COMM_WORLD);
  second.commit();
  EXPECT_NE(read_text(path_).find("second"), std::string::npos);
  EXPECT_EQ(names(), Texts{"field.h5"});
}

TEST_F(Names, WhatADeadRunLeftIsRemovedAndNothingElse) {
  write_text(folder_ / ".field.h5.kontor-lock",
             "kontor: process 1 on host a, since then\n"
             "field.h5.0123abcd.tmp\nfield.h5.11111111.tmp\nmine\n../names\nfield.h5.tmp\n");
  for (const char* name : {"field.h5.0123abcd.tmp", "field.h5.deadbeef.tmp", "field.h5.tmp", "mine"})
    write_text(folder_ / name, "precious");
  on_rank_0([&] { fs::create_symlink("mine", folder_ / "field.h5.11111111.tmp"); });
  {
    File file(MPI_COMM_WORLD, path_);
    EXPECT_FALSE(fs::exists(folder_ / "field.h5.0123abcd.tmp"));
    file.commit();
  }
  EXPECT_EQ(names(), (Texts{"field.h5", "field.h5.11111111.tmp", "field.h5.deadbeef.tmp", "field.h5.tmp", "mine"}));
  for (const char* name : {"field.h5.11111111.tmp", "field.h5.deadbeef.tmp", "field.h5.tmp", "mine"})
    EXPECT_EQ(read_text(folder_ / name), "precious");
}

TEST_F(Names, WhatCannotBeRemovedALaterRunRemoves) {
  kontor_fault_unlink(1);
  for (std::size_t left : {1, 2}) { // the second cannot remove what the first has left either
    File(MPI_COMM_WORLD, path_);
    const auto all = names();
    ASSERT_EQ(all.size(), 1 + left);
    EXPECT_EQ(all.front(), ".field.h5.kontor-lock");
  }
  kontor_fault_unlink(0);
  File(MPI_COMM_WORLD, path_).commit();
  EXPECT_EQ(names(), Texts{"field.h5"});
}

TEST_F(Names, ALockThatIsNotKontorsIsLeftAlone) {
  const auto lock = folder_ / ".field.h5.kontor-lock";
  write_text(lock, "precious");
  expect_facts(refusal(path_), {"kontor-lock, which would be its lock, is not a file of Kontor's"});
  EXPECT_EQ(names(), Texts{".field.h5.kontor-lock"});
  EXPECT_EQ(read_text(lock), "precious");
  on_rank_0([&] { fs::remove(lock), fs::create_symlink("nowhere", lock); });
  expect_facts(refusal(path_), {"its lock"});
  EXPECT_EQ(names(), Texts{".field.h5.kontor-lock"});
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
      File file(MPI_COMM_WORLD, path_, Access::automatic, {folder_ / all_[1], folder_ / all_[2]});
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
    EXPECT_EQ(take_named(text, "the earlier one is "), "previous");
    EXPECT_EQ(names().size(), 3) << "what could not take its name is kept";
    EXPECT_EQ(take_named(text, "output: "), "new") << text;
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
