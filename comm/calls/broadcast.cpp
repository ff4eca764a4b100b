// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "calls/perform.hpp"

#include <kontor/comm/broadcast.hpp>

namespace kontor::comm::detail {

void Broadcast::operator()(const Call& call) const {
  const auto& view = call.comm.rank() == root ? call.in : call.out;
  const auto describe = [&] { return in_words(call, name(view), {equal_words(view), root_words(root)}); };
  check(
      call, [&] { return root_problem(call.comm, root); }, describe);
  if (call.queued())
    return naming(describe,
                  [&] { call.pending->collectives->bcast(call.pending->stream, flat_buffer(view), root); });
  const auto data = mpi::payload(view.count, view.scalar);
  call_mpi(call, describe, MPI_Bcast, MPI_Ibcast, view.data, data.count, data.type, root);
}

void Barrier::operator()(const Call& call) const {
  const auto describe = [&] { return in_words(call, "", {}); };
  check(call, [] { return Problem(); }, describe);
  call_mpi(call, describe, MPI_Barrier, MPI_Ibarrier);
}

} // namespace kontor::comm::detail
