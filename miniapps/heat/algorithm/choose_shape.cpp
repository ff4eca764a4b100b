// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/algorithm/choose_shape.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/phase_times.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kontor::heat {
namespace {

/// Fields of a rank that are together smaller than this are found in any cache again by the next sweep.
constexpr std::size_t cached_bytes = 4 << 20;
/// Where the ranks' caches and memory cannot be tried: the crossing of one machine (lab/results/heat-cpu.md).
constexpr std::size_t untried_bytes = 20 << 20;
/// Of a part that no cache holds.
constexpr std::int64_t enough_cells = 8 << 20;

/// Those that win on some machine, the usual one first.
std::vector<PassShape> shapes_to_try(const Options& options, std::int64_t rows) {
  const auto sweeps = options.sweeps_of_pass();
  std::vector<PassShape> shapes;
  if (on_device) {
    shapes.push_back({.sweeps = sweeps});
    for (int of_kernel = 2; of_kernel <= std::min(sweeps, most_of_kernel(options.dimensions())); of_kernel *= 2)
      for (const int of_team : {64, 16, 256})
        if (of_team == 16 || of_team < rows)
          shapes.push_back({.sweeps = sweeps, .of_kernel = of_kernel, .rows = of_team});
    return shapes;
  }
  if (sweeps > 1)
    for (const std::int64_t kib : {384, 128, 768, 1024}) {
      for (const auto prefetch : {std::uintptr_t{0}, streaming_prefetch})
        shapes.push_back({sweeps, prefetch > 0, prefetch, kib << 10});
      if (options.dimensions() == 3) shapes.push_back({sweeps, false, 4096, kib << 10});
    }
  else
    shapes = {{1, false, 0}, {1, false, 1024}, {1, true, 4096}, {1, true, streaming_prefetch}};
  if (options.stores != Stores::automatic)
    std::erase_if(shapes,
                  [&](const PassShape& shape) { return shape.streaming != (options.stores == Stores::streaming); });
  return shapes;
}

std::string name_of(const PassShape& shape) {
  if (on_device) return fmt::format("{} sweeps a kernel, {} rows a team", shape.of_kernel, shape.rows);
  return fmt::format("{} stores, prefetch {} B{}", shape.streaming ? "streaming" : "ordinary", shape.prefetch,
                     shape.sweeps > 1 ? fmt::format(", tile {} B", shape.cache) : "");
}

} // namespace

template <class T>
stepping::Trial choose_shape(Sweeper<T>& sweeper, Domain<T>& domain, Norm norm) {
  const auto& options = domain.options();
  stepping::Trial trial;
  if (options.kernel == SweepKernel::plain || (on_device && options.sweeps_of_pass() == 1)) return trial;
  const auto bytes =
      comm::allreduce(domain.comm(), 2 * domain.field(0).span() * sizeof(T), comm::ReduceOp::max); // of fields
  if (!on_device && bytes <= cached_bytes) return trial;
  // Functions of time are not asked for times after the deck's last one.
  if (domain.depends_on_time()) {
    if (options.stores == Stores::automatic && bytes > untried_bytes) sweeper.set_shape({1, true, streaming_prefetch});
    return trial;
  }
  const device::Region region("heat/trial");
  auto box = domain.block().all();
  auto& rows = box.end[domain.block().dimensions - 1];
  const auto shapes = shapes_to_try(options, rows);
  for (const auto& shape : shapes) trial.candidates.push_back({name_of(shape)});
  const auto cells = static_cast<double>(box.size());
  // A host tries a large block on a part that no cache holds.
  if (!on_device) rows = std::min(rows, std::max<std::int64_t>(1, enough_cells * rows / box.size()));
  const double passes = static_cast<double>(domain.sweep_limit()) / options.sweeps_of_pass();
  trial.choose(domain.comm(), passes * cells / static_cast<double>(box.size()), [&](std::size_t c, int times) {
    sweeper.set_shape(shapes[c]);
    comm::Stopwatch watch;
    double seconds = 0;
    for (int i = -1; i < times; ++i) { // the first finds the caches as another shape has left them
      if (i == 0) {
        sweeper.streams().fence();
        watch.lap(seconds);
        seconds = 0;
      }
      sweeper.sweep_part(box, norm);
    }
    sweeper.streams().fence();
    watch.lap(seconds);
    return seconds / times;
  });
  sweeper.set_shape(shapes[trial.chosen]);
  return trial;
}

template stepping::Trial choose_shape(Sweeper<float>&, Domain<float>&, Norm);
template stepping::Trial choose_shape(Sweeper<double>&, Domain<double>&, Norm);

} // namespace kontor::heat
