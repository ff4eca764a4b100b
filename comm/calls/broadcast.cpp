// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "calls/perform.hpp"

#include <kontor/comm/broadcast.hpp>

namespace kontor::comm::detail {

bool Broadcast::queues(const StreamCollectives& backend, Scalar, std::size_t, std::int64_t) const {
  return backend.moves();
}

void Broadcast::operator()(const Communicator& comm, const Operand& view, Posted* posted) const {
  const auto describe = [&] {
    return call_of(name, posted, detail::name(view), {equal_words(view), root_words(root)});
  };
  const auto problem = [&] { return root_problem(comm, root); };
  perform(comm, posted, problem, describe, [&] {
    if (is_queued(posted)) return posted->collectives->bcast(posted->stream, flat_buffer(view), root);
    const auto data = mpi::payload(view.count, view.scalar);
    call_mpi(comm, posted, {"MPI_Bcast", "MPI_Ibcast"}, MPI_Bcast, MPI_Ibcast, view.data, data.count,
             data.type, root, comm.native());
  });
}

void Barrier::operator()(const Communicator& comm, Posted* posted) const {
  perform(
      comm, posted, [] { return Problem(); }, [&] { return call_of(name, posted, "", {}); },
      [&] {
        call_mpi(comm, posted, {"MPI_Barrier", "MPI_Ibarrier"}, MPI_Barrier, MPI_Ibarrier, comm.native());
      });
}

} // namespace kontor::comm::detail
