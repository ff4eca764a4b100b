// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/device.hpp"
#include "machine/memory.hpp"
#include "machine/node.hpp"
#include "run/tests/first_ranks.hpp"
#include "run/tests/refusal.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/reductions.hpp>
#include <kontor/device/compat.hpp>
#include <kontor/device/devices.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <new>
#include <unistd.h>
#include <utility>

namespace {

using namespace kontor::miniapp;
using namespace kontor;
using test::world;
using testing::internal::RE;

constexpr double giga = 1e9;

std::string refusal(const comm::Communicator& comm, double bytes) {
  return test::error_of<comm::AgreedError>([&] { require_memory(comm, bytes); });
}

TEST(Memory, WhatDoesNotFitIsRefusedOnEveryRank) {
  if (free_host_memory() > 1e18) GTEST_SKIP() << "nobody says what is free here";
  const auto text = refusal(world(), 1e9 * giga);
  EXPECT_TRUE(RE::PartialMatch(
      text,
      RE("^out of memory: rank 0 needs 1e\\+09 GB, [123]e\\+09 GB with .*, but the .* of .* has .* GB free of .* GB.*; "
         "all ranks need [123]e\\+09 GB, which fit on [0-9.e+]* such ranks, [123] on each ")))
      << text;
  if (world().size() > 1) {
    EXPECT_NE(refusal(world(), world().rank() == 1 ? 1e9 * giga : 8), "");
  }
}

/// What all ranks of a host may take by it, they can take together.
TEST(Memory, OfARankIsItsPartOfWhatIsFree) {
  if (!device::on_host<Kokkos::DefaultExecutionSpace>) GTEST_SKIP() << "of the host's memory";
  if (free_host_memory() > 1e18) GTEST_SKIP() << "nobody says what is free here";
  const double each = free_memory_of_rank(world());
  for (const double of_all :
       {comm::allreduce(world(), each, comm::ReduceOp::min), comm::allreduce(world(), each, comm::ReduceOp::max)})
    EXPECT_EQ(each, of_all);
  EXPECT_NEAR(each * world().size() / free_host_memory(), 1, 0.5); // others take and give some meanwhile
  EXPECT_EQ(refusal(world(), 0.3 * each), "");
  EXPECT_NE(refusal(world(), 3 * each), "");
}

TEST(Memory, FailedAllocationsAreRecognised) {
  EXPECT_EQ(out_of_memory(std::runtime_error("no")), "");
  EXPECT_EQ(out_of_memory(std::bad_alloc()).find("out of memory: std::bad_alloc; the "), 0U);
  std::string text;
  try {
    const Kokkos::View<double*> view("test/large", std::size_t{1} << 47);
  } catch (const std::exception& error) {
    text = out_of_memory(error);
  }
  EXPECT_EQ(text.find("out of memory: Kokkos"), 0U) << text;
  EXPECT_NE(text.find("\"test/large\""), std::string::npos) << text;
  EXPECT_NE(text.find("GB free of"), std::string::npos) << text;
}

using Files = std::vector<std::pair<std::string, std::string>>; // path and text of each

/// What a made-up machine with these files in proc and sys grants.
GrantedMemory granted(const Files& files) {
  auto name = (std::filesystem::temp_directory_path() / "kontor-cgroup-XXXXXX").string();
  const std::filesystem::path root = ::mkdtemp(name.data());
  for (const auto& [path, text] : files) {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  const auto found = memory_of_cgroups(root);
  std::filesystem::remove_all(root);
  return found;
}

const std::string groups = "sys/fs/cgroup/";

TEST(ControlGroups, NoneLimitNothing) {
  EXPECT_GT(granted({}).free, 1e300);
  EXPECT_GT(granted({{"proc/self/cgroup", "0::/\n"}}).free, 1e300);
  const auto unlimited = granted({{"proc/self/cgroup", "0::/job\n"},
                                  {groups + "job/memory.max", "max\n"},
                                  {groups + "job/memory.current", "5000\n"}});
  EXPECT_GT(unlimited.free, 1e300);
  EXPECT_GT(unlimited.limit, 1e300);
}

TEST(ControlGroups, LimitMemory) {
  const struct {
    const char* what;
    Files files;
    double free, limit;
  } cases[] = {{"what is cached counts as free",
                {{"proc/self/cgroup", "0::/job\n"},
                 {groups + "job/memory.max", "10000\n"},
                 {groups + "job/memory.current", "9000\n"},
                 {groups + "job/memory.stat", "anon 5000\ninactive_file 3000\nslab 1\n"}},
                4000,
                10000},
               {"the narrowest around counts: all of slurm's jobs",
                {{"proc/self/cgroup", "0::/slurm/job_7/step_0/task_1\n"},
                 {groups + "slurm/memory.max", "100000\n"},
                 {groups + "slurm/memory.current", "99000\n"},
                 {groups + "slurm/job_7/memory.max", "20000\n"},
                 {groups + "slurm/job_7/memory.current", "11000\n"},
                 {groups + "slurm/job_7/step_0/task_1/memory.max", "max\n"},
                 {groups + "slurm/job_7/step_0/task_1/memory.current", "500\n"}},
                1000,
                20000},
               {"a container's own is mounted at the top",
                {{"proc/self/cgroup", "0::/kubepods/pod1/abc\n"},
                 {groups + "memory.max", "7000\n"},
                 {groups + "memory.current", "8000\n"}},
                0,
                7000}};
  for (const auto& c : cases) {
    EXPECT_EQ(granted(c.files).free, c.free) << c.what;
    EXPECT_EQ(granted(c.files).limit, c.limit) << c.what;
  }
}

TEST(Device, TheUsersChoiceStands) {
  for (const char* argument : {"--kokkos-device-id=1", "--kokkos-map-device-id-by=random"}) {
    const char* const arguments[] = {"heat", argument};
    EXPECT_EQ(device_argument(MPI_COMM_WORLD, arguments), "") << argument;
  }
  const char* const none[] = {"heat"};
  EXPECT_EQ(device_argument(MPI_COMM_WORLD, none).empty(), device::device_count() == 0);
}

TEST(Device, EveryRankTellsItsOwnToTheFirst) {
  const auto devices = devices_of(world());
  if (device::kernels_on_host || world().rank() != 0) {
    EXPECT_TRUE(devices.empty());
    return;
  }
  ASSERT_EQ(devices.size(), static_cast<std::size_t>(world().size()));
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    EXPECT_EQ(devices[rank]["rank"], rank);
    EXPECT_NE(devices[rank]["host"], "");
    EXPECT_NE(devices[rank]["name"], "");
    EXPECT_GT(devices[rank]["memory"], 0);
  }
}

TEST(Device, RanksThatShareOneAreNamed) {
  auto devices = nlohmann::ordered_json::array();
  for (const auto& [host, uuid] :
       {std::pair("n1", "aa"), {"n1", "bb"}, {"n2", "cc"}, {"n2", "cc"}, {"n3", ""}, {"n3", ""}})
    devices.push_back({{"rank", devices.size()}, {"host", host}, {"name", "GPU X"}, {"uuid", uuid}});
  EXPECT_EQ(shared_devices(devices),
            "ranks 2, 3 share one GPU, GPU X (cc) of n2: they wait for each other, and times mean little; start "
            "one rank a GPU\n");
  devices.erase(3);
  EXPECT_EQ(shared_devices(devices), "");
}

} // namespace
