// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who multiplies which panel when; products on all grids, by all algorithms and all ways to communicate, beside three
// loops.
#include "matmul/algorithm/axis_part.hpp"
#include "matmul/algorithm/panels.hpp"
#include "run_product.hpp"

#include <set>

namespace kontor::matmul::test {
namespace {

constexpr GridShape shapes[] = {{1, 1, 1}, {1, 2, 2}, {1, 3, 3}, {1, 2, 3}, {1, 3, 2}, {1, 1, 5}, {1, 7, 1},
                                {1, 4, 6}, {2, 2, 2}, {4, 2, 2}, {3, 2, 2}, {2, 2, 3}, {6, 1, 1}};

template <class Check>
void for_grids(const Check& check) {
  for (const auto& grid : shapes)
    for (const std::int64_t k : {1, 5, 36, 1009}) {
      SCOPED_TRACE(testing::Message() << grid.layers << " x " << grid.rows << " x " << grid.columns
                                      << " ranks, k = " << k);
      check(Panels(k, grid), grid);
    }
}

TEST(Panels, CoverKAndNest) {
  for_grids([](const Panels& panels, const GridShape& grid) {
    EXPECT_EQ(panels.begin(panels.count), panels.k);
    for (int j = 0; j < grid.columns; ++j)
      EXPECT_EQ(panels.begin(j * panels.in_a), block_part(panels.k, grid.columns, j).begin);
    for (int i = 0; i < grid.rows; ++i)
      EXPECT_EQ(panels.begin(i * panels.in_b), block_part(panels.k, grid.rows, i).begin);
    for (std::int64_t first = 0; first < 2 * panels.count; ++first) // around the end too
      EXPECT_LE(panels.size(first, panels.in_a), (panels.k + grid.columns - 1) / grid.columns);
  });
}

TEST(Panels, EachElementOfCGetsEachPanelOnce) {
  for_grids([](const Panels& panels, const GridShape& grid) {
    for (int i = 0; i < grid.rows; ++i)
      for (int j = 0; j < grid.columns; ++j) {
        std::multiset<std::int64_t> multiplied;
        for (int layer = 0; layer < grid.layers; ++layer) {
          std::int64_t before = 0;
          for (const auto& segment : segments(panels, {layer, i, j}, true)) {
            EXPECT_EQ(segment.begin, before);
            before = segment.end;
            for (auto t = segment.begin; t < segment.end; ++t)
              multiplied.insert((panels.first({layer, i, j}) + t) % panels.count);
          }
          EXPECT_EQ(before, panels.steps);
        }
        EXPECT_EQ(static_cast<std::int64_t>(multiplied.size()), panels.count);
        for (std::int64_t panel = 0; panel < panels.count; ++panel) EXPECT_EQ(multiplied.count(panel), 1u);
      }
  });
}

TEST(Panels, NoBlockIsWithTwoRanksOfARingAtOnce) {
  for_grids([](const Panels& panels, const GridShape& grid) {
    for (std::int64_t t = 0; t < panels.steps; ++t)
      for (int i = 0; i < grid.rows; ++i) {
        std::set<std::int64_t> in_row;
        for (int j = 0; j < grid.columns; ++j) in_row.insert((panels.first({0, i, j}) + t) % panels.count);
        EXPECT_EQ(static_cast<int>(in_row.size()), grid.columns);
      }
  });
}

TEST(Panels, SegmentsEndWhereBlocksMoveOn) {
  const Panels panels(60, {1, 2, 3});
  EXPECT_EQ(panels.count, 6);
  EXPECT_EQ(panels.shifts_of_a(), 2);
  EXPECT_EQ(panels.shifts_of_b(), 1);
  std::vector<std::int64_t> ends;
  for (const auto& segment : segments(panels, {0, 0, 0}, false)) ends.push_back(segment.end);
  EXPECT_EQ(ends, (std::vector<std::int64_t>{2, 3, 4, 6}));
}

TEST(AxisPart, BlocksAndCyclicBlocksHoldEachIndexOnce) {
  for (const std::int64_t n : {0, 1, 2, 13, 64, 100})
    for (const std::int64_t parts : {1, 2, 3, 7, 120})
      for (const std::int64_t block : {0, 1, 3, 64}) { // 0: not cyclic
        std::vector<int> owners(static_cast<std::size_t>(n));
        for (std::int64_t p = 0; p < parts; ++p) {
          const auto part = block == 0 ? block_part(n, parts, p) : cyclic_part(n, block, parts, p);
          for (std::int64_t l = 0; l < part.size; ++l) {
            const auto g = part.global(l);
            ASSERT_TRUE(g >= 0 && g < n) << n << " over " << parts << ", block " << block;
            ++owners[static_cast<std::size_t>(g)];
            if (block > 0) {
              EXPECT_EQ(g / block % parts, p); // ScaLAPACK's INDXG2P
            }
          }
        }
        for (const int owned : owners) EXPECT_EQ(owned, 1) << n << " over " << parts << ", block " << block;
      }
}

constexpr Operation both_operations[] = {Operation::none, Operation::transpose};

testing::Message name_of(const Options& o) {
  return testing::Message() << o.size.m << " x " << o.size.n << " x " << o.size.k << ", algorithm " << int(o.algorithm)
                            << ", grid " << o.layers << " x " << o.process_grid[0] << " x " << o.process_grid[1]
                            << ", ops " << int(o.a.operation) << " " << int(o.b.operation) << ", cyclic "
                            << int(o.distribution) << " gemm " << int(o.gemm);
}

/// A, B and C are what they must be, exactly, and the run knows it.
template <class T>
void expect_exact(const Options& o, bool overlap = true, bool as_on_device = stepping::on_device) {
  SCOPED_TRACE(name_of(o));
  const auto found = run_product<T>(world(), o, overlap, as_on_device);
  EXPECT_EQ(found.c, serial_product<T>(o));
  EXPECT_EQ(found.a, whole<T>(o.a, stored_a(o)));
  EXPECT_EQ(found.b, whole<T>(o.b, stored_b(o)));
  EXPECT_TRUE(found.verification.passed()) << found.verification.measure;
  EXPECT_EQ(found.verification.tolerance, 0);
}

TEST(Product, OfIntegersIsExactOnAllGrids) {
  for (const auto& grid : grids(world().size(), 3)) {
    auto o = on_grid(integers(), grid);
    o.algorithm = grid.layers > 1 ? Algorithm::cannon_25d : Algorithm::cannon;
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
  EXPECT_FALSE(method.choice());
  for (int n = 0; n < 3; ++n) {
    comm::Exchange<Buffer<double>> exchange(method.comm(), "ring");
    exchange.add(Buffer<double>("out", 5), next, Buffer<double>("in", 5), previous);
    method.commit<double>(exchange);
    EXPECT_EQ(exchange.timed_methods().size() > 1, n == 0);
    EXPECT_EQ(exchange.chosen().backend, method.choice()->chosen.backend);
    EXPECT_EQ(exchange.chosen().pattern, method.choice()->chosen.pattern);
  }
  EXPECT_GT(method.choice()->candidates.size(), 1u);
}

/// The exchanges of a run ask it; on one rank there are none.
TEST(ChosenMethod, IsRecorded) {
  comm::Options options;
  options.backend = comm::automatic_backend;
  const comm::Communicator all(MPI_COMM_WORLD, options);
  const int layers = all.size() % 2 == 0 ? 2 : 1;
  for (const auto& grid : {GridShape{1, 1, all.size()}, GridShape{layers, all.size() / layers, 1}}) {
    auto o = on_grid(integers(), grid);
    o.algorithm = grid.layers > 1 ? Algorithm::cannon_25d : Algorithm::cannon;
    const auto found = run_product<double>(all, o);
    EXPECT_TRUE(found.verification.passed()) << name_of(o);
    ASSERT_EQ(found.record.exchange.has_value(), all.size() > 1) << name_of(o);
    if (all.size() == 1) continue;
    EXPECT_GT(found.record.exchange->candidates.size(), 1u) << name_of(o);
    EXPECT_NE(found.record.exchange->chosen.backend, comm::automatic_backend);
  }
}

TEST(Product, RanksTakeTheSameSteps) {
  auto method = comm::test::method("raw");
  method.check = comm::CheckLevel::cross_rank;
  for (const auto& grid : grids(world().size(), 1)) {
    auto o = on_grid(integers(2, 3, 5), grid);
    SCOPED_TRACE(name_of(o));
    EXPECT_TRUE(run_product<double>(comm::test::cached_communicator(method), o).verification.passed());
  }
}

TEST(Product, OfIntegersIsExactBySumma) {
  for (const auto& grid : grids(world().size(), 1))
    for (const auto& [overlap, as_on_device] : {std::pair(true, false), {false, false}, {true, true}}) {
      auto o = on_grid(integers(), grid);
      o.algorithm = Algorithm::summa;
      o.panel = 7;
      expect_exact<double>(o, overlap, as_on_device);
    }
}

TEST(Product, TakesTransposesFactorsAndFormerC) {
  auto o = integers();
  o.alpha = -2;
  o.beta = 3;
  for (const auto algorithm : {Algorithm::cannon, Algorithm::summa})
    for (const auto& grid : grids(world().size(), 1)) {
      o.algorithm = algorithm;
      for (const auto of_a : both_operations)
        for (const auto of_b : both_operations) {
          o.a.operation = of_a;
          o.b.operation = of_b;
          expect_exact<double>(on_grid(o, grid));
        }
    }
  const int ranks = world().size();
  if (ranks % 2 != 0) return;
  o.algorithm = Algorithm::cannon_25d;
  expect_exact<double>(on_grid(o, {2, 1, ranks / 2}));
}

TEST(Product, TakesBlockCyclicMatrices) {
  auto o = integers();
  o.distribution = Distribution::block_cyclic;
  o.block_size = {3, 2};
  o.beta = -1;
  for (const auto& grid : grids(world().size(), 1)) {
    o.a.operation = grid.rows > 1 ? Operation::transpose : Operation::none;
    expect_exact<float>(on_grid(o, grid));
  }
  o.a.operation = Operation::none;
  o.beta = 0;
  o.block_size = {64, 64}; // all of it is one rank's
  expect_exact<double>(on_grid(o, {1, world().size(), 1}));
}

/// Each counts more of the time than the next.
TEST(Product, FiguresAreInOrder) {
  auto o = on_grid(integers(), grids(world().size(), 1).back());
  o.distribution = Distribution::block_cyclic;
  App<> made(o);
  for (int repeat = 0; repeat < 9; ++repeat) made.app.run();
  const auto figures = made.app.figures(1e-9, {}); // as if all were over sooner than any of it
  ASSERT_EQ(figures.size(), 3u);
  EXPECT_GT(figures[1].value, 0) << figures[1].name;
  EXPECT_LE(figures[1].value, figures[2].value);
}

TEST(Product, ByLoopsOfKokkosKernelsAndOfTheTextbook) {
  auto o = on_grid(integers(), {1, 1, world().size()});
  for (const auto gemm : {Gemm::kokkos_kernels, Gemm::plain})
    for (const auto of_a : both_operations)
      for (const auto of_b : both_operations) {
        o.gemm = gemm;
        o.a.operation = of_a;
        o.b.operation = of_b;
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
  const auto shape = grids(world().size(), 1).back();
  expect_near<float>(on_grid(o, shape));
  expect_near<double>(on_grid(o, shape));
}

TEST(Product, HasTheSameBitsHoweverItTravels) {
  Options o;
  o.size = {19, 29, 37};
  o.algorithm = Algorithm::cannon_25d;
  const int ranks = world().size();
  o = on_grid(o, ranks == 4 ? GridShape{1, 2, 2} : ranks == 6 ? GridShape{2, 1, 3} : GridShape{1, 1, ranks});
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
  const auto found = run_product<double>(world(), on_grid(integers(24, 24, 24), {1, 1, ranks}));
  const auto& volume = found.record.extras["volume"];
  EXPECT_EQ(volume["shifts"].get<double>(), 8.0 * 24 * 24 * (ranks - 1)); // the least there can be
  EXPECT_EQ(volume["shifts"].get<double>(), volume["grid_lower_bound"].get<double>());
  EXPECT_LE(volume["lower_bound"].get<double>(), volume["grid_lower_bound"].get<double>());
}

} // namespace
} // namespace kontor::matmul::test
