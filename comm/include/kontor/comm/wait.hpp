// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/calls/operation.hpp>
#include <kontor/comm/request.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>
#include <vector>

/// Waiting for many Requests at once. The Requests are updated: one that is complete is `finished`, and its
/// wait() gives its Views back at once.
namespace kontor::comm {
namespace detail {

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

/// The operations that are waited for, without the types of their Views.
class Pool {
 public:
  enum class Until { complete, now };
  explicit Pool(std::span<Operation* const> operations) : operations_(operations) {}
  bool all(Until);
  std::optional<std::size_t> any(Until);
  std::vector<std::size_t> some();

 private:
  class Gathered;
  bool has_timeout() const;
  /// Takes one turn, or turns until one of them says that it is enough, or nothing is active, or the timeout
  /// has passed. A turn is given what polls an operation.
  template <class Turn>
  void poll(Until, const Turn& turn);

  std::span<Operation* const> operations_;
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

// All of them take some Requests of any types, wait_all(a, b), or a vector, a span or any other range, of
// which up to 64 cost no allocation. Throw Error if MPI reports one, naming the first Request that it
// happened to; the others remain as far as they are.

/// Waits until all of the Requests are complete; those that are not active are left as they are. MPI_Waitall.
template <class... T>
requires detail::Requests<T...>
void wait_all(T&&... requests) {
  detail::with_pool([](detail::Pool pool) { return pool.all(detail::Pool::Until::complete); }, requests...);
}

/// Local. Whether all that are active are complete; else none of them becomes `finished`, except at check
/// level `cross_rank`. MPI_Testall.
template <class... T>
requires detail::Requests<T...>
bool test_all(T&&... requests) {
  return detail::with_pool([](detail::Pool pool) { return pool.all(detail::Pool::Until::now); }, requests...);
}

/// Waits until one of the active Requests is complete, and says which; nothing if none is active.
/// MPI_Waitany.
template <class... T>
requires detail::Requests<T...> std::optional<std::size_t> wait_any(T&&... requests) {
  return detail::with_pool([](detail::Pool pool) { return pool.any(detail::Pool::Until::complete); },
                           requests...);
}

/// Local. Which of the active Requests is complete; nothing if none is. MPI_Testany.
template <class... T>
requires detail::Requests<T...> std::optional<std::size_t> test_any(T&&... requests) {
  return detail::with_pool([](detail::Pool pool) { return pool.any(detail::Pool::Until::now); }, requests...);
}

/// Waits until at least one of the active Requests is complete, and says which are; empty if none is active.
/// MPI_Waitsome.
template <class... T>
requires detail::Requests<T...> std::vector<std::size_t> wait_some(T&&... requests) {
  return detail::with_pool([](detail::Pool pool) { return pool.some(); }, requests...);
}

} // namespace kontor::comm
