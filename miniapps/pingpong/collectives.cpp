// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures bcast and collectives: operations of all ranks by hand-written MPI and by typed calls.
#include "pingpong/bench.hpp"

#include <kontor/comm/alltoall_grid.hpp>
#include <kontor/comm/collectives.hpp>
#include <kontor/comm/sparse_alltoall.hpp>
#include <kontor/comm/with_counts.hpp>

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
  std::vector<int> offsets = std::vector<int>(counts.size() + 1);

  template <class T>
  std::vector<Cells<Row<T>>> cells(T* data) const {
    std::vector<Cells<Row<T>>> all;
    for (int r = 0; r < static_cast<int>(counts.size()); ++r)
      all.push_back({Row<T>(data + offsets[r], counts[r]), sender + r * step, senders});
    return all;
  }
};

/// What an operation sends and receives.
template <class T>
struct Rows {
  Parts sent, received;
  Row<T> in = row_of(sent), out = row_of(received);
  comm::Counts counts = comm::Counts(received.counts);
  comm::Received<Row<T>> with_counts{}; ///< of calls that bring their counts
  T* arrived = out.data();              ///< where the latest execution has put its result

  static Row<T> row_of(Parts& parts) {
    std::inclusive_scan(parts.counts.begin(), parts.counts.end(), parts.offsets.begin() + 1);
    return make_cube<Row<T>>(parts.offsets.back());
  }
  Payload payload() const {
    return payload_of(sent.cells(in.data()), [this] { return received.cells(arrived); });
  }
};

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
void time_sparse(Bench& bench, std::int64_t size) {
  const auto& comm = bench.comm();
  const int p = comm.size(), me = comm.rank();
  comm::SparseMessages<Row<T>> out, in;
  std::vector<Cells<Row<T>>> sent;
  for (const int peer : std::set{(me + 1) % p, (me + p - 1) % p}) {
    out.emplace_back(peer, make_cube<Row<T>>(size));
    sent.push_back({out.back().second, me * p + peer});
  }
  const auto arrived = [&] {
    std::vector<Cells<Row<T>>> cells;
    for (const auto& [peer, row] : in) cells.push_back({row, peer * p + me});
    return cells;
  };
  auto payload = payload_of(sent, arrived);
  payload.wrong = [&, values = payload.wrong](int seed) {
    const auto alike = [](const auto& a, const auto& b) {
      return a.first == b.first && a.second.size() == b.second.size();
    };
    return std::ranges::equal(in, out, alike) ? values(seed) : size;
  };
  int round = 0;
  bench.time<T>(
      {"sparse_alltoall"}, size, size, payload, [&](int) { in = consensus(comm.native(), out, round++ % 2); },
      [&](int) { in = comm::sparse_alltoall(comm, out, "pingpong"); });
}

/// The root of each execution is the next rank, so that no root runs ahead of the others.
template <class T>
void time_bcast(Bench& bench, std::int64_t size) {
  const auto& comm = bench.comm();
  const std::vector<Cells<Row<T>>> row{{make_cube<Row<T>>(size), 0}};
  const auto sent = comm.rank() == 0 ? row : std::vector<Cells<Row<T>>>();
  bench.time<T>(
      {"bcast"}, size, size, payload_of(sent, [&] { return row; }),
      [&, data = row[0].view.data(), n = static_cast<int>(size)](int i) {
        MPI_Bcast(data, n, mpi_type<T>(), i % comm.size(), comm.native());
      },
      [&, view = row[0].view](int i) { comm::bcast(comm, view, i % comm.size()); });
}

