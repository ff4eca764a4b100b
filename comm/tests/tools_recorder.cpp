// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cost.hpp"

#include <Kokkos_Core.hpp>

namespace kontor::comm::test {
namespace {

namespace tools = Kokkos::Tools::Experimental;

ToolsRecord record;

void kernel_begins(const char* name, std::uint32_t, std::uint64_t* id) {
  *id = 0;
  record.kernels.emplace_back(name);
}

void fence_begins(const char* name, std::uint32_t, std::uint64_t* id) {
  *id = 0;
  if (std::string_view(name).find("Kokkos Profile Tool Fence") == std::string_view::npos)
    record.fences.emplace_back(name);
}

void region_begins(const char* name) {
  record.regions.emplace_back(name);
  ++record.open_regions;
}

void region_ends() { record.unbalanced |= --record.open_regions < 0; }

void memory_is_taken(Kokkos::Profiling::SpaceHandle, const char* label, const void*, std::uint64_t) {
  record.allocations.emplace_back(label);
}

void listen(bool on) {
  tools::set_begin_parallel_for_callback(on ? kernel_begins : nullptr);
  tools::set_begin_parallel_reduce_callback(on ? kernel_begins : nullptr);
  tools::set_begin_parallel_scan_callback(on ? kernel_begins : nullptr);
  tools::set_begin_fence_callback(on ? fence_begins : nullptr);
  tools::set_push_region_callback(on ? region_begins : nullptr);
  tools::set_pop_region_callback(on ? region_ends : nullptr);
  tools::set_allocate_data_callback(on ? memory_is_taken : nullptr);
}

} // namespace

void start_recording_tools() {
  record = {};
  listen(true);
}

ToolsRecord stop_recording_tools() {
  listen(false);
  return std::move(record);
}

} // namespace kontor::comm::test
