// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/messages/on.hpp>
#include <kontor/comm/views/concepts.hpp>
#include <kontor/comm/views/lowering.hpp>

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

/// What the operations work on: Views and values, with and without their types.
namespace kontor::comm::detail {

/// What an operation does with an operand on this rank.
enum class Access : std::uint8_t { none, read, write, read_write };

constexpr bool reads(Access access) { return access == Access::read || access == Access::read_write; }
constexpr bool writes(Access access) { return access == Access::write || access == Access::read_write; }

/// What a View without its type is.
using Describe = Buffer (*)(const void* view);
template <ViewType View>
Buffer describe_view(const void* view) {
  return to_buffer(*static_cast<const View*>(view));
}

/// Elements in one piece, without their type. Label and shape are asked for only where an error needs them.
struct Operand {
  void* data = nullptr;
  std::int64_t count = 0;
  Scalar scalar{};
  const void* view = nullptr;
  Describe describe = nullptr;

  Buffer buffer() const { return describe(view); }
  bool in_place() const { return data == MPI_IN_PLACE; }
  /// The same elements at another address: MPI_IN_PLACE, or null where a rank has nothing to give or to get.
  Operand at(void* other) const { return {other, count, scalar, view, describe}; }
};

template <ViewType View>
struct LentView {
  View view;
  LoweredIn<View> memory;
};

/// An operand of a message that is waited for, without its type. `keep` shares ownership of what `typed` has.
struct Lent {
  Operand operand;
  const void* typed;
  std::shared_ptr<void> (*keep)(const void* typed);
};

/// A View and its elements in one piece. One that is read is packed when this is made; without access it is not looked
/// at. `Held` is the View where an operation goes on by itself, else `const View&`, because a copy of a View takes
/// longer than all else here.
template <class Held>
class TypedOperand {
  using View = std::remove_cvref_t<Held>;

 public:
  template <class Space>
  TypedOperand(CallOn<Space> on, const char* operation, const View& view, Access access,
               AccessibleTo accessible_to = AccessibleTo::mpi)
      : view_(view), memory_(lower(cached(on.comm).lowering, operation, view, instance_for<View>(on), accessible_to,
                                   access != Access::none)),
        access_(access) {
    if (reads(access_))
      memory_.pack();
    else if (writes(access_))
      memory_.prepare();
  }

  auto* data() const { return memory_.data(); }
  mpi::Payload payload() const { return memory_.payload(); }
  Buffer buffer() const { return to_buffer(view_); }
  Operand operand() const {
    return {data(), memory_.count(), scalar_of<typename View::non_const_value_type>(), &view_, describe_view<View>};
  }
  Lent lent() const { return {operand(), this, keep}; }
  /// Elements that have been written are in the View.
  void deliver() const {
    if constexpr (!std::is_const_v<typename View::value_type>) {
      if (writes(access_)) memory_.unpack();
    }
  }
  View give_back() { return std::move(view_); }

 private:
  static std::shared_ptr<void> keep(const void* typed) {
    const auto& self = *static_cast<const TypedOperand*>(typed);
    return detail::keep(LentView<View>{self.view_, self.memory_});
  }

  Held view_;
  LoweredIn<View> memory_;
  Access access_;
};

/// Of one operation: none, or one or two. Own code, because std::tuple takes longer to compile than all else of a call.
template <class... Held>
struct Operands {
  template <class Space>
  Operands(CallOn<Space> /*on*/, const char* /*operation*/, AccessibleTo /*accessible_to*/, const Access* /*access*/) {}
  std::tuple<> give_back() { return {}; }
  void deliver() const {}
  Buffer buffer() const { return {}; }
  Operand operand(std::size_t) const { return {}; }
};

template <class First, class... Rest>
struct Operands<First, Rest...> {
  TypedOperand<First> first;
  Operands<Rest...> rest;

  template <class Space, class Given, class... Others>
  Operands(CallOn<Space> on, const char* operation, AccessibleTo accessible_to, const Access* access,
           const Given& given, const Others&... others)
      : first(on, operation, given, *access, accessible_to), rest(on, operation, accessible_to, access + 1, others...) {
  }

  auto give_back() {
    if constexpr (sizeof...(Rest) == 0)
      return first.give_back();
    else
      return std::pair(first.give_back(), rest.give_back());
  }
  void deliver() const {
    first.deliver();
    rest.deliver();
  }
  Buffer buffer() const { return first.buffer(); } ///< of the first
  Operand operand(std::size_t i) const { return i == 0 ? first.operand() : rest.operand(i - 1); }
};

} // namespace kontor::comm::detail
