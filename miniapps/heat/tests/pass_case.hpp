// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/make_field.hpp"
#include "heat/kernels/plain.hpp"
#include "scrambled.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace kontor::heat::test {

template <class View>
auto to_host(const View& field) {
  const HostBlockView<typename View::value_type> host("heat/host", field.extent(0), field.extent(1), field.extent(2));
  const auto there = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), field);
  std::memcpy(host.data(), there.data(), host.span() * sizeof(typename View::value_type));
  return host;
}

/// A block with as many layers of ghosts as a pass has sweeps. On each kind of side: where the grid ends (a bit of
/// `ends` for each face), and where ghosts are cells of other ranks.
template <class T>
struct PassCase {
  Block block;
  SweepInput<T> in;   ///< of one layer of ghosts, as kernels take it
  FieldView<T> whole; ///< the field of in.u
  BlockView<T> whole_source;

  PassCase(const Index3& cells, int dimensions, int sweeps, unsigned ends, bool sourced = false)
      : block(make_test_block(dimensions, cells)) {
    block.ghosts = sweeps;
    for (int face = 0; face < 2 * dimensions; ++face)
      if ((ends >> face & 1u) == 0) block.neighbours[face] = 0;
    in = make_input<T>(block, false, 0.01);
    whole = in.u;
    in.u = grid::with_one_ghost<T>(whole, block);
    in.block.ghosts = 1;
    for (int face = 0; face < 2 * dimensions; ++face)
      if (!block.at_boundary(face)) in.stencil.adjust[face] = 0;
    if (!sourced) return;
    const auto source = grid::make_field<T>("heat/source", block);
    scramble(source);
    const auto before = grid::padding<T>(block);
    in.source = BlockView<T>(grid::address(source, before[2], before[1], before[0]), cells[2],
                             dimensions == 3 ? source.extent(1) : cells[1], source.extent(2));
    whole_source = source;
  }

  /// A field for results, whose cells are those of the input.
  FieldView<T> result() const {
    const auto field = grid::make_field<T>("heat/result", block);
    Kokkos::deep_copy(field, whole);
    return field;
  }

  /// Expects of `found` in the box what as many plain sweeps of a margin around it give, on the host.
  void expect_sweeps(const FieldView<T>& found, const Box& box, int sweeps) const {
    HostBlockView<T> fields[] = {to_host(whole), to_host(whole)};
    const auto row = fields[0].extent(2), plane = row * fields[0].extent(1);
    const auto before = grid::padding<T>(block);
    const auto at = [&](std::int64_t k, std::int64_t j, std::int64_t i) {
      return (k + before[2]) * plane + (j + before[1]) * row + i + before[0];
    };
    const auto source = whole_source.size() > 0 ? to_host(whole_source) : HostBlockView<T>("heat/none", 0, 0, 0);
    const int dimensions = block.dimensions;
    for (int sweep = 1; sweep <= sweeps; ++sweep) {
      const auto* u = fields[1 - sweep % 2].data();
      auto* out = fields[sweep % 2].data();
      Box margin = box;
      for (int axis = 0; axis < dimensions; ++axis) {
        margin.begin[axis] =
            std::max<std::int64_t>(box.begin[axis] - (sweeps - sweep), block.at_boundary(2 * axis) ? 0 : -100);
        margin.end[axis] = std::min(box.end[axis] + (sweeps - sweep),
                                    block.extents[axis] + (block.at_boundary(2 * axis + 1) ? 0 : 100));
      }
      const auto& c = in.stencil.c;
      const auto extra = [&](int axis, std::int64_t i) { return in.stencil.extra(axis, i, block.extents[axis]); };
      for (auto k = margin.begin[2]; k < margin.end[2]; ++k)
        for (auto j = margin.begin[1]; j < margin.end[1]; ++j)
          for (auto i = margin.begin[0]; i < margin.end[0]; ++i) {
            T sum = c[0] * (u[at(k, j, i - 1)] + u[at(k, j, i + 1)]);
            sum += c[1] * (u[at(k, j - 1, i)] + u[at(k, j + 1, i)]);
            if (dimensions == 3) sum += c[2] * (u[at(k - 1, j, i)] + u[at(k + 1, j, i)]);
            if (source.size() > 0) sum += source.data()[at(k, j, i)];
            const auto w = in.stencil.weights(extra(0, i), extra(1, j), dimensions == 3 ? extra(2, k) : T(0));
            out[at(k, j, i)] = w.keep * u[at(k, j, i)] + w.gain * sum;
          }
    }
    const auto got = to_host(found);
    const auto* expected = fields[sweeps % 2].data();
    for (auto k = box.begin[2]; k < box.end[2]; ++k)
      for (auto j = box.begin[1]; j < box.end[1]; ++j)
        for (auto i = box.begin[0]; i < box.end[0]; ++i)
          ASSERT_EQ(got.data()[at(k, j, i)], expected[at(k, j, i)])
              << sweeps << " sweeps, cell " << i << ", " << j << ", " << k;
  }
};

} // namespace kontor::heat::test
