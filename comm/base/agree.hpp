// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "base/ranks.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/mpi/agree.hpp>

#include <fmt/format.h>
#include <mpi.h>

#include <optional>

namespace kontor::comm::mpi {

/// Collective. What the lowest rank that has a problem says about it, on every rank; nothing if none has one.
inline std::optional<std::string> first_problem(MPI_Comm comm, const std::optional<std::string>& problem) {
  auto first = kontor::mpi::first_problem<MpiError>(comm, problem);
  if (!first) return std::nullopt;
  return std::move(first->text);
}

/// Collective. What rank 0 and this one give, where they differ.
inline std::optional<std::string> difference(MPI_Comm comm, const std::string& given) {
  const auto first = kontor::mpi::broadcast<MpiError>(comm, given);
  if (given == first) return std::nullopt;
  return fmt::format("rank 0 gives {}, but rank {} gives {}", first, rank_of(comm), given);
}

/// Collective. The same in other words, where `key` differs.
inline std::optional<std::string> difference(MPI_Comm comm, const std::string& key, const char* verb,
                                             const std::string& words) {
  const auto first = kontor::mpi::broadcast<MpiError>(comm, words);
  if (!difference(comm, key)) return std::nullopt;
  return fmt::format("rank 0 {0} {1}, but rank {2} {0} {3}", verb, first, rank_of(comm), words);
}

/// Collective. Throws UsageError on every rank, naming two, unless all give the same.
inline void require_same(MPI_Comm comm, const char* what, const std::string& given) {
  if (const auto found = first_problem(comm, difference(comm, given)))
    throw UsageError(fmt::format("{} must be equal on all ranks: {}", what, *found));
}

/// Collective. Calls `f` on every rank. Where one throws Error, all ranks throw AgreedError with the lowest one's text;
/// UsageError where an axis has to change.
template <class F>
void agree(MPI_Comm comm, const F& f, Axis axis = Axis::none) {
  std::optional<std::string> problem;
  try {
    f();
  } catch (const Error& error) {
    problem = error.what();
  }
  const auto first = first_problem(comm, problem);
  if (first && axis != Axis::none) throw UsageError(*first, axis);
  if (first) throw AgreedError(*first);
}

/// The same, the text being "backend 'nccl': on rank 3, ...".
template <class F>
void agree(MPI_Comm comm, const std::string& subject, const F& f, Axis axis = Axis::none) {
  const auto named = [&] {
    try {
      f();
    } catch (const Error& error) {
      throw Error(fmt::format("{}: on rank {}, {}", subject, rank_of(comm), error.what()));
    }
  };
  agree(comm, named, axis);
}

} // namespace kontor::comm::mpi
