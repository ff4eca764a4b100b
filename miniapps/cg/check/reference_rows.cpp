// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/check/reference_rows.hpp"

#include <kontor/config/function.hpp>

#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>

namespace kontor::cg {

std::vector<GlobalIndex> rows_to_verify(const comm::Communicator& comm, std::uint64_t seed,
                                        const miniapp::IndexBox& box) {
  const auto& n = box.global;
  const auto all = n[0] * n[1] * n[2];
  std::vector<GlobalIndex> rows;
  if (all <= 2 * most_reference_rows * comm.size()) {
    for (GlobalIndex row = comm.rank(); row < all; row += comm.size()) rows.push_back(row);
    return rows;
  }
  auto random = miniapp::generator_of(seed, comm.rank());
  for (const auto& [at, kind] : miniapp::sample_places(box, 0, random))
    rows.push_back(((at[2] + box.offset[2]) * n[1] + at[1] + box.offset[1]) * n[0] + at[0] + box.offset[0]);
  std::uniform_int_distribution<GlobalIndex> any(0, all - 1);
  for (std::int64_t i = 0; i < most_reference_rows; ++i) rows.push_back(any(random));
  return rows;
}

// Rows of fe_heat by the formulas of docs/apps/cg.md as written there: no tables, no structure shared with
// assembly.cpp.

namespace {

using Point = std::array<double, 3>;
using Index = std::array<std::int64_t, 3>;

class Reference {
 public:
  explicit Reference(const Options& options)
      : o_(options.fe_heat), initial_(options.initial), conductivity_(o_.conductivity),
        source_(o_.source), gauss_{0.5 - std::sqrt(1. / 12), 0.5 + std::sqrt(1. / 12)} {
    for (const auto& face : o_.faces) faces_.emplace_back(face.value);
  }

  /// Entries of all rows: of points whose temperature is not given, a box, with each other; of others the diagonal.
  std::int64_t entries() const {
    std::int64_t all = 1, free = 1, coupled = 1;
    for (int axis = 0; axis < 3; ++axis) {
      auto n = o_.elements[axis] + 1;
      all *= n;
      for (const int side : {0, 1}) n -= o_.faces[2 * axis + side].condition == FaceCondition::temperature ? 1 : 0;
      free *= n;
      coupled *= n > 0 ? 3 * n - 2 : 0;
    }
    return all - free + coupled;
  }

  void add_row(GlobalIndex number, ReferenceRows& to) const {
    const Index n{o_.elements[0] + 1, o_.elements[1] + 1, o_.elements[2] + 1};
    const Index at{number % n[0], number / n[0] % n[1], number / n[0] / n[1]};
    std::array<double, 27> row{}; // by the offsets of the other point
    double rhs = 0, size = 0;
    const auto add = [&](double term) {
      rhs += term;
      size += std::abs(term);
    };
    for (int e = 0; e < 8; ++e) {
      Index element{};
      bool inside = true;
      for (int d = 0; d < 3; ++d) {
        element[d] = at[d] - (e >> d & 1);
        inside = inside && element[d] >= 0 && element[d] < o_.elements[d];
      }
      if (inside) add_element(element, e, row, add);
    }
    for (int face = 0; face < 6; ++face)
      if (o_.faces[face].condition == FaceCondition::flux && on_face(at, face)) add_flux(at, face, add);

    if (const auto given = temperature(at)) {
      to.add_entry(number, row[13]);
      return to.add_row(number, row[13] * *given, std::abs(row[13] * *given), *given);
    }
    for (int d = 0; d < 27; ++d) {
      const Index other{at[0] + d % 3 - 1, at[1] + d / 3 % 3 - 1, at[2] + d / 9 - 1};
      bool inside = true;
      for (int axis = 0; axis < 3; ++axis) inside = inside && other[axis] >= 0 && other[axis] < n[axis];
      if (!inside) continue;
      if (const auto given = temperature(other))
        add(-row[d] * *given);
      else
        to.add_entry((other[2] * n[1] + other[1]) * n[0] + other[0], row[d]);
    }
    to.add_row(number, rhs, size, value(initial_, point_of(at)));
  }

 private:
  static Point point_of(const Index& at) {
    return {static_cast<double>(at[0]), static_cast<double>(at[1]), static_cast<double>(at[2])};
  }
  double spacing(int axis) const { return (o_.upper[axis] - o_.lower[axis]) / static_cast<double>(o_.elements[axis]); }
  double coordinate(int axis, double number) const { return o_.lower[axis] + number * spacing(axis); }
  /// The shape function of node a, 0 or 1, along an axis, and its derivative.
  static double shape(int a, double at) { return a == 1 ? at : 1 - at; }
  double slope(int axis, int a) const { return (a == 1 ? 1 : -1) / spacing(axis); }

  bool on_face(const Index& at, int face) const { return at[face / 2] == (face % 2 == 0 ? 0 : o_.elements[face / 2]); }
  std::optional<double> temperature(const Index& at) const {
    for (int face = 5; face >= 0; --face)
      if (o_.faces[face].condition == FaceCondition::temperature && on_face(at, face))
        return value(faces_[face], point_of(at));
    return std::nullopt;
  }
  double value(const config::Function& f, const Point& at) const {
    return f(coordinate(0, at[0]), coordinate(1, at[1]), coordinate(2, at[2]), 0);
  }

