// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/memory.hpp"

#include "grid/make_field.hpp"
#include "machine/node.hpp"
#include "pingpong/options.hpp"

#include <kontor/comm/collectives.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace kontor::pingpong {

double bytes_of_views(const Options& options, int ranks, int dimensions, ScalarName scalar, std::int64_t size) {
  const auto measure = options.measure.value;
  const auto edge = static_cast<double>(size);
  const double element = scalar == ScalarName::of_int ? sizeof(int) : sizeof(double);
  if (measure == Measure::halo) {
    grid::Block block; // with ghost cells
    block.dimensions = dimensions;
    std::fill_n(&block.extents[0], dimensions, size);
    return static_cast<double>(options.fields) *
           (scalar == ScalarName::of_int ? grid::field_bytes<int>(block) : grid::field_bytes<double>(block));
  }
  // Out and in, and what a handful of methods pack them into.
  if (exchanges(measure)) return 2 * edge * element * (dimensions == 1 ? 4 : 4 + width_of_plane);
  const auto cube = std::pow(edge, dimensions) * element;
  // Along a grid: in, out, two that were received, and three between the hops.
  if (measure == Measure::collectives) return 7 * cube * ranks;
  return measure == Measure::bcast || measure == Measure::strided ? cube : 2 * cube;
}

double memory_of_rank(const comm::Communicator& comm, bool of_kernels) {
  if (of_kernels || device::kernels_on_host) return 0.9 * miniapp::free_memory_of_rank(comm);
  const double mine = 0.9 * miniapp::free_host_memory() / miniapp::place_on_node(comm.native()).ranks;
  return comm::allreduce(comm, mine, comm::ReduceOp::min);
}

std::vector<Case> cases(const Options& options, int ranks, double memory, std::vector<std::string>& notes) {
  std::vector<Case> result;
  const auto& o = options.sizes;
  for (const auto dimensions : options.dimensions)
    for (const auto scalar : options.scalars) {
      auto& c = result.emplace_back();
      c.dimensions = static_cast<int>(dimensions);
      c.scalar = scalar;
      const auto bytes = [&](std::int64_t size) { return bytes_of_views(options, ranks, c.dimensions, scalar, size); };
      std::vector<std::int64_t> misfits;
      for (auto size = o.from;; size = std::min(size * o.factor, o.to)) {
        (bytes(size) <= memory ? c.sizes : misfits).push_back(size);
        if (size == o.to) break;
      }
      if (misfits.empty()) continue;
      const auto name = fmt::format("{}-D {}", dimensions, name_of(scalar));
      if (o.too_large == TooLarge::refuse || c.sizes.empty()) {
        std::int64_t most = 0;
        for (auto step = misfits[0]; step > 0; step /= 2)
          while (bytes(most + step) <= memory) most += step;
        (c.sizes.empty() ? options.locations.from : options.locations.to)
            .fail(fmt::format("is too large: at size {}, {}, the Views of a rank take {:.3g} GB, and {:.3g} GB are {}; "
                              "the largest size that fits is {}",
                              misfits[0], name, bytes(misfits[0]) / 1e9, memory / 1e9,
                              o.memory ? "allowed by problem.sizes.memory" : "free for it", most),
                  "E-MEMORY");
      }
      notes.push_back(fmt::format("left out, because they do not fit in {:.3g} GB a rank: {} of size {}", memory / 1e9,
                                  name, fmt::join(misfits, ", ")));
    }
  return result;
}

} // namespace kontor::pingpong
