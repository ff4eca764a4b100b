// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/shm/window.hpp"

#include <kontor/comm/mpi_check.hpp>

#include <cstdint>
#include <cstring>

namespace kontor::comm::shm {

using mpi::check;

namespace {
/// Where parts begin: at a cache line, which MPI does not promise.
constexpr std::size_t alignment = 64;
} // namespace

Window::Window(const Node& node, std::size_t bytes) : unsafe_to_free_(node.unsafe_to_free()) {
  std::byte* mine = nullptr;
  bytes += alignment;
  check(MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, node.comm(), &mine, &window_),
        "MPI_Win_allocate_shared");
  check(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
  check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
  std::memset(mine, 0, bytes);
  check(MPI_Win_sync(window_), "MPI_Win_sync");
  check(MPI_Barrier(node.comm()), "MPI_Barrier");
}

Window::~Window() {
  if (mpi::ends_alone(*unsafe_to_free_)) return;
  MPI_Win_unlock_all(window_);
  mpi::check_or_terminate(MPI_Win_free(&window_), "MPI_Win_free");
}

std::byte* Window::part(int local_rank) const {
  MPI_Aint bytes = 0;
  int unit = 0;
  std::byte* base = nullptr;
  check(MPI_Win_shared_query(window_, local_rank, &bytes, &unit, &base), "MPI_Win_shared_query");
  const auto past_line =
      reinterpret_cast<std::uintptr_t>(base) % alignment; // on every rank: pages are mapped
  return base + (alignment - past_line) % alignment;
}

} // namespace kontor::comm::shm
