// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/calls/collective_call.hpp>
#include <kontor/comm/request.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

/// A value of the caller's instead of a View.
namespace kontor::comm {

/// What a Request uses that has a value: wait() gives the result.
template <class T>
struct Value {
  using value_type = T; ///< of the result
};

namespace detail {

/// What a value is made of.
template <class T>
struct Parts {
  using type = T;
  static constexpr std::int64_t count = 1;
};
template <class T, std::size_t size>
struct Parts<std::array<T, size>> {
  using type = T;
  static constexpr std::int64_t count = size;
};
template <class T, std::size_t size>
struct Parts<Kokkos::Array<T, size>> : Parts<std::array<T, size>> {};

/// `value` as elements of type E: its parts, or itself.
template <class E, class T>
Operand value_operand(T& value) {
  constexpr bool whole = std::is_same_v<E, T>;
  static constexpr std::int64_t count = whole ? 1 : Parts<T>::count;
  return {&value, count, scalar_of<E>(), &value, [](const void*) {
            Buffer buffer{nullptr, scalar_of<E>(), {}, MemoryKind::host, {}};
            if constexpr (!whole) buffer.shape = {1, {count, 1, 1, 1, 1, 1, 1, 1}, {1}};
            return buffer;
          }};
}

/// A value that goes on with an operation.
template <class T>
class Lent<Value<T>> {
 public:
  using Back = T;

  /// The operation takes as_operand(value). T{} is given back unless this rank gets a result.
  Lent(const T& value, Operand (*as_operand)(T&), bool gets)
      : value_(std::make_shared<T>(value)), operand_(as_operand(*value_)), gets_(gets) {}

  const Operand& operand() const { return operand_; }
  Buffer buffer() const { return operand_.buffer(); }
  void deliver() const {}
  T give_back() const { return gets_ ? *value_ : T{}; }

 private:
  std::shared_ptr<T> value_; // stays where it is while this is moved
  Operand operand_;
  bool gets_;
};

template <class T>
Operand operand(const Lent<Value<T>>& lent) {
  return lent.operand();
}

} // namespace detail
} // namespace kontor::comm
