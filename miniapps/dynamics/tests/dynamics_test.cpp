// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every way to make steps passes the verification; `redundant` has the same bits on any ranks; and the verification
// finds a body that did not move, a wrong step and an element turned inside out.
#include "dynamics/check/deck.hpp"
#include "dynamics/check/wave.hpp"
#include "dynamics/dynamics.hpp"
#include "run/tests/first_ranks.hpp"
#include "run/tests/loan.hpp"
#include "run/tests/refusal.hpp"
#include "run/tests/sized.hpp"

#include <kontor/comm/registry.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <mpi.h>

namespace kontor::dynamics {
namespace {

using mesh::Assembly;
using mesh::PartitionMethod;
using mesh::SharedNodes;

/// A distorted bar, whose ranks hold parts of 2 to 3 elements along each axis.
Options bar() {
  Options options;
  options.mesh.elements = {7, 3, 2};
  options.mesh.map = {"x + 0.02*sin(5*y+3*z)", "y + 0.1*sin(x)", "z*(1+0.05*x*y)"};
  options.mesh.partition = PartitionMethod::bisection;
  options.poisson = "0.3 - 0.02*x";
  options.density = "1 + 0.1*y";
  options.velocity = {"0.001*exp(-x^2)", "0.0005*sin(x)", "0"};
  options.steps = 30;
  return options;
}

/// With all that a run lends it.
struct App : miniapp::test::Loan {
  std::unique_ptr<miniapp::MiniApp> app;

