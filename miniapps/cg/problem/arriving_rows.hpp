// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/options.hpp"
#include "cg/problem/linear_system.hpp"

#include <kontor/comm/communicator.hpp>

#include <cstdint>
#include <vector>

namespace kontor::cg {

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
  ArrivingRows(const Sizes&, RhsKind);

  /// Local.
  void add(const SentRow&);
  /// Local, on the rank `rank`. Entries of one row must come in the order of columns of the whole matrix.
  void add(const SentEntry&, int rank);
  /// Collective, after the last. Numbers the ghosts and makes the system. Throws AgreedError on every rank if rows and
  /// ghosts of a rank are more than local numbers can count.
  LinearSystem finish(const comm::Communicator&);

 private:
  /// A column that another rank owns.
  struct Outside {
    int owner;
    GlobalIndex row;
    std::int64_t entry;
  };
  template <class T>
  using HostArray = Kokkos::View<T*, Kokkos::HostSpace>;

  std::vector<GhostRow> number_ghosts(const comm::Communicator&);

  Sizes sizes_;
  RhsKind rhs_kind_;
  std::vector<GlobalIndex> own_;
  HostArray<std::int64_t> offsets_;
  HostArray<LocalIndex> columns_;
  HostArray<double> values_, rhs_, initial_;
  std::vector<std::int64_t> next_; ///< where the next entry of each row goes
  std::vector<Outside> outside_;
};

} // namespace kontor::cg
