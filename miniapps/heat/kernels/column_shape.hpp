// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/names.hpp"

#include <kontor/device/compat.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

/// How the threads of a column kernel are laid over a box.
namespace kontor::heat {

/// What a thread loads and stores at a time: the widest access of today's GPUs.
inline constexpr int pack_bytes = 16;
template <class T>
inline constexpr int pack_width = pack_bytes / static_cast<int>(sizeof(T));

/// Neighbouring values of a row that are loaded and stored together.
template <class T>
struct alignas(pack_bytes) Pack {
  static constexpr int width = pack_width<T>;
  T lane[width];
};

/// What can be tuned; powers of two.
struct ColumnTuning {
  int team = 256; ///< threads
  int tile = 256; ///< packs along x that a team's threads lie side by side, at most
  int rows = 16;  ///< rows or planes of a thread, at most
  int batch = 4;  ///< rows or planes that it loads ahead: 1, 2 or 4
};

/// The best of a scan on an H200 (lab/results/heat-gpu.md). In 3-D a team is
/// compact in x and y, so that it finds most of its neighbours along y in its own cache. With a norm it pays to have
/// longer columns.
template <class T>
constexpr ColumnTuning usual_tuning(int dimensions, bool with_norm) {
  const int rows = with_norm && (dimensions == 3 || sizeof(T) == sizeof(double)) ? 16 : 8;
  return dimensions == 3 ? ColumnTuning{128, 32, rows, 2} : ColumnTuning{128, 128, rows, 4};
}

/// Threads of a team that work in step: what a reduction over them needs no barrier for. A host has one.
KOKKOS_INLINE_FUNCTION int column_lanes(int team) {
  constexpr int lanes = 32;
  return team < lanes ? team : lanes;
}

/// Teams of tile_x packs times tile_lines lines times tile_chunks columns, over a box of packs times lines times chunks
/// of `rows` rows. In 2-D there is one line, in 3-D a line is a row of a plane.
class ColumnShape {
 public:
  /// No teams.
  ColumnShape() = default;

  /// `threads`: how many the device runs at a time. A small box has shorter columns, so that it keeps all of them busy.
  template <class T>
  static ColumnShape make(const Box& box, int dimensions, std::int64_t threads, bool on_host, ColumnTuning tuning) {
    constexpr int width = pack_width<T>;
    ColumnShape s;
    if (box.empty()) return s;
    s.x_begin_ = box.begin[0];
    s.x_end_ = box.end[0];
    s.width_ = width;
    const int column_axis = dimensions - 1;
    s.first_pack_ = static_cast<int>((box.begin[0] - (box.begin[0] < 0 ? width - 1 : 0)) / width); // rounded down
    s.packs_ = static_cast<int>((box.end[0] + width - 1) / width - s.first_pack_);
    s.first_line_ = dimensions == 3 ? static_cast<int>(box.begin[1]) : 0;
    s.lines_ = dimensions == 3 ? static_cast<int>(box.end[1] - box.begin[1]) : 1;
    s.begin_ = static_cast<int>(box.begin[column_axis]);
    s.end_ = static_cast<int>(box.end[column_axis]);
    const std::int64_t rows = s.end_ - s.begin_;
    const auto fair = std::max<std::int64_t>(1, rows * s.packs_ * s.lines_ / threads);
    s.rows_ = static_cast<int>(std::bit_floor(static_cast<std::uint64_t>(std::min<std::int64_t>(fair, tuning.rows))));
    const auto chunks = (rows + s.rows_ - 1) / s.rows_;

    // Host spaces run a team one thread after the other, if they can have more than one at all.
    const int bits = on_host ? 0 : log2_of(tuning.team);
    s.x_bits_ = std::min({bits, log2_of(tuning.tile), log2_of(s.packs_)});
    s.line_bits_ = std::min(bits - s.x_bits_, log2_of(s.lines_));
    s.chunk_bits_ = bits - s.x_bits_ - s.line_bits_;
    s.teams_x_ = blocks(s.packs_, s.x_bits_);
    s.teams_lines_ = blocks(s.lines_, s.line_bits_);
    s.teams_chunks_ = blocks(chunks, s.chunk_bits_);
    return s;
  }

