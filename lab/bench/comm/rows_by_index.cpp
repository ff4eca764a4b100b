// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What rows by index cost: a gather of ghosts around a ring of ranks, by a hand-written loop with MPI_Irecv
// and MPI_Isend, by an exchange that packs with its kernel, and by one that describes the rows to MPI. They
// take turns. Prints medians over rounds, in microseconds a step and as ratios to the loop, and what the loop
// moves a second: of each row the value that is read, its index, and the value that is written.
#include <kontor/comm/comm.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

namespace {

using namespace kontor::comm;
using Doubles = Kokkos::View<double*, Kokkos::HostSpace>;
using Indices = Kokkos::View<int*, Kokkos::HostSpace>;

/// n of 8 n rows, in ascending order, as the border of a part of a mesh is numbered; the same rows shuffled.
Indices rows_of(int n, bool ascending) {
  std::mt19937 random(1);
  std::vector<int> all(static_cast<std::size_t>(8 * n));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  std::shuffle(all.begin(), all.end(), random);
  if (ascending) std::sort(all.begin(), all.begin() + n);
  const Indices indices("rows", static_cast<std::size_t>(n));
  std::copy(all.begin(), all.begin() + n, indices.data());
  return indices;
}

class ByHand {
 public:
  ByHand(const Communicator& comm, const Doubles& x, const Indices& rows, int next, int previous)
      : comm_(comm.native()), x_(x), rows_(rows), next_(next), previous_(previous), out_(rows.extent(0)) {}

  double pack_seconds = 0;

  void operator()() {
    const int n = static_cast<int>(out_.size());
    MPI_Request requests[2];
    Stopwatch watch;
    double* const out = out_.data();
    const double* const x = x_.data();
    const int* const rows = rows_.data();
    for (int i = 0; i < n; ++i) out[i] = x[rows[i]];
    watch.lap(pack_seconds);
    MPI_Irecv(x_.data() + 8 * n, n, MPI_DOUBLE, previous_, 77, comm_, &requests[0]);
    MPI_Isend(out, n, MPI_DOUBLE, next_, 77, comm_, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }

 private:
  MPI_Comm comm_;
  Doubles x_;
  Indices rows_;
  int next_;
  int previous_;
  std::vector<double> out_;
};

double median(std::vector<double>& values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

void measure(const Communicator& kernel, const Communicator& datatype, int n, bool ascending) {
  const int next = (kernel.rank() + 1) % kernel.size();
  const int previous = (kernel.rank() + kernel.size() - 1) % kernel.size();
  const Doubles x("x", static_cast<std::size_t>(9 * n));
  const auto rows = rows_of(n, ascending);
  const auto exchange_on = [&](const Communicator& comm) {
    Exchange<Doubles> exchange(comm, "ghosts");
    exchange.add(x, rows, next, x, std::pair(8 * n, 9 * n), previous);
    exchange.commit();
    exchange.measure_times();
    return exchange;
  };
  ByHand by_hand(kernel, x, rows, next, previous);
  auto by_kernel = exchange_on(kernel);
  auto by_datatype = exchange_on(datatype);
  const auto step = [](auto& exchange) {
    exchange.start();
    exchange.finish();
  };

  constexpr int rounds = 31;
  const int steps = std::max(1, 200000 / n);
  std::array<std::vector<double>, 5> seconds; // of a step: the three ways; of packing: the first two
  for (int round = -1; round < rounds; ++round) {
    by_hand.pack_seconds = 0;
    by_kernel.reset_times();
    std::array<double, 5> spent{};
    const auto turn = [&](int way, const auto& once) {
      barrier(kernel);
      Stopwatch watch;
      for (int s = 0; s < steps; ++s) once();
      watch.lap(spent[static_cast<std::size_t>(way)]);
    };
    turn(0, [&] { by_hand(); });
    turn(1, [&] { step(by_kernel); });
    turn(2, [&] { step(by_datatype); });
    spent[3] = by_hand.pack_seconds;
    spent[4] = by_kernel.times().pack;
    if (round < 0) continue; // the first touches memory
    for (std::size_t i = 0; i < spent.size(); ++i) seconds[i].push_back(spent[i] / steps);
  }
  std::array<double, 5> typical{};
  for (std::size_t i = 0; i < typical.size(); ++i) typical[i] = median(seconds[i]);
  const double bytes = n * (2.0 * sizeof(double) + sizeof(int));
  if (kernel.rank() == 0)
    fmt::print("{:>8} {:<10}{:>10.2f}{:>10.2f}{:>10.2f}{:>10.2f}{:>10.2f}{:>12.2f}\n", n,
               ascending ? "ascending" : "shuffled", 1e6 * typical[0], typical[1] / typical[0],
               typical[2] / typical[0], 1e6 * typical[3], typical[4] / typical[3], 1e-9 * bytes / typical[3]);
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    Options options;
    const Communicator kernel(MPI_COMM_WORLD, options);
    options.backend = "view";
    options.packing = Packing::datatype;
    const Communicator datatype(MPI_COMM_WORLD, options);
    if (kernel.rank() == 0)
      fmt::print("{:>8} {:<10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>12}\n", "rows", "order", "loop, us", "kernel",
                 "datatype", "packing", "kernel", "loop, GB/s");
    for (const bool ascending : {true, false})
      for (const int n : {10, 100, 1000, 10000, 100000, 1000000}) measure(kernel, datatype, n, ascending);
  }
  MPI_Finalize();
}
