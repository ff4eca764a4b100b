// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/agree.hpp"
#include "communicator/internals.hpp"

#include <kontor/comm/backend/gpu_awareness.hpp>
#include <kontor/comm/communicator.hpp>
#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

namespace kontor::comm {

using mpi::check;

namespace {

/// The options that must be equal.
std::string words(const Options& options) {
  const auto mpi_says = gpu_awareness(); // by the environment, which may be of some ranks only
  return fmt::format("{}, check {}, trial {}, GPU-aware MPI: {}{}", to_string(options), to_string(options.check),
                     options.trial, mpi_says.aware ? "yes" : "no",
                     mpi_says.overruled ? ", by KONTOR_GPU_AWARE_MPI" : "");
}

/// What is no value of its option.
std::optional<std::string> value_problem(const Options& options) {
  for (const auto& [name, value] : {std::pair("pattern", to_string(options.pattern)),
                                    {"packing", to_string(options.packing)},
                                    {"path", to_string(options.path)},
                                    {"check", to_string(options.check)}})
    if (*value == '?') return fmt::format("{} has no such value", name);
  for (const auto& [name, seconds] : {std::pair("timeout", options.timeout), {"trial", options.trial}})
    if (!(seconds >= 0)) return fmt::format("{} is {} seconds; it must be 0 or more", name, seconds);
  return std::nullopt;
}

void refuse_null(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) throw CallError("a Communicator of MPI_COMM_NULL: this rank is in none");
}

/// Collective. Before anything depends on the options.
void compare(MPI_Comm comm, const Options& options) {
  if (const auto problem = mpi::first_problem(comm, value_problem(options))) throw UsageError(*problem);
  mpi::require_same(comm, "the options of a communicator", words(options));
}

MPI_Comm duplicate_for(MPI_Comm parent, const Options& options) {
  refuse_null(parent);
  auto comm = detail::duplicate(parent);
  try {
    compare(comm, options);
  } catch (...) {
    MPI_Comm_free(&comm);
    throw;
  }
  return comm;
}

} // namespace

void Communicator::refuse_moved_from() { throw CallError("a Communicator is used that was moved from"); }

Communicator::Communicator(MPI_Comm parent, const Options& options)
    : Communicator(Owned{duplicate_for(parent, options)}, options) {}

Communicator Communicator::adopt(MPI_Comm comm, const Options& options) {
  refuse_null(comm);
  compare(comm, options);
  return {Owned{comm}, options};
}

Communicator::Communicator(Owned owned, const Options& options) {
  const auto internals = std::make_shared<detail::Internals>();
  internals->open(owned.comm, options);
  shared_ = internals;
}

Communicator Communicator::split(int colour, int key) const { return *split(std::optional(colour), key); }

std::optional<Communicator> Communicator::split(std::optional<int> colour, int key) const {
  std::optional<std::string> problem;
  if (colour && *colour < 0)
    problem = fmt::format("rank {} gives the colour {}; colours are 0 or more, and std::nullopt says that a rank "
                          "is to be in none of the parts",
                          rank(), *colour);
  agree(problem);
  MPI_Comm comm = MPI_COMM_NULL;
  check(MPI_Comm_split(native(), colour.value_or(MPI_UNDEFINED), key, &comm), "MPI_Comm_split");
  return open_part(Owned{comm});
}

std::optional<Communicator> Communicator::open_part(Owned part) const {
  std::optional<Communicator> opened;
  mpi::agree(native(), [&] {
    if (part.comm != MPI_COMM_NULL) opened.emplace(Communicator(part, options()));
  });
  return opened;
}

int Communicator::rank() const { return detail::internals(*this).rank_; }
int Communicator::size() const { return detail::cached(*this).size; }
const Options& Communicator::options() const { return detail::internals(*this).options_; }
const Capabilities& Communicator::capabilities() const { return detail::internals(*this).all_methods_.front().can; }
std::string Communicator::remark() const { return detail::internals(*this).backend().remark(); }
MPI_Comm Communicator::native() const { return detail::cached(*this).comm; }
int Communicator::tag_limit() const { return detail::cached(*this).tag_limit; }

void Communicator::agree(const std::optional<std::string>& problem) const {
  if (const auto first = mpi::first_problem(native(), problem)) throw AgreedError(*first);
}

} // namespace kontor::comm
