// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "element/plain_hexahedron.hpp"

namespace kontor::element {
namespace {

constexpr std::array<std::array<int, 3>, 8> signs{
    {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1}, {-1, -1, 1}, {1, -1, 1}, {1, 1, 1}, {-1, 1, 1}}};

Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

} // namespace

PlainElement integrate_element(const CornerPoints& x) {
  PlainElement element;
  const double place = 1 / std::sqrt(3.0);
  for (const auto& gauss : signs) {
    std::array<std::array<double, 3>, 8> slope; // of the shape functions: N = (1 + s0 a) (1 + s1 b) (1 + s2 c) / 8
    std::array<Point, 3> tangent{};
    for (int c = 0; c < 8; ++c)
      for (int d = 0; d < 3; ++d) {
        slope[c][d] = signs[c][d] / 8.0;
        for (int e = 0; e < 3; ++e)
          if (e != d) slope[c][d] *= 1 + signs[c][e] * gauss[e] * place;
        for (int i = 0; i < 3; ++i) tangent[d][i] += slope[c][d] * (x[c][i] - x[0][i]);
      }
    const std::array<Point, 3> area{cross(tangent[1], tangent[2]), cross(tangent[2], tangent[0]),
                                    cross(tangent[0], tangent[1])};
    for (int i = 0; i < 3; ++i) {
      element.volume += tangent[0][i] * area[0][i];
      for (int c = 0; c < 8; ++c)
        for (int d = 0; d < 3; ++d) element.gradient[c][i] += area[d][i] * slope[c][d];
    }
  }
  for (const auto& g : element.gradient)
    for (const auto value : g) element.squares += value * value;
  for (int mode = 0; mode < 4; ++mode) {
    const auto base = [&](int c) {
      const auto& [a, b, d] = signs[c];
      return std::array{b * d, d * a, a * b, a * b * d}[mode];
    };
    Point of_x{};
    for (int c = 0; c < 8; ++c)
      for (int i = 0; i < 3; ++i) of_x[i] += base(c) * (x[c][i] - x[0][i]) / element.volume;
    for (int c = 0; c < 8; ++c) {
      element.gamma[mode][c] = base(c);
      for (int i = 0; i < 3; ++i) element.gamma[mode][c] -= of_x[i] * element.gradient[c][i];
    }
  }
  return element;
}

CornerPoints plain_forces(const PlainElement& element, const double (&r)[9], const double (&s)[6],
                          const std::array<Point, 4>& resistance) {
  constexpr int packed[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};
  std::array<Point, 3> cauchy{}; // r s r'
  CornerPoints force{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 9; ++k) cauchy[i][j] += r[3 * i + k / 3] * s[packed[k / 3][k % 3]] * r[3 * j + k % 3];
      for (int c = 0; c < 8; ++c) force[c][i] -= cauchy[i][j] * element.gradient[c][j];
    }
  for (int mode = 0; mode < 4; ++mode)
    for (int c = 0; c < 8; ++c)
      for (int i = 0; i < 3; ++i) force[c][i] -= resistance[mode][i] * element.gamma[mode][c];
  return force;
}

} // namespace kontor::element
