// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools_recorder.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string_view>

namespace kontor::comm::test {
namespace {

namespace tools = Kokkos::Tools::Experimental;

ToolsRecord record;

void write(std::vector<std::string>& list, const char* name) {
  list.emplace_back(name);
}

void kernel_begins(const char* name, std::uint32_t, std::uint64_t* id) {
  *id = 0;
  write(record.kernels, name);
}

void fence_begins(const char* name, std::uint32_t, std::uint64_t* id) {
  *id = 0;
  if (std::string_view(name).find("Kokkos Profile Tool Fence") == std::string_view::npos)
    write(record.fences, name);
}

void region_begins(const char* name) {
  write(record.regions, name);
  ++record.open_regions;
}

void region_ends() {
  --record.open_regions;
}

void memory_is_taken(Kokkos::Profiling::SpaceHandle, const char* label, const void*, std::uint64_t) {
  write(record.allocations, label);
}

} // namespace

void start_recording_tools() {
  record = {};
  tools::set_begin_parallel_for_callback(kernel_begins);
  tools::set_begin_parallel_reduce_callback(kernel_begins);
  tools::set_begin_parallel_scan_callback(kernel_begins);
  tools::set_begin_fence_callback(fence_begins);
  tools::set_push_region_callback(region_begins);
  tools::set_pop_region_callback(region_ends);
  tools::set_allocate_data_callback(memory_is_taken);
}

ToolsRecord stop_recording_tools() {
  tools::set_begin_parallel_for_callback(nullptr);
  tools::set_begin_parallel_reduce_callback(nullptr);
  tools::set_begin_parallel_scan_callback(nullptr);
  tools::set_begin_fence_callback(nullptr);
  tools::set_push_region_callback(nullptr);
  tools::set_pop_region_callback(nullptr);
  tools::set_allocate_data_callback(nullptr);
  return std::move(record);
}

} // namespace kontor::comm::test
