// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/device.hpp"

#include "machine/gather_to_root.hpp"
#include "machine/node.hpp"

#include <kontor/comm/mpi_check.hpp>
#include <kontor/device/compat.hpp>
#include <kontor/device/devices.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>

namespace kontor::miniapp {
namespace {

bool chosen_by_user(std::span<const char* const> arguments) {
  if (std::getenv("KOKKOS_DEVICE_ID") || std::getenv("KOKKOS_MAP_DEVICE_ID_BY")) return true;
  return std::any_of(arguments.begin(), arguments.end(), [](std::string_view argument) {
    return argument.starts_with("--kokkos-device") || argument.starts_with("--kokkos-map-device-id-by");
  });
}

} // namespace

std::string device_argument(MPI_Comm comm, std::span<const char* const> kokkos_arguments) {
  MPI_Comm node = MPI_COMM_NULL;
  int rank = 0;
  comm::mpi::check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  comm::mpi::check(MPI_Comm_rank(node, &rank), "MPI_Comm_rank");
  comm::mpi::check(MPI_Comm_free(&node), "MPI_Comm_free");
  const int devices = device::device_count();
  if (devices == 0 || chosen_by_user(kokkos_arguments)) return {};
  return fmt::format("--kokkos-device-id={}", rank % devices);
}

nlohmann::ordered_json devices_of(const comm::Communicator& comm) {
  if constexpr (device::kernels_on_host) return {};
  const auto identity = device::device_identity();
  auto mine = nlohmann::ordered_json::array();
  mine.push_back({{"rank", comm.rank()},
                  {"host", host_name()},
                  {"name", identity.name},
                  {"uuid", identity.uuid},
                  {"memory", static_cast<std::int64_t>(device::device_memory().total)}});
  return gather_rows(comm, mine);
}

comm::Communicator ranks_of_memory(const comm::Communicator& comm) {
  auto node = node_communicator(comm);
  if constexpr (device::kernels_on_host) return node;
  const auto uuid = device::device_identity().uuid;
  const auto number = static_cast<unsigned>(std::hash<std::string>()(uuid)) / 2; // of the GPU
  return node.split(uuid.empty() ? node.rank() : static_cast<int>(number));
}

std::string shared_devices(const nlohmann::ordered_json& devices) {
  std::map<std::string, std::vector<nlohmann::ordered_json>> users;
  for (const auto& device : devices) users[device["uuid"]].push_back(device);
  users.erase("");
  std::string text;
  for (const auto& [uuid, of_one] : users) {
    if (of_one.size() < 2) continue;
    std::vector<int> ranks;
    for (const auto& device : of_one) ranks.push_back(device["rank"]);
    text += fmt::format("ranks {} share one GPU, {} ({}) of {}: they wait for each other, and times mean "
                        "little; start one rank a GPU\n",
                        fmt::join(ranks, ", "), of_one[0]["name"].get<std::string>(), uuid,
                        of_one[0]["host"].get<std::string>());
  }
  return text;
}

} // namespace kontor::miniapp
