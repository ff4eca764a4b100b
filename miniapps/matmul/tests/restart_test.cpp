// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product that resumes from a checkpoint is, to the last bit, that of a run that was never interrupted.
#include "run/checkpoint/restart.hpp"
#include "run/tests/first_ranks.hpp"
#include "run_product.hpp"

#include <kontor/config/deck.hpp>

#include <fmt/format.h>

namespace kontor::matmul::test {
namespace {

using namespace miniapp::test;

std::vector<config::Setting> settings(Options o) {
  return config::settings([&](config::Visitor& v) { o.describe(v); });
}

/// Collective. C of a run on the ranks of `comm`: from the beginning, writing a checkpoint after so many steps each if
/// `wanted` says so, or from one.
struct Run {
  Dense c;
  double flops = 0; ///< that are counted
  std::vector<std::int64_t> written = {};
  double steps = 0, transfers = 0; ///< seconds
};
Run run(const comm::Communicator& comm, const Options& o, const miniapp::CheckpointOptions& wanted,
        const std::string& from = "", bool overlap = true) {
  miniapp::CheckpointHeader header;
  for (const auto& [key, value] : settings(o)) header.keys[key] = value;
  miniapp::test::Loan loan("matmul", comm.share(), wanted, header);
  Matmul<double> app(o, loan.context(overlap));
  app.warm_up();
  app.reset();
  std::int64_t first = 0;
  if (!from.empty()) {
    const miniapp::Restart restart(comm.native(), from);
    app.read_state(restart.reader());
    first = restart.header().step;
  }
  if (loan.checkpoints) loan.checkpoints->begin_repeat(0, first);
  app.run();
  EXPECT_TRUE(app.verify().passed());
  const auto found = app.record();
  return {gathered(comm, app.c(), o.stored_c()), app.figures(1.0, {}).front().value,
          loan.checkpoints ? loan.checkpoints->steps() : std::vector<std::int64_t>{}, found["steps_seconds"],
          found["transfers_alone_seconds"]};
}

Options random_numbers(const GridShape& grid) {
  auto o = on_grid(integers(), grid);
  o.a.kind = o.b.kind = o.c.kind = MatrixKind::random;
  o.alpha = 1.5;
  o.beta = -0.5;
  return o;
}

std::vector<comm::Options> all_methods() {
  return device::kernels_on_host ? comm::test::methods() : comm::test::device_methods();
}

/// After each step, on each grid; what is left by another method each time.
TEST(Restart, OnTheSameGridTheSameBits) {
  if (world_size() == 3) GTEST_SKIP() << "others do";
  const Folder folder("matmul-restart");
  const auto& comm = world();
  const auto methods = all_methods();
  std::size_t turn = 0;
  int number = 0;
  for (const auto& grid : grids(world_size())) {
    auto o = random_numbers(grid);
    if (number % 2 == 1) o.op_a = o.op_b = Operation::transpose;
    const auto expected = run(comm, o, {});
    miniapp::CheckpointOptions wanted;
    wanted.every = 1;
    wanted.keep = 100;
    wanted.file = folder / fmt::format("{}.h5", number++);
    SCOPED_TRACE(fmt::format("{} x {} ranks", grid.rows, grid.columns));
    const auto interrupted = run(comm, o, wanted);
    EXPECT_EQ(interrupted.c, expected.c);
    if (grid.rows * grid.columns > 1) {
      EXPECT_GE(interrupted.written.size(), 1u);
    }
    for (const auto step : interrupted.written) {
      const auto& method = methods[++turn % methods.size()];
      SCOPED_TRACE(fmt::format("after {} steps, by {}", step, comm::to_string(method)));
      const auto rest = run(comm::test::cached_communicator(method), o, {},
                            miniapp::checkpoint_name(wanted.file, step).string(), step % 2 == 1);
      EXPECT_EQ(rest.c, expected.c);
      EXPECT_LT(rest.flops, expected.flops);
    }
  }
}

TEST(Restart, RepeatsNoShiftsInItsSteps) {
  if (world_size() != 4) GTEST_SKIP() << "others have 4 ranks";
  const Folder folder("matmul-steps");
  miniapp::CheckpointOptions wanted;
  wanted.every = 1;
  wanted.file = folder / "c.h5";
  auto o = on_grid(integers(2000, 4, 2000), {1, 4});
  run(world(), o, wanted);
  double share = 1;
  for (int turn = 0; turn < 3; ++turn) { // of one block, which arrives before its step
    const auto last = run(world(), o, {}, wanted.file);
    share = std::min(share, last.steps / last.transfers);
  }
  EXPECT_LT(share, 0.9); // all four: 1 or more
}

TEST(Restart, AnotherGridAndAnotherProductAreRefused) {
  if (world_size() != 2) GTEST_SKIP() << "others have 2 ranks";
  const Folder folder("matmul-refusal");
  miniapp::CheckpointOptions wanted;
  wanted.every = 1;
  wanted.file = folder / "c.h5";
  auto o = on_grid(integers(), {2, 1});
  run(world(), o, wanted);
  expect_facts(error_of([&] {
                 run(world(), on_grid(integers(), {1, 2}), {}, wanted.file);
               }),
               {"decomposition.process_grid", "1 x 2", "2 x 1", "c-000000001.h5"});
  const miniapp::Restart restart(world().native(), wanted.file);
  const auto refusal = [&] {
    const auto deck = config::Deck::parse("app: matmul", "d.yaml");
    return error_of([&] { restart.require_same("matmul", deck, settings(o), o.restart_may_change()); });
  };
  o.process_grid = {1, 2};
  o.write_c = true;
  EXPECT_EQ(refusal(), "");
  o.precision = miniapp::Precision::single_precision;
  o.size.m = 24;
  const auto text = refusal();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << "two messages: " << text;
  expect_facts(text, {"problem.m is 24; in ", "c-000000001.h5 it is 23", "problem.precision is float; in ",
                      "c-000000001.h5 it is double"});
}

} // namespace
} // namespace kontor::matmul::test
