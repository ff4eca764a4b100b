// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/check/vectors.hpp"
#include "matmul/matrix.hpp"
#include "matmul/options.hpp"
#include "run/record/result.hpp"

#include <kontor/comm/reductions.hpp>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

namespace kontor::matmul {

/// Integers below this are exact, and so are sums of any order whose terms' sizes add up to less.
template <class T>
inline constexpr double first_inexact = static_cast<double>(std::int64_t{1} << std::numeric_limits<T>::digits);

/// Freivalds' check (R. Freivalds, Probabilistic Machines Can Use Less Running Time, IFIP Congress 77): C x is compared
/// with alpha op(A) (op(B) x) + beta C x for random vectors x, which takes O(n^2). The two may differ by what rounding
/// leaves, (k + 2) eps (|alpha| |op(A)| |op(B)| + |beta| |C|) |x| in each element, whatever the order of sums (N. J.
/// Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, SIAM 2002, section 3.5); of integers, by
/// nothing.
template <class T>
class Verifier {
 public:
  /// Collective over `all` ranks. Before the first product, with A, B and C as they are given. `parts`: into
  /// how many columns of ranks B is cut.
  Verifier(const comm::Communicator& all, int parts, const Options& options, const LocalMatrix<T>& a,
           const LocalMatrix<T>& b, const LocalMatrix<T>& c)
      : all_(all.native(), comm::Options{}), options_(options), x_(random_vectors(options.size.n, parts, 101)),
        along_k_(random_vectors(options.size.k, parts, 102)) {
    before_ = prints(a, b);
    const auto& size = options.size;
    const auto bx = multiply_all(all_, b, options.transposed_b(), size.k, x_);
    const auto abx = multiply_all(all_, a, options.transposed_a(), size.m, bx);
    const auto product = on_host(abx);
    HostVectors former;
    if (options.beta != 0) former = on_host(multiply_all(all_, c, false, size.m, x_));
    for (std::size_t i = 0; i < product.extent(0); ++i)
      for (int v = 0; v < vectors; ++v) {
        auto& value = product(i, v);
        auto& bound = product(i, vectors + v);
        value *= options.alpha;
        bound *= std::abs(options.alpha);
        product_ = std::max(product_, bound);
        if (options.beta == 0) continue;
        value += options.beta * former(i, v);
        bound += std::abs(options.beta) * former(i, vectors + v);
      }
    Kokkos::deep_copy(abx, product);
    expected_ = abx;
  }

  /// Collective. With A and B as they are after the product: every element of theirs must have come back. Inconclusive
  /// where A B is 0, or the tolerance exceeds a quarter of what there is to find.
  miniapp::Verification verify(const LocalMatrix<T>& a, const LocalMatrix<T>& b, const LocalMatrix<T>& c) const {
    const auto& o = options_;
    double error = 0, largest_bound = 0, changed = 0, size = 0;
    const bool exact = is_exact(o, sizeof(T) == sizeof(float));
    const double eps = std::numeric_limits<T>::epsilon(), check = std::numeric_limits<double>::epsilon();
    const auto k = static_cast<double>(o.size.k), n = static_cast<double>(o.size.n);
    const double tolerance = (k + 2) * eps + (k + n + 4) * check;
    const double least_bound = underflow(o) / tolerance;
    const auto after = prints(a, b);
    changed = differences(after.a, before_.a) + differences(after.b, before_.b);
    const auto found = on_host(multiply_all(all_, c, false, o.size.m, x_));
    const auto expected = on_host(expected_);
    for (std::size_t i = 0; i < found.extent(0); ++i)
      for (int v = 0; v < vectors; ++v) {
        const double bound = expected(i, vectors + v);
        const double difference = std::abs(found(i, v) - expected(i, v));
        if (v < vectors - 1) largest_bound = std::max(largest_bound, bound);
        if (bound > 0) size = std::max(size, std::abs(expected(i, v)) / (bound + least_bound));
        if (difference == 0) continue;
        const double relative = exact ? difference : difference / (bound + least_bound);
        error = relative <= std::numeric_limits<double>::max() ? std::max(error, relative)
                                                               : std::numeric_limits<double>::infinity();
      }
    const auto all = comm::allreduce(all_, std::array<double, 5>{error, largest_bound, changed, size, product_},
                                     comm::ReduceOp::max);
    if (all[2] > 0)
      return {.measure = "sums of rows of A and B that are not what they were before the product",
              .error = all[2],
              .remark = "A or B did not come back as it was"};
    if (all[4] == 0)
      return miniapp::inconclusive(o.alpha == 0 ? "problem.alpha is 0, so nothing is multiplied"
                                                : "nothing to verify: A B is 0 in every element");
    if (exact)
      return {.measure = "C x against A (B x), of integers",
              .error = all[0],
              .remark = "all sums are exact, so one wrong element shows"};
    constexpr double most = 0.25; // of what is found, or a C that is far off would pass
    const bool wide = std::isfinite(all[3]) && tolerance > most * all[3];
    if (wide && all[0] <= tolerance)
      return miniapp::inconclusive(
          fmt::format("the tolerance, {:.2g} of |A| |B| |x|, is above a quarter of the largest entry of C x, {:.2g}: a "
                      "wrong C would pass; take {}a smaller k, or integers",
                      tolerance, all[3], sizeof(T) == sizeof(float) ? "problem.precision double, " : ""));
    return {.measure = "C x against A (B x), beside |A| |B| |x|",
            .error = all[0],
            .tolerance = tolerance,
            .remark =
                std::isfinite(all[0])
                    ? fmt::format("one element shows if it is wrong by {:.2g} or more", 2 * tolerance * all[1] / 1024)
                    : "C, or what it is compared with, is not finite: too large, or not computed"};
  }

