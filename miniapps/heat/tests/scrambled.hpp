// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/make_field.hpp"
#include "heat/problem/stencil.hpp"

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

/// Calls work(cells, box) for whole blocks of so many cells, and for boxes in a block.
template <class Work>
void each_box(int dimensions, const Work& work) {
  const std::int64_t nz = dimensions == 3 ? 5 : 1;
  for (const Index3& cells :
       {Index3{1, 1, nz}, Index3{2, 3, nz}, Index3{9, 1, nz}, Index3{16, 13, 2 * nz - 1}, Index3{1037, 7, nz}})
    work(cells, Box{{}, cells});
  for (const Box& box : {Box{{3, 2, 0}, {600, 8, nz}}, Box{{0, 0, 0}, {1, 9, nz}}, Box{{17, 8, nz - 1}, {613, 9, nz}},
                         Box{{604, 0, nz / 2}, {613, 9, nz}}})
    work(Index3{613, 9, nz}, box);
}

} // namespace kontor::heat::test
