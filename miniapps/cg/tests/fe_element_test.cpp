// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements against formulas of their own.
#include "cg/problem/element.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>

namespace kontor::cg::test {
namespace {

TEST(Element, OfAUnitCubeHasTheKnownMatrix) {
  const auto integrals = element_integrals({1, 1, 1});
  const double ones[] = {1, 1, 1, 1, 1, 1, 1, 1};
  const double expected[] = {1. / 3, 0, -1. / 12, -1. / 12}; // by the axes along which two nodes differ
  for (int a = 0; a < 8; ++a) {
    EXPECT_NEAR(element_load(integrals, ones, 1, a), 1. / 8, 1e-16);
    for (int b = 0; b < 8; ++b)
      EXPECT_NEAR(element_entry(integrals, ones, 1, a, b),
                  expected[std::popcount(static_cast<unsigned>(a ^ b))], 1e-15);
  }
}

/// The integral of k (dNa/dx dNb/dx + ...) with k = 1 + x y on [0, w0] x ..., by products of integrals of
/// polynomials along each axis.
double exact_entry(const std::array<double, 3>& w, int a, int b) {
  const auto along = [&](int axis, bool derivatives, int power) { // of t^power over [0, w]
    const double h = w[axis];
    const bool p = (a >> axis & 1) != 0, q = (b >> axis & 1) != 0;
    if (derivatives) return (p == q ? 1 : -1) / (h * h) * std::pow(h, power + 1) / (power + 1);
    const double n = power; // N is 1 - s or s
    const double ss = 1 / (n + 3), s = 1 / (n + 2), one = 1 / (n + 1);
    return std::pow(h, power + 1) * (p && q ? ss : p != q ? s - ss : one - 2 * s + ss);
  };
  double sum = 0;
  for (int d = 0; d < 3; ++d)
    for (const int power : {0, 1})
      sum += along(0, d == 0, power) * along(1, d == 1, power) * along(2, d == 2, 0);
  return sum;
}

TEST(Element, OfABoxHasTheIntegralsOfProductsOfPolynomials) {
  const std::array<double, 3> width{0.5, 2, 3};
  const auto integrals = element_integrals(width);
  double conductivity[8];
  for (int g = 0; g < 8; ++g)
    conductivity[g] = 1 + width[0] * gauss_position(g & 1) * width[1] * gauss_position(g >> 1 & 1);
  for (int a = 0; a < 8; ++a)
    for (int b = 0; b < 8; ++b) {
      EXPECT_NEAR(element_entry(integrals, conductivity, 1, a, b), exact_entry(width, a, b), 1e-14);
      EXPECT_EQ(element_entry(integrals, conductivity, 1, a, b),
                element_entry(integrals, conductivity, 1, b, a));
    }
}

} // namespace
} // namespace kontor::cg::test
