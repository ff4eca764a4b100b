// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "collectives/perform.hpp"

#include "base/deadline.hpp"
#include "checks/description.hpp"

#include <kontor/comm/mpi_check.hpp>
#include <kontor/comm/views/layout.hpp>

#include <fmt/ranges.h>

#include <cctype>
#include <functional>

namespace kontor::comm::detail {

Problem first_of(std::initializer_list<Problem> problems) {
  const auto* found = std::find_if(problems.begin(), problems.end(), [](const Problem& p) { return p.has_value(); });
  return found == problems.end() ? std::nullopt : *found;
}

Problem root_problem(const Call& call) {
  const int root = call.collective.root;
  if (!call.rooted() || (root >= 0 && root < call.comm.size())) [[likely]]
    return std::nullopt;
  return fmt::format("there is no rank {}; ranks are 0 to {}", root, call.comm.size() - 1);
}

Problem count_problem(const Operand& view, std::int64_t expected, const char* why) {
  if (view.count == expected) [[likely]]
    return std::nullopt;
  return fmt::format("{} must have {} elements, {}, but has {}", words(view), expected, why, view.count);
}

Problem division_problem(const Communicator& comm, const Operand& view) {
  if (view.count % comm.size() == 0) [[likely]]
    return std::nullopt;
  return fmt::format("the {} elements of {} do not divide among {} ranks", view.count, words(view), comm.size());
}

Problem counts_problem(const Communicator& comm, const Counts& counts, const Operand& whole) {
  return counts_problem(comm, counts, words(whole), whole.count);
}

Problem counts_problem(const Communicator& comm, const Counts& counts, const std::string& whole,
                       std::int64_t elements) {
  if (counts.size() != static_cast<std::size_t>(comm.size()))
    return fmt::format("there are {} counts for {} ranks", counts.size(), comm.size());
  const auto negative = std::ranges::find_if(counts.values(), [](std::int64_t count) { return count < 0; });
  if (negative != counts.values().end())
    return fmt::format("the count of rank {} is {}", negative - counts.values().begin(), *negative);
  if (counts.total() != elements)
    return fmt::format("the counts ({}) sum to {}, but {} has {} elements", fmt::join(counts.values(), ", "),
                       counts.total(), whole, elements);
  return std::nullopt;
}

Problem overlap_problem(const Operand& in, const Operand& out, bool has_form_in_place) {
  const auto begin = [](const Operand& o) { return static_cast<const char*>(o.data); };
  const auto end = [&](const Operand& o) { return begin(o) + o.count * o.scalar.size; };
  if (in.count == 0 || out.count == 0 || std::less_equal<>()(end(in), begin(out)) ||
      std::less_equal<>()(end(out), begin(in))) [[likely]]
    return std::nullopt;
  return fmt::format("{} and {} share memory{}", words(in), words(out),
                     has_form_in_place ? "; there is a form in place, of one View" : "");
}

std::string name(const Operand& operand) {
  const auto buffer = operand.buffer();
  const bool is_value = !buffer.data && buffer.label.empty() && element_count(buffer.shape) > 0;
  return is_value ? "a value" : fmt::format("View '{}'", buffer.label);
}

std::string words(const Operand& operand) {
  return fmt::format("{}, {} {}", name(operand), extents_to_string(operand.buffer().shape),
                     comm::to_string(operand.buffer().scalar));
}

std::string words(const Operand& in, const Operand& out) {
  return in.view == out.view ? words(in) : fmt::format("{}, into {}", words(in), words(out));
}

std::string equal_words(const Operand& operand) { return equal_words(operand.buffer()); }

std::string equal_words(const Buffer& buffer) {
  return fmt::format("{} {}{}", extents_to_string(buffer.shape), comm::to_string(buffer.scalar),
                     order_words(buffer.shape));
}

std::string count_words(std::int64_t count, Scalar scalar) {
  return fmt::format("{} x {} a rank", count, comm::to_string(scalar));
}

CollectiveCall in_words(const Call& call, std::string subject, std::vector<std::string> fields) {
  if (call.queued()) fields.emplace_back("in device memory"); // on all ranks, or some would call MPI
  if (call.rooted()) fields.push_back(fmt::format("root {}", call.collective.root));
  return {call.name(), std::move(subject), std::move(fields)};
}

std::vector<std::int64_t> only(const Communicator& comm, int rank, std::int64_t count) {
  std::vector<std::int64_t> counts(comm.size(), 0);
  if (rank >= 0 && rank < comm.size()) counts[rank] = count;
  return counts;
}

int to_int(std::int64_t number, const char* what, const Operand& view) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (number <= most) [[likely]]
    return static_cast<int>(number);
  throw Error(fmt::format("{}: {} {} is beyond the {} that MPI's arrays hold; let subviews travel one after the "
                          "other, or structs of several elements",
                          words(view), what, number, most),
              "E-COMM-ARGUMENT");
}

CountArrays arrays(const Counts& counts, const Operand& view) {
  CountArrays arrays;
  std::int64_t offset = 0;
  for (const auto count : counts.values()) {
    arrays.counts.push_back(to_int(count, "the count", view));
    arrays.offsets.push_back(to_int(offset, "the place", view));
    offset += count;
  }
  return arrays;
}

void rethrow_with(const CollectiveCall& words) {
  try {
    throw;
  } catch (const CallError& error) {
    throw CallError(fmt::format("{}: {}", to_string(words), error.what()));
  } catch (const MpiError& error) {
    throw MpiError(fmt::format("{}: {}", to_string(words), error.what()));
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", to_string(words), error.what()));
  }
}

void fail_call(int code, const Call& call, bool blocks, const CollectiveCall& words) {
  const auto& kind = call.collective.kind;
  std::string name = blocks ? kind.blocking : kind.nonblocking;
  name[0] = static_cast<char>(std::toupper(name[0]));
  throw MpiError(fmt::format("{}: MPI_{} failed: {}", to_string(words), name, mpi::error_text(code)));
}

void wait_for_others(const Communicator& comm, MPI_Request& request, const CollectiveCall& words) {
  const auto done = [&] {
    int all = 0;
    naming([&] { return words; }, [&] { mpi::check(MPI_Test(&request, &all, MPI_STATUS_IGNORE), "MPI_Test"); });
    return all != 0;
  };
  mpi::wait_within(comm.options().timeout, comm.native(), to_string(words), done, [&] {
    detail::internals(comm).leak_at_end();
    return "the other ranks, which had all come";
  });
}

void check_call(const Communicator& comm, const CollectiveCall& call) {
  const auto level = cached(comm).check;
  if (level == CheckLevel::cross_rank) return check_agreement(comm, call);
  if (level == CheckLevel::local && call.problem)
    throw CallError(fmt::format("{}: {}", to_string(call), *call.problem));
}

void check_words(const Call& call, CollectiveCall words, Problem problem) {
  if (!call.blocking() || !verified(call.comm)) throw CallError(fmt::format("{}: {}", to_string(words), *problem));
  words.problem = std::move(problem);
  if (words.problem) words.sends = words.expects = only(call.comm, 0, 0);
  check_agreement(call.comm, words);
}

} // namespace kontor::comm::detail
