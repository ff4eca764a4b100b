// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "collectives/perform.hpp"
#include "communicator/internals.hpp"

#include <fmt/ranges.h>

#include <cstdio>
#include <cstdlib>

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
  fmt::print(stderr, "rank {}: the functor of a reduction ({}) has thrown: {}; MPI called it, so it may not\n", rank,
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

/// One call of any of the reductions of whole Views.
struct Combination {
  const Call& call;
  const Reducer& op = *call.collective.op;

  const Operand& own() const { return call.in.in_place() ? call.out : call.in; }
  bool has_both() const { return !call.in.in_place() && (!call.rooted() || call.comm.rank() == call.collective.root); }

  Problem problem() const {
    if (auto undefined = op_problem(op, own().scalar)) return undefined;
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
    auto subject = has_both() ? detail::name(call.in) + " into " + detail::name(call.out) : detail::name(own());
    return in_words(call, std::move(subject), {equal_words(own()), words(op)});
  }

  Reduction reduction() const {
    check(call, *this);
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    if (!call.queued() && own().count > most) [[unlikely]]
      throw CallError(fmt::format("{}: {} elements are more than the {} that one reduction takes; reduce subviews",
                                  to_string((*this)()), own().count, most));
    return reduction_of(call, op, own().scalar, *this);
  }
  void queue() const {
    const auto& [collectives, stream, request] = *call.pending;
    if (call.rooted())
      collectives->reduce(stream, flat_buffer(own()), call.out.data, op.named, call.collective.root);
    else
      collectives->allreduce(stream, own().data, flat_buffer(call.out), op.named);
  }
};

template <auto blocking, auto nonblocking>
void reduce_views(const Call& call) {
  const Combination combination{call};
  const auto [type, op] = combination.reduction();
  if (call.queued()) return naming(combination, [&] { combination.queue(); });
  call_mpi(call, combination, blocking, nonblocking, call.in.data, call.out.data,
           static_cast<int>(combination.own().count), type, op);
}

} // namespace

const Kind Kind::allreduce{"allreduce", "iallreduce", Flow::among_all, reduce_views<MPI_Allreduce, MPI_Iallreduce>,
                           true};
const Kind Kind::reduce{"reduce", "ireduce", Flow::to_root, reduce_views<MPI_Reduce, MPI_Ireduce>, true};
const Kind Kind::scan{"scan", "iscan", Flow::among_all, reduce_views<MPI_Scan, MPI_Iscan>};
const Kind Kind::exscan{"exscan", "iexscan", Flow::to_higher, reduce_views<MPI_Exscan, MPI_Iexscan>};

} // namespace kontor::comm::detail
