// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/combinations.hpp"
#include "pingpong/device_trips.hpp"
#include "pingpong/measures.hpp"
#include "pingpong/payload.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/phase_times.hpp>
#include <kontor/device/devices.hpp>
#include <kontor/device/noncopyable.hpp>

#include <fmt/ranges.h>

#include <limits>

namespace kontor::pingpong {
namespace {

/// A column of a plane so wide that a cache line of doubles holds one of its elements.
template <class T>
auto make_column(const char* label, std::int64_t size) {
  const KernelView<T, 2> plane(Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing), size,
                               width_of_plane);
  return Kokkos::View<T*, Kokkos::LayoutStride, typename KernelView<T, 2>::memory_space>(
      Kokkos::subview(plane, Kokkos::ALL, 0));
}

/// From the rank that begins into `in` of its partner, and back into its own.
template <class View>
struct RoundTrip {
  comm::Exchange<View> there;
  comm::Exchange<View> back;

  RoundTrip(const comm::Communicator& comm, const View& out, const View& in, const Players& players)
      : there(comm, "pingpong/there"), back(comm, "pingpong/back") {
    const int second = players.begins() ? comm::no_rank : players.partner;
    const int begins = players.begins() ? players.partner : comm::no_rank;
    there.add(out, begins, in, second);
    back.add(in, second, in, begins);
    there.commit();
    back.commit();
  }

  void operator()() {
    there.start();
    there.finish();
    back.start();
    back.finish();
  }
};

/// Times all ways at one size. What the device still has to do is waited for once a sample, not once a trip.
template <class Make>
void at_size(Bench& bench, std::string_view name, std::int64_t size, const Make& make,
             const std::vector<TimedMethod>& all, Refusals& refusals) {
  const Players players(bench.options, bench.comm());
  const auto out = make("pingpong/out", players.begins() ? size : 0);
  const auto in = make("pingpong/in", players.play() ? size : 0);
  using View = std::decay_t<decltype(in)>;
  std::deque<RoundTrip<View>> trips;
  auto ways = ways_of(
      bench, all, refusals, trips,
      [&](const comm::Communicator& comm) { return RoundTrip<View>(comm, out, in, players); },
      [](const TimedMethod& candidate, RoundTrip<View>& trip) {
        const auto run = [&trip](int n) {
          for (int i = 0; i < n; ++i) trip();
          complete<View>();
        };
        return Way{candidate.name, run, {}, candidate.moves_data};
      });
  using T = typename View::value_type;
  std::unique_ptr<DeviceTrips<T>> by_kernel;
  if constexpr (std::is_same_v<View, KernelView<T, 1>>)
    if (bench.options.measure == Measure::device) {
      by_kernel = std::make_unique<DeviceTrips<T>>(bench.comm().native(), players, out, in, size);
      const std::string backend = DeviceTrips<T>::backend();
      ways.push_back({backend + " words", [&](int n) { by_kernel->by_words(n); }, {}, true});
      ways.push_back({backend + " counters", [&](int n) { by_kernel->by_counters(n); }, {}, true});
    }
  const auto fill = [&](int seed) {
    if (players.begins()) fill_view(out, out.data(), seed, players.first());
  };
  const auto wrong = [&](int seed) {
    return players.play() ? wrong_in_view(in, in.data(), 0, seed, players.first()) : 0;
  };
  bench.time(subject_of<T>(name, size, size), ways, {fill, wrong}, players.begins());
}

double one_way(const Point& point) { return point.time.median / 2; }

double bandwidth(const Point& point) { return static_cast<double>(point.subject.bytes) / one_way(point); }

/// The table of a curve, a line for each size and a column for each way, in Markdown.
std::string table_of(std::span<const Point> curve, double peer) {
  std::vector<std::string> columns;
  for (const auto& p : curve)
    if (std::ranges::find(columns, p.series) == columns.end()) columns.push_back(p.series);
  auto text = fmt::format("\n{}, one way: us, GB/s{}\n\n| bytes | {} |\n|---:|", curve.front().subject.curve,
                          peer > 0 ? ", part of the copy between two GPUs" : "", fmt::join(columns, " | "));
  for (std::size_t i = 0; i < columns.size(); ++i) text += "---:|";
  for (const auto line : runs_of(curve, [](const Point& p) { return p.subject.size; })) {
    text += fmt::format("\n| {} |", line.front().subject.bytes);
    for (const auto& column : columns) {
      const auto cell = std::ranges::find(line, column, &Point::series);
      if (cell != line.end())
        text += fmt::format(" {:.2f}, {:.2f}{}", one_way(*cell) * 1e6, bandwidth(*cell) / 1e9,
                            peer > 0 ? fmt::format(", {:.2f}", bandwidth(*cell) / peer) : "");
      text += " |";
    }
  }
  return text + "\n";
}

#if defined(KONTOR_GPU)
/// Copies from device 0 to device 1 of this process, of which there must be two, by the devices' own way.
class PeerCopy : device::NonCopyable {
 public:
  /// Local. For copies of so many bytes.
  explicit PeerCopy(std::size_t bytes) : bytes_(bytes) {
    device::detail::check_gpu(KONTOR_GPU(GetDevice)(&mine_), "GetDevice");
    for (const int own : {0, 1}) {
      device::detail::check_gpu(KONTOR_GPU(SetDevice)(own), "SetDevice");
      if (KONTOR_GPU(DeviceEnablePeerAccess)(1 - own, 0) != KONTOR_GPU(Success))
        static_cast<void>(KONTOR_GPU(GetLastError)()); // there is none, or it was enabled before
      device::detail::check_gpu(KONTOR_GPU(Malloc)(&memory_[own], bytes), "Malloc");
    }
    device::detail::check_gpu(KONTOR_GPU(SetDevice)(mine_), "SetDevice");
  }
  ~PeerCopy() {
    for (void* memory : memory_) static_cast<void>(KONTOR_GPU(Free)(memory));
  }

