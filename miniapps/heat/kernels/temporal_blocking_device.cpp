// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/kernels/column_shape.hpp"
#include "heat/kernels/tile_pass.hpp"
#include "heat/problem/stencil.hpp"

#include <kontor/device/unroll.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>

/// Several sweeps by one kernel of a device. The threads of a team lie side by side along x (2-D) or x and y (3-D), and
/// go along the slowest axis together, a row or plane a step. Each sweep is one row behind the sweep before it. So a
/// thread has in registers what it needs of rows before and behind; what it needs of its neighbours they have left in
/// scratch memory a step earlier, and a step takes one barrier for all sweeps. Teams overlap by a margin that they
/// compute twice. See Matsumura et al., "AN5D: automated stencil framework for high-degree temporal blocking on GPUs",
/// CGO 2020.
namespace kontor::heat {

namespace detail {

using device::unroll;

template <int dimensions, bool sourced, int sweeps, class T, bool on_host>
class TilePass {
 public:
  static constexpr int packs = dimensions == 3 ? 16 : 128; ///< of a team, along x
  static constexpr int lines = dimensions == 3 ? 32 : 1;
  static constexpr int threads = packs * lines;
  static constexpr int teams_at_a_time = dimensions == 3 ? 2 : 4; ///< of a multiprocessor: bounds their registers
  static constexpr int left_cells = dimensions == 3 ? pack_width<T> : 2; ///< of a pack, that neighbours read
  static constexpr int room = sweeps * left_cells * threads;             ///< of what a step leaves
  static constexpr int kinds = 64;                                       ///< of cells: those at which faces
  static constexpr int scratch_level = device::kernels_on_host ? 1 : 0;  ///< level 0 of a host may have 32 KiB only
  static constexpr int scratch_bytes = (2 * room + 2 * kinds) * static_cast<int>(sizeof(T));
  static_assert(scratch_bytes <= 40 << 10, "what Kokkos gives a team with CUDA");

  /// `field_of` is the block with all its ghosts.
  TilePass(const SweepInput<T>& in, const FieldView<T>& out, const Block& field_of, const Box& box, int rows)
      : stencil_(in.stencil), inner_(in.stencil.weights(0, 0, 0)), rows_(rows) {
    row_ = static_cast<std::int64_t>(in.u.stride(1));
    plane_ = static_cast<std::int64_t>(in.u.stride(0));
    u_ = grid::own_cell(in.u, dimensions);
    out_ = grid::own_cell(out, dimensions);
    source_ = in.source.data();
    const auto before = grid::padding<T>(field_of), extents = grid::field_extents<T>(field_of);
    for (int axis = 0; axis < 3; ++axis) {
      cells_[axis] = static_cast<int>(in.block.extents[axis]);
      begin_[axis] = static_cast<int>(box.begin[axis]);
      end_[axis] = static_cast<int>(box.end[axis]);
      first_[axis] = static_cast<int>(-before[axis]);
      last_[axis] = static_cast<int>(extents[2 - axis] - before[axis] - 1);
      for (int face = 2 * axis; face < 2 * axis + 2; ++face) ends_[face] = in.block.at_boundary(face);
    }
    first_pack_ = static_cast<int>((box.begin[0] - (box.begin[0] < 0 ? width - 1 : 0)) / width); // rounded down
    teams_x_ = pieces((box.end[0] + width - 1) / width - first_pack_, packs - 2 * margin);
    teams_lines_ = dimensions == 3 ? pieces(box.end[1] - box.begin[1], lines - 2 * sweeps) : 1;
    teams_ = teams_x_ * teams_lines_ * pieces(box.end[slow] - box.begin[slow], rows);
  }

