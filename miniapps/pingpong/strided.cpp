// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/methods.hpp"

#include <algorithm>

namespace kontor::pingpong {
namespace {

/// A column or face with two strides.
template <class T>
using Face = Kokkos::View<T**, Kokkos::LayoutStride, Kokkos::HostSpace>;

enum : std::size_t { kernel, datatype, automatic, copy };

/// Times the packings of one layer: a pair sends one end of an axis, and receives the other.
template <class T>
void at_size(Bench& bench, Methods& methods, const std::string& name, const Face<T>& sent, const Face<T>& received,
             std::int64_t size) {
  const Pair<Face<T>> pair(bench, sent, received);
  const auto elements = static_cast<std::int64_t>(sent.size());
  std::vector<T> out(elements), in(elements);
  const auto each_element = [](const Face<T>& face, const auto& visit) {
    std::size_t number = 0;
    for (std::size_t i = 0; i < face.extent(0); ++i)
      for (std::size_t j = 0; j < face.extent(1); ++j) visit(face(i, j), number++);
  };
  // Element by element into a buffer and out of one, and hand-written MPI between.
  const auto by_copy = [&, mpi = bench.comm().native(), partner = pair.partner](int n) {
    const int count = static_cast<int>(elements);
    for (int k = 0; k < n && pair.play(); ++k) {
      std::array<MPI_Request, 2> requests{};
      MPI_Irecv(in.data(), count, mpi_type<T>(), partner, 0, mpi, &requests[0]);
      each_element(sent, [&](const T& element, std::size_t i) { out[i] = element; });
      MPI_Isend(out.data(), count, mpi_type<T>(), partner, 0, mpi, &requests[1]);
      MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
      each_element(received, [&](T& element, std::size_t i) { element = in[i]; });
    }
  };
  const auto samples =
      methods.time(subject_of<T>(name + ",", size, elements), pair.traffic(), true, {{"copy", by_copy}});
  const auto median = [&](std::size_t way) { return miniapp::median(samples.seconds[way]); };
  bench.compare(samples, automatic, median(kernel) <= median(datatype) ? kernel : datatype);
  bench.compare(samples, datatype, kernel);
  bench.compare(samples, copy, kernel);
}

} // namespace

void measure_strided(Bench& bench) {
  Methods methods(bench, std::array{comm::Packing::kernel, comm::Packing::datatype, comm::Packing::automatic});
  bench.each_size([&](auto scalar, int dimensions, std::int64_t size) {
    using T = decltype(scalar);
    const auto all = Kokkos::ALL;
    const auto last = static_cast<std::size_t>(size) - 1;
    if (dimensions == 2) {
      const auto plane = make_cube<HostView<T, 2>>(size);
      const auto column = [&](std::size_t i) { return Kokkos::subview(plane, all, std::pair(i, i + 1)); };
      return at_size<T>(bench, methods, "column of a plane", column(0), column(last), size);
    }
    const auto b = make_cube<HostView<T, 3>>(size);
    const auto face = [&](const char* name, const Face<T>& sent, const Face<T>& received) {
      at_size<T>(bench, methods, name, sent, received, size);
    };
    face("face normal to x", Kokkos::subview(b, all, all, 0), Kokkos::subview(b, all, all, last));
    face("face normal to y", Kokkos::subview(b, all, 0, all), Kokkos::subview(b, all, last, all));
    face("face normal to z", Kokkos::subview(b, 0, all, all), Kokkos::subview(b, last, all, all));
  });
  double worst = 0;
  for (const auto& c : bench.findings.ratios)
    if (c.series == "auto") worst = std::max(worst, c.ratio.median);
  bench.findings.figures = {{"auto_over_best", worst, "1"}};
}

} // namespace kontor::pingpong
