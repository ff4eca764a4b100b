// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What was there before survives whatever goes wrong, and every rank learns of it.
#include "support.hpp"

#include <cstdint>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

extern "C" void kontor_fault_arm(long long after, int lose_silently);

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

TEST_P(Fault, CommitReplaces) {
  write_and_commit();
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_NE(read_text(path_), "previous");
  EXPECT_EQ(left_beside(path_), std::vector<std::filesystem::path>{});
  MPI_Barrier(MPI_COMM_WORLD);
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

} // namespace
} // namespace kontor::output
