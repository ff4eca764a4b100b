// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each rank's part of a mesh, put together, is the mesh; files with mistakes are rejected by number.
#include "element/hexahedron.hpp"
#include "element/plain_hexahedron.hpp"
#include "mesh/local_mesh.hpp"
#include "mesh/permutation.hpp"
#include "mesh/rows.hpp"
#include "mesh/source.hpp"
#include "partition/bisection.hpp"
#include "run/tests/first_ranks.hpp"
#include "run/tests/refusal.hpp"

#include <kontor/comm/collectives.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <numeric>
#include <set>

namespace kontor::mesh {
namespace {

using miniapp::test::world;

Options box(int ranks, PartitionMethod partition, NumberingKind numbering) {
  Options options;
  options.elements = {7, 3, 2};
  options.numbering = numbering;
  options.partition = partition;
  options.process_grid = {ranks, 1, 1};
  return options;
}

TEST(Permutation, HasAnInverseAndHitsEachNumberOnce) {
  for (const std::int64_t count : {1, 2, 3, 16, 17, 1000}) {
    const Permutation order(count, 7);
    std::set<std::int64_t> seen;
    for (std::int64_t n = 0; n < count; ++n) {
      EXPECT_EQ(order.inverse(order(n)), n);
      EXPECT_TRUE(order(n) >= 0 && order(n) < count);
      seen.insert(order(n));
    }
    EXPECT_EQ(static_cast<std::int64_t>(seen.size()), count);
  }
}

/// Points on a lattice, where many coordinates are equal, and more parts than points.
TEST(Bisection, MakesEqualPartsOfAnyPoints) {
  for (const int parts : {1, 2, 3, 5, 8, 40}) {
    std::vector<partition::NumberedPoint> points;
    for (int n = world().rank(); n < 30; n += world().size())
      points.push_back({{0.5 * (n % 3), n % 2 == 0 ? -0.0 : 0.0, 1.0}, n});
    std::vector<int> count(static_cast<std::size_t>(parts));
    for (const int part : partition::bisect(world(), points, parts)) ++count.at(static_cast<std::size_t>(part));
    MPI_Allreduce(MPI_IN_PLACE, count.data(), parts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    const auto [least, most] = std::ranges::minmax(count);
    EXPECT_LE(most - least, 1) << parts;
    EXPECT_EQ(std::accumulate(count.begin(), count.end(), 0), 30);
  }
}

/// The kernels' formulas against Gauss points, of a distorted element.
TEST(Hexahedron, FormulasAreIntegrals) {
  element::CornerPoints points;
  element::Corners<double> x, b;
  for (int c = 0; c < 8; ++c)
    for (int i = 0; i < 3; ++i) {
      const double at = std::array{element::corner_x(c), element::corner_y(c), element::corner_z(c)}[i];
      points[c][i] = x.at[i][c] = at + 0.1 * std::sin(1.0 + 3 * c + 5 * i);
    }
  element::volume_gradient<0>(x, b.at[0]);
  element::volume_gradient<1>(x, b.at[1]);
  element::volume_gradient<2>(x, b.at[2]);
  const auto exact = element::integrate_element(points);
  EXPECT_NEAR(element::dot(x.at[0], b.at[0]) / 12, exact.volume, 1e-14);
  for (int c = 0; c < 8; ++c)
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(b.at[i][c] / 12, exact.gradient[c][i], 1e-14);
  for (int mode = 0; mode < 4; ++mode) { // the shapes have no part in linear fields
    double gamma_x = 0;
    for (int c = 0; c < 8; ++c) {
      EXPECT_EQ(std::signbit(exact.gamma[mode][c]), element::hourglass_base(mode, c) < 0);
      gamma_x += exact.gamma[mode][c] * x.at[1][c];
    }
    EXPECT_NEAR(gamma_x, 0, 1e-13);
  }
}

TEST(LocalMesh, PartsAreTheMesh) {
  for (const auto partition : {PartitionMethod::grid, PartitionMethod::bisection})
    for (const auto numbering : {NumberingKind::natural, NumberingKind::random})
      for (const auto shared_nodes : {SharedNodes::redundant, SharedNodes::sum}) {
        const auto mesh = make_mesh(box(world().size(), partition, numbering), world(), shared_nodes);
        EXPECT_EQ(mesh.all_elements, 42);
        EXPECT_EQ(mesh.all_nodes, 96);
        const auto count = [](const std::vector<bool>& is) { return static_cast<int>(std::ranges::count(is, true)); };
        EXPECT_EQ(comm::allreduce(world(), count(mesh.own), comm::ReduceOp::sum), 42);
        EXPECT_EQ(comm::allreduce(world(), count(mesh.counted), comm::ReduceOp::sum), 96);
        EXPECT_TRUE(shared_nodes == SharedNodes::redundant || count(mesh.own) == mesh.elements());
        // Each updated node has all of its elements here: redundant; or some of them, and the others at neighbours.
        std::vector<int> elements(mesh.node.size());
        for (LocalIndex e = 0; e < mesh.elements(); ++e)
          for (const auto n : mesh.corner[e]) ++elements[n];
        double corners = 0;
        for (LocalIndex n = 0; n < mesh.updated; ++n) corners += elements[n];
        EXPECT_EQ(comm::allreduce(world(), corners, comm::ReduceOp::sum), 8 * 42);
        // What is sent to a rank is what it receives.
        partition::ByRank<GlobalIndex> sent;
        for (const auto& neighbour : mesh.neighbours)
          for (const auto n : neighbour.sent) sent[neighbour.rank].push_back(mesh.node[n]);
        const auto received = partition::exchange_by_rank(world(), "test", sent);
        for (const auto& neighbour : mesh.neighbours) {
          std::vector<GlobalIndex> expected;
          for (const auto n : neighbour.received) expected.push_back(mesh.node[n]);
          EXPECT_EQ(received.contains(neighbour.rank) ? received.at(neighbour.rank) : std::vector<GlobalIndex>(),
                    expected);
        }
      }
}

TEST(Box, IsRejectedWithTheFormulaThatFoldsIt) {
  for (const auto& [formula, fact] : {std::pair("1 - y", "element 0"), {"log(y - 1)", "finite"}}) {
    auto options = box(world().size(), PartitionMethod::grid, NumberingKind::natural);
    options.map[1] = {formula, {"bar.yaml:7:8", "problem.map.y"}};
    miniapp::test::expect_facts(miniapp::test::error_of([&] { make_mesh(options, world(), SharedNodes::redundant); }),
                                {"bar.yaml:7:8: problem.map.y", fact, "[E-DECK-EXPRESSION]"});
  }
}

struct MeshFile {
  miniapp::test::Folder folder{"mesh"};
  std::string path = folder / "mesh.h5";

  /// Collective. Rank 0 writes it.
  template <class Corners, class Place>
  MeshFile(const std::vector<Corners>& elements, const std::vector<Place>& nodes) {
    output::File file(MPI_COMM_WORLD, path);
    const auto rows = [&](const char* name, const auto& values) {
      const std::uint64_t all = values.size(), columns = values.front().size(), mine = mpi::world_rank() == 0 ? all : 0;
      file.dataset(name, {{all, columns}, {all - mine, 0}, {mine, columns}}, values.front().data());
    };
    rows("/mesh/connectivity", elements);
    rows("/mesh/coordinates", nodes);
    file.commit();
  }
};

const std::vector<std::array<double, 3>> nodes{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1},
                                               {1, 1, 1}, {0, 1, 1}, {0, 0, 2}, {1, 0, 2}, {1, 1, 2}, {0, 1, 2}};
using Corners = std::array<std::int64_t, 8>;
const Corners lower{0, 1, 2, 3, 4, 5, 6, 7}, upper{4, 5, 6, 7, 8, 9, 10, 11};

/// Collective.
LocalMesh mesh_of(const MeshFile& file) {
  Options options;
  options.file.path = file.path;
  options.partition = PartitionMethod::bisection;
  options.held = {4};
  return make_mesh(options, world(), SharedNodes::redundant);
}

TEST(MeshFile, IsRejectedWithTheNumbersOfWhatIsWrong) {
  const auto error = [&](const auto& elements, const auto& places) {
    const MeshFile file(elements, places);
    return miniapp::test::error_of([&] { mesh_of(file); });
  };
  const auto error_in = [&](const std::vector<Corners>& elements) { return error(elements, nodes); };
  using miniapp::test::expect_facts;
  EXPECT_EQ(error_in({lower, upper}), "");
  expect_facts(error_in({lower, {4, 5, 6, 7, 8, 9, 10, 12}}), {"element 1", "node 12", "0 to 11"});
  expect_facts(error_in({lower, {4, 5, 6, 7, 8, 9, 10, -1}}), {"element 1", "node -1"});
  expect_facts(error_in({lower, {4, 5, 6, 7, 8, 9, 10, 8}}), {"element 1", "twice"});
  expect_facts(error_in({lower, {7, 6, 5, 4, 11, 10, 9, 8}}), {"mesh.h5", "element 1", "inverted", "[E-FILE-FORMAT]"});
  expect_facts(error_in({lower, upper, lower}), {"mesh.h5", "elements 0 and 2", "same nodes"});
  expect_facts(error_in({lower}), {"mesh.h5", "node 8", "no element"});
  auto twice = nodes;
  twice.insert(twice.begin() + 4, nodes.begin() + 4, nodes.begin() + 8);
  expect_facts(error(std::vector<Corners>{lower, {8, 9, 10, 11, 12, 13, 14, 15}}, twice), {"mesh.h5", "share no node"});
  const std::vector<std::array<std::int32_t, 8>> narrow{{0, 1, 2, 3, 4, 5, 6, 7}, {4, 5, 6, 7, 8, 9, 10, 11}};
  const std::vector<std::array<float, 3>> single(12, {1, 2, 3});
  expect_facts(error(narrow, single), {"mesh.h5", "inverted"}); // both are read
  const std::vector<std::array<double, 8>> real{{0, 1, 2, 3, 4, 5, 6, 7}};
  expect_facts(error(real, nodes), {"/mesh/connectivity", "float64", "int64", "must be", "[E-FILE-FORMAT]"});
  const std::vector<std::array<std::int64_t, 9>> wide(2);
  expect_facts(error(wide, nodes), {"/mesh/connectivity", "8 numbers", "must be", "[E-FILE-FORMAT]"});
}

TEST(MeshFile, HoldsNodesThatAreNearAFaceForTheirElements) {
  auto places = nodes;
  for (const auto n : {1, 2}) places[n][2] += 2e-6 * n; // a face that is turned
  const auto mesh = mesh_of(MeshFile(std::vector{lower, upper}, places));
  int held = 0;
  for (LocalIndex n = 0; n < mesh.nodes(); ++n) held += mesh.counted[n] && mesh.place[n].held ? 1 : 0;
  EXPECT_EQ(comm::allreduce(world(), held, comm::ReduceOp::sum), 4);
}

} // namespace
} // namespace kontor::mesh
