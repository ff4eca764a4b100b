// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/memory.hpp"

#include "common/cgroup.hpp"

#include <kontor/comm/backend/mpi_check.hpp>
#include <kontor/comm/error.hpp>
#include <kontor/comm/kokkos/compat.hpp>
#include <kontor/comm/kokkos/devices.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <new>
#include <unistd.h>
#include <vector>

namespace kontor::miniapp {
namespace {

using comm::mpi::check;

constexpr bool host_only = comm::on_host<Kokkos::DefaultExecutionSpace>;
constexpr double unknown = std::numeric_limits<double>::infinity();

double of_host(std::string_view what) {
  std::ifstream file("/proc/meminfo");
  std::string word;
  double kibibytes = 0;
  while (file >> word)
    if (word == what && file >> kibibytes) return 1024 * kibibytes;
  return unknown;
}

/// The memory that a rank's Views lie in.
struct Place {
  char id[MPI_MAX_PROCESSOR_NAME] = {}; ///< equal for the ranks that share it
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  double free = unknown;
  double total = unknown;
  bool limited = false; ///< by a control group
  double asked = 0;     ///< by this rank
};

Place place_here() {
  Place place;
  int length = 0;
  check(MPI_Get_processor_name(place.name, &length), "MPI_Get_processor_name");
  if constexpr (host_only) {
    std::copy_n(place.name, length, place.id);
    place.free = of_host("MemAvailable:");
    place.total = of_host("MemTotal:");
    const auto granted = memory_of_cgroups();
    place.limited = granted.free < place.free;
    place.free = std::min(place.free, granted.free);
    place.total = std::min(place.total, granted.limit);
  } else {
    const auto device = comm::device_identity();
    place.free = free_device_memory();
    place.total = static_cast<double>(comm::device_memory().total);
    const auto id = device.uuid.empty() ? fmt::format("{} {}", getpid(), place.name) : device.uuid;
    id.copy(place.id, sizeof place.id - 1);
  }
  return place;
}

std::vector<Place> gather(const comm::Communicator& comm, const Place& mine) {
  std::vector<Place> all(static_cast<std::size_t>(comm.size()));
  check(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm.native()),
        "MPI_Allgather");
  return all;
}

constexpr const char* kind = host_only ? "host" : "GPU";

const char* limit_of(const Place& place) {
  return place.limited ? " (by the memory limit of its control group)" : "";
}

/// What is wrong with the memory of this rank.
std::string misfit(const std::vector<Allocation>& views, const std::vector<Place>& all, std::size_t me,
                   double asked_there) {
  const auto& place = all[me];
  double everywhere = 0;
  for (const auto& p : all) everywhere += p.asked;
  auto text = fmt::format("out of memory: rank {} on {} needs", me, place.name);
  for (const auto& view : views)
    text += fmt::format("{} {:.4g} GB for View '{}'", &view == views.data() ? "" : ",", view.bytes / 1e9,
                        view.label);
  if (asked_there > place.asked)
    text += fmt::format(" ({:.4g} GB with the other ranks there)", asked_there / 1e9);
  return text +
         fmt::format(", but its {} has {:.4g} GB free of {:.4g} GB{}; the Views of all ranks take {:.4g} "
                     "GB, which fit on {:.0f} such {}s: use more of them, or a smaller problem",
                     kind, place.free / 1e9, place.total / 1e9, limit_of(place), everywhere / 1e9,
                     std::ceil(everywhere / place.free), kind);
}

} // namespace

double free_host_memory() {
  return std::min(of_host("MemAvailable:"), memory_of_cgroups().free);
}

double free_device_memory() {
  const auto memory = comm::device_memory();
  return memory.total > 0 ? static_cast<double>(memory.free) : unknown;
}

void require_memory(const comm::Communicator& comm, const std::vector<Allocation>& views) {
  auto mine = place_here();
  for (const auto& view : views) mine.asked += view.bytes;
  const auto all = gather(comm, mine);
  std::map<std::string_view, double> asked; // by place
  for (const auto& place : all) asked[place.id] += place.asked;
  const auto me = static_cast<std::size_t>(comm.rank());
  const double asked_here = asked[mine.id];
  comm.agree(asked_here > mine.free ? std::optional(misfit(views, all, me, asked_here)) : std::nullopt);
}

std::string out_of_memory(const std::exception& error) {
  const std::string_view what = error.what();
  const bool of_kokkos = what.find("failed to allocate") != std::string_view::npos;
  if (!of_kokkos && !dynamic_cast<const std::bad_alloc*>(&error)) return {};
  const auto text = fmt::format("out of memory: {}", what.substr(0, what.find('\n'))); // no traceback
  Place place;
  try {
    place = place_here();
  } catch (const std::exception&) { // the device no longer answers
    return text;
  }
  return fmt::format("{}; the {} of {} has {:.4g} GB free of {:.4g} GB{}: use more {}s, or a smaller problem",
                     text, kind, place.name, place.free / 1e9, place.total / 1e9, limit_of(place), kind);
}

} // namespace kontor::miniapp
