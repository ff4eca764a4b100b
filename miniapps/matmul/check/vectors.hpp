// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/matrix.hpp"
#include "random/counter_random.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/reductions.hpp>

/// Products of a distributed matrix and a few vectors, which every rank has as a whole.
namespace kontor::matmul {

/// The largest entry of vectors.
inline constexpr int largest_entry = 2047;

/// From 1024 to 2047, with a sign: each entry counts, and no two errors cancel but by chance.
KOKKOS_INLINE_FUNCTION double vector_entry(std::uint64_t bits) {
  const auto size = static_cast<double>(1024 + (bits >> 32) % 1024);
  return (bits & 1) != 0 ? size : -size;
}

/// How many vectors there are at a time.
inline constexpr int vectors = 4;

/// Row i has entry i of each vector, then what bounds the sizes of these entries. In the memory of kernels.
using Vectors = Kokkos::View<double**, Kokkos::LayoutRight>;

/// Local. The vectors that products are verified with: all but the last have entries from 1024 to 2047, of random sign;
/// the last has one such entry in each of `parts` parts, elsewhere 0.
inline Vectors random_vectors(std::int64_t length, int parts, std::uint64_t seed) {
  const Vectors x("matmul/vectors", length, 2 * vectors);
  const Space instance;
  Kokkos::parallel_for(
      "matmul/random vectors", Range(instance, 0, length), KOKKOS_LAMBDA(std::int64_t i) {
        for (int v = 0; v < vectors; ++v) {
          double value = vector_entry(random::bits_at(seed, i, v));
          if (v == vectors - 1) {
            // The part of i; it may have no index at all.
            std::int64_t part = i * parts / length;
            while (part_begin(length, parts, part + 1) <= i) ++part;
            const auto begin = part_begin(length, parts, part), end = part_begin(length, parts, part + 1);
            const auto number = random::bits_at(seed, part, vectors) % static_cast<std::uint64_t>(end - begin);
            if (i != begin + static_cast<std::int64_t>(number)) value = 0;
          }
          x(i, v) = value;
          x(i, vectors + v) = value < 0 ? -value : value;
        }
      });
  device::fence(instance, "matmul/vectors made");
  return x;
}

/// Rows that one thread adds up at once: a device's neighbouring threads read neighbouring rows, a host's thread reads
/// them itself.
inline constexpr int rows_at_once = device::kernels_on_host ? 64 : 1;

template <class T>
struct MultiplyRows {
  LocalMatrix<T> m;
  Vectors in, out;
  KOKKOS_FUNCTION void operator()(std::int64_t block) const {
    double sums[rows_at_once][2 * vectors] = {};
    const auto first = block * rows_at_once;
    const auto rows = m.rows.size() - first < rows_at_once ? m.rows.size() - first : rows_at_once;
    for (std::int64_t j = 0; j < m.columns.size(); ++j) {
      const auto column = m.columns.begin + j;
      for (std::int64_t i = 0; i < rows; ++i) {
        const auto element = static_cast<double>(m.elements(first + i, j));
        const auto size = element < 0 ? -element : element;
        for (int v = 0; v < vectors; ++v) sums[i][v] += element * in(column, v);
        for (int v = vectors; v < 2 * vectors; ++v) sums[i][v] += size * in(column, v);
      }
    }
    for (std::int64_t i = 0; i < rows; ++i)
      for (int v = 0; v < 2 * vectors; ++v) out(m.rows.begin + first + i, v) = sums[i][v];
  }
};

template <class T>
struct MultiplyColumns {
  LocalMatrix<T> m;
  Vectors in, out;
  KOKKOS_FUNCTION void operator()(std::int64_t j) const {
    double sums[2 * vectors] = {};
    for (std::int64_t i = 0; i < m.rows.size(); ++i) {
      const auto row = m.rows.begin + i;
      const auto element = static_cast<double>(m.elements(i, j));
      const auto size = element < 0 ? -element : element;
      for (int v = 0; v < vectors; ++v) sums[v] += element * in(row, v);
      for (int v = vectors; v < 2 * vectors; ++v) sums[v] += size * in(row, v);
    }
    for (int v = 0; v < 2 * vectors; ++v) out(m.columns.begin + j, v) = sums[v];
  }
};

/// Local. out = op(M) in, as far as this rank's elements go: sums of products for the entries, sums of absolute
/// products for the bounds. Each sum is made by one thread in the order of columns (transposed: of rows), so it is the
/// same each time. `out` has as many rows as op(M). Waits.
template <class T>
void multiply(const LocalMatrix<T>& m, bool transposed, const Vectors& in, const Vectors& out) {
  const Space instance;
  Kokkos::deep_copy(instance, out, 0.0);
  if (transposed)
    Kokkos::parallel_for("matmul/times vectors", Range(instance, 0, m.columns.size()), MultiplyColumns<T>{m, in, out});
  else
    Kokkos::parallel_for("matmul/times vectors", Range(instance, 0, (m.rows.size() + rows_at_once - 1) / rows_at_once),
                         MultiplyRows<T>{m, in, out});
  device::fence(instance, "matmul/multiplied");
}

/// Collective. The same with the elements of all ranks.
template <class T>
Vectors multiply_all(const comm::Communicator& comm, const LocalMatrix<T>& m, bool transposed, std::int64_t rows,
                     const Vectors& in) {
  const Vectors out("matmul/vectors", rows, 2 * vectors);
  multiply(m, transposed, in, out);
  comm::allreduce(comm, out, comm::ReduceOp::sum);
  return out;
}

} // namespace kontor::matmul
