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
  explicit Pool(std::span<Operation* const> operations) : operations_(operations) {}
  void wait_all();
  std::optional<std::size_t> wait_any();
  std::vector<std::size_t> wait_some();

 private:
  class Gathered;
  bool has_timeout() const;
  /// Takes turns until one of them says that it is enough, or nothing is active, or the timeout has passed.
  template <class Turn>
  void wait_with_timeout(Turn turn);

  std::span<Operation* const> operations_;
};

template <class T>
concept RequestType = std::derived_from<T, Operation>;

template <class Range>
concept RequestRange = std::ranges::forward_range<Range> && RequestType<std::ranges::range_value_t<Range>>;

template <RequestRange Requests, class Wait>
auto with_pool(Requests& requests, Wait wait) {
  Scratch<Operation*> operations(static_cast<std::size_t>(std::ranges::distance(requests)));
  std::ranges::transform(requests, operations.span().begin(), [](auto& request) { return &request; });
  return wait(Pool(operations.span()));
}

} // namespace detail

/// Waits until all of the Requests are complete; those that are not active are left as they are. On an error
/// the others remain as far as they are. MPI_Waitall. Throws Error if MPI reports one, naming the first
/// Request that it happened to.
template <detail::RequestType... Requests>
void wait_all(Requests&... requests) {
  std::array<detail::Operation*, sizeof...(requests)> operations{&requests...};
  detail::Pool(operations).wait_all();
}

/// The same for a vector, a span, or any other range of Requests. Up to 64 of them cost no allocation.
template <detail::RequestRange Requests>
void wait_all(Requests&& requests) {
  detail::with_pool(requests, [](detail::Pool pool) { pool.wait_all(); });
}

/// Waits until one of the active Requests is complete, and says which; nothing if none is active.
/// MPI_Waitany.
template <detail::RequestRange Requests>
std::optional<std::size_t> wait_any(Requests&& requests) {
  return detail::with_pool(requests, [](detail::Pool pool) { return pool.wait_any(); });
}

/// Waits until at least one of the active Requests is complete, and says which are; empty if none is active.
/// MPI_Waitsome.
template <detail::RequestRange Requests>
std::vector<std::size_t> wait_some(Requests&& requests) {
  return detail::with_pool(requests, [](detail::Pool pool) { return pool.wait_some(); });
}

} // namespace kontor::comm
