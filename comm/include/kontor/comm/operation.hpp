// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/message.hpp>

#include <mpi.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kontor::comm::detail {

/// What a Request is besides its Views: one or two operations that MPI has been asked for, and how far
/// they are.
class Operation {
 public:
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  /// Local. Whether it has been begun and is not known to be complete.
  bool active() const { return state_ == State::active; }
  /// Local. Whether it is complete, and the Views have not been given back.
  bool finished() const { return state_ == State::finished; }

 protected:
  Operation() = default;
  explicit Operation(const Communicator& comm) : comm_(comm.share()) {}
  Operation(Operation&& other) noexcept
      : comm_(std::move(other.comm_)), parts_(other.parts_), count_(std::exchange(other.count_, 0)),
        state_(std::exchange(other.state_, State::empty)) {}
  Operation& operator=(Operation&&) = delete;
  ~Operation() = default;

  /// Takes charge of what an MPI call has begun with the Request's View of that index.
  void begun(MPI_Request request, const Envelope& envelope, std::size_t view) {
    parts_[count_++] = {request, envelope, view};
    state_ = State::active;
  }

  /// Makes sure that it is complete: waits where it is active. Throws UsageError if it is empty.
  void complete();
  /// Whether it is complete. Throws UsageError if it is empty.
  bool completes();
  /// Gives up: `keep` holds the Views for as long as MPI needs them.
  void drop(std::shared_ptr<void> keep) noexcept;
  void clear() {
    count_ = 0;
    state_ = State::empty;
  }

 private:
  friend void wait_all(std::span<Operation* const>);
  friend std::vector<std::size_t> wait_some(std::span<Operation* const>);
  friend std::optional<std::size_t> wait_any(std::span<Operation* const>);

  /// The data have arrived: where they were received into a copy, the View gets them.
  virtual void deliver() = 0;
  virtual Buffer buffer(std::size_t view) const = 0;

  void finish();
  [[noreturn]] void fail(std::size_t part, int code, const char* mpi_function);

  enum class State { empty, active, finished };
  struct Part {
    MPI_Request request = MPI_REQUEST_NULL;
    Envelope envelope;
    std::size_t view = 0;
  };
  std::optional<Communicator> comm_;
  std::array<Part, 2> parts_;
  std::size_t count_ = 0;
  State state_ = State::empty;
};

void wait_all(std::span<Operation* const>);
std::optional<std::size_t> wait_any(std::span<Operation* const>);
std::vector<std::size_t> wait_some(std::span<Operation* const>);

} // namespace kontor::comm::detail
