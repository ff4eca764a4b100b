// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/verify/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace kontor::miniapp {
namespace {

/// Indices along an axis that are of one kind.
struct Range {
  std::string kind; ///< empty: inside
  std::int64_t first = 0, last = 0;
};

std::vector<Range> ranges_of(const IndexBox& box, int axis) {
  const auto count = box.extents[axis], begin = box.offset[axis], global = box.global[axis];
  if (global == 1) return {{"", 0, 0}};
  const std::string name(1, "xyz"[axis]);
  std::vector<Range> result{{name + (begin == 0 ? "_min" : "_cut_min"), 0, 0}};
  if (count > 1) result.push_back({name + (begin + count == global ? "_max" : "_cut_max"), count - 1, count - 1});
  if (count > 2) result.push_back({"", 1, count - 2});
  return result;
}

std::int64_t between(std::int64_t first, std::int64_t last, std::mt19937_64& random) {
  return std::uniform_int_distribution(first, last)(random);
}

} // namespace

std::vector<Place> sample_places(const IndexBox& box, int random, std::mt19937_64& generator) {
  std::vector<Place> places;
  for (const auto extent : box.extents)
    if (extent <= 0) return places;
  for (const auto& z : ranges_of(box, 2))
    for (const auto& y : ranges_of(box, 1))
      for (const auto& x : ranges_of(box, 0)) {
        Place place;
        const std::array ranges{&x, &y, &z};
        for (int axis = 0; axis < 3; ++axis) {
          const auto& range = *ranges[axis];
          place.index[axis] = between(range.first, range.last, generator);
          if (!range.kind.empty()) place.kind += (place.kind.empty() ? "" : " ") + range.kind;
        }
        if (place.kind.empty()) place.kind = "inside";
        places.push_back(std::move(place));
      }
  for (int i = 0; i < random; ++i) {
    Place place{{}, "random"};
    for (int axis = 0; axis < 3; ++axis) place.index[axis] = between(0, box.extents[axis] - 1, generator);
    places.push_back(std::move(place));
  }
  return places;
}

/// By R. W. Floyd's method (J. Bentley, Communications of the ACM 30, 1987).
std::vector<std::int64_t> sample_numbers(std::int64_t count, std::int64_t most, std::mt19937_64& random) {
  std::set<std::int64_t> found;
  for (auto last = std::max<std::int64_t>(0, count - most); last < count; ++last)
    if (!found.insert(between(0, last, random)).second) found.insert(last);
  return {found.begin(), found.end()};
}

std::string words_of_sample(std::int64_t count, std::int64_t all, const std::string& things) {
  return count == all ? fmt::format("all {} {}", all, things) : fmt::format("{} of {} {}", count, all, things);
}

std::mt19937_64 generator_of(std::uint64_t seed, int rank) {
  std::seed_seq words{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                      static_cast<std::uint32_t>(rank)};
  return std::mt19937_64(words);
}

} // namespace kontor::miniapp
