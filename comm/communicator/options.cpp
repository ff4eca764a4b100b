// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options in words, and whether all ranks have the same.
#include "backend/agree.hpp"
#include "backend/deadline.hpp"
#include "communicator/equal_options.hpp"

#include <kontor/comm/backend/method.hpp>
#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace kontor::comm {
namespace {

template <class E, std::size_t n>
const char* name_in(const std::array<NamedValue<E>, n>& names, E value) {
  const auto found = std::ranges::find(names, value, &NamedValue<E>::value);
  return found == names.end() ? "?" : found->name;
}

constexpr const char* option_names[] = {"backend",  "pattern", "packing", "path",
                                        "messages", "check",   "trial",   "ranks_per_node"};

/// The value of each option that must be equal, as ranks tell it to each other.
using Values = std::array<std::array<char, 64>, std::size(option_names)>;

Values values_of(const Options& options) {
  const std::string words[] = {options.backend,
                               to_string(options.pattern),
                               to_string(options.packing),
                               to_string(options.path),
                               to_string(options.messages),
                               to_string(options.check),
                               fmt::format("{}", options.trial),
                               fmt::format("{}", options.ranks_per_node)};
  Values values{};
  for (std::size_t i = 0; i < values.size(); ++i) words[i].copy(values[i].data(), values[i].size() - 1);
  return values;
}

} // namespace

const char* to_string(Pattern pattern) {
  return name_in(pattern_names, pattern);
}
const char* to_string(Packing packing) {
  return name_in(packing_names, packing);
}
const char* to_string(Path path) {
  return name_in(path_names, path);
}
const char* to_string(Messages messages) {
  return name_in(messages_names, messages);
}
const char* to_string(CheckLevel check) {
  return name_in(check_names, check);
}

std::string to_string(const Options& options) {
  auto text = fmt::format("{}, {}, packing {}", options.backend, to_string(options.pattern),
                          to_string(options.packing));
  if (options.path != Path::automatic) text += fmt::format(", path {}", to_string(options.path));
  if (options.messages != Messages::per_pair)
    text += fmt::format(", messages {}", to_string(options.messages));
  return text;
}

void require_equal(MPI_Comm comm, const Options& options) {
  const auto mine = values_of(options);
  auto first = mine;
  mpi::check(MPI_Bcast(first.data(), sizeof(Values), MPI_BYTE, 0, comm), "MPI_Bcast");
  std::string differ;
  for (std::size_t i = 0; i < mine.size(); ++i)
    if (mine[i] != first[i])
      differ += fmt::format("{}{} is '{}' on rank 0 and '{}' on rank {}", differ.empty() ? "" : ", ",
                            option_names[i], first[i].data(), mine[i].data(), mpi::rank_of(comm));
  const auto problem = mpi::first_problem(comm, differ.empty() ? std::nullopt : std::optional(differ));
  if (problem) throw UsageError("the options of a communicator must be equal on all its ranks: " + *problem);
}

} // namespace kontor::comm
