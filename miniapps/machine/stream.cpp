// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/stream.hpp"

#include "machine/huge_pages.hpp"
#include "machine/memory.hpp"
#include "machine/node.hpp"
#include "machine/stream_kernels.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/phase_times.hpp>
#include <kontor/comm/reductions.hpp>
#include <kontor/device/compat.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <limits>
#include <utility>

namespace kontor::miniapp {
namespace {

using Vector = Kokkos::View<double*>;
using Space = Kokkos::DefaultExecutionSpace;

/// The ways in which a pattern can be followed: each goes through the vectors once.
using Ways = std::vector<std::function<void()>>;

constexpr double mebi = 1 << 20;

/// Collective. How often the work is done in one sample, so that the sample is long against a launch and a look at the
/// clock: on a device two GiB and more take less than a millisecond.
int times_in_sample(const comm::Communicator& comm, double bytes_moved) {
  constexpr double bytes_of_sample = (device::kernels_on_host ? 64 : 16384) * mebi;
  return comm::allreduce(comm, static_cast<int>(std::clamp(std::ceil(bytes_of_sample / bytes_moved), 1.0, 1000.0)),
                         comm::ReduceOp::max);
}

/// Collective. Bytes/s of all ranks together: each does work that moves so many bytes, as often as a sample wants; the
/// best of the samples of all ways.
double bandwidth_of(const comm::Communicator& comm, double bytes_moved, int samples, const Ways& ways) {
  const double seconds = least_seconds(comm, times_in_sample(comm, bytes_moved), samples, ways);
  return comm::allreduce(comm, bytes_moved, comm::ReduceOp::sum) / seconds;
}

/// Local. Part `number` of so many that vectors of so many elements consist of. Equal places of two parts lie at
/// different offsets in pages of 4 KiB: else a load seems to depend on the store before it.
Vector part_of(const Vector& all, std::int64_t elements, int number, int parts) {
  constexpr std::int64_t page = 4096 / sizeof(double), shift = 21 * stream::line;
  const auto length = std::max<std::int64_t>(1, elements / parts);
  const auto distance = (length + page - 1) / page * page + shift;
  return Kokkos::subview(all, std::pair(number * distance, number * distance + length));
}
constexpr std::int64_t room_between_parts = 2 * (512 + 21 * stream::line);

template <class Kernel>
std::function<void()> pass(const char* label, std::int64_t count, const Kernel& kernel) {
  return [=] {
    Kokkos::parallel_for(label, Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(0, count), kernel);
  };
}

/// On a host: calls a kernel with the begin and the end of each tile.
template <class Kernel>
std::function<void()> tiled(const char* label, std::int64_t elements, const Kernel& kernel) {
  const stream::Tiles tiles(elements, Space().concurrency());
  return pass(label, tiles.count, [=](std::int64_t tile) { kernel(tiles.begin(tile), tiles.begin(tile + 1)); });
}

/// Templates, so that each is compiled where it is used.
template <class OnSpace>
Ways ways_to_read(const Vector& all, std::int64_t elements, const Vector& sink) {
  if constexpr (device::on_host<OnSpace>) {
    return {tiled("calibrate/read", elements, stream::ReadRange<true>{all.data(), sink.data()}),
            tiled("calibrate/read", elements, stream::ReadRange<false>{all.data(), sink.data()})};
  } else {
    const auto readers = std::clamp<std::int64_t>(elements / 8, 1, OnSpace().concurrency());
    return {pass("calibrate/read", readers, stream::ReadStrided{all.data(), elements, readers, sink.data()})};
  }
}

template <class OnSpace>
Ways ways_to_copy(const Vector& from, const Vector& to) {
  const auto elements = static_cast<std::int64_t>(to.extent(0));
  Ways ways{pass("calibrate/copy", elements, stream::Copy{from.data(), to.data()})};
  if constexpr (device::on_host<OnSpace>)
    ways.push_back(tiled("calibrate/copy", elements, stream::StreamCopyRange{from.data(), to.data()}));
  else
    ways.push_back([=] { Kokkos::deep_copy(OnSpace(), to, from); });
  return ways;
}

} // namespace

double slowest_seconds(const comm::Communicator& comm, int times, const std::function<void()>& work) {
  const Space instance;
  device::fence(instance, "calibrate/ready");
  comm::barrier(comm);
  comm::Stopwatch watch;
  double seconds = 0;
  for (int i = 0; i < times; ++i) work();
  device::fence(instance, "calibrate/done");
  watch.lap(seconds);
  return comm::allreduce(comm, seconds, comm::ReduceOp::max) / times;
}

double least_seconds(const comm::Communicator& comm, int times, int samples, const Ways& ways) {
  constexpr double enough = 0.25; // s
  double best = std::numeric_limits<double>::max(), spent = 0;
  for (std::size_t n = 0; n < ways.size() || (n < static_cast<std::size_t>(samples) && spent < enough); ++n) {
    const double seconds = slowest_seconds(comm, times, ways[n % ways.size()]); // equal on all ranks
    best = std::min(best, seconds);
    spent += times * seconds;
  }
  return best;
}

double streamed_host_bytes(int ranks_of_node) { return std::clamp(1536 * mebi / ranks_of_node, 48 * mebi, 192 * mebi); }

double streamed_bytes(const comm::Communicator& comm) {
  const double mine = device::kernels_on_host ? streamed_host_bytes(node_communicator(comm).size()) : 3072 * mebi;
  return std::min(comm::allreduce(comm, mine, comm::ReduceOp::min), free_memory_of_rank(comm) / 8);
}

double least_streamed_bytes() { return mebi * (device::kernels_on_host ? Space().concurrency() : 256); }

StreamRates stream_rates(const comm::Communicator& comm, double bytes, bool huge_pages, int samples) {
  const auto elements = std::max<std::int64_t>(3, static_cast<std::int64_t>(bytes / sizeof(double)));
  const Vector all(Kokkos::view_alloc("calibrate/vectors", Kokkos::WithoutInitializing),
                   static_cast<std::size_t>(elements + room_between_parts));
  const Vector sink("calibrate/sink", 1);
  Kokkos::deep_copy(all, 1.0);
  if (huge_pages) use_huge_pages(all);
  const auto part = [&](int number, int parts) { return part_of(all, elements, number, parts); };
  const auto a = part(0, 3), b = part(1, 3), c = part(2, 3);
  const auto half = part(1, 2);
  const auto third = static_cast<std::int64_t>(a.extent(0));
  constexpr double word = sizeof(double);
  StreamRates rates;
  rates.read =
      bandwidth_of(comm, word * static_cast<double>(elements), samples, ways_to_read<Space>(all, elements, sink));
  rates.copy = bandwidth_of(comm, 2 * word * static_cast<double>(half.extent(0)), samples,
                            ways_to_copy<Space>(part(0, 2), half));
  rates.triad = bandwidth_of(comm, 4 * word * static_cast<double>(third), samples,
                             {pass("calibrate/triad", third, stream::Triad{a.data(), b.data(), c.data()})});
  return rates;
}

} // namespace kontor::miniapp
