// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/views/view_buffer.hpp>

#include <type_traits>

/// What the one-shot calls (messages, collectives, reductions) take. The concepts below do not just fail: they say what
/// is wrong by a static assertion, which so is the compiler's first error.
namespace kontor::comm {
namespace detail {

template <class View>
constexpr bool check_view() {
  constexpr bool is_view = ViewType<View>;
  static_assert(is_view, "kontor::comm: what is sent and what receives must each be a Kokkos::View; memory of "
                         "your own becomes one by Kokkos::View<double*, Kokkos::HostSpace>(pointer, size)");
  return is_view;
}

/// Of a View.
template <class View>
constexpr bool check_elements() {
  constexpr bool transferable = Transferable<typename View::non_const_value_type>;
  static_assert(transferable, "kontor::comm: the elements of a View that travels between ranks must be trivially "
                              "copyable (numbers, complex numbers, plain structs), or a std::pair, std::array or "
                              "Kokkos::Array of such");
  constexpr bool whole = has_whole_elements<View>;
  static_assert(whole, "kontor::comm: a View of Kokkos::Array must be LayoutRight: in other layouts this Kokkos "
                       "keeps the numbers of an element apart");
  return transferable && whole;
}

template <class View>
constexpr bool check_not_const() {
  constexpr bool writable = !std::is_const_v<typename View::value_type>;
  static_assert(writable, "kontor::comm: a const View cannot receive");
  return writable;
}

template <class View>
constexpr bool check_sent() {
  if constexpr (check_view<View>())
    return check_elements<View>();
  else
    return false;
}

template <class View>
constexpr bool check_received() {
  if constexpr (!check_sent<View>())
    return false;
  else
    return check_not_const<View>();
}

/// What the two Views of an exchange must be besides.
template <class SendView, class ReceiveView>
constexpr void check_sendrecv() {
  static_assert(std::is_same_v<typename SendView::non_const_value_type, typename ReceiveView::non_const_value_type>,
                "kontor::comm: both Views of a sendrecv must have the same scalar type");
}

} // namespace detail

/// A View of elements that can travel, in any memory; may be const.
template <class View>
concept SentView = detail::check_sent<View>();

/// The same, not const.
template <class View>
concept ReceivedView = detail::check_received<View>();

} // namespace kontor::comm
