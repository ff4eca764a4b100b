// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/mpi/world.hpp>

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

/// All ranks of a test, and some of them, of which some write a file that others read.
namespace kontor::miniapp::test {

using kontor::mpi::world_rank;
using kontor::mpi::world_size;

/// Collective at first. All ranks, on one communicator for all tests until Kokkos ends.
inline const comm::Communicator& world() {
  static std::unique_ptr<comm::Communicator> made;
  if (!made) {
    made = std::make_unique<comm::Communicator>(MPI_COMM_WORLD);
    Kokkos::push_finalize_hook([] { made.reset(); });
  }
  return *made;
}

/// Collective over the world at first. So many ranks of it, one communicator for all tests; null on the others.
inline MPI_Comm first_ranks(int count) {
  static std::map<int, MPI_Comm> made;
  const auto [at, is_new] = made.try_emplace(count, MPI_COMM_NULL);
  if (is_new) MPI_Comm_split(MPI_COMM_WORLD, world_rank() < count ? 0 : MPI_UNDEFINED, world_rank(), &at->second);
  return at->second;
}

/// A folder of all ranks, removed at the end. Collective over the world.
class Folder {
 public:
  explicit Folder(const std::string& name) {
    int process = static_cast<int>(::getpid());
    MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD);
    path_ = std::filesystem::temp_directory_path() / ("kontor-" + name + "-" + std::to_string(process));
    if (world_rank() == 0) std::filesystem::create_directories(path_);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    MPI_Barrier(MPI_COMM_WORLD);
    std::error_code ignored;
    if (world_rank() == 0) std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// 1, 2, 3, 5, 7, as far as there are so many.
inline std::vector<int> some_ranks() {
  std::vector<int> ranks;
  for (const int count : {1, 2, 3, 5, 7})
    if (count <= world_size()) ranks.push_back(count);
  return ranks;
}

/// A process grid of so many ranks, another one each turn.
inline std::vector<std::int64_t> some_grid(int ranks, std::size_t axes, int turn) {
  std::vector<std::int64_t> grid(axes, 1);
  grid[static_cast<std::size_t>(turn) % axes] = ranks;
  return grid;
}

} // namespace kontor::miniapp::test
