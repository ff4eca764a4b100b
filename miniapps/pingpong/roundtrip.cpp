// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/measures.hpp"
#include "pingpong/payload.hpp"

#include <kontor/comm/point_to_point.hpp>

#include <fmt/format.h>

namespace kontor::pingpong {
namespace {

/// The one of a pair that begins sends `out` and receives `in`; the other one sends back what came.
template <class View>
void raw_round_trips(MPI_Comm comm, const View& out, const View& in, int partner, bool first,
                     int executions) {
  const int count = static_cast<int>(in.size());
  const auto type = mpi_type<typename View::value_type>();
  for (int i = 0; i < executions; ++i) {
    if (first) {
      MPI_Send(out.data(), count, type, partner, 0, comm);
      MPI_Recv(in.data(), count, type, partner, 0, comm, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in.data(), count, type, partner, 0, comm, MPI_STATUS_IGNORE);
      MPI_Send(in.data(), count, type, partner, 0, comm);
    }
  }
}

template <class View>
void typed_round_trips(const comm::Communicator& comm, const View& out, const View& in, int partner,
                       bool first, int executions) {
  for (int i = 0; i < executions; ++i) {
    if (first) {
      comm::send(comm, out, partner);
      comm::recv(comm, in, partner);
    } else {
      comm::recv(comm, in, partner);
      comm::send(comm, in, partner);
    }
  }
}

template <class View>
void roundtrip_of_size(Bench& bench, const std::string& curve, std::int64_t size) {
  using T = typename View::value_type;
  const auto& comm = bench.comm();
  const int partner = partner_of(bench.options, comm);
  const bool plays = partner != comm::no_rank;
  const bool first = begins(comm, partner);
  const auto out = make_cube<View>("pingpong/out", first ? size : 0);
  const auto in = make_cube<View>("pingpong/in", plays ? size : 0);
  const auto values = static_cast<std::int64_t>(in.size());
  const int sender = first ? comm.rank() : partner;
  const Way ways[] = {
      {"raw",
       [&](int n) {
         if (plays) raw_round_trips(comm.native(), out, in, partner, first, n);
       }},
      {"typed",
       [&](int n) {
         if (plays) typed_round_trips(comm, out, in, partner, first, n);
       }},
  };
  const Payload payload{
      [&](int seed) { fill_payload(out.data(), static_cast<std::int64_t>(out.size()), seed, sender); },
      [&](int seed) { return wrong_payload(in.data(), values, seed, sender); }};
  std::int64_t elements = 1;
  for (unsigned d = 0; d < View::rank; ++d) elements *= size;
  bench.time_typed_and_raw({curve, size, elements, elements * static_cast<std::int64_t>(sizeof(T))}, ways,
                           payload, first);
}

} // namespace

void measure_roundtrip(Bench& bench) {
  each_size(bench, [&](auto scalar, auto dimensions, std::int64_t size, const Case& c) {
    roundtrip_of_size<HostView<decltype(scalar), dimensions>>(
        bench, fmt::format("{}d {}", c.dimensions, name_of(c.scalar)), size);
  });
  bench.findings.figures = typed_over_raw(bench.findings);
}

} // namespace kontor::pingpong
