// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the layer adds to the MPI calls that it stands for: the ranks of a pair send a View to each other, by
// each kind of call, typed and by hand. Idle ranks make the same calls with nobody at the other end.
#include "pingpong/measures.hpp"
#include "pingpong/payload.hpp"
#include "run/record/timers.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/exchange.hpp>
#include <kontor/comm/point_to_point.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>

namespace kontor::pingpong {
namespace {

/// The same messages by hand and typed.
struct Calls {
  const char* name; ///< as figures have it
  int count;        ///< calls of the layer in one execution, those that do not wait for each other left out
  std::function<void()> raw;
  std::function<void()> typed;
};

/// What hand-written calls need.
struct Message {
  void* out;
  void* in;
  int count;
  MPI_Datatype type;
  int partner;
  MPI_Comm comm;
};

template <class View>
struct Pair {
  const comm::Communicator& comm;
  View out;
  View in;
  int partner; ///< or no_rank
  bool first;  ///< of the two

  Message message() const {
    return {out.data(),
            in.data(),
            static_cast<int>(in.size()),
            mpi_type<typename View::value_type>(),
            partner == comm::no_rank ? MPI_PROC_NULL : partner,
            comm.native()};
  }
};

/// Two messages, one after the other.
template <class View>
Calls send_recv(const Pair<View>& pair) {
  const auto raw = [m = pair.message(), first = pair.first] {
    if (first) MPI_Send(m.out, m.count, m.type, m.partner, 0, m.comm);
    MPI_Recv(m.in, m.count, m.type, m.partner, 0, m.comm, MPI_STATUS_IGNORE);
    if (!first) MPI_Send(m.out, m.count, m.type, m.partner, 0, m.comm);
  };
  const auto typed = [pair] {
    if (pair.first) comm::send(pair.comm, pair.out, pair.partner);
    comm::recv(pair.comm, pair.in, pair.partner);
    if (!pair.first) comm::send(pair.comm, pair.out, pair.partner);
  };
  return {"send_recv", 4, raw, typed};
}

template <class View>
Calls isend_irecv(const Pair<View>& pair) {
  const auto raw = [m = pair.message()] {
    MPI_Request receive = MPI_REQUEST_NULL;
    MPI_Request send = MPI_REQUEST_NULL;
    MPI_Irecv(m.in, m.count, m.type, m.partner, 0, m.comm, &receive);
    MPI_Isend(m.out, m.count, m.type, m.partner, 0, m.comm, &send);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
  };
  const auto typed = [pair] {
    auto receive = comm::irecv(pair.comm, pair.in, pair.partner);
    auto send = comm::isend(pair.comm, pair.out, pair.partner);
    receive.wait();
    send.wait();
  };
  return {"isend_irecv_wait", 4, raw, typed};
}

/// Collective. A step of an exchange.
template <class View>
std::function<void()> step(const Pair<View>& pair, comm::Pattern pattern) {
  comm::Options options;
  options.pattern = pattern;
  const comm::Communicator comm(pair.comm.native(), options);
  const auto exchange = std::make_shared<comm::Exchange<View>>(comm, "pingpong/calls");
  exchange->add(pair.out, pair.partner, pair.in, pair.partner);
  exchange->commit();
  return [exchange] {
    exchange->start();
    exchange->finish();
  };
}

template <class View>
Calls exchange_step(const Pair<View>& pair) {
  const auto raw = [m = pair.message()] {
    std::array<MPI_Request, 2> requests;
    MPI_Irecv(m.in, m.count, m.type, m.partner, 0, m.comm, &requests[0]);
    MPI_Isend(m.out, m.count, m.type, m.partner, 0, m.comm, &requests[1]);
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  };
  return {"exchange_step", 1, raw, step(pair, comm::Pattern::nonblocking)};
}

template <class View>
Calls persistent_step(const Pair<View>& pair) {
  const auto free = [](std::array<MPI_Request, 2>* requests) {
    for (auto& request : *requests) MPI_Request_free(&request);
    delete requests;
  };
  const std::shared_ptr<std::array<MPI_Request, 2>> requests(new std::array<MPI_Request, 2>, free);
  const auto m = pair.message();
  MPI_Recv_init(m.in, m.count, m.type, m.partner, 0, m.comm, &(*requests)[0]);
  MPI_Send_init(m.out, m.count, m.type, m.partner, 0, m.comm, &(*requests)[1]);
  const auto raw = [requests] {
    MPI_Startall(2, requests->data());
    MPI_Waitall(2, requests->data(), MPI_STATUSES_IGNORE);
  };
  return {"persistent_step", 1, raw, step(pair, comm::Pattern::persistent)};
}

template <class View>
Calls allreduce(const Pair<View>& pair) {
  const auto raw = [m = pair.message()] { MPI_Allreduce(m.out, m.in, m.count, m.type, MPI_SUM, m.comm); };
  const auto typed = [pair] { comm::allreduce(pair.comm, pair.out, pair.in, comm::ReduceOp::sum); };
  return {"allreduce", 1, raw, typed};
}

/// What arrives in `in`: the partner's values.
template <class View>
Payload message_payload(const Pair<View>& pair) {
  const auto size = static_cast<std::int64_t>(pair.in.size());
  return {[=](int seed) { fill_payload(pair.out.data(), size, seed, pair.comm.rank()); },
          [=](int seed) {
            if (pair.partner == comm::no_rank) return std::int64_t{0};
            return wrong_payload(pair.in.data(), size, seed, pair.partner);
          }};
}

/// What arrives in `in`: the sum over all ranks.
template <class View>
Payload sum_payload(const Pair<View>& pair) {
  const auto size = static_cast<std::int64_t>(pair.in.size());
  return {[=](int seed) { fill_payload(pair.out.data(), size, seed, pair.comm.rank()); },
          [=](int seed) { return wrong_sum(pair.in.data(), size, seed, pair.comm.size()); }};
}

/// Of each kind of calls, for each size: seconds that a typed call takes more.
using Added = std::map<std::string, std::vector<double>>;

double median_difference(const std::vector<double>& typed, const std::vector<double>& raw) {
  std::vector<double> differences(raw.size());
  std::ranges::transform(typed, raw, differences.begin(), std::minus<>());
  return miniapp::median(differences);
}

template <class View>
void at_size(Bench& bench, std::string_view scalar, std::int64_t size, Added& added) {
  const auto& comm = bench.comm();
  const int partner = partner_of(bench.options, comm);
  const Pair<View> pair{comm, make_cube<View>("pingpong/out", size), make_cube<View>("pingpong/in", size),
                        partner, begins(comm, partner)};
  const auto time = [&](const Calls& calls, const Payload& payload, bool clocked) {
    const auto repeat = [](const std::function<void()>& once) {
      return [&once](int n) {
        for (int i = 0; i < n; ++i) once();
      };
    };
    const Way ways[] = {{"raw", repeat(calls.raw)}, {"typed", repeat(calls.typed)}};
    const auto bytes = size * static_cast<std::int64_t>(sizeof(typename View::value_type));
    const Subject subject{fmt::format("{} {}", calls.name, scalar), size, size, bytes};
    const auto samples = bench.time(subject, ways, payload, clocked);
    bench.compare(subject, ways, samples, 1, 0);
    added[calls.name].push_back(median_difference(samples.seconds[1], samples.seconds[0]) / calls.count);
  };
  for (const auto& calls : {send_recv(pair), isend_irecv(pair), exchange_step(pair), persistent_step(pair)})
    time(calls, message_payload(pair), partner != comm::no_rank);
  time(allreduce(pair), sum_payload(pair), true);
}

} // namespace

void measure_calls(Bench& bench) {
  Added added;
  each_size(bench, [&](auto scalar, auto, std::int64_t size, const Case& c) {
    at_size<HostView<decltype(scalar), 1>>(bench, name_of(c.scalar), size, added);
  });
  bench.findings.figures = typed_over_raw(bench.findings);
  for (const auto& [calls, seconds] : added)
    bench.findings.figures.push_back({calls + "_added", miniapp::median(seconds), "s"});
}

} // namespace kontor::pingpong
