// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/field.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/config/function.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The deck's functions of space and time, evaluated at the cells of a block.
namespace kontor::heat {

/// Remembers the first point at which a function was not finite.
class FiniteCheck {
 public:
  /// `key` and `formula` are of the deck. Local.
  void operator()(std::string_view key, std::string_view formula, std::span<const double> values,
                  std::span<const double> x, double y, double z, double t);

  /// Collective. Throws config::Error on all ranks if any of them has found such a point.
  void agree(const comm::Communicator&) const;

 private:
  std::optional<std::string> problem_;
};

/// A function of the deck, with the key it stands under and where.
struct DeckFunction {
  std::string key;
  config::Expression expression;
  config::Function function;

  DeckFunction(std::string key_of_deck, config::Expression formula,
               const std::map<std::string, double>& constants = {})
      : key(std::move(key_of_deck)), expression(std::move(formula)), function(expression, constants) {}

  /// out[i] = f(x[i], y, z, t), which `finite` looks at.
  void evaluate(std::span<const double> x, double y, double z, double t, std::span<double> out,
                FiniteCheck& finite) const {
    function.evaluate(x, y, z, t, out);
    finite(key, expression.text(), out, x, y, z, t);
  }
};

/// Centres of a box's cells along x.
std::vector<double> centres_along_x(const Block&, const Box&);

/// Calls row(j, k, values) with f at the centres of each row of the block's own cells; host memory.
template <class RowAction>
void for_each_row(const Block& block, const DeckFunction& f, double t, FiniteCheck& finite,
                  const RowAction& row) {
  const auto x = centres_along_x(block, block.all());
  std::vector<double> values(x.size());
  for (std::int64_t k = 0; k < block.cells[2]; ++k) {
    for (std::int64_t j = 0; j < block.cells[1]; ++j) {
      const double y = block.centre(1, j);
      const double z = block.dimensions == 3 ? block.centre(2, k) : 0.0;
      f.evaluate(x, y, z, t, values, finite);
      row(j, k, values);
    }
  }
}

/// Local, waits for the copy. target(k, j, i) = f at the centres of the block's own cells; `target` is
/// contiguous.
template <class T>
void fill_cells(const CellView<T>& target, const Block& block, const DeckFunction& f, double t,
                FiniteCheck& finite) {
  const auto host = room_on_host<T>(target);
  for_each_row(block, f, t, finite, [&](std::int64_t j, std::int64_t k, const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) host(k, j, i) = static_cast<T>(values[i]);
  });
  Kokkos::deep_copy(target, host);
}

/// Local, waits for the copy. The ghost cells before a boundary face, from the face's value g or q at time t
/// and the centres of the cells' faces: 2 g (Dirichlet) or h q (Neumann); see Stencil.
template <class T>
void fill_boundary(const FieldView<T>& field, const Block& block, int face, const Face& condition,
                   const DeckFunction& f, double t, FiniteCheck& finite) {
  const auto box = face_layer(block, face, true);
  const auto ghosts = cells_of(field, block, box);
  const int axis = face / 2;
  const T factor = condition.condition == Condition::neumann ? static_cast<T>(block.spacing[axis]) : T(2);

  const Kokkos::View<T***, Kokkos::LayoutRight, Kokkos::HostSpace> values("heat/boundary", ghosts.extent(0),
                                                                          ghosts.extent(1), ghosts.extent(2));
  const auto on_face = [&](int a, std::int64_t index) {
    return a == axis ? block.face(a, face % 2 == 0 ? 0 : block.cells[a]) : block.centre(a, index);
  };
  std::vector<double> x;
  for (auto i = box.begin[0]; i < box.end[0]; ++i) x.push_back(on_face(0, i));
  std::vector<double> of_row(x.size());
  for (auto k = box.begin[2]; k < box.end[2]; ++k) {
    for (auto j = box.begin[1]; j < box.end[1]; ++j) {
      const double y = on_face(1, j);
      const double z = block.dimensions == 3 ? on_face(2, k) : 0.0;
      f.evaluate(x, y, z, t, of_row, finite);
      for (std::size_t i = 0; i < x.size(); ++i)
        values(k - box.begin[2], j - box.begin[1], i) = factor * static_cast<T>(of_row[i]);
    }
  }
  const auto there = Kokkos::create_mirror_view_and_copy(typename FieldView<T>::memory_space(), values);
  using Policy = Kokkos::MDRangePolicy<typename FieldView<T>::execution_space, Kokkos::Rank<3>>;
  Kokkos::parallel_for(
      "heat/boundary",
      Policy({0, 0, 0},
             {static_cast<std::int64_t>(ghosts.extent(0)), static_cast<std::int64_t>(ghosts.extent(1)),
              static_cast<std::int64_t>(ghosts.extent(2))}),
      KOKKOS_LAMBDA(int k, int j, int i) { ghosts(k, j, i) = there(k, j, i); });
}

} // namespace kontor::heat
