// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures bcast and collectives: operations of all ranks by hand-written MPI and by typed calls.
#include "pingpong/bench.hpp"

#include <kontor/comm/alltoall_grid.hpp>
#include <kontor/comm/collectives.hpp>
#include <kontor/comm/sparse_alltoall.hpp>
#include <kontor/comm/with_counts.hpp>

#include <memory>
#include <numeric>
#include <set>
#include <vector>

namespace kontor::pingpong {
namespace {

/// The parts of a row, one a rank or one in all, as MPI takes them. The sender of part r is `sender` + r * `step`.
struct Parts {
  std::vector<int> counts;
  int sender, step = 0;
  int senders = 1; ///< of a part that is a sum
  std::vector<int> offsets = [this] {
    std::vector<int> sums(counts.size() + 1);
    std::inclusive_scan(counts.begin(), counts.end(), sums.begin() + 1);
    return sums;
  }();

  template <class T>
  std::vector<Cells<Row<T>>> cells(T* data) const {
    std::vector<Cells<Row<T>>> all;
    for (int r = 0; r < static_cast<int>(counts.size()); ++r)
      all.push_back({Row<T>(data + offsets[r], counts[r]), sender + r * step, senders});
    return all;
  }
};

/// The rows of an operation, and what its calls need.
template <class T>
struct Rows {
  const comm::Communicator& comm;
  Parts sent, received;
  MPI_Comm mpi = comm.native();
  Row<T> in = make_cube<Row<T>>(sent.offsets.back());
  Row<T> out = make_cube<Row<T>>(received.offsets.back());
  comm::Counts counts = comm::Counts(received.counts);
  comm::Received<Row<T>> with_counts{}; ///< of calls that bring their counts
  T* arrived = out.data();              ///< where the latest execution has put its result
};

/// raw(rows) and typed(rows) execute the operation once.
template <class T, class Raw, class Typed>
Operation operation(std::string name, const comm::Communicator& comm, const Parts& sent, const Parts& received,
                    const Raw& raw, const Typed& typed) {
  const std::shared_ptr<Rows<T>> rows(new Rows<T>{comm, sent, received});
  return raw_and_typed(
      std::move(name), [=](int) { raw(*rows); }, [=](int) { typed(*rows); },
      payload_of(rows->sent.cells(rows->in.data()), [rows] { return rows->received.cells(rows->arrived); }));
}

/// The root of each execution is the next rank, so that no root runs ahead of the others.
template <class T>
Operation broadcast(const comm::Communicator& comm, std::int64_t size) {
  const auto row = make_cube<Row<T>>(size);
  const auto raw = [=, &comm](int i) {
    MPI_Bcast(row.data(), static_cast<int>(size), mpi_type<T>(), i % comm.size(), comm.native());
  };
  const auto typed = [=, &comm](int i) { comm::bcast(comm, row, i % comm.size()); };
  const std::vector<Cells<Row<T>>> all{{row, 0}};
  const auto sent = comm.rank() == 0 ? all : std::vector<Cells<Row<T>>>();
  return raw_and_typed("bcast", raw, typed, payload_of(sent, [all] { return all; }));
}

/// Non-blocking consensus by hand, which receives into new Views. `tag` differs from that of the previous one.
template <class View>
comm::SparseMessages<View> consensus(MPI_Comm comm, const comm::SparseMessages<View>& messages, int tag) {
  const auto type = mpi_type<typename View::value_type>();
  std::vector<MPI_Request> requests;
  for (const auto& [peer, view] : messages)
    MPI_Issend(view.data(), static_cast<int>(view.size()), type, peer, tag, comm,
               &requests.emplace_back(MPI_REQUEST_NULL));
  comm::SparseMessages<View> received;
  MPI_Request barrier = MPI_REQUEST_NULL;
  for (int sent = 0, done = 0; !done;) {
    int arrived = 0, count = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, tag, comm, &arrived, &status);
    if (arrived) {
      MPI_Get_count(&status, type, &count);
      const auto& [peer, view] = received.emplace_back(status.MPI_SOURCE, make_cube<View>(count));
      MPI_Recv(view.data(), count, type, peer, tag, comm, MPI_STATUS_IGNORE);
    }
    if (sent) {
      MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
    } else {
      MPI_Testall(static_cast<int>(requests.size()), requests.data(), &sent, MPI_STATUSES_IGNORE);
      if (sent) MPI_Ibarrier(comm, &barrier);
    }
  }
  std::ranges::sort(received, {}, &std::pair<int, View>::first);
  return received;
}

/// Messages to the next rank and to the previous one, which have no receive count.
template <class T>
Operation sparse(const comm::Communicator& comm, std::int64_t size) {
  struct State {
    comm::SparseMessages<Row<T>> sent, received;
    int round = 0;
  };
  const auto state = std::make_shared<State>();
  const int p = comm.size(), me = comm.rank();
  std::vector<Cells<Row<T>>> sent;
  for (const int peer : std::set{(me + 1) % p, (me + p - 1) % p}) {
    sent.push_back({make_cube<Row<T>>(size), me * p + peer});
    state->sent.emplace_back(peer, sent.back().view);
  }
  const auto arrived = [=] {
    std::vector<Cells<Row<T>>> cells;
    for (const auto& [peer, view] : state->received) cells.push_back({view, peer * p + me});
    return cells;
  };
  auto payload = payload_of(sent, arrived);
  payload.wrong = [=, right = payload.wrong](int seed) {
    bool all = state->received.size() == state->sent.size();
    for (std::size_t i = 0; all && i < sent.size(); ++i)
      all = state->received[i].first == state->sent[i].first && state->received[i].second.size() == sent[i].view.size();
    return all ? right(seed) : size;
  };
  const auto raw = [=, &comm](int) { state->received = consensus(comm.native(), state->sent, state->round++ % 2); };
  const auto typed = [=, &comm](int) { state->received = comm::sparse_alltoall(comm, state->sent, "pingpong"); };
  return raw_and_typed("sparse_alltoall", raw, typed, payload);
}

} // namespace

