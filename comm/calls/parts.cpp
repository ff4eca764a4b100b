// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operations whose Views are made of a part for each rank.
#include "calls/perform.hpp"

namespace kontor::comm::detail {
namespace {

/// A part of each rank, and the whole of all parts where a rank has it: at the root, if there is one.
struct PartsOfWhole {
  const Call& call;
  const Operand& part;
  const Operand& whole;

  bool has_root() const { return call.collective.kind.flow != Flow::among_all; }
  int root() const { return call.collective.root; }
  bool has_whole() const { return !has_root() || call.comm.rank() == root(); }
  Problem own_root_problem() const { return has_root() ? root_problem(call.comm, root()) : std::nullopt; }
  CollectiveCall in_words(std::string subject, std::string field) const {
    std::vector<std::string> fields{std::move(field)};
    if (has_root()) fields.push_back(root_words(root()));
    return detail::in_words(call, std::move(subject), std::move(fields));
  }
};

struct EqualParts : PartsOfWhole {
  std::int64_t count() const { return part.in_place() ? whole.count / call.comm.size() : part.count; }

  Problem problem() const {
    if (auto no_root = own_root_problem()) return no_root;
    if (!has_whole()) return std::nullopt;
    if (part.in_place()) return division_problem(call.comm, whole);
    return first_of({count_problem(whole, part.count * call.comm.size(), "those of all ranks"),
                     overlap_problem(part, whole)});
  }
  CollectiveCall operator()() const {
    return in_words(has_whole() ? words(call.in, call.out) : words(part), count_words(count(), part.scalar));
  }
};

struct CountedParts : PartsOfWhole {
  const Counts& counts() const { return *call.collective.counts; }
  MPI_Datatype type() const { return element_type(call); }
  std::int64_t count() const { return part.in_place() ? counts()[call.comm.rank()] : part.count; }
  int int_count() const {
    return naming(*this, [&] { return detail::int_count(part); });
  }
  /// Those of the whole, on ranks that have it.
  std::shared_ptr<const BothCounts> arrays() const {
    const Counts* const of_whole = has_whole() ? &counts() : nullptr;
    const bool is_given = &whole == &call.in;
    return count_arrays(call, *this, is_given ? of_whole : nullptr, is_given ? nullptr : of_whole);
  }

  Problem problem() const {
    if (auto no_root = own_root_problem()) return no_root;
    if (!has_whole()) return std::nullopt;
    if (auto wrong_counts = counts_problem(call.comm, counts(), whole)) return wrong_counts;
    if (part.in_place()) return std::nullopt;
    return first_of(
        {count_problem(part, counts()[call.comm.rank()], "this rank's count"), overlap_problem(part, whole)});
  }
  CollectiveCall operator()() const {
    auto words = in_words(has_whole() ? sizes(call.in, call.out) : sizes(part), comm::to_string(part.scalar));
    const bool gathers = &part == &call.in;
    auto& of_part = gathers ? words.sends : words.expects;
    auto& of_whole = gathers ? words.expects : words.sends;
    of_part.assign(call.comm.size(), count());
    if (has_root()) of_part = only(call.comm, root(), count());
    of_whole = has_whole() ? counts().values() : only(call.comm, 0, 0);
    return words;
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
};

struct CountedBlocks {
  const Call& call;

