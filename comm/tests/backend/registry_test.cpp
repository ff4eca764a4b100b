// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "comm_test.hpp"

#include <kontor/comm/mpi_check.hpp>
#include <kontor/comm/registry.hpp>

#include <cstdio>
#include <unistd.h>

namespace kontor::comm {
namespace {

using test::expect_error;

std::unique_ptr<Backend> make_nothing(const BackendContext&) { return nullptr; }

Capabilities capabilities() { return {}; }

constexpr BackendEntry table[] = {
    {"raw", "", "", make_nothing, capabilities},
    {"nccl", "", "configure with -DKONTOR_BACKEND_NCCL=ON", nullptr, nullptr},
    {"view", "", "", make_nothing, capabilities},
};

TEST(Registry, FindsBackends) {
  EXPECT_EQ(find_backend("view", table).name, "view");
  expect_error<UsageError>([] { find_backend("veiw", table); },
                           {"backend 'veiw' is unknown; this build has: raw, view, auto"});
  expect_error<UsageError>([] { find_backend("nccl", table); },
                           {"backend 'nccl' is not in this build, which has: raw, view, auto; to get it, configure "
                            "with -DKONTOR_BACKEND_NCCL=ON"});
}

/// And a backend that can do nothing could not be chosen.
TEST(Registry, EveryEntryIsComplete) {
  ASSERT_FALSE(backends().empty());
  EXPECT_EQ(backends()[0].name, "raw");
  for (const auto& entry : backends()) {
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
    EXPECT_EQ(entry.make == nullptr, entry.capabilities == nullptr) << entry.name;
    const bool by_option = entry.enable.starts_with("configure with -DKONTOR_BACKEND_");
    const bool by_package = !entry.make && entry.enable.starts_with("build with ");
    EXPECT_TRUE(by_option || by_package) << entry.name << ": " << entry.enable;
    if (!entry.make) continue;
    const auto can = entry.capabilities();
    EXPECT_TRUE(can.patterns.has(Pattern::nonblocking)) << entry.name;
    EXPECT_TRUE(can.packings.has(Packing::kernel)) << entry.name;
    EXPECT_FALSE(can.patterns.has(Pattern::automatic)) << entry.name;
    EXPECT_FALSE(can.packings.has(Packing::automatic)) << entry.name;
    EXPECT_TRUE(can.host_buffers || can.device_buffers) << entry.name;
  }
}

[[noreturn]] void tell() {
  try {
    std::rethrow_exception(std::current_exception());
  } catch (const Error& error) {
    std::fprintf(stderr, "told: %s\n", error.what());
    ::_exit(7);
  }
}

struct Closes {
  ~Closes() { mpi::check_or_terminate(code, "MPI_Barrier"); }
  int code;
};

TEST(CheckOrTerminate, ShowsTheHandlerWhatFailed) {
  { const Closes closes{MPI_SUCCESS}; }
  const auto closes_in_vain = [] {
    std::set_terminate(tell);
    const Closes closes{MPI_ERR_OTHER};
  };
  EXPECT_EXIT(closes_in_vain(), testing::ExitedWithCode(7), "told: MPI_Barrier failed");
}

} // namespace
} // namespace kontor::comm
