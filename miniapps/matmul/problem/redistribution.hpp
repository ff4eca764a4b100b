// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/algorithm/process_grid.hpp"
#include "matmul/problem/matrix.hpp"

#include <kontor/comm/exchange.hpp>

#include <functional>
#include <string>

namespace kontor::matmul {

/// Which rows and columns of a matrix each rank has.
struct MatrixParts {
  AxisPart rows;
  AxisPart columns;
};
using PartsOfRank = std::function<MatrixParts(int rank)>;

/// The memory that elements are packed into and arrive in; several redistributions may share it.
template <class T>
struct Staging {
  Buffer<T> out;
  Buffer<T> in;
};

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

/// The indices of a block that a part has: local ones are begin + stride * block + what is within it.
inline std::int64_t local_of(const AxisPart& part, std::int64_t global) {
  if (part.stride == 0) return global - part.begin;
  return (global - part.begin) / part.stride * part.block + (global - part.begin) % part.stride;
}
inline bool has(const AxisPart& part, std::int64_t global) {
  if (global < part.begin) return false;
  const auto from_begin = global - part.begin;
  if (part.stride == 0) return from_begin < part.size;
  return from_begin % part.stride < part.block && local_of(part, global) < part.size;
}

/// Local indices of `mine` that `theirs` has too, in the order of global ones.
inline LocalIndices in_common(const AxisPart& mine, const AxisPart& theirs) {
  std::vector<std::int32_t> indices;
  for (std::int64_t l = 0; l < mine.size; ++l)
    if (has(theirs, mine.global(l))) indices.push_back(static_cast<std::int32_t>(l));
  const LocalIndices view(Kokkos::view_alloc("matmul/indices", Kokkos::WithoutInitializing), indices.size());
  Kokkos::deep_copy(view, Kokkos::View<const std::int32_t*, Kokkos::HostSpace>(indices.data(), indices.size()));
  return view;
}

/// Moves a matrix from one distribution to another: what two ranks have in common is packed column by column, travels
/// in one message, and is unpacked.
template <class T>
class Redistribution {
 public:
  /// Collective. `from` and `to` are this rank's parts of `before` and `after`. The staging has room for this rank's
  /// elements of each.
  Redistribution(ChosenMethod& method, const std::string& label, const PartsOfRank& before, const PartsOfRank& after,
                 const Matrix<T>& from, const Matrix<T>& to, const Staging<T>& staging, const Space& instance)
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

  /// Collective; ordered on the instance.
  void run() {
    for (const auto& p : packed_) copy<true>(from_, p);
    matmul::run<T>(exchange_);
    for (const auto& p : unpacked_) copy<false>(to_, p);
  }

  /// Elements that this rank sends to others.
  std::int64_t sent() const { return sent_; }

 private:
  /// What this rank and another one have in common: where it is in the matrix and in the staging.
  struct Piece {
    LocalIndices rows, columns;
    Buffer<T> elements;
  };
  template <bool pack>
  void copy(const Matrix<T>& matrix, const Piece& p) {
    Kokkos::parallel_for(pack ? "matmul/pack" : "matmul/unpack",
                         Range(instance_, 0, static_cast<std::int64_t>(p.elements.extent(0))),
                         CopyPiece<T, pack>{matrix, p.rows, p.columns, p.elements});
  }
  /// Takes the next elements of the staging.
  Piece piece(const AxisPart& rows, const AxisPart& columns, const MatrixParts& theirs, const Buffer<T>& staging,
              std::int64_t& used) const {
    Piece piece{in_common(rows, theirs.rows), in_common(columns, theirs.columns), {}};
    const auto size = static_cast<std::int64_t>(piece.rows.extent(0) * piece.columns.extent(0));
    piece.elements = Kokkos::subview(staging, std::pair(used, used + size));
    used += size;
    return piece;
  }

  Space instance_;
  Matrix<T> from_;
  Matrix<T> to_;
  std::vector<Piece> packed_;
  std::vector<Piece> unpacked_;
  comm::Exchange<Buffer<T>> exchange_;
  std::int64_t sent_ = 0;
};

} // namespace kontor::matmul
