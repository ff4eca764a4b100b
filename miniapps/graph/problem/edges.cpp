// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graph/problem/edges.hpp"

#include "graph/problem/random_edges.hpp"
#include "machine/memory.hpp"
#include "machine/user_error.hpp"
#include "partition/matrix_market_reader.hpp"

#include <kontor/comm/broadcast.hpp>
#include <kontor/comm/view_of.hpp>
#include <kontor/comm/with_counts.hpp>
#include <kontor/config/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace kontor::graph {
namespace {

/// Local. Throws config::Error.
partition::CoordinateMatrix read_file(const config::InputFile& file) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(file.path, ignored);
  errno = 0;
  std::ifstream in(file.path, std::ios::binary);
  if (!in || folder)
    file.location.fail(
        fmt::format("cannot be read: {}: {}", file.path, folder ? "it is a directory" : std::strerror(errno)),
        "E-FILE-READ");
  return partition::read_pattern(in, file.path, miniapp::free_host_memory());
}

} // namespace

Edges::Edges(const Options& o, const comm::Communicator& comm)
    : kind_(o.graph), seed_(static_cast<std::uint64_t>(o.seed)), vertices_(o.vertices),
      degree_(static_cast<double>(o.degree)) {
  own_ = grid::part_of_axis(kind_ == Kind::geometric ? vertices_ : o.edges(), comm.size(), comm.rank());
  if (kind_ == Kind::file) read(o, comm);
}

void Edges::read(const Options& o, const comm::Communicator& comm) {
  partition::CoordinateMatrix matrix;
  std::optional<std::string> problem;
  try {
    if (comm.rank() == 0) matrix = read_file(o.file);
  } catch (const config::Error& error) {
    problem = error.what();
  }
  miniapp::agree_on_user_error(comm, problem, "E-FILE-FORMAT");
  std::vector<Edge> all;
  for (const auto& entry : matrix.entries) all.push_back({entry.row, entry.column});
  matrix.entries = {};
  std::vector<std::int64_t> counts;
  for (int r = 0; r < comm.size(); ++r)
    counts.push_back(grid::part_of_axis(static_cast<std::int64_t>(all.size()), comm.size(), r).size());
  const Kokkos::View<Edge*, Kokkos::HostSpace> whole("graph/file", all.size());
  std::ranges::copy(all, whole.data());
  const auto own = comm::scatterv_with_counts(comm, whole, counts, 0);
  from_file_.assign(own.data.data(), own.data.data() + own.data.size());
  own_ = {0, static_cast<std::int64_t>(from_file_.size())};
  vertices_ = comm::bcast(comm, matrix.rows, 0);
}

std::vector<Edge> Edges::of(std::int64_t first, std::int64_t last) const {
  std::vector<Edge> edges;
  if (kind_ == Kind::file) return {from_file_.begin() + first, from_file_.begin() + last};
  if (kind_ == Kind::geometric) {
    const Square square(seed_, vertices_, degree_);
    for (auto v = own_.begin + first; v < own_.begin + last; ++v) square.add_edges(v, edges);
    return edges;
  }
  const auto edge = kind_ == Kind::uniform ? uniform_edge : kronecker_edge;
  edges.reserve(static_cast<std::size_t>(last - first));
  for (auto i = own_.begin + first; i < own_.begin + last; ++i) edges.push_back(edge(seed_, vertices_, i));
  return edges;
}

} // namespace kontor::graph
