// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/problem/distribute.hpp"

#include "machine/memory.hpp"

#include <kontor/comm/collectives/scatter.hpp>
#include <kontor/comm/point_to_point.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

namespace kontor::cg {
namespace {

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

template <class T>
auto view_of(std::vector<T>& values) {
  return Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(values.data(),
                                                                                      values.size());
}

/// Items from rank 0 to all ranks, some at a time: both ends know how many there are.
template <class Item>
class Parcels {
 public:
  using Take = std::function<void(const Item&)>;

  /// `take` is given those of this rank.
  Parcels(const comm::Communicator& comm, Take take)
      : comm_(comm), take_(std::move(take)),
        most_(std::clamp<std::size_t>((std::size_t{1} << 22) / static_cast<std::size_t>(comm.size()), 1024,
                                      65536)),
        waiting_(comm.rank() == 0 ? static_cast<std::size_t>(comm.size()) : 0) {}

  /// At rank 0.
  void put(int rank, const Item& item) {
    if (rank == 0) return take_(item);
    auto& items = waiting_[static_cast<std::size_t>(rank)];
    items.push_back(item);
    if (items.size() == most_) send(rank);
  }
  /// At rank 0, after the last.
  void flush() {
    for (int rank = 1; rank < comm_.size(); ++rank)
      if (!waiting_[static_cast<std::size_t>(rank)].empty()) send(rank);
  }
  /// On the other ranks.
  void receive(std::int64_t count) {
    std::vector<Item> items;
    for (auto left = static_cast<std::size_t>(count); left > 0; left -= items.size()) {
      items.resize(std::min(left, most_));
      comm::recv(comm_, view_of(items), 0);
      for (const auto& item : items) take_(item);
    }
  }

 private:
  void send(int rank) {
    auto& items = waiting_[static_cast<std::size_t>(rank)];
    comm::send(comm_, view_of(items), rank);
    items.clear();
  }

  const comm::Communicator& comm_;
  Take take_;
  std::size_t most_;
  std::vector<std::vector<Item>> waiting_; ///< for each rank
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

void require_room(const comm::Communicator& comm, const Sizes& sizes) {
  std::optional<std::string> problem;
  constexpr std::int64_t most = std::numeric_limits<LocalIndex>::max();
  if (sizes.own > most)
    problem = fmt::format("rank {} would have {} rows; the most is {}: use more ranks", comm.rank(),
                          sizes.own, most);
  comm.agree(problem);
  const auto rows = static_cast<double>(sizes.own), entries = static_cast<double>(sizes.entries);
  miniapp::require_memory(comm, {{"cg/offsets", (rows + 1) * sizeof(std::int64_t)},
                                 {"cg/columns", entries * sizeof(LocalIndex)},
                                 {"cg/values", entries * sizeof(double)}});
}

/// A rank's rows while they arrive, in host memory.
class Arrival {
 public:
  Arrival(const Sizes& sizes, RhsKind rhs)
      : rhs_kind_(rhs), offsets_("cg/offsets", view_length(sizes.own) + 1),
        columns_(uninitialised("cg/columns"), view_length(sizes.entries)),
        values_(uninitialised("cg/values"), view_length(sizes.entries)),
        rhs_(uninitialised("cg/b"), view_length(sizes.own)),
        initial_(uninitialised("cg/initial"), view_length(sizes.own)) {
    own_.reserve(view_length(sizes.own));
  }

  void add(const SentRow& row) {
    const auto i = own_.size();
    own_.push_back(row.number);
    offsets_(i + 1) = offsets_(i) + row.entries;
    rhs_(i) = rhs_kind_ == RhsKind::ones ? 1 : row.rhs;
    initial_(i) = row.initial;
  }
  void rows_are_complete() { next_.assign(offsets_.data(), offsets_.data() + own_.size()); }

  /// Entries of a row come in the order of columns of the whole matrix.
  void add(const SentEntry& entry, int rank) {
    const auto e = next_[static_cast<std::size_t>(entry.row)]++;
    values_(e) = entry.value;
    if (rhs_kind_ == RhsKind::a_times_ones) rhs_(entry.row) += entry.value;
    if (entry.owner == rank)
      columns_(e) = static_cast<LocalIndex>(entry.column);
    else
      outside_.push_back({entry.owner, entry.column, e});
  }

  /// Collective. Numbers the ghosts and makes the system.
  LinearSystem finish(const comm::Communicator& comm, const Sizes& sizes) {
    const auto ghosts = number_ghosts(comm);
    LinearSystem system{.partition = make_partition(comm, sizes.rows, own_, ghosts)};
    system.partition.interior = static_cast<LocalIndex>(sizes.interior);
    system.matrix = {to_device(offsets_), to_device(columns_), to_device(values_)};
    system.rhs = to_device(rhs_);
    system.initial = to_device(initial_);
    if (rhs_kind_ == RhsKind::a_times_ones) {
      system.exact = Vector(uninitialised("cg/solution"), own_.size());
      Kokkos::deep_copy(*system.exact, 1.0);
    }
    return system;
  }

