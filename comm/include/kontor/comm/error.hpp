// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/errors/id.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace kontor::comm {

/// Communication failed: a library reported an error, or ranks disagree. Names the operation, the peer, the View and
/// what the library said; an error id ends its first line.
class Error : public std::runtime_error {
 public:
  /// `id` is that of a text which quotes none.
  explicit Error(const std::string& what, errors::Id id = "E-CHECK-RANKS")
      : std::runtime_error(errors::with_id(what, id)) {}
};

/// The same error is thrown on every rank of the communicator, so all of them can leave in good order; any other Error
/// may be one rank's alone, and the others may be waiting for it.
class AgreedError : public Error {
  using Error::Error;
};

/// An MPI function has failed on this rank: others may be waiting in the same one, so nothing can be agreed on.
class MpiError : public Error {
 public:
  /// The text of MPI, and what was called.
  explicit MpiError(const std::string& what) : Error(what, "E-MPI-CALL") {}
};

/// A call is wrong, as far as its own rank can see: a peer that is no rank, Views that do not fit each other, a step
/// out of turn. Thrown on the rank that makes the call, before anything is sent.
class CallError : public Error {
 public:
  /// What is wrong with the call.
  explicit CallError(const std::string& what) : Error(what, "E-COMM-ARGUMENT") {}
};

/// The choice of Options that an error is about.
enum class Axis : std::uint8_t { none, backend, pattern, packing, path };

/// What was asked for is not available: an unknown or absent backend, or one that cannot do it. Thrown on every rank.
class UsageError : public AgreedError {
 public:
  /// `axis`: the choice that has to change.
  explicit UsageError(const std::string& what, Axis axis = Axis::none)
      : UsageError(what, axis, axis == Axis::none ? errors::Id("E-COMM-ARGUMENT") : errors::Id("E-COMM-BACKEND")) {}
  /// The same with an id of its own.
  UsageError(const std::string& what, Axis axis, errors::Id id) : AgreedError(what, id), axis_(axis) {}

  /// The choice of Options that has to change; `none` if the error is about something else.
  Axis axis() const noexcept { return axis_; }

 private:
  Axis axis_;
};

} // namespace kontor::comm
