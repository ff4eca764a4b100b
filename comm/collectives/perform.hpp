// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "checks/agreement_check.hpp"
#include "communicator/internals.hpp"

#include <kontor/comm/collectives/collective.hpp>
#include <kontor/comm/error.hpp>
#include <kontor/comm/views/datatype.hpp>

#include <fmt/format.h>

/// What the bodies of the collective operations have in common: check, call MPI, name errors.
namespace kontor::comm::detail {

using Problem = std::optional<std::string>;

/// The first that is one.
Problem first_of(std::initializer_list<Problem>);

/// Where there is a root that is no rank.
Problem root_problem(const Call&);
/// Unless the View has `expected` elements, which is what `why` says.
Problem count_problem(const Operand& view, std::int64_t expected, const char* why);
/// Unless the elements of the View divide evenly among the ranks.
Problem division_problem(const Communicator&, const Operand& view);
/// Unless there is a count for each rank, none negative, and they sum to the elements of the whole.
Problem counts_problem(const Communicator&, const Counts&, const std::string& whole, std::int64_t elements);
Problem counts_problem(const Communicator&, const Counts&, const Operand& whole);
/// Where two Views share memory.
Problem overlap_problem(const Operand& in, const Operand& out, bool has_form_in_place = true);

/// "View 'a'"; "a value"
std::string name(const Operand&);
/// "View 'a', (4, 5) double"
std::string words(const Operand&);
/// "View 'a', (4) double, into View 'b', (16) double"
std::string words(const Operand& in, const Operand& out);
/// What all ranks must agree on where their Views are to be equal: extents, scalar and order of elements.
std::string equal_words(const Operand&);
std::string equal_words(const Buffer&);
/// The same where only their numbers of elements are.
std::string count_words(std::int64_t count, Scalar);

/// The call in words; the root, where there is one, is the last of the fields.
CollectiveCall in_words(const Call&, std::string subject, std::vector<std::string> fields);

/// So many zeros, but for one rank.
std::vector<std::int64_t> only(const Communicator&, int rank, std::int64_t count);

/// Compares a call of several operations. Collective at check level `cross_rank`, see check_agreement(). At level
/// `local` throws CallError on the rank that has a problem.
void check_call(const Communicator&, const CollectiveCall&);

/// Throws what a problem is at check levels `local` and `cross_rank`; compares the ranks of a blocking call at the
/// latter.
void check_words(const Call&, CollectiveCall words, Problem);

/// Check levels `local` and `cross_rank`. The operation's problem() says what is wrong, and it gives the call in words,
/// which are seldom needed.
template <class Operation>
void check(const Call& call, const Operation& operation) {
  const auto level = detail::cached(call.comm).check;
  if (level == CheckLevel::off) return;
  auto problem = root_problem(call);
  if (!problem && call.collective.problem) problem = *call.collective.problem;
  if (!problem) problem = operation.problem();
  if (problem || (level == CheckLevel::cross_rank && call.blocking())) [[unlikely]]
    check_words(call, operation(), std::move(problem));
}

/// MPI's type of an element.
inline MPI_Datatype element_type(const Call& call) {
  return detail::internals(call.comm).element_type(call.out.scalar);
}

/// What backends take for an operand: as many elements of it, or all of them.
inline Buffer flat_buffer(const Operand& operand, std::int64_t count) {
  return {operand.data, operand.scalar, row_shape(count), MemoryKind::device, operand.buffer().label};
}
inline Buffer flat_buffer(const Operand& operand) { return flat_buffer(operand, operand.count); }

/// The number as MPI's `int`; throws Error, naming the View, if it exceeds that.
int to_int(std::int64_t number, const char* what, const Operand& view);

/// The error that is being handled, after the call in words.
[[noreturn]] void rethrow_with(const CollectiveCall&);

/// What throws Errors that do not name the call.
template <class Describe, class Function>
auto naming(const Describe& describe, const Function& function) {
  try {
    return function();
  } catch (const Error&) {
    rethrow_with(describe());
  }
}

/// Counts as MPI takes them: empty where there are none.
struct CountArrays {
  std::vector<int> counts;
  std::vector<int> offsets;
};
CountArrays arrays(const Counts&, const Operand& view);

/// Throws Error with MPI's text.
[[noreturn]] void fail_call(int code, const Call&, bool blocks, const CollectiveCall&);
/// Waits for a call that is under way, no longer than the timeout. Throws Error.
void wait_for_others(const Communicator&, MPI_Request&, const CollectiveCall&);

/// Calls an MPI function, or its non-blocking form, with the arguments that both have and the root, where they take
/// one. Where waits have a timeout, a blocking call is made of the other form, too.
template <class Describe, class Blocking, class Nonblocking, class... Arguments>
void call_mpi(const Call& call, const Describe& describe, Blocking blocking, Nonblocking nonblocking,
              Arguments... arguments) {
  if constexpr (std::is_invocable_v<Blocking, Arguments..., int, MPI_Comm>)
    return call_mpi(call, describe, blocking, nonblocking, arguments..., call.collective.root);
  else {
    const auto& cached = detail::cached(call.comm);
    const bool blocks = !call.pending && cached.check != CheckLevel::cross_rank;
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = blocks ? blocking(arguments..., cached.comm)
                            : nonblocking(arguments..., cached.comm, call.pending ? &call.pending->request : &request);
    if (code != MPI_SUCCESS) [[unlikely]]
      fail_call(code, call, blocks, describe());
    if (!blocks && !call.pending) [[unlikely]]
      wait_for_others(call.comm, request, describe());
  }
}

} // namespace kontor::comm::detail
