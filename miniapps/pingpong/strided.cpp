// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/measures.hpp"
#include "pingpong/payload.hpp"
#include "run/record/timers.hpp"

#include <algorithm>

namespace kontor::pingpong {
namespace {

/// A column or face as people would write it: a[i][j] with two strides.
template <class T>
using Face = Kokkos::View<T**, Kokkos::LayoutStride, Kokkos::HostSpace>;

/// The layers at the two ends of an axis: one is sent, the other receives.
template <class T>
struct Layers {
  std::string name;
  Face<T> sent;
  Face<T> received;
};

template <class T>
std::vector<Layers<T>> layers_of(const HostView<T, 2>& plane) {
  const auto n = plane.extent(0);
  const auto column = [&](std::size_t i) { return Face<T>(Kokkos::subview(plane, Kokkos::ALL, std::pair(i, i + 1))); };
  return {{"column of a plane", column(0), column(n - 1)}};
}

template <class T>
std::vector<Layers<T>> layers_of(const HostView<T, 3>& block) {
  const auto last = block.extent(0) - 1;
  const auto all = Kokkos::ALL;
  return {{"face normal to x", Kokkos::subview(block, all, all, 0), Kokkos::subview(block, all, all, last)},
          {"face normal to y", Kokkos::subview(block, all, 0, all), Kokkos::subview(block, all, last, all)},
          {"face normal to z", Kokkos::subview(block, 0, all, all), Kokkos::subview(block, last, all, all)}};
}

/// Calls visit(element, its number) in the order of the indices.
template <class T, class Visit>
void each_element(const Face<T>& face, const Visit& visit) {
  std::int64_t number = 0;
  for (std::size_t i = 0; i < face.extent(0); ++i)
    for (std::size_t j = 0; j < face.extent(1); ++j) visit(face(i, j), number++);
}

/// Element by element into a buffer and out of one, with hand-written MPI between.
template <class T>
void copy_and_send(MPI_Comm comm, const Layers<T>& layers, std::vector<T>& out, std::vector<T>& in, int partner) {
  const int count = static_cast<int>(out.size());
  std::array<MPI_Request, 2> requests{};
  MPI_Irecv(in.data(), count, mpi_type<T>(), partner, 0, comm, &requests[0]);
  each_element(layers.sent, [&](const T& element, std::int64_t i) { out[i] = element; });
  MPI_Isend(out.data(), count, mpi_type<T>(), partner, 0, comm, &requests[1]);
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  each_element(layers.received, [&](T& element, std::int64_t i) { element = in[i]; });
}

enum : std::size_t { kernel, datatype, automatic, copy };

/// Collective. The communicators of kernel, datatype and automatic. Throws config::Error.
std::vector<comm::Communicator> by_packing(const Bench& bench) {
  std::vector<comm::Communicator> comms;
  for (const auto packing : {comm::Packing::kernel, comm::Packing::datatype, comm::Packing::automatic}) {
    auto options = bench.comm().options();
    options.packing = packing;
    try {
      comms.emplace_back(bench.comm().native(), options);
    } catch (const comm::UsageError& error) {
      bench.options.locations.backend.fail(fmt::format("cannot do what strided compares: {}", error.what()),
                                           "E-COMM-BACKEND");
    }
  }
  return comms;
}

template <class T>
void at_size(Bench& bench, const std::vector<comm::Communicator>& comms, const Layers<T>& layers, std::int64_t size) {
  const Players players(bench.options, bench.comm());
  std::vector<comm::Exchange<Face<T>>> exchanges;
  for (const auto& comm : comms) {
    auto& exchange = exchanges.emplace_back(comm, "pingpong/strided");
    exchange.add(layers.sent, players.partner, layers.received, players.partner);
    exchange.commit();
  }
  const auto elements = static_cast<std::int64_t>(layers.sent.size());
  std::vector<T> out(elements), in(elements);
  const auto by_copy = [&](int n) {
    for (int i = 0; i < n && players.play(); ++i)
      copy_and_send(bench.comm().native(), layers, out, in, players.partner);
  };
  const Way ways[] = {steps_of("kernel", exchanges[kernel]),
                      steps_of("datatype", exchanges[datatype]),
                      steps_of("auto", exchanges[automatic]),
                      {"copy", by_copy}};
  const auto fill = [&](int seed) {
    each_element(layers.sent, [&](T& element, std::int64_t i) { element = payload_value<T>(i, seed, players.me); });
  };
  const auto wrong = [&](int seed) {
    std::int64_t sum = 0;
    each_element(layers.received, [&](const T& element, std::int64_t i) {
      sum += players.play() && element != payload_value<T>(i, seed, players.partner);
    });
    return sum;
  };
  const auto subject = subject_of<T>(layers.name + ",", size, elements);
  const auto samples = bench.time(subject, ways, {fill, wrong});
  const auto median = [&](std::size_t way) { return miniapp::median(samples.seconds[way]); };
  bench.compare(subject, ways, samples, automatic, median(kernel) <= median(datatype) ? kernel : datatype);
  bench.compare(subject, ways, samples, datatype, kernel);
  bench.compare(subject, ways, samples, copy, kernel);
}

} // namespace

void measure_strided(Bench& bench) {
  const auto comms = by_packing(bench);
  each_size(bench, [&](auto scalar, auto dimensions, std::int64_t size) {
    using T = decltype(scalar);
    if constexpr (dimensions > 1) {
      const auto view = make_cube<HostView<T, dimensions>>("pingpong/block", size);
      for (const auto& layers : layers_of<T>(view)) at_size(bench, comms, layers, size);
    }
  });
  double worst = 0;
  for (const auto& c : bench.findings.ratios)
    if (c.series == "auto") worst = std::max(worst, c.ratio.median);
  bench.findings.figures = {{"auto_over_best", worst, "1"}};
}

} // namespace kontor::pingpong
