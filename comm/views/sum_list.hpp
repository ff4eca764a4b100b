// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "views/pack.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>
#include <vector>

/// Adding what arrives from several ranks to the elements of an array: one kernel, whose work item is an element. It
/// adds in the order of ranks, its own value among them, so all ranks that share an element and its contributions get
/// the same bits.
namespace kontor::comm {

namespace detail {

/// What is added to one element: the contributions from `begin` to before `own` come before the element's own value,
/// those up to before `end` after it.
struct SummedElement {
  char* element;
  std::int64_t begin, own, end;
};

/// Where a value lies that is added to an element: a struct, because a View of pointers has another rank.
struct Contribution {
  const char* value;
};

/// The elements of one scalar, and their contributions.
struct SumTable {
  Scalar scalar;
  std::vector<SummedElement> elements;
  std::vector<Contribution> contributions;
};

/// Local. A table for each scalar of the pieces, complex numbers as their parts, for the elements of `rank`.
std::vector<SumTable> sum_tables(const std::vector<SummedPiece>&, int rank);

template <class T, class MemorySpace>
struct SumKernel {
  Kokkos::View<SummedElement*, MemorySpace> elements;
  Kokkos::View<Contribution*, MemorySpace> contributions;

  KOKKOS_INLINE_FUNCTION const T& contribution(std::int64_t c) const {
    return *reinterpret_cast<const T*>(contributions(c).value);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const SummedElement& of = elements(i);
    T& own = *reinterpret_cast<T*>(of.element);
    std::int64_t c = of.begin;
    T sum = c < of.own ? contribution(c++) : own;
    for (; c < of.own; ++c) sum = sum + contribution(c);
    if (of.begin < of.own) sum = sum + own;
    for (; c < of.end; ++c) sum = sum + contribution(c);
    own = sum;
  }
};

} // namespace detail

/// Whether elements of this scalar can be added: numbers and complex numbers.
bool can_add(Scalar);

/// Pieces that are added, again and again.
template <class ExecutionSpace>
class SumList final : public ListedPieces<ExecutionSpace> {
 public:
  /// Local. Copies the list to where the kernel runs. `rank`: whose elements they are.
  SumList(const std::vector<SummedPiece>& pieces, int rank) {
    for (const auto& table : detail::sum_tables(pieces, rank))
      tables_.push_back({table.scalar, detail::copy_to<Space>(table.elements, "comm/summed"),
                         detail::copy_to<Space>(table.contributions, "comm/contributions")});
    this->empty = tables_.empty();
  }

  void run(const ExecutionSpace& instance, PackDirection) const override {
    for (const auto& table : tables_) {
      const auto is = [&](ScalarKind kind, std::size_t size) {
        return table.scalar == Scalar{kind, static_cast<std::uint32_t>(size)};
      };
      if (is(ScalarKind::floating, 8)) launch<double>(instance, table);
      if (is(ScalarKind::floating, 4)) launch<float>(instance, table);
      // Signed and unsigned integers have the same sums.
      if (is(ScalarKind::signed_integer, 8) || is(ScalarKind::unsigned_integer, 8))
        launch<std::uint64_t>(instance, table);
      if (is(ScalarKind::signed_integer, 4) || is(ScalarKind::unsigned_integer, 4))
        launch<std::uint32_t>(instance, table);
    }
  }

 private:
  using Space = typename ExecutionSpace::memory_space;
  struct Table {
    Scalar scalar;
    Kokkos::View<detail::SummedElement*, Space> elements;
    Kokkos::View<detail::Contribution*, Space> contributions;
  };

  template <class T>
  static void launch(const ExecutionSpace& instance, const Table& table) {
    using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;
    Kokkos::parallel_for("comm/sum", Policy(instance, 0, static_cast<std::int64_t>(table.elements.extent(0))),
                         detail::SumKernel<T, Space>{table.elements, table.contributions});
  }

  std::vector<Table> tables_;
};

} // namespace kontor::comm
