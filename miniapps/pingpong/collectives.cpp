// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/measures.hpp"
#include "pingpong/payload.hpp"

#include <kontor/comm/collectives.hpp>

#include <fmt/format.h>

#include <array>

namespace kontor::pingpong {
namespace {

/// One collective operation on `in` and `out`, twice: by hand and typed.
template <class View>
struct Operation {
  std::string name;
  View in;
  View out;
  std::function<void()> raw;
  std::function<void()> typed;
  Payload payload;
};

template <class View>
Operation<View> allreduce(const comm::Communicator& comm, std::int64_t size) {
  using T = typename View::value_type;
  const auto in = make_cube<View>("pingpong/in", size);
  const auto out = make_cube<View>("pingpong/out", size);
  const int count = static_cast<int>(size);
  const auto wrong = [=, p = comm.size()](int seed) { return wrong_sum(out.data(), size, seed, p); };
  return {"allreduce",
          in,
          out,
          [=, &comm] { MPI_Allreduce(in.data(), out.data(), count, mpi_type<T>(), MPI_SUM, comm.native()); },
          [=, &comm] { comm::allreduce(comm, in, out, comm::ReduceOp::sum); },
          {[=, me = comm.rank()](int seed) { fill_payload(in.data(), size, seed, me); }, wrong}};
}

/// `size` elements from each rank to all.
template <class View>
Operation<View> allgather(const comm::Communicator& comm, std::int64_t size) {
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
          in,
          out,
          [=, &comm] {
            MPI_Allgather(in.data(), count, mpi_type<T>(), out.data(), count, mpi_type<T>(), comm.native());
          },
          [=, &comm] { comm::allgather(comm, in, out); },
          {[=, me = comm.rank()](int seed) { fill_payload(in.data(), size, seed, me); }, wrong}};
}

/// `size` elements from each rank to each.
template <class View>
Operation<View> alltoall(const comm::Communicator& comm, std::int64_t size) {
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
          in,
          out,
          [=, &comm] {
            MPI_Alltoall(in.data(), count, mpi_type<T>(), out.data(), count, mpi_type<T>(), comm.native());
          },
          [=, &comm] { comm::alltoall(comm, in, out); },
          {fill, wrong}};
}

template <class View>
void time_operation(Bench& bench, const Operation<View>& operation, std::int64_t size,
                    const std::string& scalar) {
  const auto repeat = [](const std::function<void()>& once) {
    return [&once](int n) {
      for (int i = 0; i < n; ++i) once();
    };
  };
  const Way ways[] = {{"raw", repeat(operation.raw)}, {"typed", repeat(operation.typed)}};
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
    time_operation(bench, allreduce<View>(comm, size), size, name);
    time_operation(bench, allgather<View>(comm, size), size, name);
    time_operation(bench, alltoall<View>(comm, size), size, name);
  });
  bench.findings.figures = typed_over_raw(bench.findings);
}

} // namespace kontor::pingpong
