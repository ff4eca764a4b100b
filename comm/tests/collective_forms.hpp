// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "views.hpp"

#include <kontor/comm/collectives.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <vector>

/// What the tests of collective operations share: elements as they lie, and every form of a call.
namespace kontor::comm::test {

struct Pair {
  double weight;
  std::int64_t index;
};

template <class View>
using ValueOf = typename View::non_const_value_type;

/// The places of a View's elements, in the order in which they lie.
template <class View>
std::vector<ValueOf<View>*> places(const View& view) {
  std::vector<ValueOf<View>*> places;
  for_each_index(extents_of(view),
                 [&](const auto& i) { places.push_back(const_cast<ValueOf<View>*>(&at(view, i))); });
  std::sort(places.begin(), places.end());
  return places;
}

template <class View>
std::vector<ValueOf<View>> elements(const Field<View>& field) {
  std::vector<ValueOf<View>> elements;
  for (const auto* place : places(field.view)) elements.push_back(*place);
  return elements;
}

/// Fills a field and knows what it held, so that what lies around the View is checked as well.
template <class View>
class Watched {
 public:
  using T = ValueOf<View>;
  explicit Watched(const Field<View>& field) : field_(field) {}

  void fill(std::uint64_t seed) {
    scramble(field_.memory, seed);
    before_.assign(field_.memory.begin(), field_.memory.end());
  }
  /// Small numbers, such that sums and products are exact.
  void fill_small(int rank) {
    for (std::size_t i = 0; i < field_.memory.size(); ++i)
      field_.memory[i] = static_cast<T>(1 + (3 * rank + 2 * i) % 5);
    before_.assign(field_.memory.begin(), field_.memory.end());
  }
  void store(const std::vector<T>& elements) {
    const auto all = places(field_.view);
    for (std::size_t i = 0; i < all.size(); ++i) *all[i] = elements[i];
    before_.assign(field_.memory.begin(), field_.memory.end());
  }

  const View& view() const { return field_.view; }
  int count() const { return static_cast<int>(field_.view.size()); }
  int bytes() const { return count() * static_cast<int>(sizeof(T)); }
  std::vector<T> elements() const { return test::elements(field_); }

  void expect_unchanged(const char* what) const { expect_memory(before_, what); }
  void expect(const std::vector<T>& elements, const char* what) const {
    auto expected = before_;
    const auto all = places(field_.view);
    ASSERT_EQ(all.size(), elements.size()) << what;
    for (std::size_t i = 0; i < all.size(); ++i) expected[all[i] - field_.memory.data()] = elements[i];
    expect_memory(expected, what);
  }

 private:
  void expect_memory(std::vector<T> expected, const char* what) const {
    EXPECT_TRUE(equal_bits(field_.memory, std::span(expected))) << what << ", View " << field_.view.label();
  }

  Field<View> field_;
  std::vector<T> before_;
};

/// Calls `blocking`, then `nonblocking` and wait(), then `nonblocking` and test() until it is complete; each
/// between prepare() and verify().
template <class Prepare, class Blocking, class Nonblocking, class Verify>
void in_all_forms(Prepare prepare, Blocking blocking, Nonblocking nonblocking, Verify verify) {
  prepare();
  blocking();
  verify("blocking");
  prepare();
  auto first = nonblocking();
  first.wait();
  verify("wait()");
  prepare();
  auto second = nonblocking();
  while (!second.test()) {
  }
  verify("test()");
}

} // namespace kontor::comm::test
