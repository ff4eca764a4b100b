// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/checks/envelope.hpp>
#include <kontor/comm/communicator.hpp>
#include <kontor/comm/probe.hpp>
#include <kontor/comm/views/datatype.hpp>

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace kontor::comm::detail {

class Checked;
struct Lent;

/// What a Request is besides its Views: an operation that MPI has been asked for, and how far it is.
class Operation {
 public:
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  bool active() const { return state_ == State::active; }
  bool finished() const { return state_ == State::finished; }
  MessageStatus status() const;

  /// Begins a message with the Request's View, whose elements are the payload at `data`.
  void begin(const Envelope&, void* data, const mpi::Payload&);
  /// Takes charge of a collective that has been begun; errors name the first View.
  void begun(const char* operation, MPI_Request);

  /// Makes sure that it is complete, and waits for that. Throws CallError if it is empty.
  void complete();
  /// Local. Whether it is complete. Throws CallError if it is empty.
  bool completes();
  /// Gives up, as Request says.
  void drop() noexcept;
  void clear() { state_ = State::empty; }

 protected:
  Operation() = default;
  explicit Operation(const Communicator& comm) : comm_(comm.share()) {}
  Operation(Operation&& other) noexcept
      : comm_(std::move(other.comm_)), request_(other.request_), checked_(std::move(other.checked_)),
        envelope_(other.envelope_), state_(std::exchange(other.state_, State::empty)),
        problem_(std::move(other.problem_)), status_(other.status_), received_(std::exchange(other.received_, false)) {}
  Operation& operator=(Operation&&) = delete;
  ~Operation() = default;

 private:
  friend class Pool;

  /// The data have arrived: where they were received into a copy, the View gets them.
  virtual void deliver() = 0;
  virtual Buffer buffer() const = 0;
  /// Shares ownership of the Views.
  virtual std::shared_ptr<void> keep() const = 0;

  bool receives() const { return envelope_.direction == Direction::from; }
  bool has_timeout() const { return detail::verified(*comm_); }
  /// Lets it go on; whether it is complete. Throws what has failed.
  bool poll();
  /// MPI has completed it: it is finished, and its data are delivered.
  void complete(const MPI_Status&);
  /// MPI has completed it with an error, which every wait() and test() throws.
  void fail(int code, const char* mpi_function);
  void throw_problem() const {
    if (problem_) [[unlikely]]
      std::rethrow_exception(problem_);
  }
  [[noreturn]] void fail_timeout() const;

  enum class State { empty, active, finished };
  std::optional<Communicator> comm_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::shared_ptr<Checked> checked_; ///< instead of the request: of messages at check level `cross_rank`
  Envelope envelope_;
  State state_ = State::empty;
  std::exception_ptr problem_;
  MPI_Status status_{}; ///< of what was received
  bool received_ = false;
};

/// Memory for a number of elements; up to 64 of them cost no allocation.
template <class T>
class Scratch {
 public:
  explicit Scratch(std::size_t size) : many_(size > few_.size() ? size : 0), size_(size) {}
  std::span<T> span() { return {many_.empty() ? few_.data() : many_.data(), size_}; }

 private:
  std::array<T, 64> few_; // not initialised
  std::vector<T> many_;
  std::size_t size_;
};

/// Operations that are waited for together, or tested: those that are active.
class Pool {
 public:
  /// `operation_of` makes a pointer of each element of a range.
  template <class Range, class OperationOf = std::identity>
  explicit Pool(Range&& range, const OperationOf& operation_of = {})
      : memory_(static_cast<std::size_t>(std::ranges::distance(range))), operations_(memory_.span()) {
    std::ranges::transform(range, operations_.begin(), operation_of); // views::transform stops clang below 16
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  void wait_all();
  bool test_all();
  std::optional<std::size_t> wait_any();

 private:
  class Gathered;
  bool has_timeout() const;
  /// Where waits have a timeout: one turn, up to the first that is complete or of all; which one that is.
  std::optional<std::size_t> poll(bool first_only);
  /// Waits until done(), no longer than the timeout.
  template <class Done>
  void wait(const Done& done);

  Scratch<Operation*> memory_;
  std::span<Operation*> operations_;
};

/// Messages at check level `cross_rank` that are waited for. The caller has packed what is sent, and delivers what has
/// been received. The status is that of what has been received; empty of what is sent.
MessageStatus message_verified(const Communicator&, const Envelope&, const Lent&);
MessageStatus sendrecv_verified(const Communicator&, const Envelope& to, const Lent& sent, const Envelope& from,
                                const Lent& received);

} // namespace kontor::comm::detail
