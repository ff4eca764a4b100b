// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dynamics/check/wave.hpp"

#include <kontor/config/function.hpp>

#include <algorithm>
#include <cmath>

namespace kontor::dynamics {
namespace {

bool one_dimensional(const Options& options) {
  const auto constant = [](const config::Expression& formula) { return config::Function(formula).constant(); };
  const auto zero = [&](const config::Expression& formula) {
    return constant(formula) && config::Function(formula)(0, 0, 0, 0) == 0;
  };
  const config::Function velocity(options.velocity[0]);
  return options.mesh.box() && !options.mesh.mapped() && zero(options.poisson) && constant(options.young) &&
         constant(options.density) && zero(options.velocity[1]) && zero(options.velocity[2]) && !velocity.uses("y") &&
         !velocity.uses("z") && std::ranges::all_of(options.mesh.held, [](int face) { return face < 2; });
}

/// The integral of the start's velocity from 0 to x: linear between nodes, continued beyond the ends with the same sign
/// at a free one, with the other at a held one (d'Alembert's solution by images).
class Images {
 public:
  Images(const std::vector<double>& velocity, double h, bool held_min, bool held_max)
      : velocity_(velocity), h_(h), min_(held_min ? -1 : 1), max_(held_max ? -1 : 1), sum_{0} {
    for (std::size_t i = 0; i + 1 < velocity.size(); ++i)
      sum_.push_back(sum_.back() + h * (velocity[i] + velocity[i + 1]) / 2);
  }

  double up_to(double x) const {
    if (!std::isfinite(x)) return NAN;
    const double length = h_ * static_cast<double>(velocity_.size() - 1), whole = (1 + max_) * sum_.back();
    const double periods = std::floor(x / (2 * length)); // of there and back; without recursion: they may be many
    if (periods != 0) {
      const double rest = up_to(std::clamp(x - 2 * length * periods, 0.0, std::nextafter(2 * length, 0.0)));
      if (min_ == max_) return periods * whole + rest;
      return std::fmod(periods, 2) == 0 ? rest : whole - rest;
    }
    if (x > length) return whole - max_ * up_to(2 * length - x);
    const auto i = std::min(static_cast<std::size_t>(x / h_), velocity_.size() - 2);
    const double s = x - h_ * static_cast<double>(i);
    return sum_[i] + s * (velocity_[i] + s / (2 * h_) * (velocity_[i + 1] - velocity_[i]));
  }

 private:
  const std::vector<double>& velocity_;
  double h_, min_, max_;
  std::vector<double> sum_;
};

} // namespace

std::optional<Line> line_of(const Options& options, std::int64_t steps, double time) {
  if (!one_dimensional(options)) return std::nullopt;
  const auto n = static_cast<std::size_t>(options.mesh.elements[0]);
  const double h = options.mesh.size[0] / static_cast<double>(n), step = time / static_cast<double>(steps);
  const auto value = [](const config::Expression& formula, double x) { return config::Function(formula)(x, 0, 0, 0); };
  Line line;
  const double speed = std::sqrt(value(options.young, 0) / value(options.density, 0));
  const auto held = [&](int face) { return std::ranges::count(options.mesh.held, face) > 0; };
  std::vector<double> velocity(n + 1), start;
  for (std::size_t i = 0; i <= n; ++i)
    velocity[i] =
        (i == 0 && held(0)) || (i == n && held(1)) ? 0 : value(options.velocity[0], h * static_cast<double>(i));
  start = velocity;

  auto& u = line.chain;
  u.assign(n + 1, 0);
  const double square = speed * speed / (h * h);
  for (std::int64_t s = 0; s < steps; ++s) {
    const double middle = s == 0 ? step / 2 : step; // the velocity begins with the first step
    for (std::size_t i = 0; i <= n; ++i) {
      if ((i == 0 && held(0)) || (i == n && held(1))) continue;
      const double left = i > 0 ? u[i - 1] - u[i] : 0, right = i < n ? u[i + 1] - u[i] : 0;
      velocity[i] += middle * square * (i == 0 || i == n ? 2 : 1) * (left + right);
    }
    for (std::size_t i = 0; i <= n; ++i) {
      u[i] += step * velocity[i];
      line.greatest = std::max(line.greatest, std::abs(u[i]));
      if (i > 0) line.strain = std::max(line.strain, std::abs(u[i] - u[i - 1]) / h);
    }
  }

  const Images images(start, h, held(0), held(1));
  const double reach = speed * time;
  double curvature = 0; // of the start, at an end with its image
  for (std::size_t i = 0; i <= n; ++i) {
    const double x = h * static_cast<double>(i);
    line.exact.push_back((images.up_to(x + reach) - images.up_to(x - reach)) / (2 * speed));
    const double left = i > 0 ? start[i - 1] : (held(0) ? -1 : 1) * start[1],
                 right = i < n ? start[i + 1] : (held(1) ? -1 : 1) * start[n - 1];
    curvature = std::max(curvature, std::abs(left - 2 * start[i] + right));
  }
  const double courant = speed * step / h;
  if (line.greatest > 0) line.truncation = time * curvature * (1 + courant * courant) / 6 / line.greatest;
  return line;
}

} // namespace kontor::dynamics
