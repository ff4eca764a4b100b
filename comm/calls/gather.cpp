// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "calls/perform.hpp"

#include <kontor/comm/communicator/internals.hpp>
#include <kontor/comm/gather.hpp>

namespace kontor::comm::detail {

void Gather::operator()(const Communicator& comm, const Operand& in, const Operand& out,
                        Posted* posted) const {
  const bool at_root = comm.rank() == root;
  const auto part = in.in_place() ? out.count / comm.size() : in.count;
  const auto problem = [&] {
    return first_of({root_problem(comm, root), at_root ? whole_problem(comm, in, out) : Problem()});
  };
  const auto describe = [&] {
    return call_of(name, posted, at_root ? words(in, out) : words(in),
                   {count_words(part, in.scalar), root_words(root)});
  };
  perform(comm, posted, problem, describe, [&] {
    const auto data = mpi::payload(part, in.scalar);
    call_mpi(comm, posted, {"MPI_Gather", "MPI_Igather"}, MPI_Gather, MPI_Igather, in.data, data.count,
             data.type, out.data, data.count, data.type, root, comm.native());
  });
}

void Gather::operator()(const Communicator& comm, const Operand& inout, Posted* posted) const {
  if (comm.rank() == root) return (*this)(comm, inout.placed(), inout, posted);
  (*this)(comm, inout, inout.absent(), posted);
}

void Gatherv::operator()(const Communicator& comm, const Operand& in, const Operand& out,
                         Posted* posted) const {
  const bool at_root = comm.rank() == root;
  const auto problem = [&] {
    return first_of({root_problem(comm, root), at_root ? counts_problem(comm, counts, in, out) : Problem()});
  };
  const auto describe = [&] {
    auto call = call_of(name, posted, at_root ? sizes(in, out) : sizes(in),
                        {comm::to_string(in.scalar), root_words(root)});
    call.sends = only(comm, root, in.in_place() ? counts[comm.rank()] : in.count);
    call.expects = at_root ? counts.values() : only(comm, root, 0);
    return call;
  };
  perform(comm, posted, problem, describe, [&] {
    const auto type = detail::internals(comm).element_type(in.scalar);
    const auto all = std::make_shared<CountArrays>(at_root ? arrays(counts, out) : CountArrays());
    if (posted) posted->arrays = all;
    call_mpi(comm, posted, {"MPI_Gatherv", "MPI_Igatherv"}, MPI_Gatherv, MPI_Igatherv, in.data, int_count(in),
             type, out.data, all->counts.data(), all->offsets.data(), type, root, comm.native());
  });
}

void Gatherv::operator()(const Communicator& comm, const Operand& inout, Posted* posted) const {
  if (comm.rank() == root) return (*this)(comm, inout.placed(), inout, posted);
  (*this)(comm, inout, inout.absent(), posted);
}

bool Allgather::queues(const StreamCollectives& backend, Scalar, std::size_t, std::int64_t) const {
  return backend.moves();
}

void Allgather::operator()(const Communicator& comm, const Operand& in, const Operand& out,
                           Posted* posted) const {
  const auto part = in.in_place() ? out.count / comm.size() : in.count;
  const auto describe = [&] { return call_of(name, posted, words(in, out), {count_words(part, in.scalar)}); };
  const auto problem = [&] { return whole_problem(comm, in, out); };
  perform(comm, posted, problem, describe, [&] {
    if (is_queued(posted)) {
      auto own = flat_buffer(in.in_place() ? out : in, part);
      if (in.in_place()) own.data = static_cast<char*>(out.data) + comm.rank() * part * out.scalar.size;
      return posted->collectives->allgather(posted->stream, own, out.data);
    }
    const auto data = mpi::payload(part, in.scalar);
    call_mpi(comm, posted, {"MPI_Allgather", "MPI_Iallgather"}, MPI_Allgather, MPI_Iallgather, in.data,
             data.count, data.type, out.data, data.count, data.type, comm.native());
  });
}

void Allgather::operator()(const Communicator& comm, const Operand& inout, Posted* posted) const {
  (*this)(comm, inout.placed(), inout, posted);
}

void Allgatherv::operator()(const Communicator& comm, const Operand& in, const Operand& out,
                            Posted* posted) const {
  const auto describe = [&] {
    auto call = call_of(name, posted, sizes(in, out), {comm::to_string(in.scalar)});
    call.sends.assign(comm.size(), in.in_place() ? counts[comm.rank()] : in.count);
    call.expects = counts.values();
    return call;
  };
  const auto problem = [&] { return counts_problem(comm, counts, in, out); };
  perform(comm, posted, problem, describe, [&] {
    const auto type = detail::internals(comm).element_type(in.scalar);
    const auto all = std::make_shared<CountArrays>(arrays(counts, out));
    if (posted) posted->arrays = all;
    call_mpi(comm, posted, {"MPI_Allgatherv", "MPI_Iallgatherv"}, MPI_Allgatherv, MPI_Iallgatherv, in.data,
             int_count(in), type, out.data, all->counts.data(), all->offsets.data(), type, comm.native());
  });
}

void Allgatherv::operator()(const Communicator& comm, const Operand& inout, Posted* posted) const {
  (*this)(comm, inout.placed(), inout, posted);
}

} // namespace kontor::comm::detail
