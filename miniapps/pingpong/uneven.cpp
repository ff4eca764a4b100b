// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/collective_operation.hpp"

#include <kontor/comm/alltoall_grid.hpp>
#include <kontor/comm/sparse_alltoall.hpp>
#include <kontor/comm/with_counts.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>

namespace kontor::pingpong {
namespace {

/// What goes from each rank to each, whatever the way: half as many elements where the sum of the two ranks is a
/// multiple of 3.
template <class View>
struct Uneven {
  using T = typename View::value_type;
  const comm::Communicator& comm;
  Parts parts; ///< to and from each rank: as many both ways
  View in;
  View out;
  comm::Received<View> received{};
  const T* arrived = nullptr; ///< where the latest way has put it

  Uneven(const comm::Communicator& on, std::int64_t size)
      : comm(on), parts(on.size(), [&](int r) { return (r + on.rank()) % 3 == 0 ? size / 2 : size; }),
        in(make_cube<View>("pingpong/in", parts.total())), out(make_cube<View>("pingpong/out", parts.total())) {}

  void raw() {
    MPI_Alltoallv(in.data(), parts.counts.data(), parts.offsets.data(), mpi_type<T>(), out.data(), parts.counts.data(),
                  parts.offsets.data(), mpi_type<T>(), comm.native());
    arrived = out.data();
  }
  /// As where the counts are not known.
  void raw_with_counts() {
    std::vector<int> counts(parts.counts.size()), offsets(parts.counts.size());
    MPI_Alltoall(parts.counts.data(), 1, MPI_INT, counts.data(), 1, MPI_INT, comm.native());
    std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
    MPI_Alltoallv(in.data(), parts.counts.data(), parts.offsets.data(), mpi_type<T>(), out.data(), counts.data(),
                  offsets.data(), mpi_type<T>(), comm.native());
    arrived = out.data();
  }
};

template <class View>
Payload payload_of(const std::shared_ptr<Uneven<View>>& u) {
  const int me = u->comm.rank(), p = u->comm.size();
  return {[=](int seed) { u->parts.fill(u->in.data(), seed, [=](int to) { return me * p + to; }); },
          [=](int seed) { return u->parts.wrong(u->arrived, seed, [=](int from) { return from * p + me; }); }};
}

template <class View>
Operation alltoallv(const comm::Communicator& comm, std::int64_t size) {
  const auto u = std::make_shared<Uneven<View>>(comm, size);
  const auto typed = [u, counts = comm::Counts(u->parts.counts)] {
    comm::alltoallv(u->comm, u->in, counts, u->out, counts);
    u->arrived = u->out.data();
  };
  return raw_and_typed(
      "alltoallv", [u] { u->raw(); }, typed, payload_of(u));
}

template <class View>
Operation alltoallv_with_counts(const comm::Communicator& comm, std::int64_t size) {
  const auto u = std::make_shared<Uneven<View>>(comm, size);
  const auto typed = [u, counts = comm::Counts(u->parts.counts)] {
    u->received = comm::alltoallv_with_counts(u->comm, u->in, counts, std::move(u->received));
    u->arrived = u->received.data.data();
  };
  return raw_and_typed(
      "alltoallv_with_counts", [u] { u->raw_with_counts(); }, typed, payload_of(u));
}

/// Beside the same without a grid.
template <class View>
Operation along_grid(const comm::Communicator& comm, std::int64_t size) {
  const auto u = std::make_shared<Uneven<View>>(comm, size);
  const auto grid = std::make_shared<comm::AlltoallGrid>(comm);
  const auto typed = [u, grid, counts = comm::Counts(u->parts.counts)] {
    u->received = comm::alltoallv_with_counts(*grid, u->in, counts, std::move(u->received));
    u->arrived = u->received.data.data();
  };
  auto operation = raw_and_typed(
      "alltoallv_along_grid", [u] { u->raw_with_counts(); }, typed, payload_of(u));
  operation.ways[0].name = "direct";
  operation.ways[1].name = "grid";
  return operation;
}

/// `size` elements of even ranks to all, half as many of odd ones.
template <class View>
Operation allgatherv(const comm::Communicator& comm, std::int64_t size) {
  const Parts parts(comm.size(), [=](int r) { return r % 2 == 0 ? size : size / 2; });
  const int me = comm.rank();
  const int count = parts.counts[me];
  const auto in = make_cube<View>("pingpong/in", count);
  const auto out = make_cube<View>("pingpong/out", parts.total());
  const auto raw = [=, &comm, type = mpi_type<typename View::value_type>()] {
    MPI_Allgatherv(in.data(), count, type, out.data(), parts.counts.data(), parts.offsets.data(), type, comm.native());
  };
  const auto typed = [=, &comm, counts = comm::Counts(parts.counts)] { comm::allgatherv(comm, in, out, counts); };
  return raw_and_typed("allgatherv", raw, typed,
                       {[=](int seed) { fill_payload(in.data(), count, seed, me); },
                        [=](int seed) { return parts.wrong(out.data(), seed, std::identity()); }});
}

/// Non-blocking consensus by hand, receives into new Views; `tag` differs from that of the one before.
template <class View>
comm::SparseMessages<View> consensus(MPI_Comm comm, const comm::SparseMessages<View>& messages, int tag) {
  const auto type = mpi_type<typename View::value_type>();
  std::vector<MPI_Request> requests;
  for (const auto& [peer, view] : messages)
    MPI_Issend(view.data(), static_cast<int>(view.size()), type, peer, tag, comm,
               &requests.emplace_back(MPI_REQUEST_NULL));
  comm::SparseMessages<View> received;
  MPI_Request barrier = MPI_REQUEST_NULL;
  bool in_barrier = false;
  for (int done = 0; !done;) {
    int flag = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, tag, comm, &flag, &status);
    if (flag) {
      int count = 0;
      MPI_Get_count(&status, type, &count);
      const auto view = make_cube<View>("pingpong/received", count);
      MPI_Recv(view.data(), count, type, status.MPI_SOURCE, tag, comm, MPI_STATUS_IGNORE);
      received.emplace_back(status.MPI_SOURCE, view);
    }
    if (in_barrier) {
      MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
    } else {
      MPI_Testall(static_cast<int>(requests.size()), requests.data(), &flag, MPI_STATUSES_IGNORE);
      in_barrier = flag != 0;
      if (in_barrier) MPI_Ibarrier(comm, &barrier);
    }
  }
  std::ranges::sort(received, {}, &std::pair<int, View>::first);
  return received;
}

/// To the next rank and to the previous one, which do not know it.
template <class View>
Operation sparse(const comm::Communicator& comm, std::int64_t size) {
  struct State {
    comm::SparseMessages<View> sent, received;
    int round = 0;
  };
  const auto state = std::make_shared<State>();
  const int p = comm.size();
  const int me = comm.rank();
  for (const int peer : std::set<int>{(me + 1) % p, (me + p - 1) % p})
    state->sent.emplace_back(peer, make_cube<View>("pingpong/in", size));
  const auto fill = [=](int seed) {
    for (const auto& [peer, view] : state->sent) fill_payload(view.data(), size, seed, me * p + peer);
  };
  const auto wrong = [=](int seed) {
    std::int64_t bad = state->received.size() == state->sent.size() ? 0 : size;
    for (const auto& [peer, view] : state->received) {
      const bool whole = static_cast<std::int64_t>(view.size()) == size;
      bad += whole ? wrong_payload(view.data(), size, seed, peer * p + me) : size;
    }
    return bad;
  };
  const auto raw = [=, &comm] { state->received = consensus<View>(comm.native(), state->sent, state->round++ % 2); };
  const auto typed = [=, &comm] { state->received = comm::sparse_alltoall(comm, state->sent, "pingpong"); };
  return raw_and_typed("sparse_alltoall", raw, typed, {fill, wrong});
}

} // namespace

template <class View>
std::vector<MakeOperation> uneven_operations() {
  return {allgatherv<View>, alltoallv<View>, alltoallv_with_counts<View>, along_grid<View>, sparse<View>};
}
template std::vector<MakeOperation> uneven_operations<HostView<int, 1>>();
template std::vector<MakeOperation> uneven_operations<HostView<double, 1>>();

} // namespace kontor::pingpong
