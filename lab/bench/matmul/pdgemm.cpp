// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pdgemm.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>

// ScaLAPACK has no header. L. S. Blackford et al., ScaLAPACK Users' Guide, SIAM 1997.
extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
void Cblacs_gridexit(int context);
int numroc_(const int* count, const int* block, const int* place, const int* first, const int* places);
void descinit_(int* descriptor, const int* rows, const int* columns, const int* block_rows,
               const int* block_columns, const int* first_row, const int* first_column, const int* context,
               const int* leading, int* info);
void pdgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k,
             const double* alpha, const double* a, const int* ia, const int* ja, const int* desc_a,
             const double* b, const int* ib, const int* jb, const int* desc_b, const double* beta, double* c,
             const int* ic, const int* jc, const int* desc_c);
}

namespace kontor::matmul {

Pdgemm::Pdgemm(const PdgemmShape& shape) : shape_(shape) {
  Cblacs_get(-1, 0, &grid_);
  Cblacs_gridinit(&grid_, "Row", shape.rows, shape.columns);
  int rows = 0, columns = 0;
  Cblacs_gridinfo(grid_, &rows, &columns, &row_, &column_);
  a_ = make(shape.m, shape.k, 1);
  b_ = make(shape.k, shape.n, 2);
  c_ = make(shape.m, shape.n, 3);
}

Pdgemm::~Pdgemm() {
  Cblacs_gridexit(grid_);
}

Pdgemm::Distributed Pdgemm::make(int rows, int columns, double seed) const {
  const int zero = 0, block = shape_.block;
  const int own_rows = numroc_(&rows, &block, &row_, &zero, &shape_.rows);
  const int own_columns = numroc_(&columns, &block, &column_, &zero, &shape_.columns);
  const int leading = std::max(1, own_rows);
  Distributed made{{}, std::vector<double>(static_cast<std::size_t>(leading) * std::max(1, own_columns))};
  int info = 0;
  descinit_(made.descriptor, &rows, &columns, &block, &block, &zero, &zero, &grid_, &leading, &info);
  if (info != 0) throw std::runtime_error("descinit refuses its argument " + std::to_string(-info));
  for (std::size_t i = 0; i < made.elements.size(); ++i)
    made.elements[i] = std::sin(seed + 0.7 * static_cast<double>(i));
  return made;
}

void Pdgemm::run() {
  const int one = 1;
  const double alpha = 1, beta = 0;
  pdgemm_("N", "N", &shape_.m, &shape_.n, &shape_.k, &alpha, a_.elements.data(), &one, &one, a_.descriptor,
          b_.elements.data(), &one, &one, b_.descriptor, &beta, c_.elements.data(), &one, &one,
          c_.descriptor);
}

} // namespace kontor::matmul