  const Counts& sends() const { return *call.collective.send_counts; }
  const Counts& receives() const { return *call.collective.counts; }
  Problem problem() const {
    auto wrong = counts_problem(call.comm, receives(), call.out);
    if (wrong || call.in.in_place()) return wrong;
    return first_of({counts_problem(call.comm, sends(), call.in), overlap_problem(call.in, call.out)});
  }
  CollectiveCall operator()() const {
    auto words = in_words(call, sizes(call.in, call.out), {comm::to_string(call.out.scalar)});
    words.sends = sends().values();
    words.expects = receives().values();
    return words;
  }
};

/// What MPI calls for equal parts have in common.
template <class Parts, class Blocking, class Nonblocking, class... Root>
void call_equal(const Call& call, const Parts& parts, Blocking blocking, Nonblocking nonblocking,
                Root... root) {
  const auto data = mpi::payload(parts.count(), call.out.scalar);
  call_mpi(call, parts, blocking, nonblocking, call.in.data, data.count, data.type, call.out.data, data.count,
           data.type, root...);
}

void gather(const Call& call) {
  const EqualParts parts{{call, call.in, call.out}};
  check(call, parts);
  call_equal(call, parts, MPI_Gather, MPI_Igather, parts.root());
}

void scatter(const Call& call) {
  const EqualParts parts{{call, call.out, call.in}};
  check(call, parts);
  call_equal(call, parts, MPI_Scatter, MPI_Iscatter, parts.root());
}

void allgather(const Call& call) {
  const EqualParts parts{{call, call.in, call.out}};
  check(call, parts);
  if (!call.queued()) return call_equal(call, parts, MPI_Allgather, MPI_Iallgather);
  auto own = flat_buffer(call.in.in_place() ? call.out : call.in, parts.count());
  if (call.in.in_place())
    own.data = static_cast<char*>(call.out.data) + call.comm.rank() * parts.count() * call.out.scalar.size;
  naming(parts, [&] { call.pending->collectives->allgather(call.pending->stream, own, call.out.data); });
}

void alltoall(const Call& call) {
  const EqualBlocks blocks{call};
  check(call, blocks);
  if (!call.queued()) return call_equal(call, blocks, MPI_Alltoall, MPI_Ialltoall);
  naming(blocks, [&] {
    call.pending->collectives->alltoall(call.pending->stream, flat_buffer(call.in), call.out.data);
  });
}

void gatherv(const Call& call) {
  const CountedParts parts{{call, call.in, call.out}};
  check(call, parts);
  const auto all = parts.arrays();
  call_mpi(call, parts, MPI_Gatherv, MPI_Igatherv, call.in.data, parts.int_count(), parts.type(),
           call.out.data, all->out.counts.data(), all->out.offsets.data(), parts.type(), parts.root());
}

void scatterv(const Call& call) {
  const CountedParts parts{{call, call.out, call.in}};
  check(call, parts);
  const auto all = parts.arrays();
  call_mpi(call, parts, MPI_Scatterv, MPI_Iscatterv, call.in.data, all->in.counts.data(),
           all->in.offsets.data(), parts.type(), call.out.data, parts.int_count(), parts.type(),
           parts.root());
}

void allgatherv(const Call& call) {
  const CountedParts parts{{call, call.in, call.out}};
  check(call, parts);
  const auto all = parts.arrays();
  call_mpi(call, parts, MPI_Allgatherv, MPI_Iallgatherv, call.in.data, parts.int_count(), parts.type(),
           call.out.data, all->out.counts.data(), all->out.offsets.data(), parts.type());
}

void alltoallv(const Call& call) {
  const CountedBlocks blocks{call};
  check(call, blocks);
  const auto all =
      count_arrays(call, blocks, call.in.in_place() ? nullptr : &blocks.sends(), &blocks.receives());
  const auto type = element_type(call);
  call_mpi(call, blocks, MPI_Alltoallv, MPI_Ialltoallv, call.in.data, all->in.counts.data(),
           all->in.offsets.data(), type, call.out.data, all->out.counts.data(), all->out.offsets.data(),
           type);
}

bool alltoall_queued(const StreamCollectives& backend, const Collective&, Scalar, std::size_t operands,
                     std::int64_t) {
  return operands == 2 && backend.moves(); // none does it in place
}

} // namespace

const Kind Kind::gather{"gather", "igather", Flow::to_root, detail::gather};
const Kind Kind::gatherv{"gatherv", "igatherv", Flow::to_root, detail::gatherv};
const Kind Kind::scatter{"scatter", "iscatter", Flow::from_root, detail::scatter};
const Kind Kind::scatterv{"scatterv", "iscatterv", Flow::from_root, detail::scatterv};
const Kind Kind::allgather{"allgather", "iallgather", Flow::among_all, detail::allgather, moves};
const Kind Kind::allgatherv{"allgatherv", "iallgatherv", Flow::among_all, detail::allgatherv};
const Kind Kind::alltoall{"alltoall", "ialltoall", Flow::among_all, detail::alltoall, alltoall_queued};
const Kind Kind::alltoallv{"alltoallv", "ialltoallv", Flow::among_all, detail::alltoallv};

} // namespace kontor::comm::detail
