// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/error.hpp>

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>

namespace kontor::comm::mpi {

/// Local. The directory of the files that MPI maps windows of shared memory from, as far as the environment says.
std::string window_directory();

/// On which hosts room is asked for: on all, or only if there is but one.
enum class Hosts : std::uint8_t { all, only };

/// Collective. Whether the windows of which each rank has so many bytes find room where MPI makes them, on every host:
/// nothing if they do, else where they do not, what is needed and what is free, on every rank. To be asked before they
/// are made: where there is no room, some ranks do not return from Open MPI 4.1's call (osc/sm, which it uses for any
/// window of ranks of one host).
std::optional<std::string> lack_of_room(MPI_Comm, std::uint64_t bytes_of_this_rank, Hosts = Hosts::all);

/// Collective. Throws UsageError on every rank where room lacks: `user`, "exchange 'halo': backend 'shm'", has none,
/// and `instead` says what else can be chosen on the axis.
void require_room(MPI_Comm, std::uint64_t bytes_of_this_rank, const std::string& user, Axis, const char* instead,
                  Hosts = Hosts::all);

} // namespace kontor::comm::mpi
