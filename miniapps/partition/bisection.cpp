// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "partition/bisection.hpp"

#include <kontor/comm/reductions.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace kontor::partition {
namespace {

/// A number of the same order as the coordinate.
std::int64_t ordered(double coordinate) {
  const auto bits = std::bit_cast<std::int64_t>(coordinate + 0.0); // -0 is 0
  return bits < 0 ? std::numeric_limits<std::int64_t>::min() - bits : bits;
}

/// Points that are still together: parts [part, part + parts).
struct Group {
  int part = 0, parts = 1, axis = 0;
  std::int64_t below = 0;           ///< points that go to the first half of its parts
  std::int64_t least = 0, most = 0; ///< the key at which it is cut is among these
  bool cut() const { return parts > 1; }
};

template <class T>
std::vector<T> all(const comm::Communicator& comm, const std::vector<T>& values, comm::ReduceOp op) {
  const Kokkos::View<T*, Kokkos::HostSpace> view("partition/groups", values.size());
  std::copy(values.begin(), values.end(), view.data());
  comm::allreduce(comm, view, op);
  return {view.data(), view.data() + view.size()};
}

class Bisection {
 public:
  Bisection(const comm::Communicator& comm, const std::vector<NumberedPoint>& points)
      : comm_(comm), points_(points), group_(points.size(), 0), tied_(points.size()), upper_(points.size()) {}

  std::vector<int> parts(int count) {
    groups_ = {{.part = 0, .parts = count}};
    while (std::ranges::any_of(groups_, &Group::cut)) halve();
    std::vector<int> result;
    for (const auto g : group_) result.push_back(groups_[g].part);
    return result;
  }

 private:
  /// One level: all groups are cut at once.
  void halve() {
    choose_axes();
    tied_.assign(points_.size(), true);
    upper_.assign(points_.size(), false);
    for (int key = 0; key < 4; ++key) cut_ties(key); // of equal coordinates the next ones decide, then the numbers
    std::vector<Group> halves;
    for (const auto& group : groups_) {
      const int lower = group.parts / 2;
      halves.push_back({.part = group.part, .parts = group.cut() ? lower : 1});
      halves.push_back({.part = group.part + lower, .parts = group.parts - lower});
    }
    for (std::size_t n = 0; n < points_.size(); ++n) group_[n] = 2 * group_[n] + (upper_[n] ? 1 : 0);
    groups_ = std::move(halves);
  }

  void choose_axes() {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    std::vector<double> box(6 * groups_.size(), infinity), count(groups_.size(), 0);
    for (std::size_t n = 0; n < points_.size(); ++n) {
      count[group_[n]] += 1;
      for (int d = 0; d < 3; ++d) {
        auto* ends = &box[6 * group_[n] + 2 * d];
        ends[0] = std::min(ends[0], points_[n].at[d]);
        ends[1] = std::min(ends[1], -points_[n].at[d]);
      }
    }
    box = all(comm_, box, comm::ReduceOp::min);
    count = all(comm_, count, comm::ReduceOp::sum);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      auto& group = groups_[g];
      const auto length = [&](int d) { return -(box[6 * g + 2 * d] + box[6 * g + 2 * d + 1]); };
      for (int d = 1; d < 3; ++d)
        if (length(d) > length(group.axis)) group.axis = d;
      group.below = static_cast<std::int64_t>(count[g]) * (group.parts / 2) / group.parts;
    }
  }

  std::int64_t key_of(std::size_t point, int key) const {
    const auto& [at, number] = points_[point];
    return key == 3 ? number : ordered(at[(groups_[group_[point]].axis + key) % 3]);
  }

  /// Finds the key at which each group's points that are tied so far are cut: those below it go to the lower half,
  /// those above to the upper one, and those at it stay tied.
  void cut_ties(int key) {
    for (auto& group : groups_) {
      group.least = std::numeric_limits<std::int64_t>::min();
      group.most = std::numeric_limits<std::int64_t>::max();
    }
    const auto count_up_to = [&](const auto& limit) {
      std::vector<std::int64_t> count(groups_.size(), 0);
      for (std::size_t n = 0; n < points_.size(); ++n)
        if (tied_[n] && key_of(n, key) <= limit(groups_[group_[n]])) ++count[group_[n]];
      return all(comm_, count, comm::ReduceOp::sum);
    };
    const auto middle = [](const Group& group) { return std::midpoint(group.least, group.most); };
    for (int bit = 0; bit < 64; ++bit) { // the least key up to which there are more than go below
      const auto count = count_up_to(middle);
      for (std::size_t g = 0; g < groups_.size(); ++g)
        (count[g] > groups_[g].below ? groups_[g].most : groups_[g].least) =
            count[g] > groups_[g].below ? middle(groups_[g]) : std::min(middle(groups_[g]) + 1, groups_[g].most);
    }
    const auto below = count_up_to([](const Group& group) { return group.least - 1; });
    for (std::size_t n = 0; n < points_.size(); ++n) {
      if (!tied_[n]) continue;
      const auto at = key_of(n, key), cut = groups_[group_[n]].least;
      upper_[n] = at > cut || (at == cut && key == 3);
      tied_[n] = at == cut;
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) groups_[g].below -= below[g];
  }

  const comm::Communicator& comm_;
  const std::vector<NumberedPoint>& points_;
  std::vector<Group> groups_;
  std::vector<std::size_t> group_; ///< of each point
  std::vector<bool> tied_, upper_;
};

} // namespace

std::vector<int> bisect(const comm::Communicator& comm, const std::vector<NumberedPoint>& points, int parts) {
  return Bisection(comm, points).parts(parts);
}

} // namespace kontor::partition
