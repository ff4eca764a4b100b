// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/memory.hpp"

#include "grid/field.hpp"
#include "machine/memory.hpp"
#include "machine/node.hpp"

#include <kontor/comm/collectives.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace kontor::pingpong {
namespace {

/// The largest size for which fits(size), or 0. `too_large` does not fit.
template <class Fits>
std::int64_t largest(std::int64_t too_large, const Fits& fits) {
  std::int64_t low = 0;
  while (too_large - low > 1) {
    const auto middle = low + (too_large - low) / 2;
    (fits(middle) ? low : too_large) = middle;
  }
  return low;
}

std::vector<std::int64_t> sizes_of(const Options::Sizes& s) {
  std::vector<std::int64_t> sizes;
  for (auto size = s.from; size < s.to; size *= s.factor) sizes.push_back(size);
  sizes.push_back(s.to);
  return sizes;
}

/// Of a block of size^dimensions cells with its ghost cells.
double bytes_of_block(int dimensions, ScalarName scalar, std::int64_t size) {
  grid::Block block;
  block.dimensions = dimensions;
  std::fill_n(&block.extents[0], dimensions, size);
  const auto n = scalar == ScalarName::of_int ? grid::field_extents<int>(block) : grid::field_extents<double>(block);
  return static_cast<double>(bytes_of(scalar)) * static_cast<double>(n[0]) * static_cast<double>(n[1]) *
         static_cast<double>(n[2]);
}

} // namespace

bool works_on_device(Measure measure) { return measure == Measure::halo || exchanges(measure); }

double bytes_of_views(Measure measure, int ranks, int dimensions, ScalarName scalar, std::int64_t size) {
  const auto edge = static_cast<double>(size);
  const auto cube = std::pow(edge, dimensions) * static_cast<double>(bytes_of(scalar));
  switch (measure) {
  case Measure::roundtrip:
  case Measure::calls:
  case Measure::model: return 2 * cube;
  case Measure::bcast: return cube;
  case Measure::collectives:
    return 7 * cube * ranks; // along a grid: in, out, two that were received, three between hops
  case Measure::halo: return bytes_of_block(dimensions, scalar, size);
  case Measure::strided: return cube;
  case Measure::device:
  case Measure::exchange: { // out and in, and what a handful of ways pack them into
    return 2 * edge * static_cast<double>(bytes_of(scalar)) * (dimensions == 1 ? 4 : 4 + width_of_plane);
  }
  }
  return cube;
}

double memory_of_rank(const comm::Communicator& comm, bool of_kernels) {
  constexpr double share = 0.9;
  if (of_kernels || device::kernels_on_host) return share * miniapp::free_memory_of_rank(comm);
  const double mine = share * miniapp::free_host_memory() / miniapp::place_on_node(comm.native()).ranks;
  return comm::allreduce(comm, mine, comm::ReduceOp::min);
}

std::vector<Case> cases(const Options& options, double memory,
                        const std::function<double(int, ScalarName, std::int64_t)>& bytes,
                        std::vector<std::string>& notes) {
  std::vector<Case> result;
  for (const auto dimensions : options.dimensions) {
    const auto d = static_cast<int>(dimensions);
    for (const auto scalar : options.scalars) {
      const auto fits = [&](std::int64_t size) { return bytes(d, scalar, size) <= memory; };
      Case c{d, scalar, sizes_of(options.sizes)};
      const auto first_misfit = std::find_if_not(c.sizes.begin(), c.sizes.end(), fits);
      if (first_misfit != c.sizes.end()) {
        const auto name = fmt::format("{}-D {}", d, name_of(scalar));
        const auto most = largest(*first_misfit, fits);
        if (options.sizes.too_large == TooLarge::refuse || first_misfit == c.sizes.begin())
          (first_misfit == c.sizes.begin() ? options.locations.from : options.locations.to)
              .fail(fmt::format("is too large: at size {}, {}, the Views of a rank take {:.3g} GB, and {:.3g} GB are "
                                "{}; the largest size that fits is {}",
                                *first_misfit, name, bytes(d, scalar, *first_misfit) / 1e9, memory / 1e9,
                                options.sizes.memory ? "allowed by problem.sizes.memory" : "free for it", most),
                    "E-MEMORY");
        notes.push_back(fmt::format("left out, because they do not fit in {:.3g} GB a rank: {} of size {}",
                                    memory / 1e9, name, fmt::join(first_misfit, c.sizes.end(), ", ")));
        c.sizes.erase(first_misfit, c.sizes.end());
      }
      result.push_back(std::move(c));
    }
  }
  return result;
}

} // namespace kontor::pingpong
