// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures exchange and device: a View there and back between two ranks, in the memory that kernels work on.
#include "pingpong/device_trips.hpp"
#include "pingpong/methods.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/device/devices.hpp>

#include <limits>

namespace kontor::pingpong {
namespace {

/// Times all methods at one size. Elements have a distance of so many elements.
template <class T>
void at_size(Bench& bench, Methods& methods, std::string_view name, std::int64_t size, std::int64_t distance) {
  using View = Kokkos::View<T*, Kokkos::LayoutStride, Kokkos::DefaultExecutionSpace::memory_space>;
  const Pair<View> pair(bench, true, size, [&](std::int64_t rows) {
    constexpr std::int64_t unit = sizeof(WidestUnit) / sizeof(T); // of DeviceTrips: the memory has whole ones
    const Kokkos::View<T**, Kokkos::LayoutRight> plane("pingpong/plane", (rows + unit - 1) / unit * unit, distance);
    return View(Kokkos::subview(plane, std::pair<std::int64_t, std::int64_t>(0, rows), 0));
  });
  std::vector<Way> others;
  std::unique_ptr<DeviceTrips> trips;
  if (bench.options.measure == Measure::device) {
    trips = std::make_unique<DeviceTrips>(bench.comm().native(), pair, size * static_cast<std::int64_t>(sizeof(T)));
    const std::string backend = DeviceTrips::backend;
    // A team writes less than it could while it waits for more.
    others = {{backend + " words", [&](int n) { trips->run<TripsByWords>(n, 4 * Trips::threads); }},
              {backend + " counters", [&](int n) { trips->run<TripsByCounters>(n, 8192); }}};
  }
  methods.time(subject_of<T>(name, size, size), pair.traffic(), pair.clocked(), others);
}

/// Bytes/s one way.
double bandwidth(const Point& point) { return static_cast<double>(point.subject.bytes) / (point.time.median / 2); }

/// Collective; valid on every rank. Bytes/s of the copy from GPU 0 of the first process to its GPU 1 by the vendor's
/// call, which bounds any transport between processes; 0 where the process does not see two GPUs.
double peer_copy_bandwidth([[maybe_unused]] Bench& bench) {
#if !defined(KONTOR_GPU)
  return 0;
#else
  using device::detail::check_gpu;
  constexpr std::size_t bytes = std::size_t{256} << 20;
  constexpr int copies = 10;
  const bool copies_here = bench.comm().rank() == 0 && device::device_count() > 1;
  if (comm::allreduce(bench.comm(), copies_here ? 1 : 0, comm::ReduceOp::max) == 0) return 0;
  int mine = 0;
  void* memory[2] = {};
  check_gpu(KONTOR_GPU(GetDevice)(&mine), "GetDevice");
  for (int own = 0; own < 2 && copies_here; ++own) {
    check_gpu(KONTOR_GPU(SetDevice)(own), "SetDevice");
    if (KONTOR_GPU(DeviceEnablePeerAccess)(1 - own, 0) != KONTOR_GPU(Success))
      static_cast<void>(KONTOR_GPU(GetLastError)()); // there is none, or it was enabled before
    check_gpu(KONTOR_GPU(Malloc)(&memory[own], bytes), "Malloc");
  }
  const auto copy = [&](int) {
    check_gpu(KONTOR_GPU(SetDevice)(0), "SetDevice");
    for (int i = 0; i < copies && copies_here; ++i)
      check_gpu(KONTOR_GPU(MemcpyPeerAsync)(memory[1], 1, memory[0], 0, bytes, nullptr), "MemcpyPeerAsync");
    check_gpu(KONTOR_GPU(DeviceSynchronize)(), "DeviceSynchronize");
    check_gpu(KONTOR_GPU(SetDevice)(mine), "SetDevice");
  };
  const Way way{"", copy, {}, false};
  const auto samples = bench.sample(std::span(&way, 1), {[](int) {}, {}}, {5, 1, 0}, copies_here);
  for (void* const m : memory) static_cast<void>(KONTOR_GPU(Free)(m));
  return copies * static_cast<double>(bytes) / *std::ranges::min_element(samples.seconds[0]);
#endif
}

} // namespace

void measure_exchange(Bench& bench) {
  auto& findings = bench.findings;
  Methods methods(bench);
  if (bench.options.backends.empty()) methods.require_data();
  bench.each_size([&](auto scalar, int dimensions, std::int64_t size) {
    if (dimensions == 1)
      at_size<decltype(scalar)>(bench, methods, "contiguous", size, 1);
    else
      at_size<decltype(scalar)>(bench, methods, "column", size, width_of_plane);
  });
  methods.report();
  const double peer = peer_copy_bandwidth(bench);
  if (peer > 0) {
    findings.calibration["peer_bandwidth"] = peer;
    findings.notes.push_back(fmt::format("copy from GPU 0 to GPU 1 of rank 0's node: {:.1f} GB/s", peer / 1e9));
  }
  double best = 0; // of what moves data, if anything does
  for (const auto& point : findings.points)
    if (!point.subject.curve.starts_with("column") && (!findings.verified || methods.moves_data(point.series)))
      best = std::max(best, bandwidth(point));
  if (bench.options.measure == Measure::device)
    findings.notes.push_back(
        "words, counters: a round trip that returns parts as they arrive: both directions at once");
  findings.figures = {{"one_way_bandwidth", best, "B/s", peer > 0 ? peer : std::numeric_limits<double>::quiet_NaN()}};
}

} // namespace kontor::pingpong
