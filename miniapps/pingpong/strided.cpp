// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/measures.hpp"
#include "pingpong/payload.hpp"

#include <kontor/comm/exchange.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

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
  const auto column = [&](std::size_t i) {
    return Face<T>(Kokkos::subview(plane, Kokkos::ALL, std::pair(i, i + 1)));
  };
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
void copy_and_send(MPI_Comm comm, const Layers<T>& layers, const std::array<std::vector<T>, 2>& buffers,
                   int partner) {
  auto* out = const_cast<T*>(buffers[0].data());
  auto* in = const_cast<T*>(buffers[1].data());
  const int count = static_cast<int>(buffers[0].size());
  std::array<MPI_Request, 2> requests{};
  MPI_Irecv(in, count, mpi_type<T>(), partner, 0, comm, &requests[0]);
  each_element(layers.sent, [&](const T& element, std::int64_t i) { out[i] = element; });
  MPI_Isend(out, count, mpi_type<T>(), partner, 0, comm, &requests[1]);
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  each_element(layers.received, [&](T& element, std::int64_t i) { element = in[i]; });
}

enum : std::size_t { kernel, datatype, automatic, copy };

template <class T>
class Contest {
 public:
  explicit Contest(Bench& bench) : bench_(bench), partner_(partner_of(bench.options, bench.comm())) {
    for (const auto packing : {comm::Packing::kernel, comm::Packing::datatype, comm::Packing::automatic}) {
      auto options = bench.comm().options();
      options.packing = packing;
      try {
        comms_.emplace_back(bench.comm().native(), options);
      } catch (const comm::UsageError& error) {
        bench.options.locations.backend.fail(
            fmt::format("cannot do what strided compares: {}", error.what()));
      }
    }
  }

  void operator()(const std::string& curve, const Layers<T>& layers, std::int64_t size) {
    using Exchange = comm::Exchange<Face<T>>;
    std::vector<Exchange> exchanges;
    for (const auto& comm : comms_) {
      auto& exchange = exchanges.emplace_back(comm, "pingpong/strided");
      exchange.add(layers.sent, partner_, layers.received, partner_);
      exchange.commit();
    }
    const auto elements = static_cast<std::int64_t>(layers.sent.size());
    const std::array buffers{std::vector<T>(elements), std::vector<T>(elements)};
    const auto by_exchange = [&](const char* name, Exchange& exchange) {
      return Way{name,
                 [&exchange](int n) {
                   for (int i = 0; i < n; ++i) {
                     exchange.start();
                     exchange.finish();
                   }
                 },
                 phases_of(exchange)};
    };
    const Way ways[] = {by_exchange("kernel", exchanges[kernel]),
                        by_exchange("datatype", exchanges[datatype]),
                        by_exchange("auto", exchanges[automatic]),
                        {"copy", [&](int n) {
                           if (partner_ != comm::no_rank)
                             for (int i = 0; i < n; ++i)
                               copy_and_send(bench_.comm().native(), layers, buffers, partner_);
                         }}};
    const Subject subject{curve, size, elements, elements * static_cast<std::int64_t>(sizeof(T))};
    const auto samples = bench_.time(subject, ways, payload(layers));
    const auto median = [&](std::size_t way) { return summarise(samples.seconds[way]).median; };
    bench_.compare(subject, ways, samples, automatic, median(kernel) <= median(datatype) ? kernel : datatype);
    bench_.compare(subject, ways, samples, datatype, kernel);
    bench_.compare(subject, ways, samples, copy, kernel);
  }

 private:
  Payload payload(const Layers<T>& layers) const {
    const int me = bench_.comm().rank();
    return {[=](int seed) {
              each_element(layers.sent,
                           [&](T& element, std::int64_t i) { element = payload_value<T>(i, seed, me); });
            },
            [=, this](int seed) {
              std::int64_t wrong = 0;
              if (partner_ != comm::no_rank)
                each_element(layers.received, [&](const T& element, std::int64_t i) {
                  wrong += element != payload_value<T>(i, seed, partner_);
                });
              return wrong;
            }};
  }

  Bench& bench_;
  int partner_;
  std::vector<comm::Communicator> comms_; // kernel, datatype, auto
};

} // namespace

void measure_strided(Bench& bench) {
  each_size(bench, [&](auto scalar, auto dimensions, std::int64_t size, const Case& c) {
    using T = decltype(scalar);
    if constexpr (dimensions > 1) {
      const auto view = make_cube<HostView<T, dimensions>>("pingpong/block", size);
      Contest<T> contest(bench);
      for (const auto& layers : layers_of<T>(view))
        contest(fmt::format("{}, {}", layers.name, name_of(c.scalar)), layers, size);
    }
  });
  double worst = 0;
  for (const auto& c : bench.findings.ratios)
    if (c.series == "auto") worst = std::max(worst, c.ratio.median);
  bench.findings.figures = {{"auto_over_best", worst, "1"}};
}

} // namespace kontor::pingpong
