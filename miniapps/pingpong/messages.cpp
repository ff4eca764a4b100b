// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures roundtrip and calls: messages between two ranks by hand-written MPI and by typed calls. Idle ranks make the
// same calls without a partner.
#include "pingpong/bench.hpp"

#include <kontor/comm/point_to_point.hpp>

namespace kontor::pingpong {
namespace {

template <class View>
struct TypedCalls {
  const comm::Communicator& comm;
  const Pair<View>& pair;

  void send() const { comm::send(comm, pair.out, pair.partner); }
  void recv() const { comm::recv(comm, pair.in, pair.partner); }
  auto isend() const { return comm::isend(comm, pair.out, pair.partner); }
  auto irecv() const { return comm::irecv(comm, pair.in, pair.partner); }
};

struct RawRequest {
  MPI_Request request = MPI_REQUEST_NULL;
  void wait() { MPI_Wait(&request, MPI_STATUS_IGNORE); }
};

/// The same by hand-written MPI.
struct RawCalls {
  MPI_Comm comm;
  void *out, *in;
  int count;
  MPI_Datatype type;
  int peer;

  template <class View>
  RawCalls(MPI_Comm mpi, const Pair<View>& pair)
      : comm(mpi), out(pair.out.data()), in(pair.in.data()), count(static_cast<int>(pair.in.size())),
        type(mpi_type<typename View::value_type>()), peer(pair.play() ? pair.partner : MPI_PROC_NULL) {}

  void send() const { MPI_Send(out, count, type, peer, 0, comm); }
  void recv() const { MPI_Recv(in, count, type, peer, 0, comm, MPI_STATUS_IGNORE); }
  RawRequest isend() const {
    RawRequest r;
    MPI_Isend(out, count, type, peer, 0, comm, &r.request);
    return r;
  }
  RawRequest irecv() const {
    RawRequest r;
    MPI_Irecv(in, count, type, peer, 0, comm, &r.request);
    return r;
  }
};

/// Two messages that follow each other, by either calls.
template <class Calls>
auto send_recv(const Calls& by, bool first) {
  return [by, first](int) {
    if (first) by.send();
    by.recv();
    if (!first) by.send();
  };
}

template <class T, int dimensions>
void time_roundtrip(Bench& bench, std::int64_t size) {
  using View = HostView<T, dimensions>;
  const Pair<View> pair(bench, true, size, make_cube<View>);
  bench.time<T>({fmt::format("{}d", dimensions), pair.clocked()}, size, static_cast<std::int64_t>(pair.in.size()),
                pair.traffic().payload(), send_recv(RawCalls(bench.comm().native(), pair), pair.begins()),
                send_recv(TypedCalls<View>{bench.comm(), pair}, pair.begins()));
}

template <class T>
void time_calls(Bench& bench, std::int64_t size) {
  const Pair<Row<T>> pair(bench, false, size, make_cube<Row<T>>);
  const RawCalls raw(bench.comm().native(), pair);
  const TypedCalls<Row<T>> typed{bench.comm(), pair};
  const auto time = [&](const char* name, int calls, const auto& by_hand, const auto& by_layer) {
    bench.time<T>({name, pair.clocked(), calls}, size, size, pair.traffic().payload(), by_hand, by_layer);
  };
  const auto isend_irecv = [](const auto& by) {
    return [by](int) {
      auto receive = by.irecv();
      auto send = by.isend();
      receive.wait();
      send.wait();
    };
  };
  /// A step of an exchange, and the calls that it stands for.
  const auto step = [&](const char* name, comm::Pattern pattern, const auto& by_hand) {
    comm::Options options;
    options.pattern = pattern;
    auto exchanges = pair.traffic().exchanges(comm::Communicator(raw.comm, options));
    time(name, 1, by_hand, [&exchange = exchanges.front()](int) {
      exchange.start();
      exchange.finish();
    });
  };
  time("send_recv", 4, send_recv(raw, pair.begins()), send_recv(typed, pair.begins()));
  time("isend_irecv_wait", 4, isend_irecv(raw), isend_irecv(typed));
  step("exchange_step", comm::Pattern::nonblocking, [raw](int) {
    MPI_Request requests[] = {raw.irecv().request, raw.isend().request};
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  });
  MPI_Request requests[2];
  MPI_Recv_init(raw.in, raw.count, raw.type, raw.peer, 0, raw.comm, &requests[0]);
  MPI_Send_init(raw.out, raw.count, raw.type, raw.peer, 0, raw.comm, &requests[1]);
  step("persistent_step", comm::Pattern::persistent, [&requests](int) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  });
  for (auto& request : requests) MPI_Request_free(&request);
  time_allreduce<T>(bench, size);
}

} // namespace

void measure_roundtrip(Bench& bench) {
  bench.each_size([&](auto scalar, int dimensions, std::int64_t size) {
    using T = decltype(scalar);
    if (dimensions == 1) time_roundtrip<T, 1>(bench, size);
    if (dimensions == 2) time_roundtrip<T, 2>(bench, size);
    if (dimensions == 3) time_roundtrip<T, 3>(bench, size);
  });
}

void measure_calls(Bench& bench) {
  bench.each_size([&](auto scalar, int, std::int64_t size) { time_calls<decltype(scalar)>(bench, size); });
}

} // namespace kontor::pingpong
