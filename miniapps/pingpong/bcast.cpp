// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/measures.hpp"
#include "pingpong/payload.hpp"

#include <kontor/comm/collectives.hpp>

#include <fmt/format.h>

namespace kontor::pingpong {
namespace {

/// The root of each execution is the next rank, so that no root runs ahead of the others.
template <class T>
void broadcast_of_size(Bench& bench, const std::string& curve, std::int64_t size) {
  const auto& comm = bench.comm();
  const auto view = make_cube<HostView<T, 1>>("pingpong/bcast", size);
  const int count = static_cast<int>(size);
  const Way ways[] = {{"raw",
                       [&](int n) {
                         for (int i = 0; i < n; ++i)
                           MPI_Bcast(view.data(), count, mpi_type<T>(), i % comm.size(), comm.native());
                       }},
                      {"typed", [&](int n) {
                         for (int i = 0; i < n; ++i) comm::bcast(comm, view, i % comm.size());
                       }}};
  const Payload payload{[&](int seed) {
                          if (comm.rank() == 0) fill_payload(view.data(), size, seed);
                        },
                        [&](int seed) { return wrong_payload(view.data(), size, seed); }};
  bench.time_typed_and_raw({curve, size, size, size * static_cast<std::int64_t>(sizeof(T))}, ways, payload);
}

} // namespace

void measure_bcast(Bench& bench) {
  each_size(bench, [&](auto scalar, auto, std::int64_t size, const Case& c) {
    broadcast_of_size<decltype(scalar)>(bench, fmt::format("bcast {}", name_of(c.scalar)), size);
  });
  bench.findings.figures = typed_over_raw(bench.findings);
}

} // namespace kontor::pingpong
