// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the layer adds to the MPI calls that it stands for: the ranks of a pair send a View to each other, by each kind
// of call, typed and by hand. Idle ranks make the same calls with nobody at the other end.
#include "pingpong/collective_operation.hpp"
#include "pingpong/measures.hpp"
#include "pingpong/payload.hpp"
#include "run/record/timers.hpp"

#include <kontor/comm/point_to_point.hpp>

#include <algorithm>
#include <map>
#include <memory>

namespace kontor::pingpong {
namespace {

/// A View to the partner, and one from it.
template <class View>
struct Pair {
  const comm::Communicator& comm;
  Players players;
  View out;
  View in;
  // As hand-written calls have it.
  int count = static_cast<int>(in.size());
  MPI_Datatype type = mpi_type<typename View::value_type>();
  int peer = players.play() ? players.partner : MPI_PROC_NULL;
  MPI_Comm mpi = comm.native();

  /// The partner's values arrive.
  template <class Raw, class Typed>
  Operation messages(std::string name, const Raw& raw, const Typed& typed) const {
    const auto fill = [p = *this](int seed) { fill_payload(p.out.data(), p.count, seed, p.players.me); };
    const auto wrong = [p = *this](int seed) {
      return p.players.play() ? wrong_payload(p.in.data(), p.count, seed, p.players.partner) : 0;
    };
    auto operation = raw_and_typed(std::move(name), raw, typed, {fill, wrong});
    operation.clocked = players.play();
    return operation;
  }
};

/// Two messages, one after the other.
template <class View>
Operation send_recv(const Pair<View>& pair) {
  const auto raw = [p = pair, first = pair.players.begins()] {
    if (first) MPI_Send(p.out.data(), p.count, p.type, p.peer, 0, p.mpi);
    MPI_Recv(p.in.data(), p.count, p.type, p.peer, 0, p.mpi, MPI_STATUS_IGNORE);
    if (!first) MPI_Send(p.out.data(), p.count, p.type, p.peer, 0, p.mpi);
  };
  const auto typed = [p = pair, first = pair.players.begins()] {
    if (first) comm::send(p.comm, p.out, p.players.partner);
    comm::recv(p.comm, p.in, p.players.partner);
    if (!first) comm::send(p.comm, p.out, p.players.partner);
  };
  return pair.messages("send_recv", raw, typed);
}

template <class View>
Operation isend_irecv(const Pair<View>& pair) {
  const auto raw = [p = pair] {
    MPI_Request receive = MPI_REQUEST_NULL;
    MPI_Request send = MPI_REQUEST_NULL;
    MPI_Irecv(p.in.data(), p.count, p.type, p.peer, 0, p.mpi, &receive);
    MPI_Isend(p.out.data(), p.count, p.type, p.peer, 0, p.mpi, &send);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
  };
  const auto typed = [p = pair] {
    auto receive = comm::irecv(p.comm, p.in, p.players.partner);
    auto send = comm::isend(p.comm, p.out, p.players.partner);
    receive.wait();
    send.wait();
  };
  return pair.messages("isend_irecv_wait", raw, typed);
}

/// Collective. A step of an exchange.
template <class View>
auto step(const Pair<View>& pair, comm::Pattern pattern) {
  comm::Options options;
  options.pattern = pattern;
  const auto exchange = std::make_shared<comm::Exchange<View>>(comm::Communicator(pair.mpi, options), "pingpong/calls");
  exchange->add(pair.out, pair.players.partner, pair.in, pair.players.partner);
  exchange->commit();
  return [exchange] {
    exchange->start();
    exchange->finish();
  };
}

template <class View>
Operation exchange_step(const Pair<View>& pair) {
  const auto raw = [p = pair] {
    std::array<MPI_Request, 2> requests;
    MPI_Irecv(p.in.data(), p.count, p.type, p.peer, 0, p.mpi, &requests[0]);
    MPI_Isend(p.out.data(), p.count, p.type, p.peer, 0, p.mpi, &requests[1]);
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  };
  return pair.messages("exchange_step", raw, step(pair, comm::Pattern::nonblocking));
}

template <class View>
Operation persistent_step(const Pair<View>& pair) {
  struct Requests {
    std::array<MPI_Request, 2> of_both;
    ~Requests() {
      for (auto& request : of_both) MPI_Request_free(&request);
    }
  };
  const auto requests = std::make_shared<Requests>();
  auto* const first = requests->of_both.data();
  MPI_Recv_init(pair.in.data(), pair.count, pair.type, pair.peer, 0, pair.mpi, first);
  MPI_Send_init(pair.out.data(), pair.count, pair.type, pair.peer, 0, pair.mpi, first + 1);
  const auto raw = [requests, first] {
    MPI_Startall(2, first);
    MPI_Waitall(2, first, MPI_STATUSES_IGNORE);
  };
  return pair.messages("persistent_step", raw, step(pair, comm::Pattern::persistent));
}

/// Of each kind of calls, for each size: seconds that a typed call takes more.
using Added = std::map<std::string, std::vector<double>>;

double median_difference(const std::vector<double>& typed, const std::vector<double>& raw) {
  std::vector<double> differences(raw.size());
  std::ranges::transform(typed, raw, differences.begin(), std::minus<>());
  return miniapp::median(differences);
}

template <class T>
void at_size(Bench& bench, const Players& players, std::int64_t size, Added& added) {
  using View = HostView<T, 1>;
  const Pair<View> pair{bench.comm(), players, make_cube<View>("pingpong/out", size),
                        make_cube<View>("pingpong/in", size)};
  // `calls` of the layer in one execution, those that do not wait for each other left out.
  const auto time = [&](const Operation& operation, int calls) {
    const auto samples = bench.time(subject_of<T>(operation.name, size, size), operation);
    added[operation.name].push_back(median_difference(samples.seconds[1], samples.seconds[0]) / calls);
  };
  time(send_recv(pair), 4);
  time(isend_irecv(pair), 4);
  time(exchange_step(pair), 1);
  time(persistent_step(pair), 1);
  time(allreduce<View>(bench.comm(), size), 1);
}

} // namespace

void measure_calls(Bench& bench) {
  Added added;
  const Players players(bench.options, bench.comm());
  each_size(bench, [&](auto scalar, std::int64_t size) { at_size<decltype(scalar)>(bench, players, size, added); });
  bench.findings.figures = typed_over_raw(bench.findings);
  for (const auto& [calls, seconds] : added)
    bench.findings.figures.push_back({calls + "_added", miniapp::median(seconds), "s"});
}

} // namespace kontor::pingpong
