// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "views/sum_list.hpp"

#include <map>
#include <tuple>
#include <utility>

namespace kontor::comm {

bool can_add(Scalar scalar) {
  const bool integer = scalar.kind == ScalarKind::signed_integer || scalar.kind == ScalarKind::unsigned_integer;
  if (integer) return scalar.size == 4 || scalar.size == 8;
  const auto parts = scalar.kind == ScalarKind::complex ? 2u : 1u;
  return (scalar.kind == ScalarKind::floating || scalar.kind == ScalarKind::complex) &&
         (scalar.size == 4 * parts || scalar.size == 8 * parts);
}

namespace detail {
namespace {

/// One value that is added to an element.
struct Addend {
  char* element;
  int rank;
  std::size_t piece;
  const char* value;
};

/// A complex number is two that are added apart.
Scalar part_of(Scalar scalar) {
  if (scalar.kind == ScalarKind::complex) return {ScalarKind::floating, scalar.size / 2};
  return scalar;
}

void list_contributions(const SummedPiece& summed, std::size_t number, std::vector<Addend>& all) {
  const auto& piece = summed.piece;
  const auto& nest = piece.nest;
  const auto count = step_count(nest, nest.depth);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto offset = offset_of(nest, nest.depth, i, piece.indices);
    for (std::uint32_t part = 0; part < piece.size; part += part_of(summed.scalar).size)
      all.push_back({static_cast<char*>(piece.array) + offset * piece.size + part, summed.rank, number,
                     static_cast<const char*>(piece.packed) + i * piece.size + part});
  }
}

SumTable table_of(Scalar scalar, std::vector<Addend>& all, int rank) {
  std::ranges::sort(all, {}, [](const Addend& c) { return std::tuple(c.element, c.rank, c.piece); });
  SumTable table{scalar, {}, {}};
  for (const auto& [element, from, piece, value] : all) {
    const auto place = static_cast<std::int64_t>(table.contributions.size());
    if (table.elements.empty() || table.elements.back().element != element)
      table.elements.push_back({element, place, place, place});
    auto& summed = table.elements.back();
    table.contributions.push_back({value});
    if (from < rank) ++summed.own;
    ++summed.end;
  }
  return table;
}

} // namespace

std::vector<SumTable> sum_tables(const std::vector<SummedPiece>& pieces, int rank) {
  std::map<std::pair<ScalarKind, std::uint32_t>, std::vector<Addend>> all;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const auto part = part_of(pieces[p].scalar);
    list_contributions(pieces[p], p, all[{part.kind, part.size}]);
  }
  std::vector<SumTable> tables;
  for (auto& [scalar, contributions] : all)
    if (!contributions.empty()) tables.push_back(table_of({scalar.first, scalar.second}, contributions, rank));
  return tables;
}

} // namespace detail
} // namespace kontor::comm
