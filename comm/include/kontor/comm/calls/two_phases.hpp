// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/calls/on.hpp>

#include <functional>
#include <optional>
#include <utility>

namespace kontor::comm {

namespace detail {
struct RequestAccess;
}

/// An operation that has been begun and goes on in two phases: counts or extents first, then data. The data are begun
/// in the call of test() or wait() that finds the first phase complete. So every rank of a collective operation calls
/// wait(), or test() until it gives a result; calls of that kind on one communicator reach their second phases in the
/// same order on all ranks. Movable.
template <class Result, class First, class Second>
class [[nodiscard("kontor::comm: the data of what is dropped are never received")]] TwoPhases {
 public:
  /// `begin` gives the second phase from the result of the first, `finish` the result from that of the second.
  template <class Begin, class Finish>
  TwoPhases(First first, Begin begin, Finish finish)
      : first_(std::move(first)), begin_(std::move(begin)), finish_(std::move(finish)) {}

  /// Waits until both phases are complete. Errors are those of the operations that it consists of; CallError if the
  /// result was given already.
  Result wait() {
    begin_data(true);
    return finish_(second_.wait());
  }

  /// Local. Like wait() if both phases are complete; else nothing, and it goes on.
  std::optional<Result> test() {
    if (!begin_data(false)) return std::nullopt;
    auto complete = second_.test();
    if (!complete) return std::nullopt;
    return finish_(std::move(*complete));
  }

 private:
  friend struct detail::RequestAccess;

  /// Whether the data have been begun, which is when the first phase is complete; waits for that if told to.
  bool begin_data(bool waits) {
    if (!begin_) return true;
    auto learned = waits ? std::optional(first_.wait()) : first_.test();
    if (learned) second_ = std::exchange(begin_, nullptr)(std::move(*learned));
    return learned.has_value();
  }

  First first_;
  std::function<Second(decltype(std::declval<First&>().wait()))> begin_;
  Second second_;
  std::function<Result(decltype(std::declval<Second&>().wait()))> finish_;
};

namespace detail {

/// What a call was given first, for a phase that begins later.
template <class Space>
class LaterOn {
 public:
  explicit LaterOn(CallOn<Space> on) : comm_(on.comm.share()) {
    if (on.instance()) instance_.emplace(*on.instance());
  }
  CallOn<Space> get() const { return instance_ ? CallOn<Space>(comm_, *instance_) : CallOn<Space>(comm_); }

 private:
  Communicator comm_;
  std::optional<Space> instance_;
};

} // namespace detail
} // namespace kontor::comm
