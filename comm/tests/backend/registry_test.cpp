// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "error_text.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/registry.hpp>

#include <gtest/gtest.h>

namespace kontor::comm {
namespace {

using test::text_of;

std::unique_ptr<Backend> make_nothing(const BackendContext&) { return nullptr; }

Capabilities capabilities() { return {}; }

constexpr BackendEntry table[] = {
    {"raw", "", "", make_nothing, capabilities},
    {"nccl", "", "configure with -DKONTOR_BACKEND_NCCL=ON", nullptr, nullptr},
    {"view", "", "", make_nothing, capabilities},
};

TEST(Registry, FindsABackend) { EXPECT_EQ(find_backend("view", table).name, "view"); }

TEST(Registry, UnknownBackend) {
  EXPECT_EQ(text_of<UsageError>([] { find_backend("veiw", table); }),
            "backend 'veiw' is unknown; this build has: raw, view, auto");
}

TEST(Registry, AbsentBackend) {
  EXPECT_EQ(text_of<UsageError>([] { find_backend("nccl", table); }),
            "backend 'nccl' is not in this build, which has: raw, view, auto; to get it, configure with "
            "-DKONTOR_BACKEND_NCCL=ON");
}

TEST(Registry, UnknownBackendOfACommunicator) {
  Options options;
  options.backend = "row";
  const auto text = text_of<UsageError>([&] { Communicator(MPI_COMM_WORLD, options); });
  EXPECT_EQ(text.rfind("backend 'row' is unknown; this build has: raw", 0), 0u) << text;
}

TEST(Registry, EveryEntryIsComplete) {
  ASSERT_FALSE(backends().empty());
  EXPECT_EQ(backends()[0].name, "raw");
  for (const auto& entry : backends()) {
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
    EXPECT_EQ(entry.make == nullptr, entry.capabilities == nullptr) << entry.name;
    const bool by_option = entry.enable.starts_with("configure with -DKONTOR_BACKEND_");
    const bool by_package = !entry.make && entry.enable.starts_with("build with ");
    EXPECT_TRUE(by_option || by_package) << entry.name << ": " << entry.enable;
  }
}

/// Without a communicator, and so without other ranks.
TEST(Registry, SaysWhatTheBuildCannotDo) {
  Options options;
  EXPECT_FALSE(refusal(options));
  options.packing = Packing::datatype;
  ASSERT_TRUE(refusal(options));
  EXPECT_EQ(refusal(options)->axis(), Axis::packing);
  options.packing = Packing::automatic;
  options.backend = "row";
  ASSERT_TRUE(refusal(options));
  EXPECT_EQ(refusal(options)->axis(), Axis::backend);
  options.backend = automatic_backend;
  options.pattern = Pattern::automatic;
  EXPECT_FALSE(refusal(options));
}

/// A backend that can do nothing could not be chosen.
TEST(Registry, EveryBackendHasAPatternAndAPacking) {
  for (const auto& entry : backends()) {
    if (!entry.make) continue;
    const auto can = entry.capabilities();
    EXPECT_TRUE(can.patterns.has(Pattern::nonblocking)) << entry.name;
    EXPECT_TRUE(can.packings.has(Packing::kernel)) << entry.name;
    EXPECT_FALSE(can.patterns.has(Pattern::automatic)) << entry.name;
    EXPECT_FALSE(can.packings.has(Packing::automatic)) << entry.name;
    EXPECT_TRUE(can.host_buffers || can.device_buffers) << entry.name;
  }
}

} // namespace
} // namespace kontor::comm
