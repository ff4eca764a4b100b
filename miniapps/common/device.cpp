// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/device.hpp"

#include "common/node.hpp"

#include <kontor/comm/backend/mpi_check.hpp>
#include <kontor/comm/kokkos/compat.hpp>
#include <kontor/comm/kokkos/devices.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

namespace kontor::miniapp {
namespace {

using comm::mpi::check;

bool chosen_by_user(std::span<const char* const> arguments) {
  if (std::getenv("KOKKOS_DEVICE_ID") || std::getenv("KOKKOS_MAP_DEVICE_ID_BY")) return true;
  return std::any_of(arguments.begin(), arguments.end(), [](std::string_view argument) {
    return argument.starts_with("--kokkos-device") || argument.starts_with("--kokkos-map-device-id-by");
  });
}

/// What ranks tell each other.
struct Entry {
  char host[MPI_MAX_PROCESSOR_NAME] = {};
  char name[256] = {};
  char uuid[64] = {};
  std::int64_t memory = 0;
};

template <std::size_t size>
void copy(const std::string& text, char (&to)[size]) {
  text.copy(to, size - 1);
}

} // namespace

std::string device_argument(MPI_Comm comm, std::span<const char* const> kokkos_arguments) {
  const int local_rank = place_on_node(comm).rank;
  const int devices = comm::device_count();
  if (devices == 0 || chosen_by_user(kokkos_arguments)) return {};
  return fmt::format("--kokkos-device-id={}", local_rank % devices);
}

std::vector<Device> devices_of(const comm::Communicator& comm) {
  if constexpr (comm::on_host<Kokkos::DefaultExecutionSpace>) return {};
  const auto identity = comm::device_identity();
  Entry mine;
  int length = 0;
  check(MPI_Get_processor_name(mine.host, &length), "MPI_Get_processor_name");
  copy(identity.name, mine.name);
  copy(identity.uuid, mine.uuid);
  mine.memory = static_cast<std::int64_t>(comm::device_memory().total);
  std::vector<Entry> all(static_cast<std::size_t>(comm.size()));
  check(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm.native()),
        "MPI_Allgather");
  std::vector<Device> devices;
  for (const auto& entry : all)
    devices.push_back({static_cast<int>(devices.size()), entry.host, entry.name, entry.uuid, entry.memory});
  return devices;
}

std::string shared_devices(std::span<const Device> devices) {
  std::map<std::string_view, std::vector<const Device*>> users;
  for (const auto& device : devices)
    if (!device.uuid.empty()) users[device.uuid].push_back(&device);
  std::string text;
  for (const auto& [uuid, of_one] : users) {
    if (of_one.size() < 2) continue;
    std::vector<int> ranks;
    for (const auto* device : of_one) ranks.push_back(device->rank);
    text += fmt::format("ranks {} share one GPU, {} ({}) of {}: they wait for each other, and times mean "
                        "little; start one rank a GPU\n",
                        fmt::join(ranks, ", "), of_one.front()->name, uuid, of_one.front()->host);
  }
  return text;
}

nlohmann::ordered_json to_json(std::span<const Device> devices) {
  auto table = nlohmann::ordered_json::array();
  for (const auto& d : devices)
    table.push_back(
        {{"rank", d.rank}, {"host", d.host}, {"name", d.name}, {"uuid", d.uuid}, {"memory", d.memory}});
  return table;
}

} // namespace kontor::miniapp
