// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "../src/hdf5.hpp"

#include <kontor/mpi/world.hpp>
#include <kontor/output/file.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>

namespace kontor::output {

using mpi::world_rank;
using mpi::world_size;

/// A folder of its own for each number of ranks, made on rank 0: tests of different sizes run at the same time.
inline std::filesystem::path folder(const std::string& test) {
  auto path = std::filesystem::path("output_files") / (test + "_" + std::to_string(world_size()));
  if (world_rank() == 0) std::filesystem::create_directories(path);
  MPI_Barrier(MPI_COMM_WORLD);
  return path;
}

/// Collective. Runs `action` on rank 0 when all ranks are here, and before any of them continues.
template <class Action>
void on_rank_0(const Action& action) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 0) action();
  MPI_Barrier(MPI_COMM_WORLD);
}

inline void remove_file(const std::filesystem::path& path) {
  on_rank_0([&] { std::filesystem::remove(path); });
}

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  on_rank_0([&] { std::ofstream(path) << text; });
}

/// Collective. A file that rank 0 writes by calls of the HDF5 library, in fill(file).
template <class Fill>
void write_hdf5(const std::filesystem::path& path, const Fill& fill) {
  on_rank_0([&] {
    fill(
        Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose, "H5Fcreate", path.string()));
  });
}

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream stream(path);
  std::string text(stream ? std::filesystem::file_size(path) : 0, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  return text;
}

/// The temporaries of `name` that are beside it.
inline std::vector<std::filesystem::path> left_beside(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> found;
  const std::string name = path.filename().string();
  for (const auto& entry : std::filesystem::directory_iterator(path.parent_path()))
    if (const auto other = entry.path().filename().string(); other.starts_with(name + ".") && other.ends_with(".tmp"))
      found.push_back(entry.path());
  return found;
}

/// An uneven split of `total` along one dimension; with more than two ranks, rank 1 has nothing.
inline std::pair<std::uint64_t, std::uint64_t> uneven_part(std::uint64_t total) {
  std::vector<std::uint64_t> ends(world_size());
  for (int rank = 0; rank < world_size(); ++rank)
    ends[rank] = rank == 0 ? (world_size() == 1 ? total : total / 2 + 1)
                           : std::min(total, ends[rank - 1] + (rank == 1 && world_size() > 2 ? 0 : total / 3));
  ends.back() = total;
  const std::uint64_t begin = world_rank() == 0 ? 0 : ends[world_rank() - 1];
  return {begin, ends[world_rank()] - begin};
}

/// The block of this rank if an array is cut along dimension `cut`.
inline Block uneven_block(std::vector<std::uint64_t> global, int cut) {
  Block block{global, std::vector<std::uint64_t>(global.size(), 0), global};
  std::tie(block.offset[cut], block.extent[cut]) = uneven_part(global[cut]);
  return block;
}

/// Values that name their place: 1 + their number in the global array.
template <class T>
std::vector<T> numbered(const Block& block) {
  auto global = block.global, offset = block.offset, extent = block.extent;
  for (auto* list : {&global, &extent}) list->insert(list->begin(), 3 - list->size(), 1);
  offset.insert(offset.begin(), 3 - offset.size(), 0);
  std::vector<T> values(extent[0] * extent[1] * extent[2]);
  T* to = values.data(); // quick without optimization, too
  for (std::uint64_t z = 0; z < extent[0]; ++z)
    for (std::uint64_t y = 0; y < extent[1]; ++y) {
      auto number = ((offset[0] + z) * global[1] + offset[1] + y) * global[2] + offset[2];
      for (const T* const end = to + extent[2]; to < end;) *to++ = static_cast<T>(++number);
    }
  return values;
}

/// The text of the Error that `action` throws, the same on every rank; empty if it throws none.
template <class Action>
std::string error_of(Action&& action) {
  std::string text;
  try {
    action();
  } catch (const Error& error) {
    text = error.what();
  }
  std::string root = text;
  root.resize(4096);
  MPI_Bcast(root.data(), 4096, MPI_CHAR, 0, MPI_COMM_WORLD);
  EXPECT_EQ(text, std::string(root.c_str()).substr(0, text.size())) << "ranks have different errors";
  EXPECT_EQ(text.empty(), root[0] == '\0');
  return text;
}

/// The text has all of these facts.
inline void expect_facts(const std::string& text, std::initializer_list<std::string> facts) {
  for (const auto& fact : facts)
    EXPECT_NE(text.find(fact), std::string::npos) << "'" << fact << "' in: " << text.substr(0, 1000);
}

} // namespace kontor::output
