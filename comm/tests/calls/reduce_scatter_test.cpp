// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions of which each rank gets a part.
#include "collective_forms.hpp"

#include <numeric>

namespace kontor::comm::test {
namespace {

using Grid = HostView<int**, Right>;

class ReduceScatter : public AtLevel {
 protected:
  /// Element i of the sum over all ranks of what fill() puts there.
  int sum(int i) const { return ranks * i * 10 + ranks * (ranks - 1) / 2; }
  template <class View>
  void fill(const View& view) const {
    for (int i = 0; i < static_cast<int>(view.extent(0)); ++i) view(i) = 10 * i + rank;
  }
  template <class View>
  void expect_part(const View& view, int first, int count, const char* form) const {
    for (int i = 0; i < count; ++i) EXPECT_EQ(view(i), sum(first + i)) << form << ' ' << i;
  }

  /// All forms, of parts of a rank's own sizes or of equal ones.
  template <class In, class Out>
  void expect_all_forms(const In& in, const Out& out, const Counts* counts, int first) {
    const int count = static_cast<int>(out.extent(0));
    const auto expect = [&](const Forms& forms, const auto& result) {
      in_all_forms(
          [&] {
            Kokkos::deep_copy(out, -1);
            fill(in);
          },
          forms, [&](const char* form) { expect_part(result, first, count, form); });
    };
    const auto plus = commutative([](const int& a, const int& b) { return a + b; });
    const auto sum = ReduceOp::sum;
    if (counts) {
      expect(KONTOR_FORMS(reduce_scatter, comm, in, out, *counts, sum), out);
      expect(KONTOR_FORMS(reduce_scatter, comm, in, *counts, sum), in);
      expect(KONTOR_FORMS(reduce_scatter, comm, in, *counts, plus), in);
    } else {
      const typename In::const_type given(in);
      expect(KONTOR_FORMS(reduce_scatter, comm, given, out, sum), out);
      expect(KONTOR_FORMS(reduce_scatter, comm, given, out, plus), out);
      expect(KONTOR_FORMS(reduce_scatter, comm, in, sum), in);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Levels, ReduceScatter, testing::ValuesIn(all_levels));

TEST_P(ReduceScatter, EqualParts) {
  for (const int n : {0, 1, 5}) {
    const Grid in("in", n * ranks, 3), out("out", n, 2);
    expect_all_forms(Ints("in", n * ranks), Ints("out", n), nullptr, n * rank);
    expect_all_forms(Kokkos::subview(in, Kokkos::ALL, 1), Kokkos::subview(out, Kokkos::ALL, 0), nullptr, n * rank);
  }
}

TEST_P(ReduceScatter, PartsOfTheirOwnSizes) {
  std::vector<int> sizes(ranks);
  for (int r = 0; r < ranks; ++r) sizes[r] = (2 * r + 1) % 4;
  const int total = std::accumulate(sizes.begin(), sizes.end(), 0);
  const int first = std::accumulate(sizes.begin(), sizes.begin() + rank, 0);
  const Counts counts(sizes);
  const Grid in("in", total, 3), out("out", sizes[rank], 2);
  expect_all_forms(Ints("in", total), Ints("out", sizes[rank]), &counts, first);
  expect_all_forms(Kokkos::subview(in, Kokkos::ALL, 2), Kokkos::subview(out, Kokkos::ALL, 1), &counts, first);
}

/// In the order of ranks.
TEST_P(ReduceScatter, Functors) {
  const HostView<Affine*> in("in", 2 * ranks), out("out", 2);
  for (int i = 0; i < 2 * ranks; ++i) in(i) = affine_of(rank, i);
  reduce_scatter(comm, in, out, then);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(out(i), affine_of_ranks(0, ranks - 1, 2 * rank + i));
}

TEST_P(ReduceScatter, Errors) {
  const auto sum = ReduceOp::sum;
  const auto expect = [&](const std::string& why, const auto& call) {
    expect_refused(call, {"reduce_scatter of View 'in'", why});
  };
  const Ints in("in", 2 * ranks + 1), whole("in", 2 * ranks), out("out", 2), shared(whole.data(), 2);
  expect(fmt::format("must have {} elements", 2 * ranks), [&] { reduce_scatter(comm, in, out, sum); });
  if (ranks > 1) expect("do not divide", [&] { reduce_scatter(comm, in, sum); });
  expect("the counts (", [&] { reduce_scatter(comm, in, out, std::vector<int>(ranks, 2), sum); });
  expect("share memory", [&] { reduce_scatter(comm, whole, shared, sum); });
  expect_usable(comm);
}

/// Counts differ between ranks.
TEST_P(ReduceScatter, CountsThatDiffer) {
  if (GetParam() != CheckLevel::cross_rank || ranks == 1) return;
  std::vector<int> counts(ranks, 2);
  if (rank == 0) std::swap(counts[0] = 1, counts[1] = 3);
  const Ints in("in", 2 * ranks), out("out", counts[rank]);
  expect_facts(text_of<AgreedError>([&] { reduce_scatter(comm, in, out, counts, ReduceOp::sum); }), {"counts ("});
}

} // namespace
} // namespace kontor::comm::test
