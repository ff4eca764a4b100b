// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/mpi/agree.hpp>
#include <kontor/output/error.hpp>

#include <mpi.h>

#include <exception>
#include <new>
#include <optional>
#include <string>
#include <utility>

namespace kontor::output {

/// Throws MpiError if an MPI function did not succeed by which ranks wait for each other.
inline void check_mpi(int result, const char* operation) { mpi::check<MpiError>(result, operation); }

inline int my_rank(MPI_Comm comm) { return mpi::rank_of<MpiError>(comm); }
inline int rank_count(MPI_Comm comm) { return mpi::size_of<MpiError>(comm); }

/// Collective over comm. The text of rank 0.
inline std::string broadcast(MPI_Comm comm, std::string text) {
  return mpi::broadcast<MpiError>(comm, std::move(text));
}

/// Collective over comm. Runs `step` on every rank. If it throws on one of them, all throw Error with the text of the
/// lowest. What ends a step while other ranks may wait within theirs is passed on as it is, on this rank alone:
/// MpiError, and that there is no more memory.
template <class Step>
void collectively(MPI_Comm comm, Step&& step) {
  std::optional<std::string> failure;
  try {
    step();
  } catch (const MpiError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    failure = error.what();
    if (failure->empty()) failure = "unknown error";
  }
  const auto first = mpi::first_problem<MpiError>(comm, failure);
  if (first)
    throw Error(first->rank == 0 ? first->text : first->text + " (on rank " + std::to_string(first->rank) + ")");
}

} // namespace kontor::output
