// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "calls/perform.hpp"

#include <kontor/comm/communicator/internals.hpp>
#include <kontor/comm/reduce_scatter.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>

namespace kontor::comm::detail {

void functor_threw(const char* type) noexcept {
  std::string what = "something that is no std::exception";
  try {
    throw;
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) { // as said
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fmt::print(stderr,
             "rank {}: the functor of a reduction ({}) has thrown: {}; MPI called it, so it may not\n", rank,
             type, what);
  std::fflush(stderr);
  constexpr int failed = 3; // as of runs that fail
  MPI_Abort(MPI_COMM_WORLD, failed);
  std::abort();
}

namespace {

std::string words(const Reducer& op) {
  if (!op.function) return to_string(op.named);
  return fmt::format("{}commutative functor {}", op.commutative ? "" : "non-", op.type);
}

/// An operation in MPI's terms.
struct Reduction {
  MPI_Datatype type;
  MPI_Op op;
};

Problem op_problem(const Reducer& op, Scalar scalar) {
  if (op.function || mpi::reduction(op.named, scalar) != MPI_OP_NULL) [[likely]]
    return std::nullopt;
  return fmt::format("{} is not defined for {}; a functor can say what it is", to_string(op.named),
                     comm::to_string(scalar));
}

/// Throws CallError at every check level if MPI does not define it.
template <class Describe>
Reduction reduction_of(const Call& call, const Reducer& op, Scalar scalar, const Describe& describe) {
  if (op.function)
    return {detail::internals(call.comm).element_type(scalar),
            detail::internals(call.comm).operation(op.function, op.commutative)};
  if (const auto undefined = op_problem(op, scalar)) [[unlikely]]
    throw CallError(fmt::format("{}: {}", to_string(describe()), *undefined));
  return {mpi::element(scalar).type, mpi::reduction(op.named, scalar)};
}

/// One call of any of the reductions.
struct Combination {
  const Call& call;
  const Reducer& op;
  std::optional<int> root = {};

  const Operand& own() const { return call.in.in_place() ? call.out : call.in; }
  bool has_both() const { return !call.in.in_place() && (!root || call.comm.rank() == *root); }

  Problem problem() const {
    if (auto undefined = op_problem(op, own().scalar)) return undefined;
    if (root)
      if (auto not_a_rank = root_problem(call.comm, *root)) return not_a_rank;
    if (!has_both()) return std::nullopt;
    if (auto other_count = count_problem(call.out, call.in.count, "as many as are given")) return other_count;
    if (auto overlap = overlap_problem(call.in, call.out)) return overlap;
    return verified(call.comm) ? layout_problem() : std::nullopt;
  }

  /// Elements travel as they lie, so where layouts differ they would end at other indices.
  Problem layout_problem() const {
    const auto from = equal_words(call.in);
    const auto to = equal_words(call.out);
    if (from == to) return std::nullopt;
    return fmt::format("{} is {}, but {} is {}", detail::name(call.in), from, detail::name(call.out), to);
  }

  CollectiveCall operator()() const {
    std::vector<std::string> fields{equal_words(own()), words(op)};
    if (root) fields.push_back(root_words(*root));
    auto subject =
        has_both() ? detail::name(call.in) + " into " + detail::name(call.out) : detail::name(own());
    return in_words(call, std::move(subject), std::move(fields));
  }

  Reduction reduction() const {
    check(
        call, [&] { return problem(); }, *this);
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    if (call.pending && !call.queued() && own().count > most) [[unlikely]]
      throw CallError(fmt::format("{}: {} elements are more than the {} that one non-blocking reduction "
                                  "takes; use the blocking one, or reduce subviews",
                                  to_string((*this)()), own().count, most));
    return reduction_of(call, op, own().scalar, *this);
  }
};

/// As many elements as one MPI call takes, from the first to the last; none at all are one chunk, too.
struct Chunk {
  const Combination& of;
  std::int64_t limit;
  std::int64_t end = 0;
  int count = -1;

  bool next() {
    const auto left = of.own().count - end;
    if (left == 0 && count >= 0) return false;
    count = static_cast<int>(std::min(left, of.call.pending ? left : limit));
    end += count;
    return true;
  }
  void* in() const { return begin(of.call.in); }
  void* out() const { return begin(of.call.out); }
  void* begin(const Operand& operand) const {
    if (end == count || !operand.data || operand.in_place()) return operand.data;
    return static_cast<char*>(operand.data) + (end - count) * operand.scalar.size;
  }
};

} // namespace

void Allreduce::operator()(const Call& call) const {
  const Combination combination{call, op};
  const auto [type, mpi_op] = combination.reduction();
  if (call.queued())
    return naming(combination, [&] {
      call.pending->collectives->allreduce(call.pending->stream, combination.own().data,
                                           flat_buffer(call.out), op.named);
    });
  for (Chunk part{combination, chunk}; part.next();)
    call_mpi(call, combination, MPI_Allreduce, MPI_Iallreduce, part.in(), part.out(), part.count, type,
             mpi_op);
}

void Reduce::operator()(const Call& call) const {
  const Combination combination{call, op, root};
  const auto [type, mpi_op] = combination.reduction();
  if (call.queued())
    return naming(combination, [&] {
      call.pending->collectives->reduce(call.pending->stream, flat_buffer(combination.own()), call.out.data,
                                        op.named, root);
    });
  for (Chunk part{combination, chunk}; part.next();)
    call_mpi(call, combination, MPI_Reduce, MPI_Ireduce, part.in(), part.out(), part.count, type, mpi_op,
             root);
}

void Scan::operator()(const Call& call) const {
  const Combination combination{call, op};
  const auto [type, mpi_op] = combination.reduction();
  for (Chunk part{combination, chunk}; part.next();)
    call_mpi(call, combination, MPI_Scan, MPI_Iscan, part.in(), part.out(), part.count, type, mpi_op);
}

void Exscan::operator()(const Call& call) const {
  const Combination combination{call, op};
  const auto [type, mpi_op] = combination.reduction();
  for (Chunk part{combination, chunk}; part.next();)
    call_mpi(call, combination, MPI_Exscan, MPI_Iexscan, part.in(), part.out(), part.count, type, mpi_op);
}

void ReduceScatter::operator()(const Call& call) const {
  const auto ranks = call.comm.size();
  auto own = call.out;
  if (call.in.in_place()) own.count /= ranks;
  const auto describe = [&] {
    return in_words(call, words(call.in, call.out), {count_words(own.count, own.scalar), words(op)});
  };
  const auto problem = [&] {
    if (auto undefined = op_problem(op, own.scalar)) return undefined;
    if (call.in.in_place()) return division_problem(call.comm, call.out);
    return first_of({count_problem(call.in, own.count * ranks, "as many for each rank as it gets"),
                     overlap_problem(call.in, call.out)});
  };
  check(call, problem, describe);
  const auto [type, mpi_op] = reduction_of(call, op, own.scalar, describe);
  const int count = naming(describe, [&] { return int_count(own); });
  call_mpi(call, describe, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, call.in.data, call.out.data,
           count, type, mpi_op);
}

void ReduceScatterv::operator()(const Call& call) const {
  const auto& whole = call.in.in_place() ? call.out : call.in;
  const auto describe = [&] {
    return in_words(call, words(call.in, call.out),
                    {fmt::format("counts ({})", fmt::join(counts.values(), ", ")), words(op)});
  };
  const auto problem = [&] {
    if (auto undefined = op_problem(op, whole.scalar)) return undefined;
    auto wrong = counts_problem(call.comm, counts, whole);
    if (wrong || call.in.in_place()) return wrong;
    return first_of({count_problem(call.out, counts[call.comm.rank()], "this rank's count"),
                     overlap_problem(call.in, call.out)});
  };
  check(call, problem, describe);
  const auto [type, mpi_op] = reduction_of(call, op, whole.scalar, describe);
  const auto all =
      std::make_shared<CountArrays>(naming(describe, [&] { return detail::arrays(counts, whole); }));
  if (call.pending) call.pending->arrays = all;
  call_mpi(call, describe, MPI_Reduce_scatter, MPI_Ireduce_scatter, call.in.data, call.out.data,
           all->counts.data(), type, mpi_op);
}

} // namespace kontor::comm::detail
