// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "calls/perform.hpp"

#include <kontor/comm/communicator/internals.hpp>
#include <kontor/comm/gather.hpp>
#include <kontor/comm/scatter.hpp>

namespace kontor::comm::detail {
namespace {

/// A part of each rank, and the whole of all parts where a rank has it: at the root, if there is one.
struct PartsOfWhole {
  const Call& call;
  const Operand& part;
  const Operand& whole;
  std::optional<int> root{};

  bool has_whole() const { return !root || call.comm.rank() == *root; }
  Problem own_root_problem() const { return root ? root_problem(call.comm, *root) : std::nullopt; }
  CollectiveCall in_words(std::string subject, std::string field) const {
    std::vector<std::string> fields{std::move(field)};
    if (root) fields.push_back(root_words(*root));
    return detail::in_words(call, std::move(subject), std::move(fields));
  }
};

struct EqualParts : PartsOfWhole {
  std::int64_t count() const { return part.in_place() ? whole.count / call.comm.size() : part.count; }
  mpi::Payload payload() const { return mpi::payload(count(), part.scalar); }

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
  const Counts& counts;

  MPI_Datatype type() const { return detail::internals(call.comm).element_type(part.scalar); }
  std::int64_t count() const { return part.in_place() ? counts[call.comm.rank()] : part.count; }
  int int_count() const {
    return naming(*this, [&] { return detail::int_count(part); });
  }
  /// MPI reads them as long as the operation lasts.
  std::shared_ptr<const CountArrays> arrays() const {
    auto made = std::make_shared<CountArrays>();
    if (has_whole()) *made = naming(*this, [&] { return detail::arrays(counts, whole); });
    if (call.pending) call.pending->arrays = made;
    return made;
  }

  Problem problem() const {
    if (auto no_root = own_root_problem()) return no_root;
    if (!has_whole()) return std::nullopt;
    if (auto wrong_counts = counts_problem(call.comm, counts, whole)) return wrong_counts;
    if (part.in_place()) return std::nullopt;
    return first_of(
        {count_problem(part, counts[call.comm.rank()], "this rank's count"), overlap_problem(part, whole)});
  }
  CollectiveCall operator()() const {
    auto words = in_words(has_whole() ? sizes(call.in, call.out) : sizes(part), comm::to_string(part.scalar));
    const bool gathers = &part == &call.in;
    auto& of_part = gathers ? words.sends : words.expects;
    auto& of_whole = gathers ? words.expects : words.sends;
    of_part.assign(call.comm.size(), count());
    if (root) of_part = only(call.comm, *root, count());
    of_whole = has_whole() ? counts.values() : only(call.comm, 0, 0);
    return words;
  }
};

} // namespace

void Gather::operator()(const Call& call) const {
  const EqualParts parts{call, call.in, call.out, root};
  check(
      call, [&] { return parts.problem(); }, parts);
  const auto data = parts.payload();
  call_mpi(call, parts, MPI_Gather, MPI_Igather, call.in.data, data.count, data.type, call.out.data,
           data.count, data.type, root);
}

void Scatter::operator()(const Call& call) const {
  const EqualParts parts{call, call.out, call.in, root};
  check(
      call, [&] { return parts.problem(); }, parts);
  const auto data = parts.payload();
  call_mpi(call, parts, MPI_Scatter, MPI_Iscatter, call.in.data, data.count, data.type, call.out.data,
           data.count, data.type, root);
}

void Allgather::operator()(const Call& call) const {
  const EqualParts parts{call, call.in, call.out};
  check(
      call, [&] { return parts.problem(); }, parts);
  if (call.queued()) {
    auto own = flat_buffer(call.in.in_place() ? call.out : call.in, parts.count());
    if (call.in.in_place())
      own.data = static_cast<char*>(call.out.data) + call.comm.rank() * parts.count() * call.out.scalar.size;
    return naming(parts,
                  [&] { call.pending->collectives->allgather(call.pending->stream, own, call.out.data); });
  }
  const auto data = parts.payload();
  call_mpi(call, parts, MPI_Allgather, MPI_Iallgather, call.in.data, data.count, data.type, call.out.data,
           data.count, data.type);
}

void Gatherv::operator()(const Call& call) const {
  const CountedParts parts{{call, call.in, call.out, root}, counts};
  check(
      call, [&] { return parts.problem(); }, parts);
  const auto all = parts.arrays();
  call_mpi(call, parts, MPI_Gatherv, MPI_Igatherv, call.in.data, parts.int_count(), parts.type(),
           call.out.data, all->counts.data(), all->offsets.data(), parts.type(), root);
}

void Scatterv::operator()(const Call& call) const {
  const CountedParts parts{{call, call.out, call.in, root}, counts};
  check(
      call, [&] { return parts.problem(); }, parts);
  const auto all = parts.arrays();
  call_mpi(call, parts, MPI_Scatterv, MPI_Iscatterv, call.in.data, all->counts.data(), all->offsets.data(),
           parts.type(), call.out.data, parts.int_count(), parts.type(), root);
}

void Allgatherv::operator()(const Call& call) const {
  const CountedParts parts{{call, call.in, call.out}, counts};
  check(
      call, [&] { return parts.problem(); }, parts);
  const auto all = parts.arrays();
  call_mpi(call, parts, MPI_Allgatherv, MPI_Iallgatherv, call.in.data, parts.int_count(), parts.type(),
           call.out.data, all->counts.data(), all->offsets.data(), parts.type());
}

} // namespace kontor::comm::detail
