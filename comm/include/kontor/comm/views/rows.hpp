// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/options.hpp>
#include <kontor/comm/views/view_buffer.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// Which rows of a View travel: all of them, those from one to before another, or those of an index list.
namespace kontor::comm {

/// Local. Rows from `begin` to before `end` of the View.
SelectedRows rows_between(Buffer view, std::int64_t begin, std::int64_t end);

/// Local. Rows of the View by index; `label` is the list's. Consecutive ones are a range.
SelectedRows rows_by_index(Buffer view, std::vector<std::int64_t> indices, std::string label);

/// Local. What is wrong with the rows that have been chosen: beyond the View's, or, of those that are received, twice
/// in the list. Only lists cost time, and are not looked at on level `off`.
std::optional<std::string> rows_problem(const Buffer&, bool receives, CheckLevel);

namespace detail {

template <class T>
inline constexpr bool is_row_index = std::is_integral_v<T> && !std::is_same_v<std::remove_cv_t<T>, bool>;

template <class T>
inline constexpr bool is_row_range = std::is_same_v<T, std::remove_cvref_t<decltype(Kokkos::ALL)>>;
template <class A, class B>
inline constexpr bool is_row_range<std::pair<A, B>> = is_row_index<A>&& is_row_index<B>;
template <class A, class B>
inline constexpr bool is_row_range<Kokkos::pair<A, B>> = is_row_index<A>&& is_row_index<B>;

template <class T>
constexpr bool is_index_list() {
  if constexpr (ViewType<T>)
    return static_cast<int>(T::rank) == 1 && is_row_index<typename T::value_type> &&
           (sizeof(typename T::value_type) == 4 || sizeof(typename T::value_type) == 8);
  else
    return false;
}

/// Whether rows of that View can be chosen so; if not, the compiler says why.
template <class View, class Rows>
constexpr bool check_rows() {
  constexpr bool has_rows = static_cast<int>(View::rank) == 1 || static_cast<int>(View::rank) == 2;
  static_assert(has_rows, "kontor::comm: rows are chosen of Views of rank 1 or 2");
  constexpr bool chooses = is_row_range<Rows> || is_index_list<Rows>();
  static_assert(chooses, "kontor::comm: rows are chosen by a Kokkos::View of rank 1 of 32- or 64-bit integers, by "
                         "a pair of integers {begin, end}, or by Kokkos::ALL");
  return has_rows && chooses;
}

/// The indices as they are now.
template <ViewType List>
std::vector<std::int64_t> host_indices(const List& list) {
  if constexpr (std::is_same_v<typename List::array_layout, Kokkos::LayoutStride>) {
    using Dense = Kokkos::View<typename List::non_const_value_type*, Kokkos::LayoutRight, typename List::memory_space>;
    const Dense dense(Kokkos::view_alloc(std::string("comm/indices"), Kokkos::WithoutInitializing), list.extent(0));
    Kokkos::deep_copy(dense, list);
    return host_indices(dense);
  } else {
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list, "comm/indices");
    std::vector<std::int64_t> indices(host.extent(0));
    for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<std::int64_t>(host(i));
    return indices;
  }
}

} // namespace detail

/// All of a View, without its type. Shares ownership of it.
template <ViewType View>
SelectedRows rows_of(const View& view) {
  return {to_buffer(view), nullptr, detail::keep(view)};
}

/// The rows of the View without its type; the indices are copied.
template <ViewType View, class Rows>
SelectedRows rows_of(const View& view, const Rows& rows) {
  if constexpr (std::is_same_v<Rows, std::remove_cvref_t<decltype(Kokkos::ALL)>>) {
    return rows_of(view);
  } else {
    SelectedRows selected;
    if constexpr (ViewType<Rows>)
      selected = rows_by_index(to_buffer(view), detail::host_indices(rows), rows.label());
    else
      selected =
          rows_between(to_buffer(view), static_cast<std::int64_t>(rows.first), static_cast<std::int64_t>(rows.second));
    selected.view = detail::keep(view);
    return selected;
  }
}

} // namespace kontor::comm
