// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/problem/distribute.hpp"

#include "cg/problem/memory.hpp"
#include "machine/memory.hpp"

#include <kontor/comm/gather.hpp>
#include <kontor/comm/point_to_point.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>

#include <limits>
#include <tuple>

namespace kontor::cg {
namespace {

/// Local. Values of a vector as a View, valid as long as the vector is and does not grow.
template <class T>
auto view_of(std::vector<T>& values) {
  return Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(values.data(), values.size());
}

/// Collective. Items from rank 0 to all ranks, in chunks. At rank 0 send(put) calls put(rank, item) for each of them.
/// Each rank calls take(item) for its own, in that order; the other ranks know their `count`.
template <class Item, class Send, class Take>
void scatter_in_chunks(const comm::Communicator& comm, std::int64_t count, const Send& send, const Take& take) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  const auto most = std::clamp<std::size_t>((std::size_t{1} << 22) / ranks, 1024, 65536);
  if (comm.rank() > 0) {
    std::vector<Item> items;
    for (auto left = static_cast<std::size_t>(count); left > 0; left -= items.size()) {
      items.resize(std::min(left, most));
      comm::recv(comm, view_of(items), 0);
      for (const auto& item : items) take(item);
    }
    return;
  }
  std::vector<std::vector<Item>> waiting(ranks);
  const auto pass_on = [&](std::size_t rank) {
    comm::send(comm, view_of(waiting[rank]), static_cast<int>(rank));
    waiting[rank].clear();
  };
  send([&](int to, const Item& item) {
    const auto rank = static_cast<std::size_t>(to);
    if (rank == 0) return take(item);
    waiting[rank].push_back(item);
    if (waiting[rank].size() == most) pass_on(rank);
  });
  for (std::size_t rank = 1; rank < ranks; ++rank)
    if (!waiting[rank].empty()) pass_on(rank);
}

template <class T>
using HostArray = Kokkos::View<T*, Kokkos::HostSpace>;
template <class T>
HostArray<T> host_array(const char* label, std::int64_t n) {
  return HostArray<T>(Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing), static_cast<std::size_t>(n));
}

/// In the memory of the default space.
template <class T>
Kokkos::View<T*> placed(const HostArray<T>& values) {
  return Kokkos::create_mirror_view_and_copy(typename Kokkos::View<T*>::memory_space(), values);
}

/// What a rank is told first.
struct Sizes {
  std::int64_t rows = 0;     ///< of the whole matrix
  std::int64_t own = 0;      ///< of this rank
  std::int64_t interior = 0; ///< of which so many read own rows only
  std::int64_t entries = 0;  ///< of its rows
};

/// A row of the receiver.
struct SentRow {
  GlobalIndex number = 0;
  std::int64_t entries = 0;
  double rhs = 0;
  double initial = 0;
};

/// An entry of one of the receiver's rows.
struct SentEntry {
  std::int64_t column = 0; ///< a local number if the receiver owns it, else that of the whole matrix
  double value = 0;
  LocalIndex row = 0; ///< local number
  int owner = 0;      ///< of the column
};

/// A rank's rows while they arrive, in host memory: all rows in their local order, then the entries.
class ArrivingRows {
 public:
  ArrivingRows(const Sizes& sizes, RhsKind rhs)
      : sizes_(sizes), rhs_kind_(rhs), offsets_(host_array<std::int64_t>("cg/offsets", sizes.own + 1)),
        columns_(host_array<LocalIndex>("cg/columns", sizes.entries)),
        values_(host_array<double>("cg/values", sizes.entries)), rhs_(host_array<double>("cg/b", sizes.own)),
        initial_(host_array<double>("cg/initial", sizes.own)) {
    own_.reserve(static_cast<std::size_t>(sizes.own));
    next_.reserve(static_cast<std::size_t>(sizes.own));
    offsets_(0) = 0;
  }

  /// Local.
  void add(const SentRow& row) {
    const auto i = own_.size();
    own_.push_back(row.number);
    next_.push_back(offsets_(i));
    offsets_(i + 1) = offsets_(i) + row.entries;
    rhs_(i) = rhs_kind_ == RhsKind::ones ? 1 : row.rhs;
    initial_(i) = row.initial;
  }
  /// Local, on the rank `rank`. Entries of one row must come in the order of columns of the whole matrix.
  void add(const SentEntry& entry, int rank) {
    const auto e = next_[static_cast<std::size_t>(entry.row)]++;
    values_(e) = entry.value;
    if (rhs_kind_ == RhsKind::a_times_ones) rhs_(entry.row) += entry.value; // as a product sums a row
    if (entry.owner == rank)
      columns_(e) = static_cast<LocalIndex>(entry.column);
    else
      outside_.push_back({entry.owner, entry.column, e});
  }
  /// Collective, after the last. Numbers the ghosts and makes the system. Throws AgreedError on every rank if rows and
  /// ghosts of a rank are more than local numbers can count.
  LinearSystem finish(const comm::Communicator& comm) {
    const auto ghosts = number_ghosts(comm);
    LinearSystem system{.partition = make_partition(comm, sizes_.rows, own_, ghosts)};
    system.partition.interior = static_cast<LocalIndex>(sizes_.interior);
    system.matrix = {placed(offsets_), placed(columns_), placed(values_)};
    system.rhs = placed(rhs_);
    system.initial = placed(initial_);
    if (rhs_kind_ == RhsKind::a_times_ones) system.exact = [](const Vector& to) { Kokkos::deep_copy(to, 1.0); };
    return system;
  }

