// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Halos against what each ghost must hold, found from its global index.
#include "common.hpp"
#include "grid/halo.hpp"
#include "grid/halo_pair.hpp"
#include "grid/make_field.hpp"
#include "grid/regions.hpp"
#include "grid/wrap.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace kontor::grid::test {
namespace {

constexpr double untouched = -1;

double value_at(const Index3& global) {
  return static_cast<double>(1 + global[0] + 100 * (global[1] + 100 * global[2]));
}

/// Where a cell or point of a block, or a ghost of it, lies.
struct Place {
  int axes_outside = 0;  ///< of the block
  bool beyond = false;   ///< the end of the grid
  bool of_itself = true; ///< the block has it, at the other end of axes that wrap
  Index3 global{};
};

Place place_of(const Block& block, const std::vector<bool>& periodic, const Index3& own) {
  Place place;
  for (int axis = 0; axis < 3; ++axis) {
    auto& at = place.global[axis] = block.offset[axis] + own[axis];
    if (own[axis] >= 0 && own[axis] < block.extents[axis]) continue;
    ++place.axes_outside;
    if (!block.wraps[axis]) place.of_itself = false;
    const auto n = block.global[axis];
    if (at >= 0 && at < n) continue;
    if (!periodic[static_cast<std::size_t>(axis)]) place.beyond = true;
    at = (at + n) % n;
  }
  return place;
}

/// Calls visit(own index, element) for all of a field, its ghosts included, on the host.
template <class Visit>
void each_element(const FieldView<double>& field, const Block& block, const Visit& visit) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), field);
  const auto before = padding<double>(block);
  const auto ghosts = [&](int axis) { return axis < block.dimensions ? block.ghosts : 0; };
  for (auto k = -ghosts(2); k < block.extents[2] + ghosts(2); ++k)
    for (auto j = -ghosts(1); j < block.extents[1] + ghosts(1); ++j)
      for (auto i = -ghosts(0); i < block.extents[0] + ghosts(0); ++i)
        visit(Index3{i, j, k}, host(k + before[2], j + before[1], i + before[0]));
  Kokkos::deep_copy(field, host);
}

FieldView<double> filled_field(const Block& block) {
  const auto field = make_field<double>("test/field", block);
  each_element(field, block, [&](const Index3& own, double& element) {
    const auto place = place_of(block, {false, false, false}, own);
    element = place.axes_outside == 0 ? value_at(place.global) : untouched;
  });
  return field;
}

/// How many elements are not as they must be; filled(place) says which ghosts have been filled.
template <class Filled>
int wrong(const FieldView<double>& field, const Block& block, const std::vector<bool>& periodic, const Filled& filled) {
  int count = 0;
  each_element(field, block, [&](const Index3& own, double element) {
    const auto place = place_of(block, periodic, own);
    const bool known = place.axes_outside == 0 || (!place.beyond && filled(place));
    if (element != (known ? value_at(place.global) : untouched)) ++count;
  });
  return count;
}

TEST(Halo, FillsTheGhostsThatItSays) {
  for (const std::vector<std::int64_t>& extents : {std::vector<std::int64_t>{23}, {9, 17}, {8, 5, 9}}) {
    for (unsigned closed = 0; closed < 1U << extents.size(); ++closed) {
      std::vector<bool> periodic(3);
      for (std::size_t axis = 0; axis < extents.size(); ++axis) periodic[axis] = closed >> axis & 1U;
      const auto cartesian =
          cartesian_for(extents, {periodic.begin(), periodic.begin() + static_cast<std::ptrdiff_t>(extents.size())}, 2);
      for (const int ghosts : {1, 2}) {
        for (const bool corners : {false, true}) {
          for (const auto wrapping : {Wrapping::by_messages, Wrapping::by_kernel}) {
            const auto block = make_block({Centering::points, extents, {}, {}}, cartesian, ghosts, wrapping);
            const auto directions = corners ? across_all(block.dimensions) : across_faces(block.dimensions);
            const auto slots = halo_slots(cartesian, block, directions);
            const auto field = filled_field(block);
            auto halo = make_halo(cartesian, slots, block, field, "test/halo");
            halo.start();
            halo.finish();
            Kokkos::fence();
            const auto filled = [&](const Place& place) {
              return (corners || place.axes_outside == 1) && !place.of_itself;
            };
            EXPECT_EQ(wrong(field, block, periodic, filled), 0)
                << fmt::format("{}-D, closed {}, {} ghosts, corners {}, by kernel {}", block.dimensions, closed, ghosts,
                               corners, wrapping == Wrapping::by_kernel);
          }
        }
      }
    }
  }
}

