// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures roundtrip and calls: messages between two ranks by hand-written MPI and by typed calls. Idle ranks make the
// same calls without a partner.
#include "pingpong/bench.hpp"

#include <kontor/comm/point_to_point.hpp>

#include <memory>

namespace kontor::pingpong {
namespace {

template <class View>
struct TypedCalls {
  const comm::Communicator& comm;
  Pair<View> pair;

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
  const void* out;
  void* in;
  int count;
  MPI_Datatype type;
  int peer;

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

/// The operations of a pair of Views.
template <class View>
struct Messages {
  TypedCalls<View> typed;
  RawCalls raw;

  Messages(const Bench& bench, bool echo, std::int64_t size)
      : typed{bench.comm(), Pair<View>(Players(bench), echo, size, make_cube<View>)},
        raw{bench.comm().native(),
            typed.pair.out.data(),
            typed.pair.in.data(),
            static_cast<int>(typed.pair.in.size()),
            mpi_type<typename View::value_type>(),
            typed.pair.play() ? typed.pair.partner : MPI_PROC_NULL} {}

  template <class Raw, class Typed>
  Operation operation(std::string name, const Raw& by_hand, const Typed& by_layer, int calls) const {
    auto operation = raw_and_typed(std::move(name), by_hand, by_layer, typed.pair.traffic().payload());
    operation.clocked = typed.pair.clocked();
    operation.calls = calls;
    return operation;
  }
  /// The same calls by both, of which four wait for each other.
  template <class Calls>
  Operation both(std::string name, const Calls& calls) const {
    return operation(
        std::move(name), [raw = raw, calls](int) { calls(raw); }, [typed = typed, calls](int) { calls(typed); }, 4);
  }
  /// Two messages that follow each other.
  Operation send_recv(std::string name) const {
    return both(std::move(name), [first = typed.pair.begins()](const auto& by) {
      if (first) by.send();
      by.recv();
      if (!first) by.send();
    });
  }
  /// A step of an exchange, and the calls that it stands for.
  template <class Raw>
  Operation step(std::string name, comm::Pattern pattern, const Raw& by_hand) const {
    comm::Options options;
    options.pattern = pattern;
    const auto all = std::make_shared<std::vector<comm::Exchange<View>>>(
        typed.pair.traffic().exchanges(comm::Communicator(raw.comm, options)));
    const auto by_layer = [all, &exchange = all->front()](int) {
      exchange.start();
      exchange.finish();
    };
    return operation(std::move(name), by_hand, by_layer, 1);
  }
};

/// Requests of a receive and a send.
struct PersistentRequests {
  std::array<MPI_Request, 2> both;

  explicit PersistentRequests(const RawCalls& by) {
    MPI_Recv_init(by.in, by.count, by.type, by.peer, 0, by.comm, &both[0]);
    MPI_Send_init(by.out, by.count, by.type, by.peer, 0, by.comm, &both[1]);
  }
  ~PersistentRequests() {
    for (auto& request : both) MPI_Request_free(&request);
  }
};

} // namespace

void measure_roundtrip(Bench& bench) {
  bench.each_size([&](auto scalar, int dimensions, std::int64_t size) {
    using T = decltype(scalar);
    const auto time = [&]<int d>(std::integral_constant<int, d>) {
      const Messages<HostView<T, d>> m(bench, true, size);
      const auto elements = static_cast<std::int64_t>(m.typed.pair.in.size());
      bench.time<T>(m.send_recv(fmt::format("{}d", d)), size, elements);
    };
    if (dimensions == 1) time(std::integral_constant<int, 1>());
    if (dimensions == 2) time(std::integral_constant<int, 2>());
    if (dimensions == 3) time(std::integral_constant<int, 3>());
  });
}

void measure_calls(Bench& bench) {
  bench.each_size([&](auto scalar, int, std::int64_t size) {
    using T = decltype(scalar);
    const Messages<Row<T>> m(bench, false, size);
    const auto isend_irecv = [](const auto& by) {
      auto receive = by.irecv();
      auto send = by.isend();
      receive.wait();
      send.wait();
    };
    const auto exchange = [by = m.raw](int) {
      MPI_Request requests[] = {by.irecv().request, by.isend().request};
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    };
    const auto persistent = [r = std::make_shared<PersistentRequests>(m.raw)](int) {
      MPI_Startall(2, r->both.data());
      MPI_Waitall(2, r->both.data(), MPI_STATUSES_IGNORE);
    };
    for (const auto& operation :
         {m.send_recv("send_recv"), m.both("isend_irecv_wait", isend_irecv),
          m.step("exchange_step", comm::Pattern::nonblocking, exchange),
          m.step("persistent_step", comm::Pattern::persistent, persistent), allreduce<T>(bench.comm(), size)})
      bench.time<T>(operation, size, size);
  });
}

} // namespace kontor::pingpong