  int teams() const { return teams_; }

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    auto* const table = static_cast<Weights*>(team.team_scratch(int{scratch_level}).get_shmem(int{scratch_bytes}));
    T* const scratch = reinterpret_cast<T*>(table + kinds);
    const int tile = team.league_rank() % (teams_x_ * teams_lines_);
    const auto chunk = team.league_rank() / (teams_x_ * teams_lines_);
    const int begin = begin_[slow] + chunk * rows_;
    const int end = begin + rows_ < end_[slow] ? begin + rows_ : end_[slow];

    Thread own[on_host ? threads : 1];
    each(team, own, [&](Thread& s, int thread) {
      if (thread < kinds) table[thread] = weights(thread);
      start(s, tile, thread, begin - sweeps);
    });
    T *left = scratch, *leaves = scratch + room;
    for (int row = begin - sweeps; row < end + sweeps; ++row) {
      team.team_barrier();
      each(team, own, [&](Thread& s, int thread) {
        const Vector last = step(s, thread, row, table, left, leaves);
        if (const int m = row - sweeps; m >= begin) store(s, m, last);
      });
      T* const other = left;
      left = leaves;
      leaves = other;
    }
  }

 private:
  using Vector = Pack<T>;
  using Weights = typename Stencil<T>::Weights;
  static constexpr int width = Vector::width;
  static constexpr int slow = dimensions - 1;
  static constexpr int margin = (sweeps + width - 1) / width; ///< packs
  static constexpr int ahead = dimensions == 3 ? 2 : 4;       ///< rows that are loaded before their use
  static constexpr unsigned all_lanes = (1u << width) - 1;

  struct Thread {
    int x, line;                           ///< of its first cell
    std::int64_t at;                       ///< where row 0 of it lies in a field
    unsigned stored;                       ///< bits: which of its cells are in the box
    unsigned constant;                     ///< which lie beyond a boundary face
    bool inner;                            ///< none is at a face of the fast axes
    int south, north;                      ///< 3-D: the neighbours among the threads
    Vector before[sweeps], centre[sweeps]; ///< of each sweep's input: the rows before the newest two
    Vector next[ahead];
  };

  static int pieces(std::int64_t n, int of) { return static_cast<int>((n + of - 1) / of); }
  template <class N>
  KOKKOS_FUNCTION static N clamp(N n, N low, N high) {
    return n < low ? low : n > high ? high : n;
  }
  KOKKOS_FUNCTION std::int64_t step_of_row() const { return dimensions == 3 ? plane_ : row_; }
  KOKKOS_FUNCTION Vector load(const T* field, const Thread& s, int row) const {
    const std::int64_t m = clamp(row, first_[slow], last_[slow]);
    return *reinterpret_cast<const Vector*>(field + s.at + m * step_of_row());
  }

  /// The threads of a team, each with its own state. A host has one for all.
  template <class Member, class Work>
  KOKKOS_FUNCTION static void each(const Member& team, Thread* own, const Work& work) {
    if constexpr (on_host)
      for (int thread = 0; thread < threads; ++thread) work(own[thread], thread);
    else
      work(own[0], team.team_rank());
  }

  KOKKOS_FUNCTION void start(Thread& s, int tile, int thread, int row) const {
    const int p = thread % packs, l = thread / packs;
    s.x = width * (first_pack_ + tile % teams_x_ * (packs - 2 * margin) - margin + p);
    s.line = dimensions == 3 ? begin_[1] + tile / teams_x_ * (lines - 2 * sweeps) - sweeps + l : 0;
    s.at = clamp(s.x, first_[0], last_[0] + 1 - width);
    if constexpr (dimensions == 3) s.at += clamp(s.line, first_[1], last_[1]) * row_;
    s.south = l > 0 ? thread - packs : thread;
    s.north = l < lines - 1 ? thread + packs : thread;
    s.stored = s.constant = 0;
    s.inner = true;
    const bool owner = p >= margin && p < packs - margin &&
                       (dimensions < 3 || (l >= sweeps && l < lines - sweeps && s.line < end_[1]));
    const bool beyond = dimensions == 3 && is_beyond(1, s.line);
    unroll<width>([&](auto i) {
      if (owner && s.x + i >= begin_[0] && s.x + i < end_[0]) s.stored |= 1u << i;
      if (beyond || is_beyond(0, s.x + i)) s.constant |= 1u << i;
      if (kind_of(s, i, false, false) != 0) s.inner = false;
    });
    unroll<sweeps>([&](auto sweep) { s.before[sweep] = s.centre[sweep] = Vector{}; });
    unroll<ahead>([&](auto r) { s.next[r] = load(u_, s, row + r); });
  }

