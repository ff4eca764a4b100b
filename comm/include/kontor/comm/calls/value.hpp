// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/calls/operand.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

/// A value of the caller's instead of a View.
namespace kontor::comm {

/// What a Request has that is made with a value: wait() gives the result.
template <class T>
struct Value {
  using value_type = T; ///< of the result
};

namespace detail {

template <class T>
constexpr bool check_value() {
  constexpr bool usable = Transferable<T> && !std::is_pointer_v<T>;
  static_assert(usable, "kontor::comm: a collective operation takes a Kokkos::View, or a value that is "
                        "trivially copyable and not a pointer");
  return usable;
}

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
            const auto shape = whole ? Shape() : row_shape(count);
            return Buffer{nullptr, scalar_of<E>(), shape, MemoryKind::host, {}};
          }};
}

/// What a non-blocking operation is given instead of a View.
template <class T>
struct GivenValue {
  const T& value;
  Operand (*as_operand)(T&);
  bool gets; ///< false: T{} is given back
};

template <class T>
class TypedOperand<Value<T>> {
 public:
  template <class Space>
  TypedOperand(CallOn<Space> /*on*/, const char* /*operation*/, const GivenValue<T>& given, Access /*access*/,
               Taker /*taker*/)
      : value_(std::make_shared<T>(given.value)), operand_(given.as_operand(*value_)), gets_(given.gets) {}

  Operand operand() const { return operand_; }
  Buffer buffer() const { return operand_.buffer(); }
  void deliver() const {}
  T give_back() { return gets_ ? *value_ : T{}; }

 private:
  std::shared_ptr<T> value_; // stays where it is while this is moved
  Operand operand_;
  bool gets_;
};

} // namespace detail

/// A View that is input and output.
template <class View>
concept InPlaceView = ViewType<View> && ReceivedView<View>;

/// A value instead of a View: of a transferable type, but no pointer.
template <class T>
concept PlainValue = !ViewType<T> && detail::check_value<T>();

} // namespace kontor::comm
