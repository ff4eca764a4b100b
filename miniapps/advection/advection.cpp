// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "advection/advection.hpp"

#include "advection/check/exact.hpp"
#include "advection/kernels/plain.hpp"
#include "stencil/stencil_app.hpp"

#include <cmath>
#include <numbers>

namespace kontor::advection {
namespace {

using stencil::Field;

/// Where the wave goes along an axis: 1 or -1.
int direction(const Options& o, std::size_t axis) { return o.velocity[axis] < 0 ? -1 : 1; }

Axis axis_of(const Options& o, std::size_t axis) {
  return {std::abs(o.velocity[axis]) * o.time_step() / o.width(axis), -direction(o, axis)};
}

/// Only cells downwind need ghosts.
stencil::Problem problem_of(const Options& o) {
  return {.app = "advection",
          .field = "u",
          .spacing = {o.width(0), o.width(1)},
          .time_step = o.time_step(),
          .directions = {{direction(o, 0), 0, 0}, {0, direction(o, 1), 0}}};
}

class Advection final : public stencil::StencilApp {
 public:
  Advection(const Options& options, const miniapp::RunContext& context)
      : StencilApp(problem_of(options), options, context), options_(options), x_(axis_of(options, 0)),
        y_(axis_of(options, 1)) {}

  miniapp::Verification verify_start() override { return compare_start(comm(), options_, block(), field()); }
  miniapp::Verification verify() override { return compare(comm(), options_, block(), field()); }

 private:
  void start(const Field& u, const Field& /*before*/) override {
    grid::set_values(u, block(), [&](double x, double y, double) {
      const auto waves = [&](std::size_t axis, double at) {
        return static_cast<double>(options_.waves[axis]) * at / options_.size[axis];
      };
      return std::sin(2 * std::numbers::pi * (waves(0, x) + waves(1, y)));
    });
  }

  void step(const stencil::Space& instance, const Field& from, const Field& to, const grid::Box& box) override {
    plain_step(instance, block(), from, to, box, x_, y_);
  }

  Options options_;
  Axis x_, y_;
};

} // namespace

std::unique_ptr<miniapp::MiniApp> make_advection(const Options& options, const miniapp::RunContext& context) {
  return std::make_unique<Advection>(options, context);
}

} // namespace kontor::advection
