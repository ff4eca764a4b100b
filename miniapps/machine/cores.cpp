// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/cores.hpp"

#include "machine/gather_to_root.hpp"
#include "machine/node.hpp"

#include <kontor/comm/reductions.hpp>
#include <kontor/device/compat.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sched.h>
#include <system_error>

namespace kontor::miniapp {
namespace {

/// A bit for each core; all 0 if this is not known.
using Cores = std::array<std::uint64_t, CPU_SETSIZE / 64>;

/// Local. Those that a thread of this process may run on; 0 is the calling one.
Cores cores_of_thread(int thread) {
  Cores cores{};
  cpu_set_t set;
  if (::sched_getaffinity(thread, sizeof set, &set) != 0) return cores;
  for (std::size_t i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &set)) cores[i / 64] |= std::uint64_t{1} << i % 64;
  return cores;
}

/// Local. Those that any thread of this process may run on: OpenMP binds each to its own, the main one too.
Cores cores_of_process() {
  Cores cores = cores_of_thread(0);
  std::error_code none; // without /proc the calling thread must do; a thread may end meanwhile
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", none)) {
    const auto of_thread = cores_of_thread(std::atoi(entry.path().filename().c_str()));
    for (std::size_t i = 0; i < cores.size(); ++i) cores[i] |= of_thread[i];
  }
  return cores;
}

std::vector<int> numbers_of(const Cores& cores) {
  std::vector<int> numbers;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (cores[static_cast<std::size_t>(i / 64)] >> i % 64 & 1) numbers.push_back(i);
  return numbers;
}

void bind_to(const std::vector<int>& numbers) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int number : numbers) CPU_SET(number, &set);
  ::sched_setaffinity(0, sizeof set, &set);
}

/// Local. Those of each thread of the execution space, in the order in which they share a loop.
std::string cores_of_threads() {
  using Space = Kokkos::DefaultExecutionSpace;
  if constexpr (!device::kernels_on_host) return {};
  std::vector<std::string> threads(static_cast<std::size_t>(Space().concurrency()));
  auto* const texts = threads.data();
  Kokkos::parallel_for("machine/cores", Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, threads.size()),
                       [=](std::size_t i) { texts[i] = ranges(numbers_of(cores_of_thread(0))); });
  return fmt::format("{}", fmt::join(threads, " "));
}

} // namespace

OnAllCores::OnAllCores() : before_(numbers_of(cores_of_thread(0))) {
  if (!before_.empty()) bind_to(numbers_of(cores_of_process()));
}
OnAllCores::~OnAllCores() {
  if (!before_.empty()) bind_to(before_);
}

std::string ranges(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t first = 0, last = 0; first < numbers.size(); first = last + 1) {
    for (last = first; last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1;) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[first]);
    if (last > first) text += fmt::format("-{}", numbers[last]);
  }
  return text;
}

std::vector<RankPinning> places_of(const comm::Communicator& comm) {
  const auto hosts = gather_texts(comm, host_name());
  const auto cores = gather_texts(comm, ranges(numbers_of(cores_of_process())));
  const auto threads = gather_texts(comm, cores_of_threads());
  std::vector<RankPinning> places;
  for (std::size_t r = 0; r < hosts.size(); ++r)
    places.push_back({static_cast<int>(r), hosts[r], cores[r], threads[r]});
  return places;
}

bool cores_are_oversubscribed(const comm::Communicator& comm) {
  if constexpr (!device::kernels_on_host) return false;
  const auto node = node_communicator(comm);
  const auto cores = numbers_of(comm::allreduce(node, cores_of_process(), comm::ReduceOp::bitwise_or));
  const int threads = comm::allreduce(node, Kokkos::DefaultExecutionSpace().concurrency(), comm::ReduceOp::sum);
  return comm::allreduce(comm, !cores.empty() && threads > std::ssize(cores) ? 1 : 0, comm::ReduceOp::max) > 0;
}

} // namespace kontor::miniapp
