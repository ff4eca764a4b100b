// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/measures.hpp"
#include "pingpong/payload.hpp"

#include <kontor/comm/point_to_point.hpp>

namespace kontor::pingpong {
namespace {

/// The one of a pair that begins sends a View and receives another; the other one sends back what came.
template <class View>
Operation round_trip(const comm::Communicator& comm, const Players& players, std::int64_t size) {
  const auto out = make_cube<View>("pingpong/out", players.begins() ? size : 0);
  const auto in = make_cube<View>("pingpong/in", players.play() ? size : 0);
  const auto send_raw = [=, &comm](const View& view) {
    MPI_Send(view.data(), static_cast<int>(view.size()), mpi_type<typename View::value_type>(), players.partner, 0,
             comm.native());
  };
  const auto receive_raw = [=, &comm] {
    MPI_Recv(in.data(), static_cast<int>(in.size()), mpi_type<typename View::value_type>(), players.partner, 0,
             comm.native(), MPI_STATUS_IGNORE);
  };
  const auto raw = [=] {
    if (players.begins()) send_raw(out);
    if (players.play()) receive_raw();
    if (players.play() && !players.begins()) send_raw(in);
  };
  const auto typed = [=, &comm] {
    if (players.begins()) comm::send(comm, out, players.partner);
    if (players.play()) comm::recv(comm, in, players.partner);
    if (players.play() && !players.begins()) comm::send(comm, in, players.partner);
  };
  const auto count = [](const View& view) { return static_cast<std::int64_t>(view.size()); };
  const Payload payload{[=](int seed) { fill_payload(out.data(), count(out), seed, players.first()); },
                        [=](int seed) { return wrong_payload(in.data(), count(in), seed, players.first()); }};
  auto operation = raw_and_typed(fmt::format("{}d", int(View::rank)), raw, typed, payload);
  operation.clocked = players.begins();
  return operation;
}

} // namespace

void measure_roundtrip(Bench& bench) {
  const Players players(bench.options, bench.comm());
  each_size(bench, [&](auto scalar, auto dimensions, std::int64_t size) {
    using T = decltype(scalar);
    std::int64_t elements = 1;
    for (int d = 0; d < dimensions; ++d) elements *= size;
    const auto operation = round_trip<HostView<T, dimensions>>(bench.comm(), players, size);
    bench.time(subject_of<T>(operation.name, size, elements), operation);
  });
  bench.findings.figures = typed_over_raw(bench.findings);
}

} // namespace kontor::pingpong
