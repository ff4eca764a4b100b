// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "calls/perform.hpp"

#include <kontor/comm/communicator/internals.hpp>
#include <kontor/comm/reductions.hpp>

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

Reduction reduction_of(const Communicator& comm, const Reducer& op, Scalar scalar) {
  if (op.function)
    return {detail::internals(comm).element_type(scalar),
            detail::internals(comm).operation(op.function, op.commutative)};
  return {mpi::element(scalar).type, mpi::reduction(op.named, scalar)};
}

Problem op_problem(const Reducer& op, Scalar scalar) {
  if (op.function || mpi::reduction(op.named, scalar) != MPI_OP_NULL) [[likely]]
    return std::nullopt;
  return fmt::format("{} is not defined for {}; a functor can say what it is", to_string(op.named),
                     comm::to_string(scalar));
}

/// One call of any of the reductions.
struct Call {
  const Communicator& comm;
  const char* name;
  const Reducer& op;
  const Operand& in;
  const Operand& out;
  Posted* posted;
  std::int64_t chunk;
  std::optional<int> root = {};

  const Operand& own() const { return in.in_place() ? out : in; }
  bool has_both() const { return !in.in_place() && (!root || comm.rank() == *root); }

  Problem problem() const {
    if (auto undefined = op_problem(op, own().scalar)) return undefined;
    if (root)
      if (auto not_a_rank = root_problem(comm, *root)) return not_a_rank;
    if (!has_both()) return std::nullopt;
    if (auto other_count = count_problem(out, in.count, "as many as are given")) return other_count;
    if (auto overlap = overlap_problem(in, out)) return overlap;
    return detail::internals(comm).checking_calls() != MPI_COMM_NULL ? layout_problem() : std::nullopt;
  }

  /// Elements travel as they lie, so where layouts differ they would end at other indices.
  Problem layout_problem() const {
    const auto from = equal_words(in);
    const auto to = equal_words(out);
    if (from == to) return std::nullopt;
    return fmt::format("{} is {}, but {} is {}", detail::name(in), from, detail::name(out), to);
  }

  CollectiveCall describe() const {
    std::vector<std::string> fields{equal_words(own()), words(op)};
    if (root) fields.push_back(root_words(*root));
    auto subject = has_both() ? detail::name(in) + " into " + detail::name(out) : detail::name(own());
    return call_of(name, posted, std::move(subject), std::move(fields));
  }

  /// `queue(in)` queues it, where a backend does; `mpi_call(in, out, count, type, op)` is one MPI call.
  template <class MpiCall, class Queue = void (*)(const Operand&)>
  void perform(
      MpiCall mpi_call, Queue queue = [](const Operand&) {}) const {
    const auto make = [&] {
      if (is_queued(posted)) return queue(own());
      if (const auto undefined = op_problem(op, own().scalar))
        throw CallError(*undefined); // whatever is checked
      constexpr std::int64_t most = std::numeric_limits<int>::max();
      if (posted && own().count > most)
        throw CallError(fmt::format("{} elements are more than the {} that one non-blocking reduction takes; "
                                    "use the blocking one, or reduce subviews",
                                    own().count, most));
      const auto reduction = reduction_of(comm, op, own().scalar);
      const auto at = [](const Operand& o, std::int64_t element) -> void* {
        return o.count == 0 || o.in_place() ? o.data : static_cast<char*>(o.data) + element * o.scalar.size;
      };
      mpi::in_chunks(
          own().count,
          [&](std::int64_t first, int count) {
            mpi_call(at(in, first), at(out, first), count, reduction.type, reduction.op);
          },
          posted ? most : chunk);
    };
    detail::perform(
        comm, posted, [&] { return problem(); }, [&] { return describe(); }, make);
  }
};

} // namespace

bool Allreduce::queues(const StreamCollectives& backend, Scalar scalar, std::size_t,
                       std::int64_t count) const {
  return !op.function && backend.reduces(scalar, op.named, count);
}
bool Reduce::queues(const StreamCollectives& backend, Scalar scalar, std::size_t, std::int64_t count) const {
  return !op.function && backend.reduces(scalar, op.named, count);
}

void Allreduce::operator()(const Communicator& comm, const Operand& in, const Operand& out,
                           Posted* posted) const {
  const Call call{comm, name, op, in, out, posted, chunk};
  call.perform(
      [&](void* from, void* to, int count, MPI_Datatype type, MPI_Op mpi_op) {
        call_mpi(comm, posted, {"MPI_Allreduce", "MPI_Iallreduce"}, MPI_Allreduce, MPI_Iallreduce, from, to,
                 count, type, mpi_op, comm.native());
      },
      [&](const Operand& from) {
        posted->collectives->allreduce(posted->stream, from.data, flat_buffer(out), op.named);
      });
}

void Reduce::operator()(const Communicator& comm, const Operand& in, const Operand& out,
                        Posted* posted) const {
  const Call call{comm, name, op, in, out, posted, chunk, root};
  call.perform(
      [&](void* from, void* to, int count, MPI_Datatype type, MPI_Op mpi_op) {
        call_mpi(comm, posted, {"MPI_Reduce", "MPI_Ireduce"}, MPI_Reduce, MPI_Ireduce, from, to, count, type,
                 mpi_op, root, comm.native());
      },
      [&](const Operand& from) {
        posted->collectives->reduce(posted->stream, flat_buffer(from), out.data, op.named, root);
      });
}

void Scan::operator()(const Communicator& comm, const Operand& in, const Operand& out, Posted* posted) const {
  const Call call{comm, name, op, in, out, posted, chunk};
  call.perform([&](void* from, void* to, int count, MPI_Datatype type, MPI_Op mpi_op) {
    call_mpi(comm, posted, {"MPI_Scan", "MPI_Iscan"}, MPI_Scan, MPI_Iscan, from, to, count, type, mpi_op,
             comm.native());
  });
}

void Exscan::operator()(const Communicator& comm, const Operand& in, const Operand& out,
                        Posted* posted) const {
  const Call call{comm, name, op, in, out, posted, chunk};
  call.perform([&](void* from, void* to, int count, MPI_Datatype type, MPI_Op mpi_op) {
    call_mpi(comm, posted, {"MPI_Exscan", "MPI_Iexscan"}, MPI_Exscan, MPI_Iexscan, from, to, count, type,
             mpi_op, comm.native());
  });
}

void Allreduce::operator()(const Communicator& comm, const Operand& inout, Posted* posted) const {
  (*this)(comm, inout.placed(), inout, posted);
}
void Reduce::operator()(const Communicator& comm, const Operand& inout, Posted* posted) const {
  if (comm.rank() == root) return (*this)(comm, inout.placed(), inout, posted);
  (*this)(comm, inout, inout.absent(), posted);
}
void Scan::operator()(const Communicator& comm, const Operand& inout, Posted* posted) const {
  (*this)(comm, inout.placed(), inout, posted);
}
void Exscan::operator()(const Communicator& comm, const Operand& inout, Posted* posted) const {
  (*this)(comm, inout.placed(), inout, posted);
}

} // namespace kontor::comm::detail
