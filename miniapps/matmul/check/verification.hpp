// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/check/vectors.hpp"
#include "matmul/options.hpp"
#include "matmul/problem/matrix.hpp"
#include "run/record/result.hpp"

namespace kontor::matmul {

/// Freivalds' check (R. Freivalds, Probabilistic Machines Can Use Less Running Time, IFIP Congress 77): C x is compared
/// with alpha op(A) (op(B) x) + beta C x for random vectors x, which takes O(n^2). The two may differ by what rounding
/// leaves, (k + 2) eps (|alpha| |op(A)| |op(B)| + |beta| |C|) |x| in each element, whatever the order of sums (N. J.
/// Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, SIAM 2002, section 3.5); of integers, by
/// nothing.
template <class T>
class Verifier {
 public:
  /// Collective over `all` ranks. Before the first product, with A, B and C as they are given; ranks of other layers
  /// than the first have no elements of them. `parts`: into how many columns of ranks B is cut.
  Verifier(const comm::Communicator& all, int parts, const Options&, const LocalMatrix<T>& a, const LocalMatrix<T>& b,
           const LocalMatrix<T>& c);

  /// Collective. With A and B as they are after the product: every element of theirs must have come back. Inconclusive
  /// where A B is 0, or the tolerance exceeds a quarter of what there is to find.
  miniapp::Verification verify(const LocalMatrix<T>& a, const LocalMatrix<T>& b, const LocalMatrix<T>& c) const;

 private:
  /// Products with vectors of this rank's elements alone: equal bits mean equal matrices, but for the chance of an
  /// equal sum.
  struct Fingerprints {
    Vectors a, b;
  };
  Fingerprints prints(const LocalMatrix<T>& a, const LocalMatrix<T>& b) const;

  comm::Communicator all_; ///< the grid's, of the baseline: what is verified takes no part
  const Options& options_;
  double product_ = 0; ///< the largest entry of |alpha| |A| |B| |x|
  Vectors x_;          ///< of n entries
  Vectors along_k_;    ///< of k entries
  Fingerprints before_;
  Vectors expected_; ///< and its bound
};

/// Local. Whether all elements are integers and so small that T holds every sum of theirs.
bool is_exact(const Options&, bool single_precision);

} // namespace kontor::matmul
