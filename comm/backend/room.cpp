// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/room.hpp"

#include "base/agree.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <sys/statvfs.h>
#include <unistd.h>

namespace kontor::comm::mpi {
namespace {

/// What Open MPI wants besides the parts of the ranks: 5 %, and the state of each rank.
std::uint64_t with_overhead(std::uint64_t bytes, int ranks) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const auto all = bytes + 2 * page + 1024 * static_cast<std::uint64_t>(ranks);
  return all + all / 20;
}

std::string mib(std::uint64_t bytes) { return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20)); }

std::optional<std::string> lack_on_this_host(std::uint64_t bytes, int ranks) {
  if (ranks == 1) return std::nullopt; // shares nothing
  const auto directory = window_directory();
  struct statvfs system {};
  if (statvfs(directory.c_str(), &system) != 0) return std::nullopt;
  const auto free = static_cast<std::uint64_t>(system.f_bavail) * system.f_frsize;
  const auto needed = with_overhead(bytes, ranks);
  if (needed <= free) return std::nullopt;
  char host[MPI_MAX_PROCESSOR_NAME];
  int length = 0;
  check(MPI_Get_processor_name(host, &length), "MPI_Get_processor_name");
  return fmt::format("{} of shared memory are needed on host {}, and {} are free in {} there", mib(needed),
                     std::string(host, static_cast<std::size_t>(length)), mib(free), directory);
}

} // namespace

/// Open MPI could be asked (MPI_T), but takes 0.2 s to answer; other libraries do not know the variable.
std::string window_directory() {
  const char* const info = std::getenv("OMPI_MCA_osc_sm_backing_directory");
  return info ? info : "/dev/shm";
}

std::optional<std::string> lack_of_room(MPI_Comm comm, std::uint64_t bytes, Hosts hosts) {
  auto host = split_by_node(comm);
  const int ranks = size_of(host);
  check(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_UINT64_T, MPI_SUM, host), "MPI_Allreduce");
  MPI_Comm_free(&host);
  if (hosts == Hosts::only && ranks < size_of(comm)) return std::nullopt; // as on every other host
  return first_problem(comm, lack_on_this_host(bytes, ranks));
}

void require_room(MPI_Comm comm, std::uint64_t bytes, const std::string& user, Axis axis, const char* instead,
                  Hosts hosts) {
  if (const auto lack = lack_of_room(comm, bytes, hosts))
    throw UsageError(fmt::format("{} has no room: {}; give it more (docker run --shm-size, or mount -o "
                                 "remount,size=...), or choose {}",
                                 user, *lack, instead),
                     axis, "E-SPACE-SHM");
}

} // namespace kontor::comm::mpi
