// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/device.hpp"
#include "machine/node.hpp"

#include <kontor/device/compat.hpp>
#include <kontor/device/devices.hpp>

#include <gtest/gtest.h>

#include <set>

namespace {

using namespace kontor;
using namespace kontor::miniapp;

TEST(Node, RanksAreNumbered) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  const auto place = place_on_node(comm.native());
  EXPECT_GE(place.rank, 0);
  EXPECT_LT(place.rank, place.ranks);
  EXPECT_LE(place.ranks, comm.size());
}

TEST(Device, TheUsersChoiceStands) {
  for (const char* argument : {"--kokkos-device-id=1", "--kokkos-map-device-id-by=random"}) {
    const char* const arguments[] = {"heat", argument};
    EXPECT_EQ(device_argument(MPI_COMM_WORLD, arguments), "") << argument;
  }
}

TEST(Device, IsThatOfTheRankOnItsNode) {
  const char* const arguments[] = {"heat"};
  const auto argument = device_argument(MPI_COMM_WORLD, arguments);
  const int devices = device::device_count();
  const auto expected =
      "--kokkos-device-id=" + std::to_string(place_on_node(MPI_COMM_WORLD).rank % std::max(devices, 1));
  EXPECT_EQ(argument, devices == 0 ? "" : expected);
}

TEST(Device, EveryRankTellsItsOwnToTheFirst) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  const auto devices = devices_of(comm);
  if (device::kernels_on_host || comm.rank() != 0) {
    EXPECT_TRUE(devices.empty());
    return;
  }
  ASSERT_EQ(devices.size(), static_cast<std::size_t>(comm.size()));
  for (const auto& device : devices) {
    EXPECT_EQ(device.rank, &device - devices.data());
    EXPECT_FALSE(device.host.empty());
    EXPECT_FALSE(device.name.empty());
    EXPECT_GT(device.memory, 0);
  }
}

TEST(Device, RanksThatShareOneAreNamed) {
  const Device devices[] = {{0, "n1", "GPU X", "aa", 1}, {1, "n1", "GPU X", "bb", 1}, {2, "n2", "GPU X", "cc", 1},
                            {3, "n2", "GPU X", "cc", 1}, {4, "n3", "GPU X", "", 1},   {5, "n3", "GPU X", "", 1}};
  EXPECT_EQ(shared_devices(devices),
            "ranks 2, 3 share one GPU, GPU X (cc) of n2: they wait for each other, and times mean little; start "
            "one rank a GPU\n");
  EXPECT_EQ(shared_devices(std::span(devices).first(3)), "");
}

} // namespace
