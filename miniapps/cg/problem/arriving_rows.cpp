// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/problem/arriving_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

namespace kontor::cg {
namespace {

template <class T>
Kokkos::View<T*, Kokkos::HostSpace> host_array(const char* label, std::int64_t n) {
  return Kokkos::View<T*, Kokkos::HostSpace>(Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing),
                                             static_cast<std::size_t>(n));
}

/// In the memory of the default space.
template <class T>
Kokkos::View<T*> placed(const Kokkos::View<T*, Kokkos::HostSpace>& values) {
  return Kokkos::create_mirror_view_and_copy(typename Kokkos::View<T*>::memory_space(), values);
}

} // namespace

ArrivingRows::ArrivingRows(const Sizes& sizes, RhsKind rhs)
    : sizes_(sizes), rhs_kind_(rhs), offsets_(host_array<std::int64_t>("cg/offsets", sizes.own + 1)),
      columns_(host_array<LocalIndex>("cg/columns", sizes.entries)),
      values_(host_array<double>("cg/values", sizes.entries)), rhs_(host_array<double>("cg/b", sizes.own)),
      initial_(host_array<double>("cg/initial", sizes.own)) {
  own_.reserve(static_cast<std::size_t>(sizes.own));
  next_.reserve(static_cast<std::size_t>(sizes.own));
  offsets_(0) = 0;
}

void ArrivingRows::add(const SentRow& row) {
  const auto i = own_.size();
  own_.push_back(row.number);
  next_.push_back(offsets_(i));
  offsets_(i + 1) = offsets_(i) + row.entries;
  rhs_(i) = rhs_kind_ == RhsKind::ones ? 1 : row.rhs;
  initial_(i) = row.initial;
}

void ArrivingRows::add(const SentEntry& entry, int rank) {
  const auto e = next_[static_cast<std::size_t>(entry.row)]++;
  values_(e) = entry.value;
  if (rhs_kind_ == RhsKind::a_times_ones) rhs_(entry.row) += entry.value; // as a product sums a row
  if (entry.owner == rank)
    columns_(e) = static_cast<LocalIndex>(entry.column);
  else
    outside_.push_back({entry.owner, entry.column, e});
}

LinearSystem ArrivingRows::finish(const comm::Communicator& comm) {
  const auto ghosts = number_ghosts(comm);
  LinearSystem system{.partition = make_partition(comm, sizes_.rows, own_, ghosts)};
  system.partition.interior = static_cast<LocalIndex>(sizes_.interior);
  system.matrix = {placed(offsets_), placed(columns_), placed(values_)};
  system.rhs = placed(rhs_);
  system.initial = placed(initial_);
  if (rhs_kind_ == RhsKind::a_times_ones) {
    system.exact = Vector(Kokkos::view_alloc("cg/solution", Kokkos::WithoutInitializing), own_.size());
    Kokkos::deep_copy(*system.exact, 1.0);
  }
  return system;
}

/// By owner and number, as make_partition() orders them.
std::vector<GhostRow> ArrivingRows::number_ghosts(const comm::Communicator& comm) {
  std::sort(outside_.begin(), outside_.end(),
            [](const Outside& a, const Outside& b) { return std::tie(a.owner, a.row) < std::tie(b.owner, b.row); });
  std::vector<GhostRow> ghosts;
  for (const auto& column : outside_) {
    if (ghosts.empty() || ghosts.back().owner != column.owner || ghosts.back().row != column.row)
      ghosts.push_back({column.owner, column.row});
    columns_(column.entry) = static_cast<LocalIndex>(own_.size() + ghosts.size() - 1);
  }
  std::optional<std::string> problem;
  constexpr std::size_t most = std::numeric_limits<LocalIndex>::max();
  if (own_.size() + ghosts.size() > most)
    problem =
        fmt::format("rank {} would have {} rows and {} ghosts; the most together is {}: use more ranks [E-DECK-RANKS]",
                    comm.rank(), own_.size(), ghosts.size(), most);
  comm.agree(problem);
  return ghosts;
}

} // namespace kontor::cg
