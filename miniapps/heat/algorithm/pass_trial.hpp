// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/kernels/sweep.hpp"
#include "heat/problem/domain.hpp"

#include <kontor/comm/exchange/trial.hpp>

#include <algorithm>
#include <vector>

/// Which way of going through rows is fastest here: caches and memories differ too much for a constant.
namespace kontor::heat {

/// Streaming stores wait for memory unless what is read has been asked for long before (lab/results/heat-cpu.md).
inline constexpr std::uintptr_t streaming_prefetch = 16384;

/// Those that win on some machine, the usual one first.
inline std::vector<PassShape> shapes_to_try(const Options& options) {
  const auto sweeps = static_cast<int>(options.steps_per_pass);
  std::vector<PassShape> shapes;
  if (sweeps > 1)
    for (const std::int64_t kib : {384, 128, 1024})
      for (const auto prefetch : {std::uintptr_t{0}, streaming_prefetch})
        shapes.push_back({sweeps, prefetch > 0, prefetch, kib << 10});
  else
    shapes = {{1, false, 0}, {1, false, 1024}, {1, true, 4096}, {1, true, streaming_prefetch}};
  if (options.stores != Stores::automatic)
    std::erase_if(shapes,
                  [&](const PassShape& shape) { return shape.streaming != (options.stores == Stores::streaming); });
  return shapes;
}

/// Collective; sweeps, and leaves a field that only an initial value mends. Several sweeps a turn, of which the first
/// finds the caches as another shape has left them, and is not counted. A large block is tried on a part that no cache
/// holds.
template <class T, class ExecutionSpace>
PassTrial try_passes(Domain<T>& domain, const ExecutionSpace& instance, Norm norm, PassRoom<T>& room) {
  constexpr std::int64_t enough_cells = 8 << 20;
  auto box = domain.block().all();
  const int slow = domain.block().dimensions - 1;
  box.end[slow] = std::min(box.end[slow], std::max<std::int64_t>(1, enough_cells * box.end[slow] / box.size()));
  const auto shapes = shapes_to_try(domain.options());
  const auto seconds = comm::try_in_turns(domain.comm(), shapes.size(), [&](std::size_t candidate, int count) {
    const auto once = [&] {
      sweep_in_rows(instance, domain.input(domain.current()), domain.field(1 - domain.current()), box, norm,
                    shapes[candidate], room);
      domain.advance_pass(shapes[candidate].sweeps);
    };
    once();
    comm::Stopwatch watch;
    double of_all = 0;
    for (int i = 0; i < count; ++i) once();
    watch.lap(of_all);
    return of_all / (count * shapes[candidate].sweeps);
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