template <class T>
void time_collectives(Bench& bench, std::int64_t size) {
  const auto& comm = bench.comm();
  const auto mpi = comm.native();
  const auto type = mpi_type<T>();
  const int n = static_cast<int>(size), p = comm.size(), me = comm.rank();
  const std::vector<int> whole(p, n);
  auto odd_less = whole, some_less = whole; // half
  for (int r = 0; r < p; ++r) {
    if (r % 2 != 0) odd_less[r] /= 2;
    if ((r + me) % 3 == 0) some_less[r] /= 2; // in both directions
  }
  const auto time = [&](const Operation& operation, const Rows<T>& rows, const auto& raw, const auto& typed) {
    bench.time<T>(operation, size, size, rows.payload(), raw, typed);
  };
  time_bcast<T>(bench, size);
  time_allreduce<T>(bench, size);
  {
    const Rows<T> r{{{n}, me}, {whole, 0, 1}};
    time(
        {"allgather"}, r, [&](int) { MPI_Allgather(r.in.data(), n, type, r.out.data(), n, type, mpi); },
        [&](int) { comm::allgather(comm, r.in, r.out); });
  }
  {
    const Rows<T> r{{whole, me * p, 1}, {whole, me, p}};
    time(
        {"alltoall"}, r, [&](int) { MPI_Alltoall(r.in.data(), n, type, r.out.data(), n, type, mpi); },
        [&](int) { comm::alltoall(comm, r.in, r.out); });
  }
  {
    const Rows<T> r{{{odd_less[me]}, me}, {odd_less, 0, 1}};
    time(
        {"allgatherv"}, r,
        [&](int) {
          MPI_Allgatherv(r.in.data(), odd_less[me], type, r.out.data(), odd_less.data(), r.received.offsets.data(),
                         type, mpi);
        },
        [&](int) { comm::allgatherv(comm, r.in, r.out, r.counts); });
  }
  Rows<T> r{{some_less, me * p, 1}, {some_less, me, p}};
  const auto alltoallv = [&](const int* counts, const int* offsets) {
    MPI_Alltoallv(r.in.data(), r.sent.counts.data(), r.sent.offsets.data(), type, r.out.data(), counts, offsets, type,
                  mpi);
    r.arrived = r.out.data();
  };
  const auto raw_with_counts = [&](int) {
    std::vector<int> counts(p), offsets(p);
    MPI_Alltoall(r.sent.counts.data(), 1, MPI_INT, counts.data(), 1, MPI_INT, mpi);
    std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
    alltoallv(counts.data(), offsets.data());
  };
  const auto with_counts = [&](const auto& on) {
    return [&](int) {
      r.with_counts = comm::alltoallv_with_counts(on, r.in, r.counts, std::move(r.with_counts));
      r.arrived = r.with_counts.data.data();
    };
  };
  time(
      {"alltoallv"}, r, [&](int) { alltoallv(r.received.counts.data(), r.received.offsets.data()); },
      [&](int) { comm::alltoallv(comm, r.in, r.counts, r.out, r.counts); });
  time({"alltoallv_with_counts"}, r, raw_with_counts, with_counts(comm));
  const comm::AlltoallGrid grid(comm);
  time({.name = "alltoallv_along_grid", .methods = {"direct", "grid"}}, r, raw_with_counts, with_counts(grid));
  time_sparse<T>(bench, size);
}

} // namespace

template <class T>
void time_allreduce(Bench& bench, std::int64_t size) {
  const auto& comm = bench.comm();
  const int n = static_cast<int>(size);
  const Rows<T> r{{{n}, comm.rank()}, {{n}, 0, 0, comm.size()}};
  bench.time<T>(
      {"allreduce"}, size, size, r.payload(),
      [&, in = r.in, out = r.out](int) {
        MPI_Allreduce(in.data(), out.data(), n, mpi_type<T>(), MPI_SUM, comm.native());
      },
      [&, in = r.in, out = r.out](int) { comm::allreduce(comm, in, out, comm::ReduceOp::sum); });
}
template void time_allreduce<int>(Bench&, std::int64_t);
template void time_allreduce<double>(Bench&, std::int64_t);

void measure_collectives(Bench& bench) {
  bench.each_size([&](auto scalar, int, std::int64_t size) { time_collectives<decltype(scalar)>(bench, size); });
}

} // namespace kontor::pingpong
