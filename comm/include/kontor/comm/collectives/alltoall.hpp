// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/collectives/counts.hpp>
#include <kontor/comm/collectives/gather.hpp>
#include <kontor/comm/detail/collective_call.hpp>

/// A part from every rank for every rank: part s of rank r's `in` becomes part r of rank s's `out`. Views,
/// orders and errors as in gather.hpp.
namespace kontor::comm {
namespace detail {

struct Alltoall {
  static constexpr const char* name = "ialltoall";
  void operator()(const Communicator&, const Operand& in, const Operand& out, Posted*) const;
  void operator()(const Communicator&, const Operand& inout, Posted*) const;
};

struct Alltoallv {
  static constexpr const char* name = "ialltoallv";
  const Counts& send_counts;
  const Counts& receive_counts;
  void operator()(const Communicator&, const Operand& in, const Operand& out, Posted*) const;
  void operator()(const Communicator&, const Operand& inout, Posted*) const;
};

} // namespace detail

/// Collective. Parts of equal sizes. MPI_Alltoall.
template <SentView In, ReceivedView Out>
void alltoall(const Communicator& comm, const In& in, const Out& out) {
  detail::run(comm, detail::Alltoall{}, detail::read(in), detail::written(out));
}

/// Collective. In place. MPI_Alltoall with MPI_IN_PLACE.
template <ReceivedView View>
void alltoall(const Communicator& comm, const View& view) {
  detail::run(comm, detail::Alltoall{}, detail::in_place(view));
}

/// Collective, non-blocking. wait() returns `in` and `out`. MPI_Ialltoall.
template <SentView In, ReceivedView Out>
Request<In, Out> ialltoall(const Communicator& comm, const In& in, const Out& out) {
  return detail::start(comm, detail::Alltoall{}, detail::read(in), detail::written(out));
}

/// Collective, non-blocking. In place. MPI_Ialltoall with MPI_IN_PLACE.
template <ReceivedView View>
Request<View> ialltoall(const Communicator& comm, const View& view) {
  return detail::start(comm, detail::Alltoall{}, detail::in_place(view));
}

/// Collective. This rank sends send_counts[r] elements to rank r and gets receive_counts[r] from it.
/// MPI_Alltoallv.
template <SentView In, ReceivedView Out>
void alltoallv(const Communicator& comm, const In& in, const Counts& send_counts, const Out& out,
               const Counts& receive_counts) {
  detail::run(comm, detail::Alltoallv{send_counts, receive_counts}, detail::read(in), detail::written(out));
}

/// Collective. In place: as many elements come from each rank as go to it. MPI_Alltoallv with MPI_IN_PLACE.
template <ReceivedView View>
void alltoallv(const Communicator& comm, const View& view, const Counts& counts) {
  detail::run(comm, detail::Alltoallv{counts, counts}, detail::in_place(view));
}

/// Collective. This rank sends send_counts[r] elements to rank r, which need not know it: the ranks tell each
/// other first. Makes the View of what comes from all ranks, in their order. MPI_Alltoall of the counts, then
/// MPI_Alltoallv.
template <SentView In>
Gathered<typename In::non_const_value_type> alltoallv_with_counts(const Communicator& comm, const In& in,
                                                                  const Counts& send_counts) {
  const detail::Numbers sent_counts("comm/counts", comm.size());
  const detail::Numbers received_counts("comm/counts", comm.size());
  for (std::size_t r = 0; r < sent_counts.size(); ++r) sent_counts(r) = send_counts[r];
  alltoall(comm, sent_counts, received_counts);
  const Counts receive_counts(received_counts);
  auto gathered = detail::make_gathered<typename In::non_const_value_type>(in.label(), receive_counts);
  alltoallv(comm, in, send_counts, gathered.data, receive_counts);
  return gathered;
}

/// Collective, non-blocking. wait() returns `in` and `out`. MPI_Ialltoallv.
template <SentView In, ReceivedView Out>
Request<In, Out> ialltoallv(const Communicator& comm, const In& in, const Counts& send_counts, const Out& out,
                            const Counts& receive_counts) {
  return detail::start(comm, detail::Alltoallv{send_counts, receive_counts}, detail::read(in),
                       detail::written(out));
}

/// Collective, non-blocking. In place. MPI_Ialltoallv with MPI_IN_PLACE.
template <ReceivedView View>
Request<View> ialltoallv(const Communicator& comm, const View& view, const Counts& counts) {
  return detail::start(comm, detail::Alltoallv{counts, counts}, detail::in_place(view));
}

} // namespace kontor::comm
