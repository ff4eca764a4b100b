// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/kernels/pass_shape.hpp"
#include "heat/names.hpp"
#include "heat/options.hpp"

#include <kontor/comm/exchange/trial.hpp>

#include <algorithm>

/// Which way of going through rows is fastest here: caches and memories differ too much for a constant.
namespace kontor::heat {

/// Streaming stores wait for memory unless what is read has been asked for long before (lab/results/heat-cpu.md).
inline constexpr std::uintptr_t streaming_prefetch = 16384;

/// Those that win on some machine, the usual one first.
inline std::vector<PassShape> shapes_to_try(const Options& options, std::int64_t rows) {
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

/// Collective. Several passes a turn, of which the first finds the caches as another shape has left them, and is not
/// counted. pass(shape) makes one, fence() waits for it.
template <class Pass, class Fence>
PassTrial try_passes(const comm::Communicator& comm, const std::vector<PassShape>& shapes, const Pass& pass,
                     const Fence& fence) {
  const auto seconds = comm::try_in_turns(comm, shapes.size(), [&](std::size_t candidate, int count) {
    const auto& shape = shapes[candidate];
    pass(shape);
    fence();
    comm::Stopwatch watch;
    double of_all = 0;
    for (int i = 0; i < count; ++i) pass(shape);
    fence();
    watch.lap(of_all);
    return of_all / (count * shape.sweeps);
  });
  PassTrial trial;
  for (std::size_t i = 0; i < shapes.size(); ++i) trial.emplace_back(shapes[i], seconds[i]);
  return trial;
}

inline const PassShape& fastest(const PassTrial& trial) {
  std::vector<double> seconds;
  for (const auto& [shape, of_sweep] : trial) seconds.push_back(of_sweep);
  return trial[comm::choose(seconds)].first;
}

} // namespace kontor::heat