  explicit App(const Options& options, const comm::Options& comm_options = {}, bool overlap = true)
      : Loan("dynamics", comm::Communicator(MPI_COMM_WORLD, comm_options)),
        app(make_dynamics(options, context(overlap))) {
    app->warm_up();
    app->reset();
  }
  miniapp::MiniApp* operator->() const { return app.get(); }
};

std::string text_of(const miniapp::Verification& result) {
  std::string text = result.remark;
  for (const auto& [name, ratio] : result.more) text += fmt::format(" {}: {}", name, ratio);
  return text;
}

double ratio_of(const miniapp::Verification& result, const std::string& name) {
  for (const auto& [key, value] : result.more)
    if (key == name) return value;
  ADD_FAILURE() << "no check " << name;
  return 0;
}

/// Collective. What is made twice passes, with the same answer.
void expect_passed(const std::string& what, const Options& options, const comm::Options& comm = {},
                   bool overlap = true) {
  const App app(options, comm, overlap);
  app->run();
  const auto result = app->verify();
  EXPECT_TRUE(result.passed()) << what << text_of(result);
  app->reset();
  app->run();
  EXPECT_EQ(app->verify().more, result.more) << what << ": another answer when repeated";
}

TEST(Dynamics, VerifiesEveryWayToMakeSteps) {
  for (const auto shared_nodes : {SharedNodes::redundant, SharedNodes::sum})
    for (const bool overlap : {true, false})
      for (const auto assembly : {Assembly::gather, Assembly::atomic, Assembly::scatter_view}) {
        auto options = bar();
        options.shared_nodes = shared_nodes;
        options.assembly = assembly;
        if (assembly == Assembly::atomic) options.precision = miniapp::Precision::single_precision;
        expect_passed("shared nodes, assembly", options, {}, overlap);
      }
  auto options = bar();
  options.every = 4;
  options.mesh.numbering = mesh::NumberingKind::random;
  expect_passed("every", options);
  options = bar();
  options.step = 0.01;
  options.hourglass.viscosity = 0.1;
  options.velocity[2] = "0.001*sin(13*y)*cos(7*x)"; // damped
  options.mesh.held = {};
  expect_passed("fixed step", options);
  options.mesh.held = {0, 1, 2, 3, 4};
  expect_passed("held", options);
  options = bar();
  options.mesh.elements = {1, 1, 1};
  expect_passed("ranks without elements", options);
  options = Options();
  options.mesh.partition = PartitionMethod::bisection;
  options.steps = 2;
  options.mesh.elements = {50, 50, 50};
  expect_passed("momentum of many nodes", options);
  options.mesh.elements = {4, 2, 2};
  options.mesh.size = {5, 1e-4, 1e-4};
  expect_passed("flat elements", options);
}

/// Elements that two ranks compute are no work: as much is attainable as where each is computed once.
TEST(Dynamics, AttainsTheSameByEveryWayOfSharing) {
  const auto attainable = [](SharedNodes shared_nodes) {
    auto options = bar();
    options.shared_nodes = shared_nodes;
    const App app(options);
    app->run();
    const auto figure = app->figures(1, {.memory = {1e9, 1e9, 1e9}, .multiply_adds = 1e9}).front();
    EXPECT_EQ(figure.name, "element_steps");
    return figure.attainable;
  };
  const double once = attainable(SharedNodes::sum);
  EXPECT_NEAR(attainable(SharedNodes::redundant), once, 1e-9 * once);
}

TEST(Dynamics, TravelsByEveryBackend) {
  for (const auto& backend : comm::backends()) {
    if (!backend.make || backend.name == "null") continue;
    for (const auto shared_nodes : {SharedNodes::redundant, SharedNodes::sum}) {
      auto options = bar();
      options.shared_nodes = shared_nodes;
      comm::Options by;
      by.backend = backend.name;
      try {
        App(options, by);
      } catch (const comm::UsageError&) { // not of this memory
        continue;
      }
      expect_passed(by.backend, options, by);
    }
  }
}

TEST(Dynamics, FindsWhatIsWrong) {
  const auto result_of = [](const Options& options) {
    const App app(options);
    app->run();
    return app->verify();
  };
  auto options = bar();
  EXPECT_TRUE(App(options)->verify().failed()); // no step
  options.step = 0.5;                           // above the stable one
  const auto unstable = result_of(options);
  EXPECT_TRUE(unstable.failed());
  EXPECT_GT(ratio_of(unstable, "step"), 1);
  miniapp::test::expect_facts(unstable.remark, {"element "});
  options = bar();
  options.velocity = {"-3*exp(-x^2)", "0", "0"}; // faster than sound
  options.steps = 400;
  EXPECT_TRUE(result_of(options).failed());
  options = bar();
  for (const auto& [velocity, fact] : {std::pair("0", "is 0 at all nodes"), {"1e-200", "kinetic energy"}}) {
    options.velocity = {velocity, velocity, velocity};
    const auto still = result_of(options);
    EXPECT_FALSE(still.conclusive);
    miniapp::test::expect_facts(still.remark, {fact});
  }
  options.mesh.elements = {2, 1, 1}; // steps change so often that no check of all steps has a bound
  options.velocity = Options().velocity;
  options.steps = 10000;
  const auto long_run = result_of(options);
  EXPECT_FALSE(long_run.conclusive);
  miniapp::test::expect_facts(long_run.remark, {"not judged: energy", "time.step"});
  options = bar();
  options.velocity[0] = "0.1*exp(-x^2)";
  EXPECT_FALSE(result_of(options).conclusive);
  options = bar();
  options.mesh.map = {"x", "y + 1e13", "z"};
  options.density = "1";
  EXPECT_FALSE(result_of(options).conclusive);
}

/// What the kernels have been given is not what the deck says.
TEST(Deck, IsWhatTheBodyHas) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  auto options = bar();
  options.shared_nodes = SharedNodes::sum;
  options.mesh.numbering = mesh::NumberingKind::random;
  const auto expect = [&](const std::string& name, const auto& change) {
    Body<double> body(options, comm);
    change(body);
    std::vector<std::string> judged;
    const auto result = miniapp::judge(comm, check_deck(body, comm, 1, judged));
    EXPECT_EQ(result.failed(), !name.empty()) << name << text_of(result);
    if (name.empty())
      EXPECT_EQ(judged[0], "all 96 nodes and all 42 elements against the deck");
    else
      EXPECT_GT(ratio_of(result, name), 1);
  };
  expect("", [](auto&) {});
  expect("mesh", [](auto& body) { body.mesh.place[0].held = !body.mesh.place[0].held; });
  expect("mesh", [](auto& body) { body.mesh.place[0].place[1] += 1e-9; });
  expect("mesh", [](auto& body) { std::swap(body.mesh.corner[0][1], body.mesh.corner[0][3]); });
  expect("mesh", [](auto& body) { body.mesh.own.assign(body.mesh.own.size(), false); });
  expect("mesh", [](auto& body) { Kokkos::deep_copy(body.nodes.held, false); });
  expect("start", [](auto& body) { Kokkos::deep_copy(Kokkos::subview(body.initial, Kokkos::ALL, 4), 0.0); });
  expect("material", [&](auto& body) {
    mesh::set_elements(body.elements.material, body.order, [](LocalIndex, int) { return 1.1; });
  });
}

TEST(Dynamics, BeginsAtTheStartAndCountsItsSteps) {
  auto options = bar();
  options.step = 0.01;
  const App app(options);
  EXPECT_TRUE(app->verify_start().passed());
  app->run();
  EXPECT_TRUE(app->verify_start().failed());
  EXPECT_TRUE(miniapp::verify_counts(*app->counts()).passed());
  EXPECT_EQ(app->counts()->of_field, 30);
  EXPECT_DOUBLE_EQ(*app->counts()->end_of_deck, 0.3);
}

/// A line of unit springs by d'Alembert, with a coarse start that it may not be compared with.
TEST(Wave, IsThatOfTheBoxAlone) {
  Options options;
  options.mesh.elements = {100, 1, 1};
  options.velocity = {"x < 1 ? 0.0005*(1+cos(pi*x)) : 0", "0", "0"};
  const auto difference = [](const Line& line) {
    double most = 0;
    for (std::size_t i = 0; i < line.chain.size(); ++i) most = std::max(most, std::abs(line.chain[i] - line.exact[i]));
    return most;
  };
  const auto line = line_of(options, 300, 300 * 0.9 * 0.05 / std::sqrt(3.0)), first = line_of(options, 1, 0.9 * 0.05);
  ASSERT_TRUE(line && first);
  EXPECT_LT(difference(*line), line->truncation * line->greatest);
  EXPECT_LT(difference(*first), first->truncation * first->greatest);
  EXPECT_LT(line->truncation, 0.1);
  EXPECT_NEAR(line->greatest, 0.0005, 1e-5);
  options.mesh.size[0] = 1; // after a period all is as at the start, and bounds are of what was on the way
  EXPECT_NEAR(line_of(options, 500, 4)->greatest, 0.0005, 1e-5);
  EXPECT_NEAR(line_of(options, 500, 4)->strain, 0.001, 5e-5);
  for (const auto& held : {std::vector{1}, {0, 1}, {}}) { // a million periods later, too; a free bar drifts
    options.mesh.held = held;
    const double drift = held.empty() ? 4e6 * 0.0005 : 0;
    EXPECT_NEAR(line_of(options, 9, 4e6 + 1)->exact[50], line_of(options, 9, 1)->exact[50] + drift, 1e-7);
  }
  EXPECT_TRUE(line_of(options, 9, 1e300));
  options.mesh.held = {1};
  options.velocity[0] = "x < 1e-9 ? 1 : 0";
  EXPECT_GT(line_of(options, 500, 4)->truncation, 0.25);
  for (const auto change : {0, 1, 2, 3}) {
    auto other = options;
    if (change == 0) other.poisson = "0.1";
    if (change == 1) other.mesh.map[1] = "y + 0.1*x";
    if (change == 2) other.velocity[2] = "x";
    if (change == 3) other.mesh.held = {2};
    EXPECT_FALSE(line_of(other, 10, 1)) << change;
  }
}

TEST(Dynamics, ResumesOnOtherRanksWithTheSameBits) {
  const miniapp::test::Folder folder("dynamics");
  const auto fields_of = [&](const App& app) {
    const auto path = folder / "fields.h5";
    {
      output::File file(MPI_COMM_WORLD, path);
      app->write_fields(file, "/fields");
      file.commit();
    }
    const auto judged = miniapp::gather(app.comm, app->file_values());
    EXPECT_TRUE(app.comm.rank() != 0 || miniapp::compare_with_file(path, judged).passed());
    const output::Reader reader(MPI_COMM_WORLD, path);
    const auto extents = reader.info("/fields/stress").extents;
    std::vector<double> values(extents[0] * extents[1]);
    reader.read("/fields/stress", {extents, {0, 0}, extents}, values.data());
    return values;
  };
  auto options = bar();
  const App whole(options);
  whole->run();
  const auto expected = fields_of(whole);
  options.steps = 13;
  const auto path = folder / "state.h5";
  {
    const App app(options);
    app->run();
    output::File file(MPI_COMM_WORLD, path);
    app->write_state(file);
    file.commit();
  }
  const output::Reader reader(MPI_COMM_WORLD, path);
  const App ended(options);
  miniapp::test::expect_facts(miniapp::test::error_of([&] { ended->read_state(reader); }), {"time.steps is 13", path});
  options.steps = 30;
  options.mesh.partition = PartitionMethod::grid;
  options.mesh.process_grid = {whole.comm.size(), 1, 1};
  const App app(options);
  app->read_state(reader);
  app->run();
  EXPECT_EQ(fields_of(app), expected);
  const auto result = app->verify();
  EXPECT_TRUE(result.passed()) << text_of(result);
  options.mesh.file.path = folder / "fields.h5"; // its mesh
  options.mesh.partition = PartitionMethod::bisection;
  expect_passed("a mesh of a file", options);
}

TEST(Dynamics, RejectsValuesOfFormulas) {
  const auto expect = [](const char* fact, const char* poisson, const char* density, const char* velocity) {
    auto options = bar();
    options.poisson = poisson;
    options.density = density;
    options.velocity[1] = velocity;
    miniapp::test::expect_facts(miniapp::test::error_of([&] { App app(options); }), {"E-DECK-EXPRESSION", fact});
  };
  expect("0.5", "x > 2 ? 0.5 : 0", "1", "0");
  expect("above 0", "0", "x - 2", "0");
  expect("finite", "0", "1", "log(x)");
  auto options = bar();
  options.mesh.elements = {100000, 100000, 10000};
  miniapp::test::expect_facts(miniapp::test::error_of<comm::AgreedError>([&] { App app(options); }), {"E-MEMORY"});
}

TEST(Sizes, OfARankAndOfAShareOfMemory) {
  for (const int ranks : {1, 2, 4}) {
    const auto elements = [&](const char* problem) {
      const auto n = miniapp::test::sized<Options>("dynamics", problem, ranks, 1e8).mesh.elements;
      return static_cast<double>(n[0]) * static_cast<double>(n[1]) * static_cast<double>(n[2]);
    };
    EXPECT_EQ(elements("problem: {elements: [5, 4, 3], local: true}"), 60 * ranks);
    const double filled = elements("problem: {memory_share: 0.5, elements: [9, 8, 7]}") / ranks * 900;
    EXPECT_GT(filled, 0.3 * 1e8);
    EXPECT_LT(filled, 0.6 * 1e8);
  }
}

} // namespace
} // namespace kontor::dynamics
