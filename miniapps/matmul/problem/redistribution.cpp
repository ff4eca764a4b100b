// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matmul/problem/redistribution.hpp"

#include <utility>

namespace kontor::matmul {

using LocalIndices = Kokkos::View<std::int32_t*>;

/// Packs, or unpacks, a piece.
template <class T, bool pack>
struct CopyPiece {
  Matrix<T> matrix;
  LocalIndices rows, columns;
  Buffer<T> elements;
  KOKKOS_FUNCTION void operator()(std::int64_t n) const {
    const auto height = static_cast<std::int64_t>(rows.extent(0));
    auto& element = matrix(rows(n % height), columns(n / height));
    if constexpr (pack)
      elements(n) = element;
    else
      element = elements(n);
  }
};

namespace {

template <bool pack, class T>
void copy_piece(const Space& instance, const Matrix<T>& matrix, const LocalIndices& rows, const LocalIndices& columns,
                const Buffer<T>& elements) {
  Kokkos::parallel_for(pack ? "matmul/pack" : "matmul/unpack",
                       Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(
                           instance, 0, static_cast<std::int64_t>(elements.extent(0))),
                       CopyPiece<T, pack>{matrix, rows, columns, elements});
}

/// The indices of a block that a part has: local ones are begin + stride * block + what is within it.
std::int64_t local_of(const AxisPart& part, std::int64_t global) {
  if (part.stride == 0) return global - part.begin;
  return (global - part.begin) / part.stride * part.block + (global - part.begin) % part.stride;
}
bool has(const AxisPart& part, std::int64_t global) {
  if (global < part.begin) return false;
  const auto from_begin = global - part.begin;
  if (part.stride == 0) return from_begin < part.size;
  return from_begin % part.stride < part.block && local_of(part, global) < part.size;
}

/// Local indices of `mine` that `theirs` has too, in the order of global ones.
LocalIndices in_common(const AxisPart& mine, const AxisPart& theirs) {
  std::vector<std::int32_t> indices;
  for (std::int64_t l = 0; l < mine.size; ++l)
    if (has(theirs, mine.global(l))) indices.push_back(static_cast<std::int32_t>(l));
  const LocalIndices view(Kokkos::view_alloc("matmul/indices", Kokkos::WithoutInitializing), indices.size());
  Kokkos::deep_copy(view, Kokkos::View<const std::int32_t*, Kokkos::HostSpace>(indices.data(), indices.size()));
  return view;
}

} // namespace

/// Takes the next elements of the staging.
template <class T>
typename Redistribution<T>::Piece Redistribution<T>::piece(const AxisPart& rows, const AxisPart& columns,
                                                           const MatrixParts& theirs, const Buffer<T>& staging,
                                                           std::int64_t& used) const {
  Piece piece{in_common(rows, theirs.rows), in_common(columns, theirs.columns), {}};
  const auto size = static_cast<std::int64_t>(piece.rows.extent(0) * piece.columns.extent(0));
  piece.elements = Kokkos::subview(staging, std::pair(used, used + size));
  used += size;
  return piece;
}

template <class T>
Redistribution<T>::Redistribution(ChosenMethod& method, const std::string& label, const PartsOfRank& before,
                                  const PartsOfRank& after, const Matrix<T>& from, const Matrix<T>& to,
                                  const Staging<T>& staging, const Space& instance)
    : instance_(instance), from_(from), to_(to), exchange_(method.comm(), label, instance) {
  const auto& comm = method.comm();
  const auto mine_before = before(comm.rank()), mine_after = after(comm.rank());
  std::int64_t out = 0, in = 0;
  for (int r = 0; r < comm.size(); ++r) {
    auto given = piece(mine_before.rows, mine_before.columns, after(r), staging.out, out);
    auto got = piece(mine_after.rows, mine_after.columns, before(r), staging.in, in);
    if (r == comm.rank())
      given.elements = got.elements; // packed where it is unpacked
    else {
      sent_ += static_cast<std::int64_t>(given.elements.extent(0));
      if (given.elements.extent(0) > 0) exchange_.add_send(given.elements, r);
      if (got.elements.extent(0) > 0) exchange_.add_receive(got.elements, r);
    }
    if (given.elements.extent(0) > 0) packed_.push_back(std::move(given));
    if (got.elements.extent(0) > 0) unpacked_.push_back(std::move(got));
  }
  method.commit<T>(exchange_);
}

template <class T>
void Redistribution<T>::run() {
  for (const auto& p : packed_) copy_piece<true>(instance_, from_, p.rows, p.columns, p.elements);
  matmul::run<T>(exchange_);
  for (const auto& p : unpacked_) copy_piece<false>(instance_, to_, p.rows, p.columns, p.elements);
}

template class Redistribution<float>;
template class Redistribution<double>;

} // namespace kontor::matmul
