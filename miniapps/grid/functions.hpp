// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/make_field.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/config/function.hpp>

#include <Kokkos_Core.hpp>

#include <map>
#include <optional>
#include <span>
#include <utility>

/// The deck's functions of space and time, evaluated at the cells or points of a block.
namespace kontor::grid {

/// Remembers the first point at which a function was not finite, or not what else is required of it.
class FiniteCheck {
 public:
  FiniteCheck() : FiniteCheck([](double) { return true; }, "finite") {}
  /// Finite values that are allowed, and what they are in words.
  FiniteCheck(bool (*allowed)(double), const char* words) : allowed_(allowed), words_(words) {}
  static FiniteCheck positive() {
    return {[](double value) { return value > 0; }, "above 0 and finite"};
  }

  /// Local. `values` of the formula, at these points and that time.
  void operator()(const config::Expression&, std::span<const double> values, std::span<const double> x, double y,
                  double z, double t);

  /// Collective. Throws config::Error on all ranks if any of them has found such a point.
  void agree(const comm::Communicator&) const;

 private:
  bool (*allowed_)(double);
  const char* words_;
  std::optional<std::string> problem_;
};

/// A function of the deck, compiled.
struct DeckFunction {
  config::Expression expression;
  config::Function function;

  explicit DeckFunction(config::Expression formula, const std::map<std::string, double>& constants = {})
      : expression(std::move(formula)), function(expression, constants) {}

  /// Whether it is the constant 0.
  bool zero() const { return function.constant() && function(0, 0, 0, 0) == 0; }

  /// out[i] = f(x[i], y, z, t), which `finite` looks at.
  void evaluate(std::span<const double> x, double y, double z, double t, std::span<double> out,
                FiniteCheck& finite) const {
    function.evaluate(x, y, z, t, out);
    finite(expression, out, x, y, z, t);
  }

  /// The value at a place, at time 0, which `finite` looks at.
  double at(const std::array<double, 3>& place, FiniteCheck& finite) const {
    const double value = function(place[0], place[1], place[2], 0);
    finite(expression, {&value, 1}, {place.data(), 1}, place[1], place[2], 0);
    return value;
  }
};

/// Coordinates along x of a block's own cells or points.
std::vector<double> coordinates_along_x(const Block&);

/// Calls row(j, k, values) with f along each row of the block's own cells or points; host memory.
template <class RowAction>
void for_each_row(const Block& block, const DeckFunction& f, double t, FiniteCheck& finite, const RowAction& row) {
  const auto x = coordinates_along_x(block);
  std::vector<double> values(x.size());
  for (std::int64_t k = 0; k < block.extents[2]; ++k) {
    for (std::int64_t j = 0; j < block.extents[1]; ++j) {
      f.evaluate(x, block.coordinate(1, j), block.coordinate(2, k), t, values, finite);
      row(j, k, values);
    }
  }
}

/// Local, waits for the copy. target(k, j, i) = f at the block's own cells or points; `target` is contiguous.
template <class T>
void fill(const BlockView<T>& target, const Block& block, const DeckFunction& f, double t, FiniteCheck& finite) {
  const auto host = room_on_host<T>(target);
  for_each_row(block, f, t, finite, [&](std::int64_t j, std::int64_t k, const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) host(k, j, i) = static_cast<T>(values[i]);
  });
  if constexpr (!device::on_host<BlockView<T>>) Kokkos::deep_copy(target, host); // or `host` is the target
  Kokkos::fence();
}

/// Local, waits. Own cells or points of a field = f.
template <class T>
void fill_field(const FieldView<T>& field, const Block& block, const DeckFunction& f, double t, FiniteCheck& finite) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), field);
  const auto own = view_of(host, block, block.all());
  for_each_row(block, f, t, finite, [&](std::int64_t j, std::int64_t k, const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) own(k, j, i) = static_cast<T>(values[i]);
  });
  Kokkos::deep_copy(field, host);
}

} // namespace kontor::grid