/// Each fills the ghosts of its own field, and times are those of both.
TEST(HaloPair, IsTheHalosOfTwoFields) {
  const std::vector<std::int64_t> extents{9, 17};
  const auto cartesian = cartesian_for(extents, {true, true});
  const auto block = make_block({Centering::points, extents, {}, {}}, cartesian);
  const auto slots = halo_slots(cartesian, block, across_faces(2));
  const std::array fields{filled_field(block), filled_field(block)};
  HaloPair<double> pair(cartesian, slots, block, fields, {"test/u", "test/v"});
  pair.measure_times();
  const auto wrong_of = [&](int field, int axes) {
    return wrong(fields[field], block, {true, true, true},
                 [&](const Place& place) { return place.axes_outside == axes; });
  };
  constexpr int none = 3;
  for (const int field : {1, 0, 1}) {
    pair[field].start();
    pair[field].finish();
    Kokkos::fence();
    EXPECT_EQ(wrong_of(field, 1), 0);
    if (field == 1 && pair.times().exchanges == 1) {
      EXPECT_EQ(wrong_of(0, none), 0);
    }
  }
  EXPECT_EQ(pair.times().exchanges, 3);
  EXPECT_DOUBLE_EQ(pair.times().total(), pair[0].times().total() + pair[1].times().total());
  pair.reset_times();
  EXPECT_EQ(pair.times().exchanges, 0);
}

TEST(Wrap, CopiesWhatAHaloLeavesToIt) {
  for (const std::vector<std::int64_t>& extents : {std::vector<std::int64_t>{23}, {9, 17}, {8, 5, 9}}) {
    const std::vector<bool> periodic(3, true);
    const auto cartesian = cartesian_for(extents, std::vector<bool>(extents.size(), true), 2);
    for (const int ghosts : {1, 2}) {
      const auto block = make_block({Centering::cells, extents, {}, {}}, cartesian, ghosts, Wrapping::by_kernel);
      for (const bool by_kernel : {false, true}) {
        const auto field = filled_field(block);
        if (by_kernel)
          detail::wrap_by_kernel(FieldView<double>::execution_space(), field, block);
        else if constexpr (device::kernels_on_host)
          detail::wrap_by_layers(field, block);
        else
          continue;
        Kokkos::fence();
        const int most = ghosts > 1 ? 3 : 1; // axes
        const auto filled = [most](const Place& place) {
          return place.axes_outside > 0 && place.axes_outside <= most && place.of_itself;
        };
        EXPECT_EQ(wrong(field, block, periodic, filled), 0)
            << fmt::format("{}-D, {} ghosts, kernel {}", block.dimensions, ghosts, by_kernel);
      }
    }
  }
}

/// Of all axes: with overlap the interior is computed before messages arrive.
TEST(Regions, InteriorReadsNoGhostOfMessages) {
  for (const std::vector<std::int64_t>& extents : {std::vector<std::int64_t>{23}, {20, 17}, {8, 5, 9}}) {
    const auto cartesian = cartesian_for(extents, std::vector<bool>(extents.size(), true));
    for (const auto wrapping : {Wrapping::by_messages, Wrapping::by_kernel}) {
      const auto block = make_block({Centering::cells, extents, {}, {}}, cartesian, 1, wrapping);
      const auto field = filled_field(block);
      wrap(FieldView<double>::execution_space(), field, block);
      Kokkos::fence();
      const auto box = split(block, 1).interior;
      int early = 0;
      each_element(field, block, [&](const Index3& at, double element) {
        int axes = 0; // by which the place is beside the interior
        bool beside = !box.empty();
        for (int axis = 0; axis < 3; ++axis) {
          axes += at[axis] == box.begin[axis] - 1 || at[axis] == box.end[axis] ? 1 : 0;
          beside = beside && at[axis] >= box.begin[axis] - 1 && at[axis] <= box.end[axis];
        }
        early += beside && axes == 1 && element == untouched ? 1 : 0;
      });
      EXPECT_EQ(early, 0) << fmt::format("{}-D, by kernel {}", block.dimensions, wrapping == Wrapping::by_kernel);
    }
  }
}

TEST(Halo, RefusesBlocksThinnerThanItself) {
  const int ranks = world().size();
  const auto cartesian = make_cartesian(world(), {ranks}, {true});
  const auto slots = [&](int per_rank, int ghosts) {
    const auto block = make_block({Centering::cells, {ranks * per_rank + ranks - 1}, {}, {}}, cartesian, ghosts);
    return halo_slots(cartesian, block, across_faces(1)).size();
  };
  EXPECT_EQ(slots(2, 2), 2u);
  EXPECT_THROW(slots(2, 3), std::invalid_argument); // on all ranks, though all but the last have 3
}

} // namespace
} // namespace kontor::grid::test
