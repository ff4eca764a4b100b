// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/calls/operand.hpp>
#include <kontor/comm/calls/operation.hpp>
#include <kontor/comm/checks/envelope.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

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

  /// Sends the extents of the Request's View before it.
  template <class View>
  static void announce(Request<View>& request, const Envelope& envelope) {
    request.announce(envelope);
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

template <class T>
concept RequestType = std::derived_from<T, Operation>;

template <class Range>
concept RequestRange = std::ranges::forward_range<Range> && RequestType<std::ranges::range_value_t<Range>>;

template <class T>
concept NamedRequest = std::is_lvalue_reference_v<T> && RequestType<std::remove_reference_t<T>>;

/// Some that have names, of any types, or a range of them.
template <class... T>
concept Requests = sizeof...(T) > 0 && ((NamedRequest<T> && ...) ||
                                        (sizeof...(T) == 1 && (RequestRange<std::remove_cvref_t<T>> && ...)));

template <class Wait, class... T>
auto with_pool(Wait wait, T&... requests) {
  if constexpr ((RequestType<T> && ...)) {
    const std::array<Operation*, sizeof...(T)> operations{&requests...};
    return wait(Pool(operations));
  } else {
    auto& range = (requests, ...);
    Scratch<Operation*> operations(static_cast<std::size_t>(std::ranges::distance(range)));
    std::ranges::transform(range, operations.span().begin(), [](auto& request) { return &request; });
    return wait(Pool(operations.span()));
  }
}

} // namespace detail

// Waiting for many Requests at once. The Requests are updated: one that is complete is `finished`, and its
// wait() gives its Views back at once. All of them take some Requests of any types, wait_all(a, b), or a
// vector, a span or any other range, of which up to 64 cost no allocation. Throw Error if MPI reports one,
// naming the first Request that it happened to; the others remain as far as they are.

/// Waits until all of the Requests are complete; those that are not active are left as they are. MPI_Waitall.
template <class... T>
requires detail::Requests<T...>
void wait_all(T&&... requests) {
  detail::with_pool([](detail::Pool pool) { return pool.all(detail::Until::complete); }, requests...);
}

/// Local. Whether all that are active are complete; else none of them becomes `finished`, except at check
/// level `cross_rank`. MPI_Testall.
template <class... T>
requires detail::Requests<T...>
bool test_all(T&&... requests) {
  return detail::with_pool([](detail::Pool pool) { return pool.all(detail::Until::now); }, requests...);
}

/// Waits until one of the active Requests is complete, and says which; nothing if none is active.
/// MPI_Waitany.
template <class... T>
requires detail::Requests<T...> std::optional<std::size_t> wait_any(T&&... requests) {
  return detail::with_pool([](detail::Pool pool) { return pool.any(detail::Until::complete); }, requests...);
}

/// Local. Which of the active Requests is complete; nothing if none is. MPI_Testany.
template <class... T>
requires detail::Requests<T...> std::optional<std::size_t> test_any(T&&... requests) {
  return detail::with_pool([](detail::Pool pool) { return pool.any(detail::Until::now); }, requests...);
}

/// Waits until at least one of the active Requests is complete, and says which are; empty if none is active.
/// MPI_Waitsome.
template <class... T>
requires detail::Requests<T...> std::vector<std::size_t> wait_some(T&&... requests) {
  return detail::with_pool([](detail::Pool pool) { return pool.some(detail::Until::complete); }, requests...);
}

/// Local. Which of the active Requests are complete. MPI_Testsome.
template <class... T>
requires detail::Requests<T...> std::vector<std::size_t> test_some(T&&... requests) {
  return detail::with_pool([](detail::Pool pool) { return pool.some(detail::Until::now); }, requests...);
}

} // namespace kontor::comm
