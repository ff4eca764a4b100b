// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "calls/perform.hpp"

#include <kontor/comm/communicator/internals.hpp>
#include <kontor/comm/scatter.hpp>

namespace kontor::comm::detail {

void Scatter::operator()(const Communicator& comm, const Operand& in, const Operand& out,
                         Posted* posted) const {
  const bool at_root = comm.rank() == root;
  const auto part = out.in_place() ? in.count / comm.size() : out.count;
  const auto problem = [&] {
    return first_of({root_problem(comm, root), at_root ? whole_problem(comm, out, in) : Problem()});
  };
  const auto describe = [&] {
    return call_of(name, posted, at_root ? words(in, out) : words(out),
                   {count_words(part, out.scalar), root_words(root)});
  };
  perform(comm, posted, problem, describe, [&] {
    const auto data = mpi::payload(part, out.scalar);
    call_mpi(comm, posted, {"MPI_Scatter", "MPI_Iscatter"}, MPI_Scatter, MPI_Iscatter, in.data, data.count,
             data.type, out.data, data.count, data.type, root, comm.native());
  });
}

void Scatter::operator()(const Communicator& comm, const Operand& inout, Posted* posted) const {
  if (comm.rank() == root) return (*this)(comm, inout, inout.placed(), posted);
  (*this)(comm, inout.absent(), inout, posted);
}

void Scatterv::operator()(const Communicator& comm, const Operand& in, const Operand& out,
                          Posted* posted) const {
  const bool at_root = comm.rank() == root;
  const auto problem = [&] {
    return first_of({root_problem(comm, root), at_root ? counts_problem(comm, counts, out, in) : Problem()});
  };
  const auto describe = [&] {
    auto call = call_of(name, posted, at_root ? sizes(in, out) : sizes(out),
                        {comm::to_string(out.scalar), root_words(root)});
    call.sends = at_root ? counts.values() : only(comm, root, 0);
    call.expects = only(comm, root, out.in_place() ? counts[comm.rank()] : out.count);
    return call;
  };
  perform(comm, posted, problem, describe, [&] {
    const auto type = detail::internals(comm).element_type(out.scalar);
    const auto all = std::make_shared<CountArrays>(at_root ? arrays(counts, in) : CountArrays());
    if (posted) posted->arrays = all;
    call_mpi(comm, posted, {"MPI_Scatterv", "MPI_Iscatterv"}, MPI_Scatterv, MPI_Iscatterv, in.data,
             all->counts.data(), all->offsets.data(), type, out.data, int_count(out), type, root,
             comm.native());
  });
}

void Scatterv::operator()(const Communicator& comm, const Operand& inout, Posted* posted) const {
  if (comm.rank() == root) return (*this)(comm, inout, inout.placed(), posted);
  (*this)(comm, inout.absent(), inout, posted);
}

} // namespace kontor::comm::detail