 private:
  /// A column that another rank owns.
  struct Outside {
    int owner;
    GlobalIndex row;
    std::int64_t entry;
  };
  template <class T>
  using HostArray = Kokkos::View<T*, Kokkos::HostSpace>;

  static std::size_t view_length(std::int64_t n) { return static_cast<std::size_t>(n); }
  static auto uninitialised(const std::string& label) {
    return Kokkos::view_alloc(label, Kokkos::WithoutInitializing);
  }
  template <class T>
  static Kokkos::View<T*> to_device(const HostArray<T>& values) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::View<T*>::memory_space(), values);
  }

  /// By owner and number, as make_partition() orders them.
  std::vector<GhostRow> number_ghosts(const comm::Communicator& comm) {
    std::sort(outside_.begin(), outside_.end(), [](const Outside& a, const Outside& b) {
      return std::tie(a.owner, a.row) < std::tie(b.owner, b.row);
    });
    std::vector<GhostRow> ghosts;
    for (const auto& column : outside_)
      if (ghosts.empty() || ghosts.back().owner != column.owner || ghosts.back().row != column.row)
        ghosts.push_back({column.owner, column.row});
    std::optional<std::string> problem;
    constexpr std::size_t most = std::numeric_limits<LocalIndex>::max();
    if (own_.size() + ghosts.size() > most)
      problem =
          fmt::format("rank {} would have {} rows and {} ghosts; the most together is {}: use more ranks",
                      comm.rank(), own_.size(), ghosts.size(), most);
    comm.agree(problem);
    std::size_t ghost = 0;
    for (const auto& column : outside_) {
      if (ghosts[ghost].owner != column.owner || ghosts[ghost].row != column.row) ++ghost;
      columns_(column.entry) = static_cast<LocalIndex>(own_.size() + ghost);
    }
    return ghosts;
  }

  RhsKind rhs_kind_;
  std::vector<GlobalIndex> own_;
  HostArray<std::int64_t> offsets_;
  HostArray<LocalIndex> columns_;
  HostArray<double> values_, rhs_, initial_;
  std::vector<std::int64_t> next_; ///< where the next entry of each row goes
  std::vector<Outside> outside_;
};

void send_rows(Parcels<SentRow>& parcels, const WholeSystem& whole) {
  const auto& plan = whole.plan;
  const auto value = [](const std::vector<double>& values, std::size_t row) {
    return values.empty() ? 0 : values[row];
  };
  for (const auto number : plan.rows) {
    const auto row = static_cast<std::size_t>(number);
    parcels.put(plan.owner[row],
                {number, plan.lengths[row], value(whole.rhs, row), value(whole.initial, row)});
  }
  parcels.flush();
}

void send_entries(Parcels<SentEntry>& parcels, const WholeSystem& whole) {
  const auto& plan = whole.plan;
  std::vector<LocalIndex> local(plan.rows.size());
  for (int rank = 0; rank < plan.ranks(); ++rank)
    for (auto i = plan.first[static_cast<std::size_t>(rank)];
         i < plan.first[static_cast<std::size_t>(rank) + 1]; ++i)
      local[static_cast<std::size_t>(plan.rows[static_cast<std::size_t>(i)])] =
          static_cast<LocalIndex>(i - plan.first[static_cast<std::size_t>(rank)]);
  for_each_entry(whole.matrix, [&](std::int64_t r, std::int64_t c, double value) {
    const auto row = static_cast<std::size_t>(r), column = static_cast<std::size_t>(c);
    const int to = plan.owner[row], owner = plan.owner[column];
    parcels.put(to, {to == owner ? local[column] : c, value, local[row], owner});
  });
  parcels.flush();
}

} // namespace

LinearSystem distribute(const comm::Communicator& comm, WholeSystem whole, RhsKind rhs) {
  const bool root = comm.rank() == 0;
  const auto sizes = scatter_sizes(comm, whole);
  require_room(comm, sizes);
  Arrival arrival(sizes, rhs);

  Parcels<SentRow> rows(comm, [&](const SentRow& row) { arrival.add(row); });
  if (root)
    send_rows(rows, whole);
  else
    rows.receive(sizes.own);
  arrival.rows_are_complete();

  Parcels<SentEntry> entries(comm, [&](const SentEntry& entry) { arrival.add(entry, comm.rank()); });
  if (root)
    send_entries(entries, whole);
  else
    entries.receive(sizes.entries);
  whole = {};
  return arrival.finish(comm, sizes);
}

} // namespace kontor::cg
