// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Process grids.
#include "base/agree.hpp"
#include "communicator/internals.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace kontor::comm {

using mpi::check;

namespace {

std::string words(const std::vector<bool>& flags) {
  std::vector<const char*> texts;
  for (const bool flag : flags) texts.push_back(flag ? "true" : "false");
  return fmt::format("({})", fmt::join(texts, ", "));
}

MPI_Comm make_cartesian(const Communicator& parent, const std::vector<int>& dims, const std::vector<bool>& periodic) {
  mpi::require_same(parent.native(), "the dimensions of a process grid",
                    fmt::format("{}, periodic {}", fmt::join(dims, " x "), words(periodic)));
  if (dims.empty() || dims.size() > 3 || periodic.size() != dims.size())
    throw UsageError(fmt::format("a process grid has 1 to 3 dimensions, each closed or periodic; {} dimensions "
                                 "and {} ends were given",
                                 dims.size(), periodic.size()));
  const auto ranks = std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
  if (ranks != parent.size() || std::any_of(dims.begin(), dims.end(), [](int n) { return n < 1; }))
    throw UsageError(fmt::format("a process grid of {} takes {} ranks, but there are {}", fmt::join(dims, " x "), ranks,
                                 parent.size()));
  const std::vector<int> periods(periodic.begin(), periodic.end());
  MPI_Comm comm = MPI_COMM_NULL;
  check(MPI_Cart_create(parent.native(), static_cast<int>(dims.size()), dims.data(), periods.data(), 0, &comm),
        "MPI_Cart_create");
  return comm;
}

} // namespace

Communicator::Communicator(const Communicator& parent, const std::vector<int>& dims, const std::vector<bool>& periodic)
    : Communicator(Owned{make_cartesian(parent, dims, periodic)}, parent.options()) {
  read_cartesian();
}

Communicator Communicator::sub(const std::vector<bool>& keep) const {
  mpi::require_same(native(), "the dimensions that a part of a process grid keeps", words(keep));
  if (keep.size() != dims().size() || std::find(keep.begin(), keep.end(), true) == keep.end())
    throw UsageError(fmt::format("a part of a process grid keeps one dimension at least and says so for each of "
                                 "its {} dimensions; {} were given",
                                 dims().size(), keep.size()));
  const std::vector<int> remain(keep.begin(), keep.end());
  MPI_Comm comm = MPI_COMM_NULL;
  check(MPI_Cart_sub(native(), remain.data(), &comm), "MPI_Cart_sub");
  auto part = open_part(Owned{comm});
  part->read_cartesian();
  return std::move(*part);
}

void Communicator::read_cartesian() {
  int count = 0;
  check(MPI_Cartdim_get(native(), &count), "MPI_Cartdim_get");
  auto& g = detail::internals(*this);
  std::vector<int> periods(count);
  g.dims_.resize(count);
  g.coordinates_.resize(count);
  check(MPI_Cart_get(native(), count, g.dims_.data(), periods.data(), g.coordinates_.data()), "MPI_Cart_get");
  g.periodic_.assign(periods.begin(), periods.end());
}

std::vector<int> balanced_dims(int ranks, std::vector<int> dims) {
  std::int64_t given = 1;
  bool fits = ranks > 0;
  for (const int n : dims) {
    if (n == 0 || !fits) continue;
    given *= n; // at most `ranks` times as much as an int holds
    fits = n > 0 && ranks % given == 0;
  }
  const bool open = std::find(dims.begin(), dims.end(), 0) != dims.end();
  if (!fits || (!open && given != ranks))
    throw UsageError(fmt::format("{} ranks cannot be arranged as {} (0: any number)", ranks, fmt::join(dims, " x ")));
  check(MPI_Dims_create(ranks, static_cast<int>(dims.size()), dims.data()), "MPI_Dims_create");
  return dims;
}

const std::vector<int>& Communicator::dims() const { return detail::internals(*this).dims_; }
const std::vector<int>& Communicator::coordinates() const { return detail::internals(*this).coordinates_; }
const std::vector<bool>& Communicator::periodic() const { return detail::internals(*this).periodic_; }
int Communicator::neighbour(int dim, int displacement) const {
  const auto dimensions = static_cast<int>(dims().size());
  if (dim < 0 || dim >= dimensions)
    throw CallError(
        dimensions == 0
            ? fmt::format("neighbour along dimension {}: this communicator is no process grid; one is made by "
                          "Communicator(comm, dims, periodic)",
                          dim)
            : fmt::format("neighbour along dimension {}: this process grid has dimensions 0 to {}", dim,
                          dimensions - 1));
  int source = MPI_PROC_NULL;
  int destination = MPI_PROC_NULL;
  check(MPI_Cart_shift(native(), dim, displacement, &source, &destination), "MPI_Cart_shift");
  return destination == MPI_PROC_NULL ? no_rank : destination;
}

int Communicator::rank_at(std::vector<int> coordinates) const {
  const auto& extents = dims();
  if (extents.empty() || coordinates.size() != extents.size())
    throw CallError(fmt::format("rank_at({}) takes a coordinate for each dimension of the process grid, which "
                                "has {}",
                                fmt::join(coordinates, ", "), extents.size()));
  for (std::size_t d = 0; d < extents.size(); ++d) {
    auto& c = coordinates[d];
    if (periodic()[d]) c = (c % extents[d] + extents[d]) % extents[d];
    if (c < 0 || c >= extents[d]) return no_rank;
  }
  int rank = no_rank;
  check(MPI_Cart_rank(native(), coordinates.data(), &rank), "MPI_Cart_rank");
  return rank;
}

} // namespace kontor::comm