template <class T>
Operation allreduce(const comm::Communicator& comm, std::int64_t size) {
  const std::vector one{static_cast<int>(size)};
  return operation<T>(
      "allreduce", comm, {one, comm.rank()}, {one, 0, 0, comm.size()},
      [](auto& r) { MPI_Allreduce(r.in.data(), r.out.data(), r.sent.counts[0], mpi_type<T>(), MPI_SUM, r.mpi); },
      [](auto& r) { comm::allreduce(r.comm, r.in, r.out, comm::ReduceOp::sum); });
}
template Operation allreduce<int>(const comm::Communicator&, std::int64_t);
template Operation allreduce<double>(const comm::Communicator&, std::int64_t);

void measure_bcast(Bench& bench) {
  bench.each_size([&](auto scalar, int, std::int64_t size) {
    bench.time<decltype(scalar)>(broadcast<decltype(scalar)>(bench.comm(), size), size, size);
  });
}

void measure_collectives(Bench& bench) {
  const auto& comm = bench.comm();
  const int p = comm.size(), me = comm.rank();
  const comm::AlltoallGrid grid(comm);
  bench.each_size([&](auto scalar, int, std::int64_t size) {
    using T = decltype(scalar);
    const auto type = mpi_type<T>();
    const int n = static_cast<int>(size);
    const auto time = [&](const Operation& operation) { bench.time<T>(operation, size, size); };
    const std::vector<int> whole(p, n);
    auto odd_less = whole, some_less = whole; // half
    for (int r = 0; r < p; ++r) {
      if (r % 2 != 0) odd_less[r] /= 2;
      if ((r + me) % 3 == 0) some_less[r] /= 2; // in both directions
    }
    time(allreduce<T>(comm, size));
    time(operation<T>(
        "allgather", comm, {{n}, me}, {whole, 0, 1},
        [=](auto& r) { MPI_Allgather(r.in.data(), n, type, r.out.data(), n, type, r.mpi); },
        [](auto& r) { comm::allgather(r.comm, r.in, r.out); }));
    time(operation<T>(
        "alltoall", comm, {whole, me * p, 1}, {whole, me, p},
        [=](auto& r) { MPI_Alltoall(r.in.data(), n, type, r.out.data(), n, type, r.mpi); },
        [](auto& r) { comm::alltoall(r.comm, r.in, r.out); }));
    time(operation<T>(
        "allgatherv", comm, {{odd_less[me]}, me}, {odd_less, 0, 1},
        [=](auto& r) {
          MPI_Allgatherv(r.in.data(), r.sent.counts[0], type, r.out.data(), r.received.counts.data(),
                         r.received.offsets.data(), type, r.mpi);
        },
        [](auto& r) { comm::allgatherv(r.comm, r.in, r.out, r.counts); }));
    const auto uneven = [&](const char* name, const auto& raw, const auto& typed) {
      return operation<T>(name, comm, {some_less, me * p, 1}, {some_less, me, p}, raw, typed);
    };
    const auto alltoallv = [=](auto& r, const int* counts, const int* offsets) {
      MPI_Alltoallv(r.in.data(), r.sent.counts.data(), r.sent.offsets.data(), type, r.out.data(), counts, offsets, type,
                    r.mpi);
      r.arrived = r.out.data();
    };
    const auto raw_with_counts = [=](auto& r) {
      std::vector<int> counts(p), offsets(p);
      MPI_Alltoall(r.sent.counts.data(), 1, MPI_INT, counts.data(), 1, MPI_INT, r.mpi);
      std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
      alltoallv(r, counts.data(), offsets.data());
    };
    const auto with_counts = [](auto& r, const auto& on) {
      r.with_counts = comm::alltoallv_with_counts(on, r.in, r.counts, std::move(r.with_counts));
      r.arrived = r.with_counts.data.data();
    };
    time(uneven(
        "alltoallv", [=](auto& r) { alltoallv(r, r.received.counts.data(), r.received.offsets.data()); },
        [](auto& r) { comm::alltoallv(r.comm, r.in, r.counts, r.out, r.counts); }));
    time(uneven("alltoallv_with_counts", raw_with_counts, [=](auto& r) { with_counts(r, r.comm); }));
    auto along_grid = uneven("alltoallv_along_grid", raw_with_counts, [=, &grid](auto& r) { with_counts(r, grid); });
    along_grid.ways[0].name = "direct";
    along_grid.ways[1].name = "grid";
    time(along_grid);
    time(sparse<T>(comm, size));
  });
}

} // namespace kontor::pingpong