  /// Of node a: the integrals of k grad N_a . grad N_b and of s N_a over the element.
  template <class Add>
  void add_element(const Index& element, int a, std::array<double, 27>& row, const Add& add) const {
    const double weight = spacing(0) * spacing(1) * spacing(2) / 8;
    for (int g = 0; g < 8; ++g) {
      Point in{}, at{};
      for (int d = 0; d < 3; ++d) {
        in[d] = gauss_[g >> d & 1];
        at[d] = static_cast<double>(element[d]) + in[d];
      }
      const auto gradient = [&](int node) {
        Point result{};
        for (int d = 0; d < 3; ++d) {
          const int p = (d + 1) % 3, q = (d + 2) % 3;
          result[d] = slope(d, node >> d & 1) * shape(node >> p & 1, in[p]) * shape(node >> q & 1, in[q]);
        }
        return result;
      };
      const double k = value(conductivity_, at);
      const auto of_a = gradient(a);
      for (int b = 0; b < 8; ++b) {
        const auto of_b = gradient(b);
        int place = 0;
        for (int d = 2; d >= 0; --d) place = 3 * place + (b >> d & 1) - (a >> d & 1) + 1;
        row[place] += weight * k * (of_a[0] * of_b[0] + of_a[1] * of_b[1] + of_a[2] * of_b[2]);
      }
      add(weight * value(source_, at) * shape(a & 1, in[0]) * shape(a >> 1 & 1, in[1]) * shape(a >> 2, in[2]));
    }
  }

  /// The integral of q N_a over the elements of a face around its point.
  template <class Add>
  void add_flux(const Index& point, int face, const Add& add) const {
    const int axis = face / 2, b = (axis + 1) % 3, c = (axis + 2) % 3;
    for (int e = 0; e < 4; ++e) {
      const std::array<int, 2> node{e & 1, e >> 1}; // of the element that the point is
      const auto along_b = point[b] - node[0], along_c = point[c] - node[1];
      if (along_b < 0 || along_c < 0 || along_b >= o_.elements[b] || along_c >= o_.elements[c]) continue;
      for (const double s : gauss_)
        for (const double t : gauss_) {
          Point at{};
          at[axis] = static_cast<double>(point[axis]);
          at[b] = static_cast<double>(along_b) + s;
          at[c] = static_cast<double>(along_c) + t;
          add(spacing(b) * spacing(c) / 4 * value(faces_[face], at) * shape(node[0], s) * shape(node[1], t));
        }
    }
  }

  const FeHeatOptions& o_;
  config::Function initial_, conductivity_, source_;
  std::array<double, 2> gauss_; ///< (1 -+ 1/sqrt(3)) / 2
  std::vector<config::Function> faces_;
};

ReferenceRows rows_of_stencil(const Options& options, const std::vector<GlobalIndex>& rows) {
  const auto& o = options.stencil;
  const config::Function exact(o.exact), initial(options.initial);
  const auto& n = o.points;
  const auto all = n[0] * n[1] * n[2];
  ReferenceRows reference;
  reference.entries = o.size == 7 ? 7 * all : (3 * n[0] - 2) * (3 * n[1] - 2) * (3 * n[2] - 2);
  for (const auto points : n)
    if (o.size == 7) reference.entries -= 2 * all / points; // beyond two faces
  for (const auto row : rows) {
    double rhs = 0, size = 0;
    const auto at = [](const config::Function& f, std::int64_t x, std::int64_t y, std::int64_t z) {
      return f(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z), 0);
    };
    const auto entry = [&](std::int64_t x, std::int64_t y, std::int64_t z, double value) {
      if (x < 0 || y < 0 || z < 0 || x >= n[0] || y >= n[1] || z >= n[2]) return;
      reference.add_entry((z * n[1] + y) * n[0] + x, value);
      const double term = value * at(exact, x, y, z);
      rhs += term;
      size += std::abs(term);
    };
    const auto x = row % n[0], y = row / n[0] % n[1], z = row / n[0] / n[1];
    if (o.size == 7) {
      entry(x, y, z, 6);
      for (const int d : {-1, 1}) {
        entry(x + d, y, z, -1);
        entry(x, y + d, z, -1);
        entry(x, y, z + d, -1);
      }
    } else {
      entry(x, y, z, 27); // the point itself is among the 27 below
      for (int d = 0; d < 27; ++d) entry(x + d % 3 - 1, y + d / 3 % 3 - 1, z + d / 9 - 1, -1);
    }
    reference.add_row(row, rhs, size, at(initial, x, y, z));
  }
  reference.extents = {n[2], n[1], n[0]};
  return reference;
}

} // namespace

ReferenceRows reference_of(const Options& options, const std::vector<GlobalIndex>& rows) {
  if (options.kind == ProblemKind::stencil) return rows_of_stencil(options, rows);
  const Reference formulas(options);
  ReferenceRows reference;
  for (const auto row : rows) formulas.add_row(row, reference);
  const auto& n = options.fe_heat.elements;
  reference.extents = {n[2] + 1, n[1] + 1, n[0] + 1};
  reference.entries = formulas.entries();
  return reference;
}

ReferenceRows reference_of(const Options& options, const comm::Communicator& comm, std::uint64_t seed,
                           const grid::Block& block) {
  const auto of = [](const grid::Index3& n) { return std::array{n[0], n[1], n[2]}; };
  return reference_of(options, rows_to_verify(comm, seed, {of(block.global), of(block.offset), of(block.extents)}));
}

} // namespace kontor::cg
