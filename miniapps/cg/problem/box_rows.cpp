// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/problem/box_rows.hpp"

#include "grid/layers.hpp"
#include "grid/regions.hpp"

#include <kontor/device/compat.hpp>

#include <algorithm>
#include <utility>

namespace kontor::cg {
namespace {

using grid::Index3;

/// Calls each(i, j, k) for the points of a box, x fastest.
template <class Each>
void for_each_point(const grid::Box& box, const Each& each) {
  for (auto k = box.begin[2]; k < box.end[2]; ++k)
    for (auto j = box.begin[1]; j < box.end[1]; ++j)
      for (auto i = box.begin[0]; i < box.end[0]; ++i) each(i, j, k);
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
  const auto& n = block.extents;
  const PointRows rows(Kokkos::view_alloc("cg/point rows", Kokkos::WithoutInitializing), n[2] + 2, n[1] + 2, n[0] + 2);
  const auto numbers = Kokkos::create_mirror_view(rows);
  Kokkos::deep_copy(numbers, -1);
  const auto number = [&](std::int64_t i, std::int64_t j, std::int64_t k) -> LocalIndex& {
    return numbers(k + 1, j + 1, i + 1);
  };

  std::vector<GlobalIndex> own;
  own.reserve(static_cast<std::size_t>(block.all().size()));
  const auto add = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    number(i, j, k) = static_cast<LocalIndex>(own.size());
    own.push_back(global_number(block, i, j, k));
  };
  for_each_point(grid::split(block, 1).interior, add); // what reads no ghosts
  const auto interior_rows = static_cast<LocalIndex>(own.size());
  for_each_point(block.all(), [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    if (number(i, j, k) < 0) add(i, j, k);
  });

  // Ghosts are ordered by owner and number, as make_partition() orders them.
  struct Ghost {
    int owner;
    GlobalIndex row;
    Index3 point;
  };
  std::vector<Ghost> ghosts;
  const auto& here = cartesian.coordinates();
  for (const auto& direction : corners ? grid::across_all(3) : grid::across_faces(3)) {
    const int owner = cartesian.rank_at({here[0] + direction[2], here[1] + direction[1], here[2] + direction[0]});
    if (owner == comm::no_rank) continue;
    for_each_point(grid::ghost_layer(block, direction), [&](std::int64_t i, std::int64_t j, std::int64_t k) {
      ghosts.push_back({owner, global_number(block, i, j, k), {i, j, k}});
    });
  }
  std::sort(ghosts.begin(), ghosts.end(),
            [](const Ghost& a, const Ghost& b) { return std::pair(a.owner, a.row) < std::pair(b.owner, b.row); });
  std::vector<GhostRow> wanted;
  for (const auto& ghost : ghosts) {
    number(ghost.point[0], ghost.point[1], ghost.point[2]) = static_cast<LocalIndex>(own.size() + wanted.size());
    wanted.push_back({ghost.owner, ghost.row});
  }
  Kokkos::deep_copy(rows, numbers);

  const auto all = block.global[0] * block.global[1] * block.global[2];
  auto partition = make_partition(cartesian, all, own, std::move(wanted));
  partition.interior = interior_rows;
  return {block, std::move(partition), rows};
}

grid::BlockView<double> new_block(const BoxRows& box, const std::string& label) {
  const auto& n = box.block.extents;
  return grid::BlockView<double>(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), n[2], n[1], n[0]);
}

void to_block(const BoxRows& box, const Vector& by_row, const grid::BlockView<double>& block) {
  copy_rows(box, {box.rows, by_row, block, true});
}

void from_block(const BoxRows& box, const grid::BlockView<double>& block, const Vector& by_row) {
  copy_rows(box, {box.rows, by_row, block, false});
}

Vector by_rows(const BoxRows& box, const grid::BlockView<double>& block, const std::string& label) {
  const Vector values(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), box.partition.own);
  from_block(box, block, values);
  return values;
}

void set_at_points(const BoxRows& box, const grid::DeckFunction& f, const Vector& by_row, grid::FiniteCheck& finite) {
  const auto rows = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), box.rows);
  const auto host = Kokkos::create_mirror_view(by_row);
  grid::for_each_row(box.block, f, 0, finite,
                     [&](std::int64_t j, std::int64_t k, const std::vector<double>& values) {
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
