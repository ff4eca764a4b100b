// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device's sweep, wherever this build's kernels run, against the plain formula on the host: cell by cell and bit by
// bit; and the norms that its teams leave.
#include "grid/regions.hpp"
#include "heat/kernels/columns.hpp"
#include "heat/kernels/pass_shape.hpp"
#include "heat/kernels/plain.hpp"
#include "heat/kernels/tile_pass.hpp"
#include "pass_case.hpp"

#include <gtest/gtest.h>

#include <tuple>

namespace kontor::heat::test {
namespace {

using Instance = FieldView<double>::execution_space;

/// The field after the plain sweep on the host, and the norm's part.
template <class T>
std::pair<HostBlockView<T>, double> swept_plainly(const SweepInput<T>& in, const Box& box, Norm norm) {
  const SweepInput<T, HostBlockView<T>, HostBlockView<T>> host{to_host(in.u), to_host(in.source), in.stencil, in.block};
  const HostBlockView<T> out("heat/plain", in.u.extent(0), in.u.extent(1), in.u.extent(2));
  double part = 0;
  plain_sweep(Kokkos::DefaultHostExecutionSpace(), host, out, box, norm, &part);
  return {out, part};
}

/// The norm's part, combined from what the teams have left.
double combined(const Instance& instance, double* parts, int count, Norm norm) {
  if (norm == Norm::none) return 0;
  const Kokkos::View<double*, FieldView<double>::memory_space> slot("heat/slot", 1);
  const Kokkos::View<int*, FieldView<double>::memory_space> next("heat/next", 1);
  combine(instance, parts, count, norm, {slot.data(), next.data(), 1});
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), slot)(0);
}

using Parameters = std::tuple<int /*dimensions*/, bool /*sourced*/, Norm, double /*step*/>;
class Columns : public testing::TestWithParam<Parameters> {
 protected:
  /// A ColumnShape or ColumnShapes over the box.
  template <class T, class Shape>
  static void compare(const SweepInput<T>& in, const Box& box, const Shape& shape) {
    const auto norm = std::get<2>(GetParam());
    const auto [plain, plain_norm] = swept_plainly(in, box, norm);
    const Instance instance;
    const auto out = grid::make_field<T>("heat/out", in.block);
    const Kokkos::View<double*, typename FieldView<T>::memory_space> parts("heat/parts", shape.parts());
    sweep_columns(instance, in, out, shape, norm, parts.data());
    const double column_norm = combined(instance, parts.data(), shape.parts(), norm);
    const auto by_columns = to_host(out);
    EXPECT_EQ(0, std::memcmp(plain.data(), by_columns.data(), plain.span() * sizeof(T)));
    if (norm == Norm::max)
      EXPECT_EQ(column_norm, plain_norm);
    else
      EXPECT_NEAR(column_norm, plain_norm, 1e-12 * plain_norm);
  }

  /// As if the device ran few threads at a time, so that columns are long.
  template <class T>
  static ColumnShape shape_of(const Box& box, ColumnTuning tuning) {
    return ColumnShape::make<T>(box, std::get<0>(GetParam()), 4, device::on_host<Instance>, tuning);
  }

  template <class T>
  void compare_tunings(const Index3& cells, const Box& box) const {
    const auto [dimensions, sourced, norm, step] = GetParam();
    const auto in = make_input<T>(make_test_block(dimensions, cells), sourced, step);
    for (const int rows : {1, 4, 64})
      for (const int tile : {8, 128}) compare(in, box, shape_of<T>(box, {128, tile, rows}));
  }
};

/// Cells outside the box keep what they had (zero in both fields).
TEST_P(Columns, AgreesInEveryBox) {
  each_box(std::get<0>(GetParam()), [&](const Index3& cells, const Box& box) {
    compare_tunings<double>(cells, box);
    compare_tunings<float>(cells, box);
  });
}

INSTANTIATE_TEST_SUITE_P(Heat, Columns,
                         testing::Combine(testing::Values(2, 3), testing::Bool(),
                                          testing::Values(Norm::none, Norm::max, Norm::l2),
                                          testing::Values(0.0, 0.01)));

/// One kernel for interior and strips gives what a kernel for the whole block does.
TEST_P(Columns, SeveralBoxes) {
  const auto [dimensions, sourced, norm, step] = GetParam();
  auto block = make_test_block(dimensions, {77, 9, dimensions == 3 ? 5 : 1});
  const auto in = make_input<float>(block, sourced, step);
  block.neighbours = {1, 1, 1, comm::no_rank, 1, comm::no_rank};
  const auto regions = grid::split(block, 16);
  std::vector<ColumnShape> shapes{shape_of<float>(regions.interior, {64, 32, 4})};
  for (const auto& strip : regions.strips) shapes.push_back(shape_of<float>(strip, {64, 32, 4}));
  compare(in, block.all(), ColumnShapes<FieldView<float>::memory_space>(shapes));
}

/// Every cell belongs to one thread, whatever the box, the device and the tuning.
TEST(ColumnShape, ThreadsCoverTheBoxOnce) {
  for (const Box& box : {Box{{0, 0, 0}, {64, 10, 9}}, Box{{5, 1, 2}, {46, 7, 3}}, Box{{8, 0, 0}, {16, 300, 2}}})
    for (const int dimensions : {2, 3})
      for (const int team : {32, 256})
        for (const int threads : {1, 100, 1000000}) {
          const auto shape = ColumnShape::make<double>(box, dimensions, threads, false, {team, 16, 8});
          EXPECT_EQ(shape.team(), team);
          std::vector<int> covered(64 * 300 * 10);
          for (int t = 0; t < shape.teams(); ++t)
            for (int thread = 0; thread < team; ++thread) {
              const auto place = shape.place(t, thread);
              for (int m = place.begin; m < place.end; ++m)
                ++covered[((dimensions == 3 ? m : 0) * 300 + (dimensions == 3 ? place.line : m)) * 64 + place.pack];
            }
          std::int64_t sum = 0;
          for (const int count : covered) {
            ASSERT_LE(count, 1);
            sum += count;
          }
          const auto packs = (box.end[0] + 1) / 2 - box.begin[0] / 2;
          EXPECT_EQ(sum, packs * (box.end[1] - box.begin[1]) * (dimensions == 3 ? box.end[2] - box.begin[2] : 1));
        }
}

template <class T>
void compare_tiles(const Index3& cells, const Box& box, int dimensions, int sweeps, int rows, unsigned ends) {
  const PassCase<T> of(cells, dimensions, sweeps, ends, ends % 3 == 0);
  const auto out = of.result();
  sweep_tiles(Instance(), of.in, grid::with_one_ghost<T>(out, of.block), of.block, box, sweeps, rows);
  of.expect_sweeps(out, box, sweeps);
}

TEST(Tiles, AreTheirSweeps) {
  unsigned ends = 1;
  for (const int dimensions : {2, 3})
    for (const int sweeps : {2, 4, 8})
      if (sweeps <= most_of_kernel(dimensions))
        each_box(dimensions, [&](const Index3& cells, const Box& box) {
          for (const int rows : {1, 5, 1000}) {
            ends = (ends * 5 + 3) % 64;
            compare_tiles<double>(cells, box, dimensions, sweeps, rows, ends);
            compare_tiles<float>(cells, box, dimensions, sweeps, rows, ends ^ 63u);
          }
        });
}

} // namespace
} // namespace kontor::heat::test
