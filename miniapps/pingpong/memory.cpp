// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/memory.hpp"

#include "machine/device.hpp"
#include "machine/memory.hpp"
#include "machine/node.hpp"

#include <kontor/comm/collectives.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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
  for (auto size = s.from; size <= s.to; size *= s.factor) sizes.push_back(size);
  return sizes;
}

} // namespace

double memory_of_rank(const comm::Communicator& comm, bool of_kernels) {
  const bool of_device = of_kernels && !device::kernels_on_host;
  const int sharing =
      of_device ? miniapp::ranks_of_device(comm) : miniapp::place_on_node(comm.native()).ranks;
  const double free = of_device ? miniapp::free_device_memory() : miniapp::free_host_memory();
  const double mine = 0.9 * free / sharing;
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
              .fail(fmt::format(
                  "is too large: at size {}, {}, the Views of a rank take {:.3g} GB, and {:.3g} GB are "
                  "{}; the largest size that fits is {}",
                  *first_misfit, name, bytes(d, scalar, *first_misfit) / 1e9, memory / 1e9,
                  options.sizes.memory ? "allowed by problem.sizes.memory" : "free for it", most));
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
