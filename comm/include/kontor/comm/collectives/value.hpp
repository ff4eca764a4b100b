// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/messages/operand.hpp>

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

/// A value that a non-blocking operation works on.
struct HeldValue {
  std::shared_ptr<void> value; ///< stays where it is while a Request is moved
  Operand operand;
  bool gets; ///< false: T{} is given back
};

/// A copy of a value.
std::shared_ptr<void> hold_value(const void* value, std::size_t bytes, std::size_t alignment);

template <class T>
class TypedOperand<Value<T>> {
 public:
  template <class Space>
  TypedOperand(CallOn<Space> /*on*/, const char* /*operation*/, const HeldValue& held, Access /*access*/,
               AccessibleTo /*accessible_to*/)
      : held_(held) {}

  Operand operand() const { return held_.operand; }
  Buffer buffer() const { return held_.operand.buffer(); }
  void deliver() const {}
  T give_back() { return held_.gets ? *static_cast<const T*>(held_.value.get()) : T{}; }

 private:
  HeldValue held_;
};

} // namespace detail

/// A View that is input and output.
template <class View>
concept InPlaceView = ViewType<View> && ReceivedView<View>;

/// A value instead of a View: of a transferable type, but no pointer.
template <class T>
concept PlainValue = !ViewType<T> && detail::check_value<T>();

} // namespace kontor::comm
