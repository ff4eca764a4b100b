// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../plain.hpp"
#include "rod.hpp"

#include <atomic>
#include <cstdint>
#include <vector>

#if defined(KOKKOS_ENABLE_CUDA)
#include <cuda/atomic>
using Number = cuda::atomic_ref<std::uint64_t, cuda::thread_scope_system>;
constexpr auto acquire = cuda::memory_order_acquire, release = cuda::memory_order_release;
#else
using Number = std::atomic_ref<std::uint64_t>;
constexpr auto acquire = std::memory_order_acquire, release = std::memory_order_release;
#endif

struct Post {
  alignas(64) std::uint64_t written;
  double value[2];
};

/// Two posts of each rank, mapped into all. No wait for them ends before what it waits for has come.
struct Memory {
  std::vector<Post*> of;
#if defined(KOKKOS_ENABLE_CUDA)
  explicit Memory(int rank, int size) : of(size) {
    cudaMalloc(reinterpret_cast<void**>(&of[rank]), 2 * sizeof(Post));
    cudaMemset(of[rank], 0, 2 * sizeof(Post));
    cudaDeviceSynchronize();
    std::vector<cudaIpcMemHandle_t> handles(size);
    cudaIpcGetMemHandle(&handles[rank], of[rank]);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, handles.data(), sizeof handles[0], MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < size; ++r)
      if (r != rank) cudaIpcOpenMemHandle(reinterpret_cast<void**>(&of[r]), handles[r], cudaIpcMemLazyEnablePeerAccess);
  }
  void free(int rank) {
    for (std::size_t r = 0; r < of.size(); ++r)
      if (static_cast<int>(r) != rank) cudaIpcCloseMemHandle(of[r]);
    MPI_Barrier(MPI_COMM_WORLD);
    cudaFree(of[rank]);
  }
#else
  MPI_Win window = MPI_WIN_NULL;
  explicit Memory(int rank, int size) : of(size) {
    MPI_Win_allocate_shared(2 * sizeof(Post) + alignof(Post), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &of[rank], &window);
    for (int r = 0; r < size; ++r) {
      MPI_Aint bytes = 0;
      int unit = 0;
      void* base = nullptr;
      MPI_Win_shared_query(window, r, &bytes, &unit, &base);
      of[r] = reinterpret_cast<Post*>((reinterpret_cast<std::uintptr_t>(base) + alignof(Post) - 1) / alignof(Post) *
                                      alignof(Post));
    }
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    of[rank][0] = of[rank][1] = Post{};
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void free(int /*rank*/) {
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
  }
#endif
};

bool run(MPI_Comm comm) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  Memory memory(rank, size);
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  Post *const mine = memory.of[rank], *const to_left = memory.of[left] + 1, *const to_right = memory.of[right];

  const Rod u("u", cells + 2);
  begin(u);
  Kokkos::parallel_for(
      "all steps", one_team(), KOKKOS_LAMBDA(const Team& team) {
        for (int step = 1; step <= steps; ++step) {
          const int from = (step - 1) % 2;
          const auto number = static_cast<std::uint64_t>(step);
          if (team.team_rank() == 0) {
            to_left->value[from] = u(1, from);
            Number(to_left->written).store(number, release);
            to_right->value[from] = u(cells, from);
            Number(to_right->written).store(number, release);
            while (Number(mine[0].written).load(acquire) < number || Number(mine[1].written).load(acquire) < number) {
            }
            u(0, from) = mine[0].value[from];
            u(cells + 1, from) = mine[1].value[from];
          }
          team.team_barrier();
          average(team, u, step);
        }
      });
  Kokkos::fence();
  memory.free(rank);

  const auto [squares, error] = sums(u);
  double checksum = 0;
  double largest = 0;
  MPI_Allreduce(&squares, &checksum, 1, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allreduce(&error, &largest, 1, MPI_DOUBLE, MPI_MAX, comm);
  const bool right_result = largest < 1e-10;
  if (rank == 0)
    std::printf("persistent_halo: %d rods, checksum %.9f, %s\n", size, checksum, right_result ? "right" : "wrong");
  return right_result;
}

int main(int argc, char** argv) { return plain(argc, argv, run); }
