// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "calls/perform.hpp"

#include <kontor/comm/alltoall.hpp>
#include <kontor/comm/communicator/internals.hpp>

namespace kontor::comm::detail {

bool Alltoall::queues(const StreamCollectives& backend, Scalar, std::size_t views, std::int64_t) const {
  return views == 2 && backend.moves(); // none does it in place
}

void Alltoall::operator()(const Communicator& comm, const Operand& in, const Operand& out,
                          Posted* posted) const {
  const auto part = out.count / comm.size();
  const auto problem = [&] {
    return in.in_place() ? division_problem(comm, out)
                         : first_of({count_problem(out, in.count, "as many as are given"),
                                     division_problem(comm, in), overlap_problem(in, out)});
  };
  const auto describe = [&] {
    return call_of(name, posted, words(in, out), {count_words(part, out.scalar)});
  };
  perform(comm, posted, problem, describe, [&] {
    if (is_queued(posted)) return posted->collectives->alltoall(posted->stream, flat_buffer(in), out.data);
    const auto data = mpi::payload(part, out.scalar);
    call_mpi(comm, posted, {"MPI_Alltoall", "MPI_Ialltoall"}, MPI_Alltoall, MPI_Ialltoall, in.data,
             data.count, data.type, out.data, data.count, data.type, comm.native());
  });
}

void Alltoall::operator()(const Communicator& comm, const Operand& inout, Posted* posted) const {
  (*this)(comm, inout.placed(), inout, posted);
}

void Alltoallv::operator()(const Communicator& comm, const Operand& in, const Operand& out,
                           Posted* posted) const {
  const auto problem = [&] {
    return first_of({counts_problem(comm, receive_counts, out),
                     in.in_place() ? Problem() : counts_problem(comm, send_counts, in),
                     in.in_place() ? Problem() : overlap_problem(in, out)});
  };
  const auto describe = [&] {
    auto call = call_of(name, posted, sizes(in, out), {comm::to_string(out.scalar)});
    call.sends = send_counts.values();
    call.expects = receive_counts.values();
    return call;
  };
  perform(comm, posted, problem, describe, [&] {
    const auto type = detail::internals(comm).element_type(out.scalar);
    struct Both {
      CountArrays sends;
      CountArrays receives;
    };
    const auto both = std::make_shared<Both>(
        Both{in.in_place() ? CountArrays() : arrays(send_counts, in), arrays(receive_counts, out)});
    if (posted) posted->arrays = both;
    const auto& [sends, receives] = *both;
    call_mpi(comm, posted, {"MPI_Alltoallv", "MPI_Ialltoallv"}, MPI_Alltoallv, MPI_Ialltoallv, in.data,
             sends.counts.data(), sends.offsets.data(), type, out.data, receives.counts.data(),
             receives.offsets.data(), type, comm.native());
  });
}

void Alltoallv::operator()(const Communicator& comm, const Operand& inout, Posted* posted) const {
  (*this)(comm, inout.placed(), inout, posted);
}

} // namespace kontor::comm::detail
