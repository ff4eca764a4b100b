// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine/memory.hpp"
#include "matmul/algorithm/multiplication.hpp"

#include <memory>
#include <vector>

/// The multiplications that there are, and the Views of A and B that each allocates on a rank, in elements instead of
/// bytes.
namespace kontor::matmul {

/// Collective. Cannon's algorithm, in one layer or several (panels.hpp).
template <class T>
std::unique_ptr<Multiplication<T>> make_cannon(const MultiplicationContext&);

/// Local.
std::vector<miniapp::Allocation> cannon_views(const Options&, const GridShape&, const GridPlace&);

/// Collective. SUMMA (R. A. van de Geijn, J. Watts, SUMMA: Scalable Universal Matrix Multiplication Algorithm,
/// Concurrency: Practice and Experience 9, 1997): for each panel of k, the ranks that have its columns of A broadcast
/// them along their rows, those that have its rows of B along their columns. While one panel is multiplied the next one
/// travels.
template <class T>
std::unique_ptr<Multiplication<T>> make_summa(const MultiplicationContext&);

/// Local.
std::vector<miniapp::Allocation> summa_views(const Options&, const GridShape&, const GridPlace&);

} // namespace kontor::matmul
