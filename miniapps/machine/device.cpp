// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/device.hpp"

#include "machine/gather_to_root.hpp"
#include "machine/node.hpp"

#include <kontor/device/compat.hpp>
#include <kontor/device/devices.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <map>

namespace kontor::miniapp {
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
