// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/problem/known_solution.hpp"

#include <numbers>

namespace kontor::cg {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double largest_exponent = 40; ///< exp(-40) is 4e-18

double side(const grid::Block& points, int axis) {
  return static_cast<double>(points.global[axis] - 1) * points.spacing[axis];
}

/// Whether point i of an axis is on neither end.
bool inside(const grid::Block& points, int axis, std::int64_t i) {
  return points.offset[axis] + i > 0 && points.offset[axis] + i < points.global[axis] - 1;
}

/// sin(m pi i / n) for m = 1, 3, 5, ... at some points i of an axis that has n elements.
class Sines {
 public:
  Sines(const grid::Block& points, int axis, std::int64_t terms)
      : points_(static_cast<std::size_t>(points.extents[axis])), values_(points_ * static_cast<std::size_t>(terms)) {
    const std::int64_t n = points.global[axis] - 1;
    for (std::int64_t t = 0; t < terms; ++t)
      for (std::size_t p = 0; p < points_; ++p) {
        const auto i = points.offset[axis] + static_cast<std::int64_t>(p);
        values_[static_cast<std::size_t>(t) * points_ + p] =
            std::sin(pi * static_cast<double>((2 * t + 1) * i % (2 * n)) / static_cast<double>(n));
      }
  }
  /// Of a term, at all points.
  const double* operator[](std::int64_t term) const { return &values_[static_cast<std::size_t>(term) * points_]; }

 private:
  std::size_t points_;
  std::vector<double> values_;
};

/// sinh(g (length - distance)) / sinh(g length).
double decay(double g, double distance, double length) {
  return std::exp(-g * distance) * std::expm1(-2 * g * (length - distance)) / std::expm1(-2 * g * length);
}

/// v(y, z) of a rectangle with sides b and c.
double of_rectangle(double y, double z, double b, double c) {
  double value = y * (b - y) / 2;
  const double nearest = std::min(z, c - z);
  for (int m = 1; m * pi / b * nearest <= largest_exponent; m += 2) {
    const double g = m * pi / b;
    value -= 4 * b * b / std::pow(pi * m, 3) * std::sin(g * y) * (decay(g, z, c) + decay(g, c - z, c));
  }
  return value;
}

/// The part of one face, plane by plane.
class FaceSeries {
 public:
  FaceSeries(const grid::Block& points, int face)
      : points_(points), axis_(face / 2), b_(axis_ == 0 ? 1 : 0), c_(axis_ == 2 ? 1 : 2), upper_(face % 2 == 1),
        along_b_(points, b_, terms(b_, points.spacing[axis_])), along_c_(points, c_, terms(c_, points.spacing[axis_])) {
  }

  /// Adds temperature * series to the points of a plane across the axis, inside of the box; `of_source`: with terms
  /// over g^2.
  void add(const grid::HostBlockView<double>& values, std::int64_t plane, double temperature,
           bool of_source = false) const {
    const auto number = points_.offset[axis_] + plane;
    const double length = side(points_, axis_);
    const double distance = // from the face
        static_cast<double>(upper_ ? points_.global[axis_] - 1 - number : number) * points_.spacing[axis_];
    const auto nb = points_.extents[b_], nc = points_.extents[c_];
    std::vector<double> over_n(static_cast<std::size_t>(nc)), sums(static_cast<std::size_t>(nb * nc)); // side by side
    for (std::int64_t c = 0; c < nc; ++c)
      for (std::int64_t b = 0; b < nb; ++b) sums[static_cast<std::size_t>(c * nb + b)] = at(values, plane, b, c);
    for (std::int64_t s = 0; s < terms(b_, distance); ++s) {
      std::fill(over_n.begin(), over_n.end(), 0.0);
      for (std::int64_t t = 0; t < terms(c_, distance); ++t) {
        const auto m = static_cast<double>(2 * s + 1), n = static_cast<double>(2 * t + 1);
        const double g = pi * std::hypot(m / side(points_, b_), n / side(points_, c_));
        if (g * distance > largest_exponent) break;
        const double factor =
            16 * temperature / (pi * pi * m * n * (of_source ? g * g : 1)) * decay(g, distance, length);
        for (std::size_t c = 0; c < over_n.size(); ++c) over_n[c] += factor * along_c_[t][c];
      }
      const double* const sines = along_b_[s];
      for (std::int64_t c = 0; c < nc; ++c) {
        const double factor = over_n[static_cast<std::size_t>(c)];
        double* const sum = &sums[static_cast<std::size_t>(c * nb)];
        for (std::int64_t b = 0; b < nb; ++b) sum[b] += sines[b] * factor;
      }
    }
    for (std::int64_t c = 0; c < nc; ++c)
      for (std::int64_t b = 0; b < nb; ++b)
        if (inside(points_, c_, c) && inside(points_, b_, b))
          at(values, plane, b, c) = sums[static_cast<std::size_t>(c * nb + b)];
  }

 private:
  /// Terms along an axis across that count at this distance from the face.
  std::int64_t terms(int axis, double distance) const {
    return static_cast<std::int64_t>(largest_exponent * side(points_, axis) / (2 * pi * distance)) + 1;
  }
  double& at(const grid::HostBlockView<double>& values, std::int64_t a, std::int64_t b, std::int64_t c) const {
    std::int64_t index[3];
    index[axis_] = a;
    index[b_] = b;
    index[c_] = c;
    return values(index[2], index[1], index[0]);
  }

  const grid::Block& points_;
  int axis_, b_, c_;
  bool upper_;
  Sines along_b_, along_c_;
};

} // namespace

void fill_box_series(const grid::HostBlockView<double>& values, const grid::Block& points,
                     const std::array<double, 6>& temperatures, double heating) {
  const auto temperature_on_face = [&](const std::array<std::int64_t, 3>& point) {
    for (int face = 5; face >= 0; --face) {
      const auto plane = face % 2 == 0 ? 0 : points.global[face / 2] - 1;
      if (points.offset[face / 2] + point[face / 2] == plane) return temperatures[face];
    }
    return 0.0; // inside
  };
  for (std::int64_t k = 0; k < points.extents[2]; ++k)
    for (std::int64_t j = 0; j < points.extents[1]; ++j)
      for (std::int64_t i = 0; i < points.extents[0]; ++i) values(k, j, i) = temperature_on_face({i, j, k});
  for (int face = 0; face < 6; ++face) {
    const bool heated = heating != 0 && face < 2;
    if (temperatures[face] == 0 && !heated) continue;
    const FaceSeries series(points, face);
    for (std::int64_t plane = 0; plane < points.extents[face / 2]; ++plane) {
      if (!inside(points, face / 2, plane)) continue;
      series.add(values, plane, temperatures[face]);
      if (heated) series.add(values, plane, -heating, true);
    }
  }
  if (heating == 0) return;
  const auto at = [&](int axis, std::int64_t i) {
    return static_cast<double>(points.offset[axis] + i) * points.spacing[axis];
  };
  for (std::int64_t k = 0; k < points.extents[2]; ++k)
    for (std::int64_t j = 0; j < points.extents[1]; ++j) {
      if (!inside(points, 1, j) || !inside(points, 2, k)) continue;
      const double v = of_rectangle(at(1, j), at(2, k), side(points, 1), side(points, 2));
      for (std::int64_t i = 0; i < points.extents[0]; ++i)
        if (inside(points, 0, i)) values(k, j, i) += heating * v;
    }
}

} // namespace kontor::cg