  /// Takes in a row, and moves each sweep on by one of its rows: the last sweep's is returned.
  KOKKOS_FUNCTION Vector step(Thread& s, int thread, int row, const Weights* table, const T* left, T* leaves) const {
    Vector newest = s.next[0];
    unroll<ahead - 1>([&](auto r) { s.next[r] = s.next[r + 1]; });
    s.next[ahead - 1] = load(u_, s, row + ahead);
    unroll<sweeps>([&](auto sweep) {
      constexpr int of_sweep = sweep * left_cells * threads;
      const Vector made =
          updated(s, thread, s.before[sweep], s.centre[sweep], newest, row - 1 - sweep, table, left + of_sweep);
      unroll<width>([&](auto i) {
        if constexpr (dimensions == 3 || i == 0 || i == width - 1)
          leaves[of_sweep + place<i> * threads + thread] = newest.lane[i];
      });
      s.before[sweep] = s.centre[sweep];
      s.centre[sweep] = newest;
      newest = made;
    });
    return newest;
  }

  /// Where a cell of a pack lies among those left for neighbours.
  template <int lane>
  static constexpr int place = dimensions == 3 ? lane : lane / (pack_width<T> - 1);

  /// Row m of a sweep, from rows m - 1, m and m + 1 of its input, and what neighbours have left of row m.
  KOKKOS_FUNCTION Vector updated(const Thread& s, int thread, const Vector& before, const Vector& centre,
                                 const Vector& ahead_of_it, int m, const Weights* table, const T* left) const {
    // The outermost threads read a value of others; it stays in the margin.
    const T below = left[place<width - 1> * threads + (thread > 0 ? thread - 1 : 0)];
    const T above = left[place<0> * threads + (thread < threads - 1 ? thread + 1 : thread)];
    const bool at_lower = m == 0, at_upper = m == cells_[slow] - 1;
    const bool inner = s.inner && !at_lower && !at_upper;
    Vector source{}, made;
    if constexpr (sourced) source = load(source_, s, m);
    unroll<width>([&](auto i) {
      const T lower = i == 0 ? below : centre.lane[i == 0 ? 0 : i - 1];
      const T upper = i == width - 1 ? above : centre.lane[i == width - 1 ? i : i + 1];
      T sum = stencil_.c[0] * (lower + upper);
      if constexpr (dimensions == 3) sum += stencil_.c[1] * (left[i * threads + s.south] + left[i * threads + s.north]);
      sum += stencil_.c[slow] * (before.lane[i] + ahead_of_it.lane[i]);
      if constexpr (sourced) sum += source.lane[i];
      Weights w = inner_;
      if (!inner) w = table[kind_of(s, i, at_lower, at_upper)];
      made.lane[i] = w.keep * centre.lane[i] + w.gain * sum;
    });
    const bool beyond = is_beyond(slow, m);
    if (beyond || s.constant != 0)
      unroll<width>([&](auto i) {
        if (beyond || (s.constant >> i & 1u)) made.lane[i] = centre.lane[i];
      });
    return made;
  }

  KOKKOS_FUNCTION void store(const Thread& s, int m, const Vector& value) const {
    T* const out = out_ + s.at + m * step_of_row();
    if (s.stored == all_lanes) {
      *reinterpret_cast<Vector*>(out) = value;
      return;
    }
    unroll<width>([&](auto i) {
      if (s.stored >> i & 1u) out[i] = value.lane[i];
    });
  }

