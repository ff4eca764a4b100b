// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "pingpong/options.hpp"

#include <kontor/comm/communicator.hpp>

/// Which sizes can be measured at all.
namespace kontor::pingpong {

/// Collective. Bytes that each rank may take: nine tenths of what is free on its host, or on its GPU where kernels work
/// on one and it is their memory that is asked for, divided among the ranks there; of all ranks the least.
double memory_of_rank(const comm::Communicator&, bool of_kernels);

/// Whether Views lie where kernels work; else they lie in host memory, which one-shot calls want.
bool works_on_device(Measure);

/// Of the planes whose columns `exchange` sends.
inline constexpr std::int64_t width_of_plane = 8;

/// Local. Bytes that the Views of a rank take.
double bytes_of_views(Measure, int ranks, int dimensions, ScalarName, std::int64_t size);

/// One curve: the sizes that it is measured at.
struct Case {
  int dimensions;
  ScalarName scalar;
  std::vector<std::int64_t> sizes;
};

/// Local. Every dimension and scalar of the deck with the sizes that fit in `memory` bytes, where the Views of a rank
/// take bytes(dimensions, scalar, size). Larger ones are named in `notes`, or refused by config::Location::fail(), with
/// the largest that fits.
std::vector<Case> cases(const Options&, double memory,
                        const std::function<double(int, ScalarName, std::int64_t)>& bytes,
                        std::vector<std::string>& notes);

} // namespace kontor::pingpong
