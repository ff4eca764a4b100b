// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "calls/perform.hpp"

#include <kontor/comm/alltoall.hpp>
#include <kontor/comm/communicator/internals.hpp>

namespace kontor::comm::detail {

void Alltoall::operator()(const Call& call) const {
  const auto& [comm, traits, in, out, pending] = call;
  const auto part = out.count / comm.size();
  const auto problem = [&] {
    return in.in_place() ? division_problem(comm, out)
                         : first_of({count_problem(out, in.count, "as many as are given"),
                                     division_problem(comm, in), overlap_problem(in, out)});
  };
  const auto describe = [&call, part] {
    return in_words(call, words(call.in, call.out), {count_words(part, call.out.scalar)});
  };
  check(call, problem, describe);
  if (call.queued())
    return naming(describe, [&call] {
      call.pending->collectives->alltoall(call.pending->stream, flat_buffer(call.in), call.out.data);
    });
  const auto data = mpi::payload(part, out.scalar);
  call_mpi(call, describe, MPI_Alltoall, MPI_Ialltoall, in.data, data.count, data.type, out.data, data.count,
           data.type);
}

void Alltoallv::operator()(const Call& call) const {
  const auto& [comm, traits, in, out, pending] = call;
  const auto problem = [&] {
    auto wrong = counts_problem(comm, receive_counts, out);
    if (wrong || in.in_place()) return wrong;
    return first_of({counts_problem(comm, send_counts, in), overlap_problem(in, out)});
  };
  const auto describe = [&call, this] {
    auto words = in_words(call, sizes(call.in, call.out), {comm::to_string(call.out.scalar)});
    words.sends = send_counts.values();
    words.expects = receive_counts.values();
    return words;
  };
  check(call, problem, describe);
  struct Both {
    CountArrays sends;
    CountArrays receives;
  };
  const auto both = std::make_shared<Both>(naming(describe, [&call, this] {
    return Both{call.in.in_place() ? CountArrays() : arrays(send_counts, call.in),
                arrays(receive_counts, call.out)};
  }));
  if (pending) pending->arrays = both;
  const auto& [sends, receives] = *both;
  const auto type = detail::internals(comm).element_type(out.scalar);
  call_mpi(call, describe, MPI_Alltoallv, MPI_Ialltoallv, in.data, sends.counts.data(), sends.offsets.data(),
           type, out.data, receives.counts.data(), receives.offsets.data(), type);
}

} // namespace kontor::comm::detail
