// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/checks/envelope.hpp>
#include <kontor/comm/messages/operand.hpp>
#include <kontor/comm/messages/operation.hpp>

#include <algorithm> // with the concepts of ranges: all of <ranges> takes longer to compile than this layer
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace kontor::comm {
namespace detail {
struct RequestAccess;
}

/// An operation that has been begun and goes on by itself. Shares ownership of its Views, so they outlive it: those
/// that are sent may be read but not written before it is complete, those that receive neither. Movable; what was moved
/// from is empty, and so is one whose Views have been given back.
/// The memory of an unmanaged View is the caller's to keep until the operation is complete; if the Request is dropped,
/// until the communicator ends.
///
/// One that is dropped unfinished: a receive is cancelled, or completes if its message is there already, and its View's
/// contents mean nothing; anything else goes on, and the communicator keeps the Views until MPI is done with them. From
/// check level `local` on, a line on stderr says so.
template <class... Views>
class [[nodiscard("kontor::comm: a Request that is dropped is never waited for")]] Request final
    : private detail::Operation {
 public:
  /// What wait() gives back: the View, or a pair of them; of a Value, the result.
  using Result = decltype(std::declval<detail::Operands<Views...>>().give_back());

  /// An empty one.
  Request() {}
  /// The one moved from is empty.
  Request(Request && other) noexcept : Operation(static_cast<Operation&&>(other)) {
    if (!other.has_operands_) return;
    std::construct_at(&operands_, std::move(other.operands_));
    has_operands_ = true;
    other.reset();
  }
  /// The one that was here is dropped; the one moved from is empty.
  Request& operator=(Request&& other) noexcept {
    if (this == &other) return *this;
    std::destroy_at(this);
    return *std::construct_at(this, std::move(other));
  }
  ~Request() {
    if (active()) drop();
    reset();
  }

  /// Local. Whether it has been begun and is not known to be complete.
  using Operation::active;
  /// Local. Whether it is known to be complete, or to have failed, and its Views have not been given back.
  using Operation::finished;
  /// Local. The message that has been received, from when the operation is known to be complete until another Request
  /// takes this one's place: after wait() and test(), too. Throws CallError where none has been.
  using Operation::status;

  /// Waits until the operation is complete and gives the Views back: data that were received are valid, on the host or,
  /// in device memory, for every instance. The Request is empty then. MPI_Wait, where it is not `finished` already.
  /// Throws CallError if it is empty, and Error if MPI reports one: each time, and the Request keeps its Views.
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
  Request(detail::CallOn<Space> on, const char* operation, detail::AccessibleTo accessible_to,
          const detail::Access* access, const Given&... given)
      : Operation(on.comm), operands_(on, operation, accessible_to, access, given...), has_operands_(true) {}

  Result give_back() {
    clear();
    Result result = operands_.give_back();
    reset();
    return result;
  }
  void reset() {
    if (std::exchange(has_operands_, false)) std::destroy_at(&operands_);
  }

  void deliver() override { operands_.deliver(); }
  Buffer buffer() const override { return operands_.buffer(); }
  std::shared_ptr<void> keep() const override { return detail::keep(operands_); }

  union { // of its own, because a std::optional takes longer to compile than all else of a call
    Operands operands_;
  };
  bool has_operands_ = false;
};

namespace detail {

/// What the calls that begin operations, or wait for many, see of a Request, and its users do not.
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
  template <class... Views>
  static Operation& operation(Request<Views...>& request) {
    return request;
  }
};

template <class T>
inline constexpr bool is_request = false;
template <class... Views>
inline constexpr bool is_request<Request<Views...>> = true;

template <class Range>
concept RequestRange = std::ranges::forward_range<Range> && is_request<std::ranges::range_value_t<Range>>;

template <class T>
concept NamedRequest = std::is_lvalue_reference_v<T> && is_request<std::remove_reference_t<T>>;

/// Some that have names, of any types, or a range of them.
template <class... T>
concept Requests = sizeof...(T) > 0 &&
                   ((NamedRequest<T> && ...) || (sizeof...(T) == 1 && (RequestRange<std::remove_cvref_t<T>> && ...)));

template <class... T>
Pool pool_of(T&... requests) {
  const auto operation_of = [](auto& request) { return &RequestAccess::operation(request); };
  if constexpr ((is_request<T> && ...))
    return Pool(std::array<Operation*, sizeof...(T)>{operation_of(requests)...});
  else
    return Pool((requests, ...), operation_of);
}

} // namespace detail

// Waiting for many Requests at once. The Requests are updated: one that is complete is `finished`, and its wait() gives
// its Views back at once. All of them take some Requests of any types, wait_all(a, b), or a vector, a span or any other
// range, of which up to 64 cost no allocation. Throw Error if MPI reports one, naming the first Request that it
// happened to. Each that has failed is `finished`, and its wait() throws its error; the others remain as far as they
// are.

/// Waits until all of the Requests are complete; those that are not active are left as they are. MPI_Waitall.
template <class... T>
requires detail::Requests<T...>
void wait_all(T&&... requests) { detail::pool_of(requests...).wait_all(); }

/// Local. Whether all that are active are complete; else none of them becomes `finished`, except at check level
/// `cross_rank`. MPI_Testall.
template <class... T>
requires detail::Requests<T...>
bool test_all(T&&... requests) { return detail::pool_of(requests...).test_all(); }

/// Waits until one of the active Requests is complete, and says which; nothing if none is active. MPI_Waitany.
template <class... T>
requires detail::Requests<T...> std::optional<std::size_t> wait_any(T&&... requests) {
  return detail::pool_of(requests...).wait_any();
}

} // namespace kontor::comm
