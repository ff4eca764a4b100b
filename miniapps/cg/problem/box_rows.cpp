// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/problem/box_rows.hpp"

#include "grid/layers.hpp"
#include "grid/regions.hpp"

#include <kontor/device/compat.hpp>

#include <utility>

namespace kontor::cg {
namespace {

/// Calls each(i, j, k) for the points of a box, x fastest.
template <class Each>
void for_each_point(const grid::Box& box, const Each& each) {
  for (auto k = box.begin[2]; k < box.end[2]; ++k)
    for (auto j = box.begin[1]; j < box.end[1]; ++j)
      for (auto i = box.begin[0]; i < box.end[0]; ++i) each(i, j, k);
}

/// The same for the own points in the order of rows. Returns how many of them read no ghosts.
template <class Each>
std::int64_t for_own_points(const grid::Block& block, const Each& each) {
  const auto interior = grid::split(block, 1).interior;
  for_each_point(interior, each);
  for_each_point(block.all(), [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    const std::int64_t point[] = {i, j, k};
    bool inside = true;
    for (int axis = 0; axis < 3; ++axis)
      inside = inside && point[axis] >= interior.begin[axis] && point[axis] < interior.end[axis];
    if (!inside) each(i, j, k);
  });
  return interior.size();
}

GlobalIndex global_number(const grid::Block& block, std::int64_t i, std::int64_t j, std::int64_t k) {
  return block.offset[0] + i + block.global[0] * (block.offset[1] + j + block.global[1] * (block.offset[2] + k));
}

struct CopyRows {
  PointRows rows;
  Vector by_row;
  grid::BlockView<double> block;
  bool to_block;
  KOKKOS_FUNCTION void operator()(int k, int j, int i) const {
    const auto row = rows(k + 1, j + 1, i + 1);
    if (to_block)
      block(k, j, i) = by_row(row);
    else
      by_row(row) = block(k, j, i);
  }
};

void copy_rows(const BoxRows& box, const CopyRows& copy) {
  for_points("cg/rows of points", box.block.extents, copy);
  device::fence(Space(), "cg/rows of points");
}

} // namespace

BoxRows make_box_rows(const comm::Communicator& cartesian, const grid::UniformGrid& points, bool corners) {
  const auto block = grid::make_block(points, cartesian);
  std::vector<GlobalIndex> own;
  own.reserve(static_cast<std::size_t>(block.all().size()));
  const auto interior = for_own_points(
      block, [&](std::int64_t i, std::int64_t j, std::int64_t k) { own.push_back(global_number(block, i, j, k)); });
  std::vector<GhostRow> ghosts;
  const auto& here = cartesian.coordinates();
  for (const auto& direction : corners ? grid::across_all(3) : grid::across_faces(3)) {
    const int owner = cartesian.rank_at({here[0] + direction[2], here[1] + direction[1], here[2] + direction[0]});
    if (owner == comm::no_rank) continue;
    for_each_point(grid::ghost_layer(block, direction), [&](std::int64_t i, std::int64_t j, std::int64_t k) {
      ghosts.push_back({owner, global_number(block, i, j, k)});
    });
  }
  const auto all = block.global[0] * block.global[1] * block.global[2];
  auto partition = make_partition(cartesian, all, own, std::move(ghosts));
  partition.interior = static_cast<LocalIndex>(interior);
  return {block, std::move(partition)};
}

PointRows point_rows(const BoxRows& box) {
  const auto& block = box.block;
  const auto& n = block.extents;
  const PointRows rows(Kokkos::view_alloc("cg/point rows", Kokkos::WithoutInitializing), n[2] + 2, n[1] + 2, n[0] + 2);
  const auto numbers = Kokkos::create_mirror_view(rows);
  Kokkos::deep_copy(numbers, -1);
  LocalIndex number = 0;
  for_own_points(block,
                 [&](std::int64_t i, std::int64_t j, std::int64_t k) { numbers(k + 1, j + 1, i + 1) = number++; });
  const auto global = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), box.partition.global);
  for (; number < box.partition.own + box.partition.ghosts; ++number) {
    const auto line = global(number) / block.global[0];
    numbers(line / block.global[1] - block.offset[2] + 1, line % block.global[1] - block.offset[1] + 1,
            global(number) % block.global[0] - block.offset[0] + 1) = number;
  }
  Kokkos::deep_copy(rows, numbers);
  return rows;
}

grid::BlockView<double> new_block(const BoxRows& box, const std::string& label) {
  const auto& n = box.block.extents;
  return grid::BlockView<double>(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), n[2], n[1], n[0]);
}

void to_block(const BoxRows& box, const Vector& by_row, const grid::BlockView<double>& block) {
  copy_rows(box, {point_rows(box), by_row, block, true});
}

void from_block(const BoxRows& box, const grid::BlockView<double>& block, const Vector& by_row) {
  copy_rows(box, {point_rows(box), by_row, block, false});
}

Vector by_rows(const BoxRows& box, const grid::BlockView<double>& block, const std::string& label) {
  const Vector values(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), box.partition.own);
  from_block(box, block, values);
  return values;
}

void set_at_points(const BoxRows& box, const grid::DeckFunction& f, const Vector& by_row, grid::FiniteCheck& finite) {
  const auto rows = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), point_rows(box));
  const auto host = Kokkos::create_mirror_view(by_row);
  grid::for_each_row(box.block, f, 0, finite, [&](std::int64_t j, std::int64_t k, const std::vector<double>& values) {
    const LocalIndex* const row = &rows(k + 1, j + 1, 1);
    for (std::size_t i = 0; i < values.size(); ++i) host(row[i]) = values[i];
  });
  Kokkos::deep_copy(by_row, host);
}

Vector values_at_points(const BoxRows& box, const grid::DeckFunction& f, const std::string& label,
                        grid::FiniteCheck& finite) {
  const Vector values(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), box.partition.own);
  set_at_points(box, f, values, finite);
  return values;
}

} // namespace kontor::cg
