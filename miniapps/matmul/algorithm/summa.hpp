// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine/memory.hpp"
#include "matmul/algorithm/multiplication.hpp"

#include <memory>
#include <vector>

namespace kontor::matmul {

/// Collective. SUMMA (R. A. van de Geijn, J. Watts, SUMMA: Scalable Universal Matrix Multiplication
/// Algorithm, Concurrency: Practice and Experience 9, 1997): for each panel of k, the ranks that have its
/// columns of A broadcast them along their rows, those that have its rows of B along their columns. While one
/// panel is multiplied the next one travels.
template <class T>
std::unique_ptr<Multiplication<T>> make_summa(const MultiplicationContext&);

/// Local. The Views of A and B that it allocates, in elements instead of bytes.
std::vector<miniapp::Allocation> summa_views(const Options&, const GridShape&, const GridPlace&);

} // namespace kontor::matmul
