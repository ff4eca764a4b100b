// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

/// C = A B by ScaLAPACK's pdgemm, in doubles.
namespace kontor::matmul {

struct PdgemmShape {
  int m = 0, n = 0, k = 0;
  int rows = 1, columns = 1; ///< of the process grid, ranks row by row
  int block = 64;            ///< rows and columns of a block of the block-cyclic distribution
};

/// Matrices of ScaLAPACK's, filled with numbers between -1 and 1.
class Pdgemm {
 public:
  /// Collective over MPI_COMM_WORLD.
  explicit Pdgemm(const PdgemmShape&);
  ~Pdgemm();
  Pdgemm(const Pdgemm&) = delete;
  Pdgemm& operator=(const Pdgemm&) = delete;

  /// Collective. Done on this rank when it returns.
  void run();

 private:
  struct Distributed {
    int descriptor[9];
    std::vector<double> elements;
  };
  Distributed make(int rows, int columns, double seed) const;

  PdgemmShape shape_;
  int grid_ = -1, row_ = 0, column_ = 0;
  Distributed a_, b_, c_;
};

} // namespace kontor::matmul
