// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/timers.hpp"

#include <mpi.h>

#include <algorithm>

namespace kontor::miniapp {

void Timers::add(const comm::PhaseTimes& times) {
  add("pack", times.pack, times.exchanges);
  add("post", times.post, times.exchanges);
  add("wait", times.wait, times.exchanges);
  add("unpack", times.unpack, times.exchanges);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::vector<RegionSummary> summarise(const comm::Communicator& comm, const Timers& timers) {
  std::vector<RegionSummary> result;
  std::vector<double> of_ranks(comm.size());
  for (const auto& [region, entry] : timers.entries()) {
    MPI_Allgather(&entry.seconds, 1, MPI_DOUBLE, of_ranks.data(), 1, MPI_DOUBLE, comm.native());
    const auto [min, max] = std::minmax_element(of_ranks.begin(), of_ranks.end());
    result.push_back(
        {region, entry.calls, *min, median(of_ranks), *max, static_cast<int>(max - of_ranks.begin())});
  }
  return result;
}

} // namespace kontor::miniapp
