// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/measures.hpp"
#include "pingpong/payload.hpp"

#include <kontor/comm/collectives.hpp>

namespace kontor::pingpong {
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

} // namespace

void measure_bcast(Bench& bench) {
  each_size(bench, [&](auto scalar, auto, std::int64_t size) {
    using T = decltype(scalar);
    bench.time(subject_of<T>("bcast", size, size), broadcast<T>(bench.comm(), size));
  });
  bench.findings.figures = typed_over_raw(bench.findings);
}

} // namespace kontor::pingpong
