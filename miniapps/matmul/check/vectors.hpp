// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/problem/matrix.hpp"

#include <kontor/comm/communicator.hpp>

#include <cstdint>

/// Products of a distributed matrix and a few vectors, which every rank has as a whole.
namespace kontor::matmul {

/// How many vectors there are at a time.
inline constexpr int vectors = 4;

/// Row i has entry i of each vector, then what bounds the sizes of these entries. In the memory of kernels.
using Vectors = Kokkos::View<double**, Kokkos::LayoutRight>;

/// Local. The vectors that products are verified with: all but the last have entries from 1024 to 2047, of random sign;
/// the last has one such entry in each of `parts` parts, elsewhere 0.
Vectors random_vectors(std::int64_t length, int parts, std::uint64_t seed);

/// Local. out = op(M) in, as far as this rank's elements go: sums of products for the entries, sums of absolute
/// products for the bounds. Each sum is made by one thread in the order of columns (transposed: of rows), so it is the
/// same each time. `out` has as many rows as op(M). Waits.
template <class T>
void multiply(const LocalMatrix<T>&, bool transposed, const Vectors& in, const Vectors& out);

/// Collective. The same with the elements of all ranks.
template <class T>
Vectors multiply_all(const comm::Communicator&, const LocalMatrix<T>&, bool transposed, std::int64_t rows,
                     const Vectors& in);

} // namespace kontor::matmul