  KOKKOS_FUNCTION int team() const { return 1 << (x_bits_ + line_bits_ + chunk_bits_); }
  int teams() const { return teams_x_ * teams_lines_ * teams_chunks_; }
  int rows() const { return rows_; }
  /// How many threads leave one part of a norm together.
  KOKKOS_FUNCTION int lanes() const { return column_lanes(team()); }
  /// All of them.
  int parts() const { return teams() * (team() / lanes()); }

  /// A thread's cells: a pack of a line, in rows or planes [begin, end).
  struct Place {
    int pack;
    unsigned lanes; ///< bits: which cells of the pack are in the box
    int line;
    int begin;
    int end;
    KOKKOS_FUNCTION bool any() const { return begin < end; }
  };

  KOKKOS_FUNCTION Place place(int team, int thread) const {
    const int x = ((team % teams_x_) << x_bits_) + (thread & ((1 << x_bits_) - 1));
    team /= teams_x_;
    thread >>= x_bits_;
    const int line = ((team % teams_lines_) << line_bits_) + (thread & ((1 << line_bits_) - 1));
    const int chunk = ((team / teams_lines_) << chunk_bits_) + (thread >> line_bits_);
    Place p{first_pack_ + x, 0, first_line_ + line, begin_ + chunk * rows_, begin_ + (chunk + 1) * rows_};
    for (int l = 0; l < width_; ++l) {
      const auto i = std::int64_t{p.pack} * width_ + l;
      if (i >= x_begin_ && i < x_end_) p.lanes |= 1u << l;
    }
    if (p.end > end_) p.end = end_;
    if (x >= packs_ || line >= lines_) p.end = p.begin;
    return p;
  }

 private:
  /// The smallest power of two that is not below n, as its exponent.
  static int log2_of(std::int64_t n) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n - 1))); }
  static int blocks(std::int64_t n, int bits) { return static_cast<int>((n + (1 << bits) - 1) >> bits); }

  std::int64_t x_begin_ = 0, x_end_ = 0;
  int width_ = 1;
  int first_pack_ = 0, packs_ = 0, first_line_ = 0, lines_ = 0;
  int begin_ = 0, end_ = 0, rows_ = 1;
  int x_bits_ = 0, line_bits_ = 0, chunk_bits_ = 0;
  int teams_x_ = 0, teams_lines_ = 0, teams_chunks_ = 0;
};

/// The shape of a sweep over the box on this instance.
template <class T, class ExecutionSpace>
ColumnShape column_shape(const ExecutionSpace& instance, const Box& box, int dimensions, ColumnTuning tuning) {
  return ColumnShape::make<T>(box, dimensions, instance.concurrency(), device::on_host<ExecutionSpace>, tuning);
}

namespace detail {
struct NumberedShape {
  ColumnShape shape;
  int first_team = 0;
};
} // namespace detail

/// Several boxes swept by one kernel: launching one takes longer than a thin strip does.
template <class MemorySpace>
class ColumnShapes {
 public:
  /// Local; waits for a copy. All shapes have teams of the same size; those without teams are left out.
  explicit ColumnShapes(const std::vector<ColumnShape>& shapes) {
    const Kokkos::View<Entry*, Kokkos::HostSpace> host("heat/boxes", shapes.size());
    for (const auto& shape : shapes) {
      if (shape.teams() == 0) continue;
      host(count_++) = {shape, teams_};
      teams_ += shape.teams();
      team_ = shape.team();
    }
    entries_ = Kokkos::create_mirror_view_and_copy(MemorySpace(), host);
  }

  int team() const { return team_; }
  int teams() const { return teams_; }
  KOKKOS_FUNCTION int lanes() const { return column_lanes(team_); }
  int parts() const { return teams_ * (team_ / lanes()); }

  KOKKOS_FUNCTION ColumnShape::Place place(int team, int thread) const {
    int e = 0;
    while (e + 1 < count_ && entries_(e + 1).first_team <= team) ++e;
    return entries_(e).shape.place(team - entries_(e).first_team, thread);
  }

 private:
  using Entry = detail::NumberedShape;

  Kokkos::View<Entry*, MemorySpace> entries_;
  int count_ = 0;
  int team_ = 1;
  int teams_ = 0;
};

} // namespace kontor::heat