 private:
  /// A column that another rank owns.
  struct Outside {
    int owner;
    GlobalIndex row;
    std::int64_t entry;
  };
  /// By owner and number, as make_partition() orders them.
  std::vector<GhostRow> number_ghosts(const comm::Communicator& comm) {
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
      problem = fmt::format(
          "rank {} would have {} rows and {} ghosts; the most together is {}: use more ranks [E-DECK-RANKS]",
          comm.rank(), own_.size(), ghosts.size(), most);
    comm.agree(problem);
    return ghosts;
  }

  Sizes sizes_;
  RhsKind rhs_kind_;
  std::vector<GlobalIndex> own_;
  HostArray<std::int64_t> offsets_;
  HostArray<LocalIndex> columns_;
  HostArray<double> values_, rhs_, initial_;
  std::vector<std::int64_t> next_; ///< where the next entry of each row goes
  std::vector<Outside> outside_;
};

Sizes scatter_sizes(const comm::Communicator& comm, const WholeSystem& whole) {
  std::vector<Sizes> all;
  for (std::size_t r = 0; r < whole.plan.interior.size(); ++r)
    all.push_back({whole.matrix.rows, whole.plan.first[r + 1] - whole.plan.first[r], whole.plan.interior[r],
                   whole.plan.entries[r]});
  std::vector<Sizes> mine(1);
  comm::scatter(comm, view_of(all), view_of(mine), 0);
  return mine.front();
}

void require_room(const comm::Communicator& comm, const Sizes& sizes, const SolverOptions& solver) {
  std::optional<std::string> problem;
  constexpr std::int64_t most = std::numeric_limits<LocalIndex>::max();
  if (sizes.own > most)
    problem = fmt::format("rank {} would have {} rows; the most is {}: use more ranks [E-DECK-RANKS]", comm.rank(),
                          sizes.own, most);
  comm.agree(problem);
  const PartSize part{.rows = static_cast<double>(sizes.own), .entries = static_cast<double>(sizes.entries)};
  miniapp::require_memory(comm, bytes_of_rank(solver, part));
}

template <class Put>
void send_rows(const WholeSystem& whole, const Put& put) {
  const auto& plan = whole.plan;
  const auto value = [](const std::vector<double>& values, std::size_t row) {
    return values.empty() ? 0 : values[row];
  };
  for (const auto number : plan.rows) {
    const auto row = static_cast<std::size_t>(number);
    put(plan.owner[row], SentRow{number, plan.lengths[row], value(whole.rhs, row), value(whole.initial, row)});
  }
}

template <class Put>
void send_entries(const WholeSystem& whole, const Put& put) {
  const auto& plan = whole.plan;
  std::vector<LocalIndex> local(plan.rows.size());
  for (int rank = 0; rank < plan.ranks(); ++rank)
    for (auto i = plan.first[static_cast<std::size_t>(rank)]; i < plan.first[static_cast<std::size_t>(rank) + 1]; ++i)
      local[static_cast<std::size_t>(plan.rows[static_cast<std::size_t>(i)])] =
          static_cast<LocalIndex>(i - plan.first[static_cast<std::size_t>(rank)]);
  for_each_entry(whole.matrix, [&](std::int64_t r, std::int64_t c, double value) {
    const auto row = static_cast<std::size_t>(r), column = static_cast<std::size_t>(c);
    const int to = plan.owner[row], owner = plan.owner[column];
    put(to, SentEntry{to == owner ? local[column] : c, value, local[row], owner});
  });
}

} // namespace

LinearSystem distribute(const comm::Communicator& comm, WholeSystem whole, RhsKind rhs, const SolverOptions& solver) {
  const auto sizes = scatter_sizes(comm, whole);
  require_room(comm, sizes, solver);
  ArrivingRows arriving(sizes, rhs);

  scatter_in_chunks<SentRow>(
      comm, sizes.own, [&](const auto& put) { send_rows(whole, put); }, [&](const SentRow& row) { arriving.add(row); });
  scatter_in_chunks<SentEntry>(
      comm, sizes.entries, [&](const auto& put) { send_entries(whole, put); },
      [&](const SentEntry& entry) { arriving.add(entry, comm.rank()); });
  whole = {};
  return arriving.finish(comm);
}

} // namespace kontor::cg
