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
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace kontor::miniapp {
namespace {

/// Local. Those that a thread of this process may run on, none if this is not known; 0 is the calling one.
cpu_set_t cores_of_thread(int thread) {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(thread, sizeof set, &set);
  return set;
}

/// Local. Those that any thread of this process may run on: OpenMP binds each to its own, the main one too.
cpu_set_t cores_of_process() {
  cpu_set_t cores = cores_of_thread(0);
  std::error_code none; // without /proc the calling thread must do; a thread may end meanwhile
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", none)) {
    const auto of_thread = cores_of_thread(std::atoi(entry.path().filename().c_str()));
    CPU_OR(&cores, &cores, &of_thread);
  }
  return cores;
}

std::vector<int> numbers_of(const cpu_set_t& cores) {
  std::vector<int> numbers;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(static_cast<std::size_t>(i), &cores)) numbers.push_back(i);
  return numbers;
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

OnAllCores::OnAllCores() : before_(cores_of_thread(0)) {
  if (const auto all = cores_of_process(); CPU_COUNT(&all) > 0) ::sched_setaffinity(0, sizeof all, &all);
}
OnAllCores::~OnAllCores() {
  if (CPU_COUNT(&before_) > 0) ::sched_setaffinity(0, sizeof before_, &before_);
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

nlohmann::ordered_json placement_of(const comm::Communicator& comm) {
  auto mine = nlohmann::ordered_json::array();
  mine.push_back({{"rank", comm.rank()},
                  {"host", host_name()},
                  {"cores", ranges(numbers_of(cores_of_process()))},
                  {"threads", cores_of_threads()}});
  return gather_rows(comm, mine);
}

bool cores_are_oversubscribed(const comm::Communicator& comm) {
  if constexpr (!device::kernels_on_host) return false;
  const auto node = node_communicator(comm);
  using Words = std::array<std::uint64_t, sizeof(cpu_set_t) / sizeof(std::uint64_t)>;
  const auto of_node = comm::allreduce(node, std::bit_cast<Words>(cores_of_process()), comm::ReduceOp::bitwise_or);
  const auto all = std::bit_cast<cpu_set_t>(of_node);
  const int cores = CPU_COUNT(&all);
  const int threads = comm::allreduce(node, Kokkos::DefaultExecutionSpace().concurrency(), comm::ReduceOp::sum);
  return comm::allreduce(comm, cores > 0 && threads > cores ? 1 : 0, comm::ReduceOp::max) > 0;
}

} // namespace kontor::miniapp