  /// Whether a cell is beyond a boundary face, where ghosts are constants.
  KOKKOS_FUNCTION bool is_beyond(int axis, int index) const {
    return (index < 0 && ends_[2 * axis]) || (index >= cells_[axis] && ends_[2 * axis + 1]);
  }
  /// Which faces a cell is at: two bits an axis.
  KOKKOS_FUNCTION int kind_of(const Thread& s, int lane, bool at_lower, bool at_upper) const {
    const int x = s.x + lane;
    int kind = (x == 0 ? 1 : 0) + (x == cells_[0] - 1 ? 2 : 0);
    if constexpr (dimensions == 3) kind += (s.line == 0 ? 4 : 0) + (s.line == cells_[1] - 1 ? 8 : 0);
    return kind + ((at_lower ? 1 : 0) + (at_upper ? 2 : 0)) * (1 << 2 * slow);
  }
  KOKKOS_FUNCTION Weights weights(int kind) const {
    T extra[3];
    for (int axis = 0; axis < 3; ++axis)
      extra[axis] = (kind >> 2 * axis & 1 ? stencil_.adjust[2 * axis] : T(0)) +
                    (kind >> 2 * axis & 2 ? stencil_.adjust[2 * axis + 1] : T(0));
    return stencil_.weights(extra[0], extra[1], extra[2]);
  }

  const T* u_; ///< own cell (0, 0, 0), as all pointers here
  T* out_;
  const T* source_;
  std::int64_t row_, plane_;          ///< strides of u, out and source
  int cells_[3], first_[3], last_[3]; ///< of the block; the first and last of its field
  int begin_[3], end_[3];             ///< of the box
  bool ends_[6];                      ///< the whole grid ends at this face
  Stencil<T> stencil_;
  Weights inner_; ///< of cells at no face
  int rows_, first_pack_, teams_x_, teams_lines_, teams_;
};

} // namespace detail

template <class T, class ExecutionSpace>
void sweep_tiles(const ExecutionSpace& instance, const SweepInput<T>& in, const FieldView<T>& out,
                 const Block& field_of, const Box& box, int sweeps, int rows) {
  if (box.empty()) return;
  constexpr bool on_host = device::on_host<ExecutionSpace>;
  const auto launch = [&](auto dimensions, auto sourced, auto of_kernel) {
    using Kernel = detail::TilePass<dimensions(), sourced(), of_kernel(), T, on_host>;
    const Kernel kernel(in, out, field_of, box, rows);
    using Bounds = Kokkos::LaunchBounds<Kernel::threads, Kernel::teams_at_a_time>;
    Kokkos::TeamPolicy<ExecutionSpace, Bounds> policy(instance, kernel.teams(), on_host ? 1 : Kernel::threads, 1);
    policy.set_scratch_size(Kernel::scratch_level, Kokkos::PerTeam(Kernel::scratch_bytes));
    Kokkos::parallel_for("heat/sweep", policy, kernel);
  };
  with_constants(in.block.dimensions, in.source.size() > 0, Norm::none, [&](auto dimensions, auto sourced, auto) {
    if (sweeps == 2) launch(dimensions, sourced, std::integral_constant<int, 2>());
    if constexpr (dimensions() == 2) {
      if (sweeps == 4) launch(dimensions, sourced, std::integral_constant<int, 4>());
      if (sweeps == 8) launch(dimensions, sourced, std::integral_constant<int, 8>());
    }
  });
}

template void sweep_tiles(const TileInstance&, const SweepInput<float>&, const FieldView<float>&, const Block&,
                          const Box&, int, int);
template void sweep_tiles(const TileInstance&, const SweepInput<double>&, const FieldView<double>&, const Block&,
                          const Box&, int, int);

} // namespace kontor::heat
