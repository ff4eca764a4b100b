// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/calls/collective_call.hpp>
#include <kontor/comm/communicator/internals.hpp>
#include <kontor/comm/counts.hpp>
#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/comm/views/datatype.hpp>

#include <fmt/format.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

/// What the bodies of the collective operations have in common: check, call MPI, name errors.
namespace kontor::comm::detail {

using Problem = std::optional<std::string>;

/// The first that is one.
Problem first_of(std::initializer_list<Problem>);

/// Unless the root is a rank.
Problem root_problem(const Communicator&, int root);
/// Unless the View has `expected` elements, which is what `why` says.
Problem count_problem(const Operand& view, std::int64_t expected, const char* why);
/// Unless the elements of the View divide evenly among the ranks.
Problem division_problem(const Communicator&, const Operand& view);
/// Unless the whole has as many elements as the parts of all ranks, of which this rank has one.
Problem whole_problem(const Communicator&, const Operand& part, const Operand& whole);
/// Unless there is a count for each rank, none negative, and they sum to the elements of the whole.
Problem counts_problem(const Communicator&, const Counts&, const Operand& whole);
/// Nor if this rank's part has not its count.
Problem counts_problem(const Communicator&, const Counts&, const Operand& part, const Operand& whole);
/// Where two Views share memory.
Problem overlap_problem(const Operand& in, const Operand& out);

/// "View 'a'"; "a value"
std::string name(const Operand&);
/// "View 'a', (4, 5) double"
std::string words(const Operand&);
/// "View 'a', (4) double, into View 'b', (16) double"
std::string words(const Operand& in, const Operand& out);
/// "View 'a' (4)"; "View 'a' (4) into View 'b' (16)"
std::string sizes(const Operand&);
std::string sizes(const Operand& in, const Operand& out);
/// What all ranks must agree on where their Views are to be equal: extents, scalar and order of elements.
std::string equal_words(const Operand&);
std::string equal_words(const Buffer&);
/// The same where only their numbers of elements are.
std::string count_words(std::int64_t count, Scalar);
std::string root_words(int root);

/// The call of an operation whose non-blocking form has that name.
CollectiveCall call_of(const char* name, const Posted*, std::string subject, std::vector<std::string> fields);

/// So many zeros, but for one rank.
std::vector<std::int64_t> only(const Communicator&, int rank, std::int64_t count);

/// Check levels `local` and `cross_rank`.
void check_call(const Communicator&, Posted*, CollectiveCall, Problem);

/// Checks a call and makes it. `find_problem` returns what is wrong with it; `describe` gives it in words,
/// and is asked only where those are needed. At check level `off` neither is.
template <class FindProblem, class Describe, class Call>
void perform(const Communicator& comm, Posted* posted, FindProblem find_problem, Describe describe,
             Call call) {
  const auto level = detail::internals(comm).cached().check;
  if (level != CheckLevel::off) {
    Problem problem = find_problem();
    if (problem || level == CheckLevel::cross_rank) [[unlikely]]
      check_call(comm, posted, describe(), std::move(problem));
  }
  try {
    call();
  } catch (const CallError& error) {
    throw CallError(fmt::format("{}: {}", to_string(describe()), error.what()));
  } catch (const MpiError& error) {
    throw MpiError(fmt::format("{}: {}", to_string(describe()), error.what()));
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", to_string(describe()), error.what()));
  }
}

/// What backends take for an operand: as many elements of it, or all of them.
inline Buffer flat_buffer(const Operand& operand, std::int64_t count) {
  return {operand.data,
          operand.scalar,
          {1, {count, 1, 1, 1, 1, 1, 1, 1}, {1}},
          MemoryKind::device,
          operand.buffer().label};
}
inline Buffer flat_buffer(const Operand& operand) {
  return flat_buffer(operand, operand.count);
}

/// Whether a backend is to queue the operation.
inline bool is_queued(const Posted* posted) {
  return posted && posted->collectives;
}

/// Counts as MPI takes them.
struct CountArrays {
  std::vector<int> counts;
  std::vector<int> offsets;
};

/// Both throw Error, naming the View, if they exceed what MPI's `int` holds.
CountArrays arrays(const Counts&, const Operand& view);
int int_count(const Operand&);

/// Names of an MPI function and of its non-blocking form.
struct Names {
  const char* blocking;
  const char* nonblocking;
};

/// Waits for a call that is under way, no longer than the timeout. Throws Error.
void wait_for_others(const Communicator&, MPI_Request&);

/// Calls an MPI function, or its non-blocking form, with the arguments that both have. Where waits have a
/// timeout, a blocking call is made of the other form, too.
template <class Blocking, class Nonblocking, class... Arguments>
void call_mpi(const Communicator& comm, Posted* posted, const Names& names, Blocking blocking,
              Nonblocking nonblocking, Arguments... arguments) {
  if (posted) {
    mpi::check(nonblocking(arguments..., &posted->request), names.nonblocking);
  } else if (detail::internals(comm).checking_calls() != MPI_COMM_NULL) {
    MPI_Request request = MPI_REQUEST_NULL;
    mpi::check(nonblocking(arguments..., &request), names.nonblocking);
    wait_for_others(comm, request);
  } else {
    mpi::check(blocking(arguments...), names.blocking);
  }
}

} // namespace kontor::comm::detail
