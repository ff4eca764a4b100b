// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/collective_operation.hpp"
#include "pingpong/measures.hpp"
#include "pingpong/payload.hpp"

#include <kontor/comm/collectives.hpp>

#include <fmt/format.h>

namespace kontor::pingpong {
namespace {

template <class View>
Operation allreduce(const comm::Communicator& comm, std::int64_t size) {
  using T = typename View::value_type;
  const auto in = make_cube<View>("pingpong/in", size);
  const auto out = make_cube<View>("pingpong/out", size);
  const int count = static_cast<int>(size);
  const auto wrong = [=, p = comm.size()](int seed) { return wrong_sum(out.data(), size, seed, p); };
  return {"allreduce",
          [=, &comm] { MPI_Allreduce(in.data(), out.data(), count, mpi_type<T>(), MPI_SUM, comm.native()); },
          [=, &comm] { comm::allreduce(comm, in, out, comm::ReduceOp::sum); },
          {[=, me = comm.rank()](int seed) { fill_payload(in.data(), size, seed, me); }, wrong}};
}

/// `size` elements from each rank to all.
template <class View>
Operation allgather(const comm::Communicator& comm, std::int64_t size) {
  using T = typename View::value_type;
  const auto in = make_cube<View>("pingpong/in", size);
  const auto out = make_cube<View>("pingpong/out", size * comm.size());
  const int count = static_cast<int>(size);
  const auto wrong = [=, p = comm.size()](int seed) {
    std::int64_t bad = 0;
    for (int r = 0; r < p; ++r) bad += wrong_payload(out.data() + r * size, size, seed, r);
    return bad;
  };
  return {"allgather",
          [=, &comm] {
            MPI_Allgather(in.data(), count, mpi_type<T>(), out.data(), count, mpi_type<T>(), comm.native());
          },
          [=, &comm] { comm::allgather(comm, in, out); },
          {[=, me = comm.rank()](int seed) { fill_payload(in.data(), size, seed, me); }, wrong}};
}

/// `size` elements from each rank to each.
template <class View>
Operation alltoall(const comm::Communicator& comm, std::int64_t size) {
  using T = typename View::value_type;
  const int p = comm.size();
  const int me = comm.rank();
  const auto in = make_cube<View>("pingpong/in", size * p);
  const auto out = make_cube<View>("pingpong/out", size * p);
  const int count = static_cast<int>(size);
  const auto fill = [=](int seed) {
    for (int r = 0; r < p; ++r) fill_payload(in.data() + r * size, size, seed, me * p + r);
  };
  const auto wrong = [=](int seed) {
    std::int64_t bad = 0;
    for (int r = 0; r < p; ++r) bad += wrong_payload(out.data() + r * size, size, seed, r * p + me);
    return bad;
  };
  return {"alltoall",
          [=, &comm] {
            MPI_Alltoall(in.data(), count, mpi_type<T>(), out.data(), count, mpi_type<T>(), comm.native());
          },
          [=, &comm] { comm::alltoall(comm, in, out); },
          {fill, wrong}};
}

template <class View>
void time_operation(Bench& bench, const Operation& operation, std::int64_t size, const std::string& scalar) {
  const auto repeat = [](const std::function<void()>& once) {
    return [&once](int n) {
      for (int i = 0; i < n; ++i) once();
    };
  };
  const Way ways[] = {{operation.baseline, repeat(operation.raw)},
                      {operation.series, repeat(operation.typed)}};
  const auto bytes = size * static_cast<std::int64_t>(sizeof(typename View::value_type));
  bench.time_typed_and_raw({fmt::format("{} {}", operation.name, scalar), size, size, bytes}, ways,
                           operation.payload);
}

} // namespace

void measure_collectives(Bench& bench) {
  const auto& comm = bench.comm();
  each_size(bench, [&](auto scalar, auto, std::int64_t size, const Case& c) {
    using View = HostView<decltype(scalar), 1>;
    const std::string name(name_of(c.scalar));
    for (const auto make : {allreduce<View>, allgather<View>, alltoall<View>})
      time_operation<View>(bench, make(comm, size), size, name);
    for (const auto make : uneven_operations<View>())
      time_operation<View>(bench, make(comm, size), size, name);
  });
  bench.findings.figures = typed_over_raw(bench.findings);
}

} // namespace kontor::pingpong
