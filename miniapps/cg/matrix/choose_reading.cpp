// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/matrix/choose_reading.hpp"

#include "machine/simulation.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/exchange/trial.hpp>
#include <kontor/device/clock.hpp>

namespace kontor::cg {

ReadingTrial choose_reading(const comm::Communicator& comm, const Matrix& matrix, const Vector& x, const Vector& y) {
  constexpr double cached_bytes = 4 << 20;
  if (!device::kernels_on_host || miniapp::compute_time_is_simulated() ||
      comm::allreduce(comm, matrix.bytes(), comm::ReduceOp::max) <= cached_bytes)
    return {};
  const device::Region region("cg/trial");
  ReadingTrial trial;
  for (const int ahead : {Reading().ahead, 8192})
    for (const int streams : {3, 2, 1}) trial.push_back({{streams, ahead}, 0});
  Kokkos::deep_copy(x, 1.0);
  const Vector dot("cg/trial of a dot", 1);
  const auto seconds = comm::try_in_turns(comm, trial.size(), [&](std::size_t which, int count) {
    matrix.read(trial[which].first);
    comm::Stopwatch watch;
    double all = 0;
    for (int i = 0; i < count; ++i) matrix.multiply_and_dot(Space(), Part::all, x, y, dot.data());
    watch.lap(all);
    return all / count;
  });
  for (std::size_t t = 0; t < trial.size(); ++t) trial[t].second = seconds[t];
  matrix.read(trial[comm::choose(seconds)].first);
  return trial;
}

} // namespace kontor::cg
