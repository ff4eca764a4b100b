// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who multiplies which panel when; products on all grids, by all ways to communicate, against three loops.
#include "matmul/algorithm/panels.hpp"
#include "run_product.hpp"

#include <numeric>
#include <set>

namespace kontor::matmul::test {
namespace {

constexpr GridShape shapes[] = {{1, 1}, {2, 2}, {3, 3}, {2, 3}, {3, 2}, {1, 5}, {7, 1}, {4, 6}};

template <class Check>
void for_grids(const Check& check) {
  for (const auto& grid : shapes)
    for (const std::int64_t k : {1, 5, 36, 1009}) {
      SCOPED_TRACE(testing::Message() << grid.rows << " x " << grid.columns << " ranks, k = " << k);
      check(Panels(k, grid), grid);
    }
}

TEST(Panels, CoverKAndNest) {
  for_grids([](const Panels& panels, const GridShape& grid) {
    EXPECT_EQ(panels.begin(panels.count), panels.k);
    for (int j = 0; j < grid.columns; ++j)
      EXPECT_EQ(panels.begin(j * panels.in_a), part_of(panels.k, grid.columns, j).begin);
    for (int i = 0; i < grid.rows; ++i) EXPECT_EQ(panels.begin(i * panels.in_b), part_of(panels.k, grid.rows, i).begin);
    for (std::int64_t first = 0; first < 2 * panels.count; ++first) // around the end too
      EXPECT_LE(panels.size(first, panels.in_a), (panels.k + grid.columns - 1) / grid.columns);
  });
}

TEST(Panels, EachElementOfCGetsEachPanelOnce) {
  for_grids([](const Panels& panels, const GridShape& grid) {
    const auto begins = panels.steps();
    EXPECT_EQ(begins.front(), 0);
    EXPECT_EQ(begins.back(), panels.count);
    EXPECT_EQ(static_cast<int>(begins.size()) - 1, grid.rows + grid.columns - std::gcd(grid.rows, grid.columns));
    for (int i = 0; i < grid.rows; ++i)
      for (int j = 0; j < grid.columns; ++j) {
        std::set<std::int64_t> multiplied;
        for (std::int64_t t = 0; t < panels.count; ++t) multiplied.insert((panels.first({i, j}) + t) % panels.count);
        EXPECT_EQ(static_cast<std::int64_t>(multiplied.size()), panels.count);
      }
  });
}

TEST(Panels, NoBlockIsWithTwoRanksOfARingAtOnce) {
  for_grids([](const Panels& panels, const GridShape& grid) {
    for (std::int64_t t = 0; t < panels.count; ++t)
      for (int i = 0; i < grid.rows; ++i) {
        std::set<std::int64_t> in_row;
        for (int j = 0; j < grid.columns; ++j) in_row.insert((panels.first({i, j}) + t) % panels.count);
        EXPECT_EQ(static_cast<int>(in_row.size()), grid.columns);
      }
  });
}

TEST(Panels, StepsEndWhereBlocksMoveOn) {
  const Panels panels(60, {2, 3});
  EXPECT_EQ(panels.count, 6);
  EXPECT_EQ(panels.steps(), (std::vector<std::int64_t>{0, 2, 3, 4, 6}));
}

constexpr Operation both_operations[] = {Operation::none, Operation::transpose};

testing::Message name_of(const Options& o) {
  return testing::Message() << o.size.m << " x " << o.size.n << " x " << o.size.k << ", grid " << o.process_grid[0]
                            << " x " << o.process_grid[1] << ", ops " << int(o.op_a) << " " << int(o.op_b) << " gemm "
                            << int(o.gemm);
}

/// A, B and C are what they must be, exactly, and the run knows it.
template <class T>
void expect_exact(const Options& o, bool overlap = true, bool as_on_device = stepping::on_device) {
  SCOPED_TRACE(name_of(o));
  const auto found = run_product<T>(world(), o, overlap, as_on_device);
  EXPECT_EQ(found.c, serial_product<T>(o));
  EXPECT_EQ(found.a, whole<T>(o.a, o.stored_a()));
  EXPECT_EQ(found.b, whole<T>(o.b, o.stored_b()));
  EXPECT_TRUE(found.verification.passed()) << found.verification.measure;
  EXPECT_EQ(found.verification.tolerance, 0);
}

TEST(Product, OfIntegersIsExactOnAllGrids) {
  for (const auto& grid : grids(world().size())) {
    const auto o = on_grid(integers(), grid);
    expect_exact<double>(o);
    expect_exact<double>(o, true, true);
    expect_exact<float>(on_grid(integers(2, 3, 1), grid), false); // blocks of nothing
  }
}

/// What is left to `auto` is chosen by the first exchange.
TEST(ChosenMethod, IsChosenOnce) {
  comm::Options options;
  options.backend = comm::automatic_backend;
  const comm::Communicator all(MPI_COMM_WORLD, options);
  const int next = (all.rank() + 1) % all.size(), previous = (all.rank() + all.size() - 1) % all.size();
  ChosenMethod method(all);
  EXPECT_TRUE(method.record().empty());
  for (int n = 0; n < 3; ++n) {
    comm::Exchange<Buffer<double>> exchange(method.comm(), "ring");
    exchange.add(Buffer<double>("out", 5), next, Buffer<double>("in", 5), previous);
    method.commit(exchange);
    EXPECT_EQ(exchange.timed_methods().size() > 1, n == 0);
    EXPECT_EQ(method.record()["backend"], exchange.chosen().backend);
    EXPECT_EQ(method.record()["pattern"], comm::to_string(exchange.chosen().pattern));
  }
  EXPECT_GT(method.record()["candidates"].size(), 1u);
}

/// The exchanges of a run ask it; on one rank there are none.
TEST(ChosenMethod, IsRecorded) {
  comm::Options options;
  options.backend = comm::automatic_backend;
  const comm::Communicator all(MPI_COMM_WORLD, options);
  for (const auto& grid : {GridShape{1, all.size()}, GridShape{all.size(), 1}}) {
    const auto o = on_grid(integers(), grid);
    const auto found = run_product<double>(all, o);
    EXPECT_TRUE(found.verification.passed()) << name_of(o);
    ASSERT_EQ(found.record.contains("backend"), all.size() > 1) << name_of(o);
    if (all.size() == 1) continue;
    EXPECT_GT(found.record["candidates"].size(), 1u) << name_of(o);
    EXPECT_NE(found.record["backend"], comm::automatic_backend);
  }
}

TEST(Product, RanksTakeTheSameSteps) {
  auto method = comm::test::method("raw");
  method.check = comm::CheckLevel::cross_rank;
  for (const auto& grid : grids(world().size())) {
    auto o = on_grid(integers(2, 3, 5), grid);
    SCOPED_TRACE(name_of(o));
    EXPECT_TRUE(run_product<double>(comm::test::cached_communicator(method), o).verification.passed());
  }
}

TEST(Product, TakesTransposesFactorsAndFormerC) {
  auto o = integers();
  o.alpha = -2;
  o.beta = 3;
  for (const auto& grid : grids(world().size()))
    for (const auto of_a : both_operations)
      for (const auto of_b : both_operations) {
        o.op_a = of_a;
        o.op_b = of_b;
        expect_exact<double>(on_grid(o, grid));
      }
}

TEST(Product, ByLoopsOfATextbook) {
  auto o = on_grid(integers(), {1, world().size()});
  o.gemm = Gemm::plain;
  for (const auto of_a : both_operations)
    for (const auto of_b : both_operations) {
      o.op_a = of_a;
      o.op_b = of_b;
      o.beta = 0;
      expect_exact<double>(o);
      o.beta = -3;
      expect_exact<float>(o);
      o.alpha = -o.alpha;
    }
}

/// |C - product| <= bound |op(A)| |op(B)|, for which 1 * 1 * k is enough.
template <class T>
void expect_near(const Options& o) {
  const auto found = run_product<T>(world(), o);
  const auto expected = serial_product<T>(o);
  const auto k = static_cast<double>(o.size.k);
  const double bound = k * k * std::numeric_limits<T>::epsilon();
  for (std::size_t n = 0; n < expected.elements.size(); ++n)
    ASSERT_LE(std::abs(found.c.elements[n] - expected.elements[n]), bound) << n;
  EXPECT_TRUE(found.verification.passed()) << found.verification.error << found.verification.measure;
  EXPECT_GT(found.verification.tolerance, 0);
}

TEST(Product, OfRandomNumbersIsNear) {
  Options o;
  o.size = {19, 29, 37};
  const auto shape = grids(world().size()).back();
  expect_near<float>(on_grid(o, shape));
  expect_near<double>(on_grid(o, shape));
}

TEST(Product, HasTheSameBitsHoweverItTravels) {
  Options o;
  o.size = {19, 29, 37};
  const int ranks = world().size();
  o = on_grid(o, ranks % 2 == 0 ? GridShape{2, ranks / 2} : GridShape{1, ranks});
  const auto expected = run_product<double>(world(), o, false);
  for (const auto& method : device::kernels_on_host ? comm::test::methods() : comm::test::device_methods()) {
    SCOPED_TRACE(comm::to_string(method));
    const auto found = run_product<double>(comm::test::cached_communicator(method), o);
    EXPECT_EQ(found.c, expected.c);
    EXPECT_EQ(found.a, expected.a);
    EXPECT_TRUE(found.verification.passed());
  }
}

TEST(Product, RecordTellsVolumes) {
  const int ranks = world().size();
  const auto found = run_product<double>(world(), on_grid(integers(24, 24, 24), {1, ranks}));
  const auto& volume = found.record["volume"];
  EXPECT_EQ(volume["shifts"].get<double>(), 8.0 * 24 * 24 * (ranks - 1)); // the least there can be
  EXPECT_EQ(volume["shifts"].get<double>(), volume["grid_lower_bound"].get<double>());
  EXPECT_LE(volume["lower_bound"].get<double>(), volume["grid_lower_bound"].get<double>());
}

} // namespace
} // namespace kontor::matmul::test
