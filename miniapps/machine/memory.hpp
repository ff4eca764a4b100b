// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

#include <exception>
#include <filesystem>
#include <limits>
#include <string>

namespace kontor::miniapp {

/// Bytes that Linux's control groups grant; infinite where they limit nothing.
struct GrantedMemory {
  double free = std::numeric_limits<double>::infinity();
  double limit = std::numeric_limits<double>::infinity();
};

/// Local. What the group of this process and all groups around it leave it, by version 2. Cached files that would make
/// room count as free. `root` is where proc and sys are, for tests.
GrantedMemory memory_of_cgroups(const std::filesystem::path& root = "/");

// Whether a problem fits, before its Views are allocated.

/// Local. Bytes that can be had without swapping, by Linux's estimate and the limits of control groups; infinite where
/// nobody says.
double free_host_memory();

/// Collective. The bytes that each rank can allocate if all allocate as many: the least over all GPUs, or hosts, of
/// what is free there divided by its ranks. The same on all ranks; infinite where nobody says.
double free_memory_of_rank(const comm::Communicator&);

/// Collective, with the bytes that this rank is about to allocate in the default memory space. Throws AgreedError on
/// every rank if what the ranks of a GPU, or of a host, ask for together is more than is free there. The text names the
/// first rank concerned and how many ranks would do.
void require_memory(const comm::Communicator&, double bytes);

/// Local. What to say of an exception by which an allocation failed; empty if that is not what it tells.
std::string out_of_memory(const std::exception&);

} // namespace kontor::miniapp
