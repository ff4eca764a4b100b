// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operations whose Views are made of a part for each rank.
#include "collectives/perform.hpp"

namespace kontor::comm::detail {
namespace {

/// A part of each rank, and the whole of all parts where a rank has it: at the root, if there is one.
struct PartsOfWhole {
  const Call& call;
  bool gathers = call.collective.kind.flow != Flow::from_root;
  const Operand& part = gathers ? call.in : call.out;
  const Operand& whole = gathers ? call.out : call.in;

  bool has_whole() const { return !call.rooted() || call.comm.rank() == call.collective.root; }
};

struct EqualParts : PartsOfWhole {
  std::int64_t count() const { return part.in_place() ? whole.count / call.comm.size() : part.count; }

  Problem problem() const {
    if (!has_whole()) return std::nullopt;
    if (part.in_place()) return division_problem(call.comm, whole);
    return first_of(
        {count_problem(whole, part.count * call.comm.size(), "those of all ranks"), overlap_problem(part, whole)});
  }
  CollectiveCall operator()() const {
    return in_words(call, has_whole() ? words(call.in, call.out) : words(part), {count_words(count(), part.scalar)});
  }
  /// Only an allgather is.
  void queue() const {
    auto own = flat_buffer(part.in_place() ? whole : part, count());
    if (part.in_place()) own.data = static_cast<char*>(whole.data) + call.comm.rank() * count() * whole.scalar.size;
    call.pending->collectives->allgather(call.pending->stream, own, whole.data);
  }
};

struct CountedParts : PartsOfWhole {
  const Counts& counts = *call.collective.counts;

  int int_count() const {
    return naming(*this, [&] { return to_int(part.count, "the count", part); });
  }
  /// Those of the whole, on ranks that have it.
  CountArrays arrays() const {
    if (!has_whole()) return {};
    return naming(*this, [&] { return detail::arrays(counts, whole); });
  }

  Problem problem() const {
    if (!has_whole()) return std::nullopt;
    return first_of({counts_problem(call.comm, counts, whole),
                     count_problem(part, counts[call.comm.rank()], "this rank's count"),
                     overlap_problem(part, whole, false)});
  }
  CollectiveCall operator()() const {
    auto result = in_words(call, has_whole() ? words(call.in, call.out) : words(part), {comm::to_string(part.scalar)});
    auto& of_part = gathers ? result.sends : result.expects;
    auto& of_whole = gathers ? result.expects : result.sends;
    of_part.assign(call.comm.size(), part.count);
    if (call.rooted()) of_part = only(call.comm, call.collective.root, part.count);
    of_whole = has_whole() ? counts.values() : only(call.comm, 0, 0);
    return result;
  }
};

/// Parts from every rank for every rank: both Views are whole.
struct EqualBlocks {
  const Call& call;

  std::int64_t count() const { return call.out.count / call.comm.size(); }
  Problem problem() const {
    if (call.in.in_place()) return division_problem(call.comm, call.out);
    return first_of({count_problem(call.out, call.in.count, "as many as are given"),
                     division_problem(call.comm, call.in), overlap_problem(call.in, call.out)});
  }
  CollectiveCall operator()() const {
    return in_words(call, words(call.in, call.out), {count_words(count(), call.out.scalar)});
  }
  void queue() const { call.pending->collectives->alltoall(call.pending->stream, flat_buffer(call.in), call.out.data); }
};

struct CountedBlocks {
  const Call& call;
  const Counts& sends = *call.collective.send_counts;
  const Counts& receives = *call.collective.counts;

  Problem problem() const {
    return first_of({counts_problem(call.comm, receives, call.out), counts_problem(call.comm, sends, call.in),
                     overlap_problem(call.in, call.out, false)});
  }
  CollectiveCall operator()() const {
    auto result = in_words(call, words(call.in, call.out), {comm::to_string(call.out.scalar)});
    result.sends = sends.values();
    result.expects = receives.values();
    return result;
  }
};

template <class Parts, auto blocking, auto nonblocking>
void equal(const Call& call) {
  const Parts parts{call};
  check(call, parts);
  if (call.queued()) return naming(parts, [&] { parts.queue(); });
  const auto data = mpi::payload(parts.count(), call.out.scalar);
  call_mpi(call, parts, blocking, nonblocking, call.in.data, data.count, data.type, call.out.data, data.count,
           data.type);
}

template <auto blocking, auto nonblocking>
void gather_counted(const Call& call) {
  const CountedParts parts{call};
  check(call, parts);
  const auto all = parts.arrays();
  const auto type = element_type(call);
  call_mpi(call, parts, blocking, nonblocking, call.in.data, parts.int_count(), type, call.out.data, all.counts.data(),
           all.offsets.data(), type);
}

void scatter_counted(const Call& call) {
  const CountedParts parts{call};
  check(call, parts);
  const auto all = parts.arrays();
  const auto type = element_type(call);
  call_mpi(call, parts, MPI_Scatterv, MPI_Iscatterv, call.in.data, all.counts.data(), all.offsets.data(), type,
           call.out.data, parts.int_count(), type);
}

void alltoall_counted(const Call& call) {
  const CountedBlocks blocks{call};
  check(call, blocks);
  const auto sends = naming(blocks, [&] { return arrays(blocks.sends, call.in); });
  const auto receives = naming(blocks, [&] { return arrays(blocks.receives, call.out); });
  const auto type = element_type(call);
  call_mpi(call, blocks, MPI_Alltoallv, MPI_Ialltoallv, call.in.data, sends.counts.data(), sends.offsets.data(), type,
           call.out.data, receives.counts.data(), receives.offsets.data(), type);
}

} // namespace

const Kind Kind::gather{"gather", "igather", Flow::to_root, equal<EqualParts, MPI_Gather, MPI_Igather>};
const Kind Kind::scatter{"scatter", "iscatter", Flow::from_root, equal<EqualParts, MPI_Scatter, MPI_Iscatter>};
const Kind Kind::allgather{"allgather", "iallgather", Flow::among_all, equal<EqualParts, MPI_Allgather, MPI_Iallgather>,
                           true};
const Kind Kind::alltoall{"alltoall", "ialltoall", Flow::among_all, equal<EqualBlocks, MPI_Alltoall, MPI_Ialltoall>,
                          true};
const Kind Kind::gatherv{"gatherv", "igatherv", Flow::to_root, gather_counted<MPI_Gatherv, MPI_Igatherv>};
const Kind Kind::scatterv{"scatterv", "iscatterv", Flow::from_root, scatter_counted};
const Kind Kind::allgatherv{"allgatherv", "iallgatherv", Flow::among_all,
                            gather_counted<MPI_Allgatherv, MPI_Iallgatherv>};
const Kind Kind::alltoallv{"alltoallv", "ialltoallv", Flow::among_all, alltoall_counted};

} // namespace kontor::comm::detail
