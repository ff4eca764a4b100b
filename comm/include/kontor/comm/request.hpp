// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/calls/operand.hpp>
#include <kontor/comm/calls/operation.hpp>
#include <kontor/comm/checks/envelope.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

namespace kontor::comm {
namespace detail {
struct RequestAccess;
}

/// An operation that has been begun and goes on by itself. Shares ownership of its Views, so they outlive it:
/// those that are sent may be read but not written before it is complete, those that receive neither.
/// Movable; what was moved from is empty, and so is one whose Views have been given back.
/// The memory of an unmanaged View is the caller's to keep until the operation is complete; if the Request is
/// dropped, until the communicator ends.
///
/// One that is dropped unfinished: a receive is cancelled, or completes if its message is there already, and
/// its View's contents mean nothing; anything else goes on, and the communicator keeps the Views until MPI
/// is done with them. From check level `local` on, a line on stderr says so.
template <class... Views>
class [[nodiscard("kontor::comm: a Request that is dropped is never waited for")]] Request final
    : public detail::Operation {
 public:
  /// What wait() gives back: the View, or a pair of them; of a Value, the result.
  using Result = decltype(std::declval<detail::Operands<Views...>>().give_back());

  /// An empty one.
  Request() {}
  /// The one moved from is empty.
  Request(Request && other) noexcept
      : Operation(static_cast<Operation&&>(other)), holds_(other.holds_) { // the Views are still there
    if (!holds_) return;
    std::construct_at(&operands_, std::move(other.operands_));
    other.forget();
  }
  /// The one that was here is dropped; the one moved from is empty.
  Request& operator=(Request&& other) noexcept {
    if (this == &other) return *this;
    std::destroy_at(this);
    return *std::construct_at(this, std::move(other));
  }
  ~Request() {
    if (active()) drop(keep());
    forget();
  }

  /// Waits until the operation is complete and gives the Views back: data that were received are valid, on
  /// the host or, in device memory, for every instance. The Request is empty then. MPI_Wait, where it is not
  /// `finished` already. Throws CallError if it is empty, and Error if MPI reports one.
  Result wait() {
    complete();
    return give_back();
  }

  /// Local. Like wait() if the operation is complete; else nothing, and it goes on. MPI_Test.
  std::optional<Result> test() {
    if (!completes()) return std::nullopt;
    return give_back();
  }

 private:
  friend struct detail::RequestAccess;
  using Operands = detail::Operands<Views...>;

  template <class Space, class... Given>
  Request(detail::CallOn<Space> on, const char* operation, detail::Taker taker, const detail::Access* access,
          const Given&... given)
      : Operation(on.comm), operands_(on, operation, taker, access, given...), holds_(true) {}

  std::shared_ptr<void> keep() const {
    return std::make_shared<Operands>(operands_);
  }

  Result give_back() {
    clear();
    Result result = operands_.give_back();
    forget();
    return result;
  }
  void forget() {
    if (std::exchange(holds_, false)) std::destroy_at(&operands_);
  }

  void deliver() override {
    operands_.deliver();
  }
  Buffer buffer(std::size_t view) const override {
    return operands_.buffer(view);
  }

  union {
    Operands operands_; // if it holds some
  };
  bool holds_ = false;
};

namespace detail {

/// What the calls that begin operations see of a Request, and its users do not.
struct RequestAccess {
  /// For an operation on these Views or values, which is begun next.
  template <class... Views, class... Arguments>
  static Request<Views...> make(const Arguments&... arguments) {
    return Request<Views...>(arguments...);
  }
  template <class... Views>
  static const Operands<Views...>& operands(const Request<Views...>& request) {
    return request.operands_;
  }
  /// Shares ownership of the Views.
  template <class... Views>
  static std::shared_ptr<void> keep(const Request<Views...>& request) {
    return request.keep();
  }

  /// Begins a message: errors name the View of that number, whose elements are the operand's.
  template <class... Views, class View>
  static void begin(Request<Views...>& request, const Envelope& envelope, const TypedOperand<View>& operand,
                    std::size_t view = 0) {
    request.begin(envelope, operand.data(), operand.payload(), view);
  }
  /// Another call of MPI's, or its check, has begun an operation of which errors name the first View.
  template <class... Views, class Begun, class... Arrays>
  static void begun(Request<Views...>& request, Begun begun, const Envelope& envelope, Arrays... arrays) {
    request.begun(std::move(begun), envelope, 0, std::move(arrays)...);
  }
};

} // namespace detail
} // namespace kontor::comm