  /// Local. Returns when so many copies, one after the other, are complete.
  void operator()(int copies) const {
    device::detail::check_gpu(KONTOR_GPU(SetDevice)(0), "SetDevice");
    for (int i = 0; i < copies; ++i)
      device::detail::check_gpu(KONTOR_GPU(MemcpyPeerAsync)(memory_[1], 1, memory_[0], 0, bytes_, nullptr),
                                "MemcpyPeerAsync");
    device::detail::check_gpu(KONTOR_GPU(DeviceSynchronize)(), "DeviceSynchronize");
    device::detail::check_gpu(KONTOR_GPU(SetDevice)(mine_), "SetDevice");
  }

 private:
  int mine_ = 0;
  std::size_t bytes_;
  void* memory_[2] = {};
};
#endif

/// Collective; valid on every rank. Bytes/s one way that the first process copies from its GPU 0 to its GPU 1 by the
/// maker's own call, which no transport between processes can be expected to beat; 0 where it does not see two GPUs.
double peer_copy_bandwidth(const comm::Communicator& comm) {
  double best = 0;
  comm::barrier(comm); // the other ranks' GPUs rest
#if defined(KONTOR_GPU)
  if (comm.rank() == 0 && device::device_count() > 1) {
    constexpr std::size_t bytes = std::size_t{256} << 20;
    constexpr int copies = 10; // in a sample
    const PeerCopy copy(bytes);
    copy(1);
    for (int sample = 0; sample < 5; ++sample) {
      comm::Stopwatch watch;
      double seconds = 0;
      copy(copies);
      watch.lap(seconds);
      best = std::max(best, static_cast<double>(bytes) * copies / seconds);
    }
  }
#endif
  return comm::allreduce(comm, best, comm::ReduceOp::max);
}

} // namespace

void measure_exchange(Bench& bench) {
  auto& findings = bench.findings;
  Refusals refusals;
  auto all = candidates(bench, refusals);
  if (bench.options.backends.empty()) std::erase_if(all, [](const TimedMethod& c) { return !c.moves_data; });
  if (all.empty()) refuse_all(bench.options, refusals);
  each_size(bench, [&](auto scalar, auto dimensions, std::int64_t size) {
    using T = decltype(scalar);
    if constexpr (dimensions == 1)
      at_size(bench, "contiguous", size, make_cube<KernelView<T, 1>>, all, refusals);
    else if constexpr (dimensions == 2)
      at_size(bench, "column", size, make_column<T>, all, refusals);
  });
  tell(refusals, findings);
  const double peer = peer_copy_bandwidth(bench.comm());
  if (peer > 0) {
    findings.calibration["peer_bandwidth"] = peer;
    findings.notes.push_back(fmt::format("copy from GPU 0 to GPU 1 of rank 0's node: {:.1f} GB/s", peer / 1e9));
  }
  // The figure is of what moves data, if anything does.
  const auto moves_data = [&](const Point& point) {
    const auto method = std::ranges::find(all, point.series, &TimedMethod::name);
    return method == all.end() || method->moves_data;
  };
  const bool moved = std::ranges::any_of(findings.points, moves_data);
  double best = 0;
  for (const auto& point : findings.points)
    if (!point.subject.curve.starts_with("column") && (!moved || moves_data(point)))
      best = std::max(best, bandwidth(point));
  for (const auto curve : runs_of(findings.points, [](const Point& p) { return p.subject.curve; }))
    findings.text += table_of(curve, peer);
  if (bench.options.measure == Measure::device)
    findings.text +=
        "\nwords, counters: half a round trip that returns parts as they arrive: both directions at once\n";
  findings.figures = {{"one_way_bandwidth", best, "B/s", peer > 0 ? peer : std::numeric_limits<double>::quiet_NaN()}};
}

} // namespace kontor::pingpong
