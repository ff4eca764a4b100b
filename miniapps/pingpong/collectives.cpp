// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/collective_operation.hpp"
#include "pingpong/measures.hpp"

#include <kontor/comm/collectives.hpp>

namespace kontor::pingpong {

template <class View>
Operation allreduce(const comm::Communicator& comm, std::int64_t size) {
  const auto in = make_cube<View>("pingpong/in", size);
  const auto out = make_cube<View>("pingpong/out", size);
  const auto raw = [=, &comm] {
    MPI_Allreduce(in.data(), out.data(), static_cast<int>(size), mpi_type<typename View::value_type>(), MPI_SUM,
                  comm.native());
  };
  const auto typed = [=, &comm] { comm::allreduce(comm, in, out, comm::ReduceOp::sum); };
  return raw_and_typed("allreduce", raw, typed,
                       {[=, me = comm.rank()](int seed) { fill_payload(in.data(), size, seed, me); },
                        [=, p = comm.size()](int seed) { return wrong_sum(out.data(), size, seed, p); }});
}
template Operation allreduce<HostView<int, 1>>(const comm::Communicator&, std::int64_t);
template Operation allreduce<HostView<double, 1>>(const comm::Communicator&, std::int64_t);

namespace {

/// The root of each execution is the next rank, so that no root runs ahead of the others.
template <class T>
Operation broadcast(const comm::Communicator& comm, std::int64_t size) {
  const auto view = make_cube<HostView<T, 1>>("pingpong/bcast", size);
  const auto raw = [=, &comm](int n) {
    for (int i = 0; i < n; ++i)
      MPI_Bcast(view.data(), static_cast<int>(size), mpi_type<T>(), i % comm.size(), comm.native());
  };
  const auto typed = [=, &comm](int n) {
    for (int i = 0; i < n; ++i) comm::bcast(comm, view, i % comm.size());
  };
  const auto fill = [=, &comm](int seed) {
    if (comm.rank() == 0) fill_payload(view.data(), size, seed);
  };
  return {"bcast", {Way{"raw", raw}, Way{"typed", typed}}, {fill, [=](int seed) {
                                                              return wrong_payload(view.data(), size, seed);
                                                            }}};
}

/// `size` elements from each rank to all.
template <class View>
Operation allgather(const comm::Communicator& comm, std::int64_t size) {
  const Parts parts(comm.size(), [=](int) { return size; });
  const auto in = make_cube<View>("pingpong/in", size);
  const auto out = make_cube<View>("pingpong/out", parts.total());
  const auto raw = [=, &comm, type = mpi_type<typename View::value_type>(), n = static_cast<int>(size)] {
    MPI_Allgather(in.data(), n, type, out.data(), n, type, comm.native());
  };
  return raw_and_typed("allgather", raw, [=, &comm] { comm::allgather(comm, in, out); },
                       {[=, me = comm.rank()](int seed) { fill_payload(in.data(), size, seed, me); },
                        [=](int seed) { return parts.wrong(out.data(), seed, std::identity()); }});
}

/// `size` elements from each rank to each.
template <class View>
Operation alltoall(const comm::Communicator& comm, std::int64_t size) {
  const Parts parts(comm.size(), [=](int) { return size; });
  const auto in = make_cube<View>("pingpong/in", parts.total());
  const auto out = make_cube<View>("pingpong/out", parts.total());
  const auto raw = [=, &comm, type = mpi_type<typename View::value_type>(), n = static_cast<int>(size)] {
    MPI_Alltoall(in.data(), n, type, out.data(), n, type, comm.native());
  };
  const auto fill = [=, me = comm.rank(), p = comm.size()](int seed) {
    parts.fill(in.data(), seed, [=](int to) { return me * p + to; });
  };
  const auto wrong = [=, me = comm.rank(), p = comm.size()](int seed) {
    return parts.wrong(out.data(), seed, [=](int from) { return from * p + me; });
  };
  return raw_and_typed("alltoall", raw, [=, &comm] { comm::alltoall(comm, in, out); }, {fill, wrong});
}

} // namespace

void measure_bcast(Bench& bench) {
  each_size(bench, [&](auto scalar, std::int64_t size) {
    using T = decltype(scalar);
    bench.time(subject_of<T>("bcast", size, size), broadcast<T>(bench.comm(), size));
  });
  bench.findings.figures = typed_over_raw(bench.findings);
}

void measure_collectives(Bench& bench) {
  each_size(bench, [&](auto scalar, std::int64_t size) {
    using T = decltype(scalar);
    using View = HostView<T, 1>;
    std::vector<MakeOperation> all{allreduce<View>, allgather<View>, alltoall<View>};
    for (const auto make : uneven_operations<View>()) all.push_back(make);
    for (const auto make : all) {
      const auto operation = make(bench.comm(), size);
      bench.time(subject_of<T>(operation.name, size, size), operation);
    }
  });
  bench.findings.figures = typed_over_raw(bench.findings);
}

} // namespace kontor::pingpong