 private:
  using HostVectors = device::HostMirror<Vectors>;

  static HostVectors on_host(const Vectors& v) { return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), v); }

  /// Entries in which two differ, by their bits.
  static double differences(const Vectors& a, const Vectors& b) {
    const auto x = on_host(a), y = on_host(b);
    double count = 0;
    for (std::size_t i = 0; i < x.extent(0); ++i)
      for (int v = 0; v < vectors; ++v) count += x(i, v) == y(i, v) ? 0 : 1;
    return count;
  }

  /// What elements of C x may lack because numbers below the smallest normal one have fewer digits, or are 0.
  static double underflow(const Options& o) {
    return static_cast<double>(o.size.k + 2) * static_cast<double>(o.size.n) * largest_entry *
           std::max(1.0, std::abs(o.alpha)) * static_cast<double>(std::numeric_limits<T>::min());
  }

  /// Whether all elements are integers and so small that T holds every sum of theirs.
  static bool is_exact(const Options& o, bool single_precision) {
    const auto integers = [](const MatrixOptions& m) { return m.kind == MatrixKind::integers; };
    const auto integral = [](double x) { return std::trunc(x) == x; };
    if (!integers(o.a) || !integers(o.b) || (o.beta != 0 && !integers(o.c))) return false;
    if (!integral(o.alpha) || !integral(o.beta)) return false;
    const double size = std::abs(o.alpha) * static_cast<double>(o.size.k) * largest_integer * largest_integer +
                        std::abs(o.beta) * largest_integer;
    const double in_vectors = size * static_cast<double>(o.size.n) * largest_entry; // sums of the check
    return size < (single_precision ? first_inexact<float> : first_inexact<double>)&&in_vectors < first_inexact<double>;
  }

  /// Products with vectors of this rank's elements alone: equal bits mean equal matrices, but for the chance of an
  /// equal sum.
  struct Fingerprints {
    Vectors a, b;
  };
  Fingerprints prints(const LocalMatrix<T>& a, const LocalMatrix<T>& b) const {
    Fingerprints of{Vectors("matmul/print of A", options_.size.m, 2 * vectors),
                    Vectors("matmul/print of B", options_.size.k, 2 * vectors)};
    multiply(a, options_.transposed_a(), along_k_, of.a);
    multiply(b, options_.transposed_b(), x_, of.b);
    return of;
  }

  comm::Communicator all_; ///< the grid's, of the baseline: what is verified takes no part
  const Options& options_;
  double product_ = 0; ///< the largest entry of |alpha| |A| |B| |x|
  Vectors x_;          ///< of n entries
  Vectors along_k_;    ///< of k entries
  Fingerprints before_;
  Vectors expected_; ///< and its bound
};

} // namespace kontor::matmul
