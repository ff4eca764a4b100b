// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/checks/envelope.hpp>
#include <kontor/comm/communicator.hpp>
#include <kontor/comm/communicator/internals.hpp>
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
#include <ranges>
#include <span>
#include <utility>
#include <vector>

namespace kontor::comm::detail {

class Checked;
struct Pending;

/// What a Request is besides its Views: one or two operations that MPI has been asked for, and how far they are.
class Operation {
 public:
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  bool active() const { return state_ == State::active; }
  bool finished() const { return state_ == State::finished; }
  MessageStatus status() const;

  /// Begins a message with one of the Request's Views, whose elements are the payload at `data`.
  void begin(const Envelope&, void* data, const mpi::Payload&, std::size_t view = 0);
  /// Takes charge of a collective that has been begun; errors name the first View.
  void begun(const char* operation, Pending);

  /// Makes sure that it is complete, and waits for that. Throws CallError if it is empty.
  void complete();
  /// Local. Whether it is complete. Throws CallError if it is empty.
  bool completes();
  /// Gives up, as Request says.
  void drop() noexcept;
  void clear() {
    count_ = 0;
    state_ = State::empty;
  }

 protected:
  Operation() = default;
  explicit Operation(const Communicator& comm) : comm_(comm.share()) {}
  Operation(Operation&& other) noexcept
      : comm_(std::move(other.comm_)), parts_(std::move(other.parts_)), count_(std::exchange(other.count_, 0)),
        state_(std::exchange(other.state_, State::empty)), problem_(std::move(other.problem_)), status_(other.status_),
        received_(std::exchange(other.received_, false)) {}
  Operation& operator=(Operation&&) = delete;
  ~Operation() = default;

 private:
  friend class Pool;

  /// The data have arrived: where they were received into a copy, the View gets them.
  virtual void deliver() = 0;
  virtual Buffer buffer(std::size_t view) const = 0;
  /// Shares ownership of the Views.
  virtual std::shared_ptr<void> keep() const = 0;

  struct Part {
    MPI_Request request = MPI_REQUEST_NULL;
    std::shared_ptr<Checked> checked{}; ///< instead of the request at check level `cross_rank`
    Envelope envelope{};
    std::size_t view = 0;
    std::shared_ptr<void> arrays{};
    bool pending() const { return request != MPI_REQUEST_NULL || checked; }
    bool receives() const { return envelope.direction == Direction::from; }
  };

  Part& next_part(const Envelope&, std::size_t view);
  std::span<Part> parts() { return std::span(parts_).first(count_); }
  bool has_timeout() const { return detail::internals(*comm_).cached().check == CheckLevel::cross_rank; }
  void poll(Part&);
  /// Lets its parts go on; whether they are all complete. Throws what has failed, and again when all are complete.
  bool poll();
  /// MPI has completed it.
  void complete(Part&, const MPI_Status&);
  /// Becomes finished if nothing is pending; its data are delivered unless a part has failed.
  bool mark_complete();
  /// MPI has completed it with an error: the first one is kept, and every wait() and test() throws it.
  void fail(Part&, int code, const char* mpi_function);
  void keep_problem(std::exception_ptr);
  void throw_problem() const {
    if (problem_) [[unlikely]]
      std::rethrow_exception(problem_);
  }
  [[noreturn]] void fail_timeout(const Part&) const;

  enum class State { empty, active, finished };
  std::optional<Communicator> comm_;
  std::array<Part, 2> parts_;
  std::size_t count_ = 0;
  State state_ = State::empty;
  std::exception_ptr problem_; ///< of the first part that has failed
  MPI_Status status_{};        ///< of what was received
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

enum class Until { complete, now };

/// Operations that are waited for together, or tested: those that are active.
class Pool {
 public:
  /// `operation_of` makes a pointer of each element of a range.
  template <class Range, class OperationOf = std::identity>
  Pool(Until until, Range&& range, const OperationOf& operation_of = {})
      : until_(until), memory_(static_cast<std::size_t>(std::ranges::distance(range))), operations_(memory_.span()) {
    std::ranges::transform(range, operations_.begin(), operation_of); // views::transform stops clang below 16
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  bool all();
  std::optional<std::size_t> any();
  std::vector<std::size_t> some();

 private:
  enum class Many { all, any, some };
  class Gathered;
  /// `found(i)` is told of each that has become complete.
  template <class Found>
  void run(Many, const Found& found);
  /// The same where waits have a timeout.
  template <class Found>
  void poll(Many, const Found& found);

  Until until_;
  Scratch<Operation*> memory_;
  std::span<Operation*> operations_;
};

} // namespace kontor::comm::detail
