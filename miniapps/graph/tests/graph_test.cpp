// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Trees, particles and orders are the same on any ranks, by any method; graphs that are odd are searched or refused;
// the checks find what is wrong.
#include "graph/algorithm/rows.hpp"
#include "graph/check/order_check.hpp"
#include "graph/check/particles_check.hpp"
#include "graph/check/tree_check.hpp"
#include "graph/graph.hpp"
#include "graph/problem/keys.hpp"
#include "graph/problem/random_edges.hpp"
#include "run/tests/first_ranks.hpp"
#include "run/tests/loan.hpp"
#include "run/tests/refusal.hpp"
#include "run/tests/sized.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/error.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <set>

namespace kontor::graph {
namespace {

using miniapp::test::world;
using miniapp::test::world_size;

Options read(const std::string& text, int ranks = world_size()) {
  return miniapp::test::sized<Options>("graph", text, ranks, 1e9);
}

/// The record of a repeat that is right.
nlohmann::ordered_json run(const Options& options, MPI_Comm ranks = MPI_COMM_WORLD) {
  miniapp::test::Loan loan("graph", comm::Communicator(ranks));
  const auto app = make_graph(options, loan.context());
  loan.run(*app);
  const auto verdict = app->verify();
  EXPECT_TRUE(verdict.passed()) << verdict.error << " " << verdict.remark;
  EXPECT_FALSE(app->figures(1, {}).empty());
  return app->record();
}

/// The checksum of one rank, for all.
std::string checksum_of_one(const std::string& text) {
  std::string checksum(16, ' ');
  if (const auto first = miniapp::test::first_ranks(1); first != MPI_COMM_NULL)
    checksum = run(read(text, 1), first).at("checksum");
  MPI_Bcast(checksum.data(), 16, MPI_CHAR, 0, MPI_COMM_WORLD);
  return checksum;
}

void expect_same(const std::string& problem, const std::string& solver, const std::vector<std::string>& traffics) {
  const auto text = fmt::format("problem: {{{}}}\nsolver: {{{}}}\n", problem, solver);
  const auto expected = checksum_of_one(text);
  for (const auto& traffic : traffics)
    EXPECT_EQ(run(read(fmt::format("{}traffic: {{{}}}", text, traffic))).at("checksum"), expected) << text << traffic;
}

const std::vector<std::string> methods{"method: counted", "method: neighborhood", "method: sparse",
                                       "method: grid",    "method: pairs",        "method: auto"};

TEST(Search, HasTheTreeOfOneRankByAnyMethod) {
  auto traffics = methods;
  traffics.push_back("unique: false");
  for (const auto* problem :
       {"graph: uniform, vertices: 500, degree: 6", "graph: geometric, vertices: 700, degree: 9",
        "graph: kronecker, vertices: 256, degree: 10", "graph: uniform, vertices: 300, degree: 1"})
    expect_same(problem, "roots: 3", traffics);
}

TEST(Search, HasTheSameTreeFromBelow) {
  for (const auto* problem : {"graph: uniform, vertices: 500, degree: 12", "graph: kronecker, vertices: 512"}) {
    const auto down = checksum_of_one(fmt::format("problem: {{{}}}", problem));
    auto traffics = methods;
    traffics.push_back("unique: false");
    for (const auto& traffic : traffics) {
      const auto record = run(
          read(fmt::format("problem: {{{}}}\nsolver: {{direction: optimising}}\ntraffic: {{{}}}", problem, traffic)));
      EXPECT_EQ(record.at("checksum"), down) << problem << traffic;
      std::set<std::string> used;
      for (const auto& level : record.at("levels")) used.insert(level.at("direction"));
      EXPECT_EQ(used, (std::set<std::string>{"down", "up"})) << problem << traffic;
    }
  }
}

TEST(Particles, AreWhereThoseOfOneRankAre) {
  for (const auto* problem : {"particles: 3000, speed: 0.02", "particles: 500, speed: 0.25", "particles: 1"})
    expect_same(problem, "algorithm: particles, steps: 25", methods);
}

TEST(Sort, HasTheOrderOfOneRank) {
  for (const auto* problem : {"keys: 5000", "keys: 3"})
    expect_same(problem, "algorithm: sort",
                {"method: counted", "method: sparse", "method: grid", "method: pairs", "method: auto"});
}

/// Double edges, a loop and vertices without edges.
TEST(Search, TakesFilesAsTheyAre) {
  const miniapp::test::Folder folder("graph");
  const auto path = folder / "odd.mtx";
  if (world().rank() == 0)
    std::ofstream(path) << "%%MatrixMarket matrix coordinate pattern general\n7 7 6\n1 2\n2 1\n1 2\n2 3\n3 3\n5 6\n";
  MPI_Barrier(MPI_COMM_WORLD);
  const auto record = run(read(fmt::format("problem: {{graph: file, file: {}}}\nsolver: {{roots: 7}}", path)));
  std::multiset<std::int64_t> edges, vertices;
  for (const auto& search : record.at("searches")) {
    edges.insert(search.at("edges").get<std::int64_t>());
    vertices.insert(search.at("vertices").get<std::int64_t>());
  }
  EXPECT_EQ(edges, (std::multiset<std::int64_t>{5, 5, 5, 1, 1, 0, 0}));
  EXPECT_EQ(vertices, (std::multiset<std::int64_t>{3, 3, 3, 2, 2, 1, 1}));
}

TEST(Search, OfOneVertexOrFewerThanRanksIsRight) {
  EXPECT_EQ(run(read("problem: {vertices: 1, degree: 4}")).at("searches")[0].at("edges"), 2);
  run(read("problem: {vertices: 2, degree: 8}"));
}

TEST(Search, OfIsolatedRootsIsInconclusive) {
  miniapp::test::Loan loan("graph");
  const auto app = make_graph(read("problem: {vertices: 50, degree: 0}"), loan.context());
  loan.run(*app);
  EXPECT_FALSE(app->verify().conclusive);
}

/// Numbers of edges beyond 32 bits; memory that nobody has.
TEST(Search, NumbersEdgesByMoreThan32Bits) {
  const std::int64_t many = (std::int64_t{1} << 31) + 5, n = std::int64_t{1} << 33;
  for (const auto edge : {uniform_edge, kronecker_edge}) {
    const auto [from, to] = edge(1, n, many);
    EXPECT_TRUE(from >= 0 && from < n && to >= 0 && to < n);
    const auto other = edge(1, n, many - (std::int64_t{1} << 32));
    EXPECT_FALSE(from == other.from && to == other.to);
  }
  const auto huge = read("problem: {vertices: 1099511627776, degree: 4}");
  EXPECT_EQ(huge.edges(), std::int64_t{1} << 41);
  miniapp::test::Loan loan("graph");
  EXPECT_NE(miniapp::test::error_of<comm::AgreedError>([&] { make_graph(huge, loan.context()); }), "");
}

/// By all pairs of vertices.
TEST(Graphs, OfASquareHaveTheMeanDegree) {
  const Square square(3, 4000, 10);
  std::vector<Edge> edges;
  std::set<std::pair<std::int64_t, std::int64_t>> seen;
  for (std::int64_t v = 0; v < 4000; ++v) square.add_edges(v, edges);
  for (const auto& [from, to] : edges) EXPECT_TRUE(from < to && seen.emplace(from, to).second);
  EXPECT_NEAR(2.0 * static_cast<double>(edges.size()) / 4000, 10, 1.5);
}

TEST(Graphs, AreMadeOfAllEdgesOnAnyRanks) {
  for (const auto* problem :
       {"vertices: 90, degree: 5", "graph: geometric, vertices: 90", "graph: kronecker, vertices: 64"}) {
    const auto options = read(fmt::format("problem: {{{}}}", problem));
    const auto rows = build_rows(world(), Edges(options, world()));
    std::vector<std::set<std::int64_t>> expected(static_cast<std::size_t>(options.vertices));
    const comm::Communicator self(MPI_COMM_SELF);
    const Edges all(options, self);
    for (const auto& [from, to] : all.of(0, all.items())) {
      if (from == to) continue;
      expected[static_cast<std::size_t>(from)].insert(to);
      expected[static_cast<std::size_t>(to)].insert(from);
    }
    for (std::int64_t v = 0; v < rows.size; ++v) {
      const auto& row = expected[static_cast<std::size_t>(rows.begin + v)];
      const auto* first = rows.targets.data() + rows.offsets(v);
      EXPECT_EQ(std::vector<std::int64_t>(first, first + rows.degree(v)),
                std::vector<std::int64_t>(row.begin(), row.end()));
    }
  }
}

/// A tree of a path 0 - 1 - 2 - 3 - 4, changed in one place by its owner.
TEST(Check, FindsEachBrokenRule) {
  const miniapp::test::Folder folder("graph-check");
  const auto path = folder / "path.mtx";
  if (world().rank() == 0)
    std::ofstream(path) << "%%MatrixMarket matrix coordinate pattern symmetric\n6 6 5\n2 1\n3 2\n4 3\n5 4\n3 1\n";
  MPI_Barrier(MPI_COMM_WORLD);
  const auto options = read(fmt::format("problem: {{graph: file, file: {}}}", path));
  const TreeCheck check(options, world());
  EXPECT_TRUE(check.serial());
  const Blocks blocks(6, world_size());
  const auto found = [&](std::int64_t vertex, std::int64_t parent, int level) {
    const Tree tree(blocks.size(world().rank()));
    const std::int64_t parents[] = {0, 0, 0, 2, 3, unreached}, levels[] = {0, 1, 1, 2, 3, unreached};
    for (std::int64_t v = 0; v < 6; ++v) {
      if (blocks.owner(v) != world().rank()) continue;
      const auto own = v - blocks.begin(world().rank());
      tree.parent(own) = v == vertex ? parent : parents[v];
      tree.level(own) = static_cast<std::int32_t>(v == vertex ? level : levels[v]);
    }
    return check.of(0, tree);
  };
  const auto right = found(0, 0, 0);
  EXPECT_EQ(right.cycles + right.levels + right.edges + right.no_edges + right.serial, 0);
  EXPECT_EQ(right.component, 5);
  EXPECT_EQ(right.reached, 5);
  EXPECT_GT(found(0, 1, 0).cycles, 0);
  EXPECT_GT(found(4, 4, 0).cycles, 0);
  EXPECT_GT(found(5, unreached, 2).cycles, 0);
  EXPECT_GT(found(3, 4, 2).levels, 0); // a cycle
  EXPECT_GT(found(2, 1, 2).levels + found(2, 1, 2).serial, 0);
  EXPECT_GT(found(4, unreached, unreached).edges, 0); // not all of the component
  EXPECT_GT(found(4, 2, 2).no_edges, 0);
  EXPECT_GT(found(3, 1, 2).no_edges, 0);
  EXPECT_GT(found(4, 3, 4).levels, 0);
  EXPECT_GT(found(2, 0, 2).serial, 0);
}

TEST(Check, FindsLostAndStrangeParticles) {
  const auto options = read("problem: {particles: 40}\nsolver: {algorithm: particles}");
  const comm::Communicator self(MPI_COMM_SELF);
  const Torus torus{1, 1};
  std::vector<Particle> all;
  for (std::int64_t i = 0; i < 40; ++i) all.push_back(particle_of(options, i));
  std::uint64_t checksum = 0;
  const auto passes = [&](const std::vector<Particle>& particles) {
    return check_particles(self, options, torus, particles, 0, checksum).passed();
  };
  EXPECT_TRUE(passes(all));
  for (const auto& change : {std::function<void(std::vector<Particle>&)>([](auto& p) { p.pop_back(); }),
                             std::function<void(std::vector<Particle>&)>([](auto& p) { p.push_back(p[3]); }),
                             std::function<void(std::vector<Particle>&)>([](auto& p) { p[4] = p[5]; }),
                             std::function<void(std::vector<Particle>&)>([](auto& p) { ++p[4].x; })}) {
    auto wrong = all;
    change(wrong);
    EXPECT_FALSE(passes(wrong));
  }
}

TEST(Check, FindsKeysOutOfOrderAndOthers) {
  const auto options = read("problem: {keys: 60}\nsolver: {algorithm: sort}");
  const comm::Communicator self(MPI_COMM_SELF);
  auto keys = keys_of(options, 1, 0);
  std::uint64_t checksum = 0;
  const auto passes = [&] { return check_order(self, options, keys, checksum).passed(); };
  EXPECT_FALSE(passes());
  std::ranges::sort(keys);
  EXPECT_TRUE(passes());
  std::swap(keys[7], keys[8]);
  EXPECT_FALSE(passes());
  std::swap(keys[7], keys[8]);
  keys[8] = keys[7];
  EXPECT_FALSE(passes());
}

TEST(Options, RefuseWhatDoesNotApply) {
  for (const auto& [text, facts] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"problem: {graph: kronecker, vertices: 1000}", {"problem.vertices is 1000", "512", "[E-DECK-RANGE]"}},
           {"problem: {graph: file}", {"problem.graph", "problem.file"}},
           {"problem: {file: a.mtx}", {"problem.file", "[E-DECK-CONFLICT]"}},
           {"problem: {keys: 5}", {"problem.keys", "[E-DECK-CONFLICT]"}},
           {"problem: {particles: 5}", {"problem.particles", "[E-DECK-CONFLICT]"}},
           {"solver: {algorithm: sort, roots: 3}", {"solver.roots", "[E-DECK-CONFLICT]"}},
           {"solver: {algorithm: particles}\ntraffic: {unique: false}", {"traffic.unique", "[E-DECK-CONFLICT]"}},
           {"solver: {algorithm: sort}\ntraffic: {method: neighborhood}", {"traffic.method", "[E-DECK-CONFLICT]"}}})
    miniapp::test::expect_facts(miniapp::test::error_of([&, &text = text] { read(text); }), facts, text);
}

TEST(Options, SizesOfARankMakeThoseOfAll) {
  EXPECT_EQ(read("problem: {vertices: 100, local: true}", 3).vertices, 300);
  EXPECT_EQ(read("problem: {vertices: 64, graph: kronecker, local: true}", 3).vertices, 128);
  EXPECT_EQ(read("problem: {keys: 10, local: true}\nsolver: {algorithm: sort}", 4).keys, 40);
  const auto filled = read("problem: {memory_share: 0.5}", 2);
  EXPECT_GT(filled.vertices, 100000);
  EXPECT_LE(filled.bytes_of_rank(2), 0.5e9);
}

} // namespace
} // namespace kontor::graph
