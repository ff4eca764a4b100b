// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/problem/sweep_input.hpp"

#include <cstdint>

/// Problems for kernels: values without pattern, the same in every run.
namespace kontor::heat::test {

template <class View>
void scramble(const View& view) {
  const auto host = Kokkos::create_mirror_view(view);
  std::uint32_t state = 12345;
  auto* data = host.data();
  for (std::size_t i = 0; i < host.span(); ++i) {
    state = 1664525u * state + 1013904223u;
    data[i] = static_cast<typename View::value_type>(state) / 4e9 - 0.5;
  }
  Kokkos::deep_copy(view, host);
}

inline Block make_test_block(int dimensions, const Index3& cells) {
  Block block;
  block.dimensions = dimensions;
  block.global = block.extents = cells;
  return block;
}

template <class T>
SweepInput<T> make_input(const Block& block, bool sourced, double step) {
  const auto u = grid::make_field<T>("heat/u", block);
  scramble(u);
  const auto source = make_source<T>(block, sourced);
  if (sourced) scramble(source);
  Stencil<T> stencil;
  stencil.c[0] = 1.5;
  stencil.c[1] = 0.75;
  stencil.c[2] = block.dimensions == 3 ? 2.25 : 0;
  const T adjust[6] = {1, -1, 1, 0, -1, 1};
  for (int f = 0; f < 2 * block.dimensions; ++f) stencil.adjust[f] = adjust[f];
  stencil.step = static_cast<T>(step);
  return {u, source, stencil, block};
}

} // namespace kontor::heat::test
