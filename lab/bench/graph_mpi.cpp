// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpirun -n RANKS lab_graph_mpi uniform|geometric|kronecker|sort SIZE DEGREE ROOTS REPEATS: searches, or a sort, by
// hand-written MPI: counts first, then MPI_Alltoallv. SIZE is the vertices or keys of a rank. Seconds of all roots, or
// of a sort, a line a repeat: the slowest rank's. Graphs, roots and keys are made by graph, so they are those of its
// decks. Lines between the marks are what KaMPIng's paper counts.
#include "graph/algorithm/rows.hpp"
#include "graph/problem/keys.hpp"
#include "graph/problem/roots.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string_view>
#include <vector>

using namespace kontor;
using Numbers = std::vector<std::int64_t>;

// search: begin
Numbers send_all(const std::vector<Numbers>& out, MPI_Comm comm) {
  const auto p = out.size();
  std::vector<int> counts(p), places(p + 1), received(p), from(p + 1);
  for (std::size_t r = 0; r < p; ++r) counts[r] = static_cast<int>(out[r].size());
  std::partial_sum(counts.begin(), counts.end(), places.begin() + 1);
  MPI_Alltoall(counts.data(), 1, MPI_INT, received.data(), 1, MPI_INT, comm);
  std::partial_sum(received.begin(), received.end(), from.begin() + 1);
  Numbers sent, arrived(static_cast<std::size_t>(from[p]));
  for (const auto& part : out) sent.insert(sent.end(), part.begin(), part.end());
  MPI_Alltoallv(sent.data(), counts.data(), places.data(), MPI_INT64_T, arrived.data(), received.data(), from.data(),
                MPI_INT64_T, comm);
  return arrived;
}

Numbers search(const graph::Rows& rows, std::int64_t root, MPI_Comm comm, int ranks) {
  Numbers level(static_cast<std::size_t>(rows.size), -1), frontier;
  if (rows.blocks.owner(root) == rows.rank) frontier.push_back(root);
  for (std::int64_t depth = 0;; ++depth) {
    int any = !frontier.empty();
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, comm);
    if (!any) return level;
    std::vector<Numbers> out(static_cast<std::size_t>(ranks));
    for (const auto vertex : frontier) {
      const auto v = vertex - rows.begin;
      if (level[static_cast<std::size_t>(v)] >= 0) continue;
      level[static_cast<std::size_t>(v)] = depth;
      for (auto i = rows.offsets(v); i < rows.offsets(v + 1); ++i)
        out[static_cast<std::size_t>(rows.blocks.owner(rows.targets(i)))].push_back(rows.targets(i));
    }
    frontier = send_all(out, comm);
  }
}
// search: end

// sort: begin
void sample_sort(Numbers& keys, MPI_Comm comm, int ranks) {
  constexpr std::size_t samples = 64;
  const auto p = static_cast<std::size_t>(ranks);
  Numbers own, all(samples * p), begins;
  for (std::size_t i = 0; i < samples; ++i) own.push_back(keys[i * keys.size() / samples]);
  MPI_Allgather(own.data(), samples, MPI_INT64_T, all.data(), samples, MPI_INT64_T, comm);
  std::sort(all.begin(), all.end());
  for (std::size_t r = 1; r < p; ++r) begins.push_back(all[r * samples]);
  std::vector<Numbers> out(p);
  for (const auto key : keys)
    out[static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), key) - begins.begin())].push_back(key);
  keys = send_all(out, comm);
  std::sort(keys.begin(), keys.end());
}
// sort: end

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Kokkos::initialize();
  {
    const comm::Communicator world(MPI_COMM_WORLD);
    const std::string_view what = argc == 6 ? argv[1] : "";
    graph::Options o;
    o.graph = what == "geometric"   ? graph::Kind::geometric
              : what == "kronecker" ? graph::Kind::kronecker
                                    : graph::Kind::uniform;
    const bool sorts = what == "sort";
    if (!sorts && what != graph::name_of(o.graph)) MPI_Abort(MPI_COMM_WORLD, 2);
    (sorts ? o.keys : o.vertices) = std::atol(argv[2]) * world.size();
    o.degree = std::atol(argv[3]);
    o.roots = std::atol(argv[4]);
    const auto comm = world.native();
    const auto rows = graph::build_rows(world, graph::Edges(o, world));
    const auto roots = graph::choose_roots(world, o, o.vertices, [&](std::int64_t v) {
      return v >= rows.begin && v < rows.begin + rows.size && rows.degree(v - rows.begin) > 0;
    });
    const auto start = graph::keys_of(o, world.size(), world.rank());
    for (int repeat = -1; repeat < std::atoi(argv[5]); ++repeat) {
      Numbers keys(start.begin(), start.end());
      MPI_Barrier(comm);
      double seconds = -MPI_Wtime();
      if (sorts) sample_sort(keys, comm, world.size());
      for (std::size_t r = 0; r < roots.size() && !sorts; ++r) search(rows, roots[r], comm, world.size());
      seconds += MPI_Wtime();
      MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
      if (repeat >= 0 && world.rank() == 0) std::printf("%.6e\n", seconds);
    }
  }
  Kokkos::finalize();
  MPI_Finalize();
  return 0;
}
