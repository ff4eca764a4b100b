// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/collective.hpp>
#include <kontor/comm/request.hpp>

#include <memory>

/// A value of the caller's instead of a View.
namespace kontor::comm {

/// What a Request uses that has a value: wait() gives the result.
template <class T>
struct Value {
  using value_type = T; ///< of the result
};

namespace detail {

/// `value` as elements of type E, of which it is made.
template <class E, class T>
Operand value_operand(T& value) {
  static_assert(sizeof(T) % sizeof(E) == 0);
  constexpr std::int64_t count = sizeof(T) / sizeof(E);
  return {&value, count, scalar_of<E>(), &value, [](const void*) {
            Buffer buffer{nullptr, scalar_of<E>(), {}, MemoryKind::host, {}};
            if constexpr (!std::is_same_v<E, T>) buffer.shape = {1, {count, 1, 1, 1, 1, 1, 1, 1}, {1}};
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
