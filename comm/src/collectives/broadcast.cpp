// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "perform.hpp"

#include <kontor/comm/collectives/broadcast.hpp>

namespace kontor::comm::detail {

void Broadcast::operator()(const Communicator& comm, const Operand& view, Posted* posted) const {
  const auto describe = [&] {
    return call_of(name, posted, detail::name(view), {equal_words(view), root_words(root)});
  };
  perform(comm, posted, root_problem(comm, root), describe, [&] {
    if (!posted) return comm.backend().bcast(flat_buffer(view), root);
    const auto data = mpi::payload(view.count, view.scalar);
    mpi::check(MPI_Ibcast(view.data, data.count, data.type, root, comm.native(), &posted->request),
               "MPI_Ibcast");
  });
}

void Barrier::operator()(const Communicator& comm, Posted* posted) const {
  perform(
      comm, posted, std::nullopt, [&] { return call_of(name, posted, "", {}); },
      [&] {
        if (!posted) return comm.backend().barrier();
        mpi::check(MPI_Ibarrier(comm.native(), &posted->request), "MPI_Ibarrier");
      });
}

} // namespace kontor::comm::detail
