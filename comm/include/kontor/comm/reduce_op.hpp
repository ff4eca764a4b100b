// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend/backend.hpp>

#include <mpi.h>

#include <bit>
#include <cstdint>
#include <type_traits>
#include <typeinfo>

/// What a reduction does with two elements: a ReduceOp by name, or a functor of the caller's, of which MPI gets an
/// operation made once for each communicator. The functor may not throw: MPI calls it, on some ranks and not on others,
/// and exceptions do not pass through MPI. One that throws ends the program: a line on stderr says what it threw, and
/// MPI_Abort ends all ranks with code 3.
namespace kontor::comm {

/// A functor, and whether its operands may change places. Without commutative() they keep the order of ranks.
template <class F, bool swappable>
struct ReduceFunctor {
  F function; ///< takes two elements and returns one
};

/// MPI may combine elements of ranks in any order: f(a, b) is f(b, a).
template <class F>
constexpr ReduceFunctor<F, true> commutative(F f) {
  return {f};
}

/// A value and where it is: what MPI_MINLOC and MPI_MAXLOC reduce, of any type that can be ordered.
template <class T>
struct Located {
  T value;            ///< what is compared
  std::int64_t place; ///< any number that tells where the value is
};

/// The least value, and the lowest of its places.
inline constexpr auto min_loc = commutative([]<class T>(const Located<T>& a, const Located<T>& b) {
  return b.value < a.value || (b.value == a.value && b.place < a.place) ? b : a;
});

/// The greatest value, and the lowest of its places.
inline constexpr auto max_loc = commutative([]<class T>(const Located<T>& a, const Located<T>& b) {
  return a.value < b.value || (b.value == a.value && b.place < a.place) ? b : a;
});

namespace detail {

/// An operation without its C++ type: by name, or by `function` where that is not null.
struct Reducer {
  ReduceOp named = ReduceOp::sum;
  MPI_User_function* function = nullptr;
  bool commutative = true;
  const char* type = ""; ///< of the functor, as the compiler spells it
};

/// Ends all ranks: the functor of that type has thrown what is being handled.
[[noreturn]] void functor_threw(const char* type) noexcept;

/// What MPI calls for a functor: `both` becomes f(lower ranks, both). F is empty, so any byte is one.
template <class T, class F>
void combine(void* lower, void* both, int* count, MPI_Datatype*) noexcept {
  const auto f = std::bit_cast<F>('\0');
  const auto* a = static_cast<const T*>(lower);
  auto* b = static_cast<T*>(both);
  try {
    for (int i = 0; i < *count; ++i) b[i] = f(a[i], b[i]);
  } catch (...) {
    functor_threw(typeid(F).name());
  }
}

template <class T, class F, bool swappable>
Reducer reducer(const ReduceFunctor<F, swappable>&) {
  return {.function = combine<T, F>, .commutative = swappable, .type = typeid(F).name()};
}

template <class T>
Reducer reducer(ReduceOp op) {
  return {.named = op};
}

template <class T, class F>
Reducer reducer(const F& f) {
  return reducer<T>(ReduceFunctor<F, false>{f});
}

/// The functor itself.
template <class F>
struct Unwrapped {
  using type = F;
};
template <class F, bool swappable>
struct Unwrapped<ReduceFunctor<F, swappable>> {
  using type = F;
};

template <class T, class Op>
concept Combines = std::is_invocable_r_v<T, const typename Unwrapped<Op>::type&, const T&, const T&>;

template <class Op, class T>
constexpr bool check_op() {
  constexpr bool of_mpi = std::is_same_v<Op, MPI_Op>;
  static_assert(!of_mpi, "kontor::comm: a reduction takes a kontor::comm::ReduceOp, such as ReduceOp::sum for "
                         "MPI_SUM, or a functor, not an MPI_Op");
  if constexpr (of_mpi) {
    return false;
  } else if constexpr (std::is_same_v<Op, ReduceOp>) {
    return true;
  } else {
    using F = typename Unwrapped<Op>::type;
    constexpr bool stateless = std::is_empty_v<F> && std::is_trivially_copyable_v<F>;
    static_assert(stateless, "kontor::comm: the functor of a reduction must have no state: no captures, no "
                             "members, and it cannot be a pointer to a function");
    if constexpr (stateless) {
      constexpr bool combines = Combines<T, Op>;
      static_assert(combines, "kontor::comm: the functor of a reduction must take two elements, as (const T&, "
                              "const T&), and return one");
      return combines;
    }
    return stateless;
  }
}

} // namespace detail
} // namespace kontor::comm
