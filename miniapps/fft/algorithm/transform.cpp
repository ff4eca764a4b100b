// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fft/algorithm/transform.hpp"

#include "machine/first_touch.hpp"
#include "machine/simulation.hpp"

#include <kontor/comm/views/buffer.hpp>
#include <kontor/device/clock.hpp>
#include <kontor/device/compat.hpp>

#include <algorithm>

namespace kontor::fft {
namespace {

std::array<Pencil, 3> pencils_of(const Options& o, const comm::Communicator& grid, std::int64_t along_x) {
  const auto& dims = grid.dims();
  const auto& at = grid.coordinates();
  return make_pencils({along_x, o.cells[1], o.cells[2]}, {dims[1], dims[0]}, {at[1], at[0]});
}

/// The ranks of a row (dim 1 of the process grid z, y, x) or of a column (0), this one included.
std::vector<int> group_of(const comm::Communicator& grid, int dim) {
  std::vector<int> group;
  auto at = grid.coordinates();
  for (at[dim] = 0; at[dim] < grid.dims()[dim]; ++at[dim]) group.push_back(grid.rank_at(at));
  return group;
}

} // namespace

template <class T>
Transform<T>::Transform(const Options& o, miniapp::ChosenMethod& method, stepping::Streams<Space>& streams,
                        miniapp::Timers& timers, bool overlap)
    : options_(o), comm_(method.grid()), streams_(streams), overlap_(overlap),
      pencils_(pencils_of(o, method.grid(), o.modes_x())), field_pencil_(pencils_of(o, method.grid(), o.cells[0])[0]),
      compute_(timers["transform"]), reorder_(timers["reorder"]), wait_(timers.communication("wait")) {
  const auto size = [&](int axis) { return static_cast<std::size_t>(pencils_[axis].size()); };
  const auto& grid = method.grid();
  if (o.reorder == Reorder::by_reading && grid.size() > 1) {
    std::vector<int> neighbours;
    for (const int dim : {0, 1})
      for (const int rank : group_of(grid, dim))
        if (rank != grid.rank()) neighbours.push_back(rank);
    arrays_.emplace(grid, neighbours, std::max({size(0), size(1), size(2)}));
    first_ = arrays_->own(0);
    second_ = arrays_->own(1);
  } else {
    first_ = miniapp::zeroed<Value>("fft/lines of x and z", std::max(size(0), size(2)));
    second_ = miniapp::zeroed<Value>("fft/lines of y", size(1));
  }
  if (o.reorder == Reorder::by_kernel)
    landing_ = miniapp::zeroed<Value>("fft/landing", std::max(first_.size(), second_.size()));
  for (int axis = 0; axis < 3; ++axis)
    lines_[axis] = make_lines<T>(
        o.library, {o.cells[static_cast<std::size_t>(axis)], axis == 0 && o.real(), pencils_[axis].lines()});
  transposes_.push_back(between(method, "x to y", 0, 1));
  transposes_.push_back(between(method, "y to z", 1, 2));
  transposes_.push_back(between(method, "z to y", 2, 1));
  transposes_.push_back(between(method, "y to x", 1, 0));
  if (method.grid().size() > 1) samples_.emplace(timers);
}

/// Ranks of a row turn x and y, those of a column y and z.
template <class T>
Transpose<T> Transform<T>::between(miniapp::ChosenMethod& method, const char* label, int from, int to) {
  const auto& grid = method.grid();
  const int dim = from + to == 1 ? 1 : 0;
  const auto end = [&](int stage) {
    return typename Transpose<T>::End{pencils_[stage], stage == 1 ? second_.data() : first_.data()};
  };
  return {method,
          label,
          end(from),
          end(to),
          group_of(grid, dim),
          static_cast<std::size_t>(grid.coordinates()[dim]),
          *options_.chunks,
          streams_.exchange(),
          landing_.data(),
          arrays_ ? &*arrays_ : nullptr};
}

template <class T>
void Transform<T>::transform(int axis, const AxisRange& range, Direction direction, T* elsewhere) {
  const auto& pencil = pencils_[axis];
  const auto each = pencil.extent(pencil.order[1]), first = range.begin * each, count = range.size() * each;
  auto* const here = reinterpret_cast<T*>((axis == 1 ? second_ : first_).data() + first * pencil.line());
  auto* const field = elsewhere ? elsewhere + first * options_.cells[0] * (options_.real() ? 1 : 2) : here;
  const bool forward = direction == Direction::forward;
  const miniapp::ScopedTimer timed(compute_);
  miniapp::compute("fft/lines", static_cast<double>(count * pencil.line()), static_cast<double>(pencil.size()), [&] {
    lines_[axis]->transform(streams_.compute(), forward ? field : here, forward ? here : field, count, direction);
  });
}

template <class T>
void Transform<T>::start(Transpose<T>& transpose, std::size_t chunk, bool exchanges) {
  if (!exchanges || transpose.exchanges().empty()) return;
  streams_.exchange_follows();
  transpose.start(chunk, *samples_);
}

template <class T>
void Transform<T>::copy_here(Transpose<T>& transpose, std::size_t chunk, bool exchanges) {
  const miniapp::ScopedTimer timed(reorder_);
  transpose.copy_own(streams_.compute(), chunk);
  if (exchanges) transpose.copy_others(streams_.compute(), chunk);
}

template <class T>
void Transform<T>::finish(Transpose<T>& transpose, std::size_t chunk, bool exchanges) {
  if (exchanges && !transpose.exchanges().empty()) {
    transpose.finish(chunk);
    streams_.compute_waits();
  }
  if (!transpose.arranges()) return;
  const miniapp::ScopedTimer timed(reorder_);
  transpose.arrange(streams_.compute(), chunk);
}

/// Whether a chunk is finished before the next one begins: it would else leave the cache while nothing travels.
template <class T>
bool Transform<T>::at_once(const Transpose<T>& transpose) const {
  return !overlap_ || transpose.exchanges().empty();
}

template <class T>
void Transform<T>::begin_turn() {
  if (!arrays_) return;
  const miniapp::ScopedTimer timed(wait_);
  arrays_->turn(streams_.compute());
}

/// before() makes what a chunk sends, after() takes what has arrived. With overlap a chunk travels while others are
/// made. Before a rank reads arrays of others, all that they read is made.
template <class T>
template <class Before, class After>
void Transform<T>::turn(Transpose<T>& transpose, bool exchanges, const Before& before, const After& after) {
  const auto count = transpose.chunks();
  const bool apart = !at_once(transpose), reads = transpose.reads_others();
  for (std::size_t c = 0; reads && c < count; ++c) before(transpose.range(c));
  begin_turn();
  for (std::size_t c = 0; c < count; ++c) {
    if (!reads) before(transpose.range(c));
    if (apart) start(transpose, c, exchanges);
    copy_here(transpose, c, exchanges);
    if (apart) continue;
    start(transpose, c, exchanges);
    finish(transpose, c, exchanges);
    after(transpose.range(c));
  }
  for (std::size_t c = 0; apart && c < count; ++c) {
    finish(transpose, c, exchanges);
    after(transpose.range(c));
  }
}

template <class T>
void Transform<T>::to_lines_of_y(T* from, bool exchanges) {
  const auto lines_of_x = [&](const AxisRange& z) {
    if (options_.real()) return transform(0, z, Direction::forward, from);
    if (from != reinterpret_cast<T*>(first_.data())) {
      const miniapp::ScopedTimer timed(reorder_);
      auto own = pencils_[0].own;
      own[2] = {own[2].begin + z.begin, own[2].begin + z.end};
      copy(streams_.compute(), part_of(pencils_[0], first_.data(), own),
           part_of(pencils_[0], reinterpret_cast<Value*>(from), own));
    }
    transform(0, z, Direction::forward);
  };
  turn(transposes_[0], exchanges, lines_of_x, [&](const AxisRange& z) { transform(1, z, Direction::forward); });
}

template <class T>
void Transform<T>::forward(T* from, bool exchanges) {
  to_lines_of_y(from, exchanges);
  turn(
      transposes_[1], exchanges, [](const AxisRange&) {},
      [&](const AxisRange& x) { transform(2, x, Direction::forward); });
}

/// Lines of z, the product, and lines of z backward are made of as much as a cache holds: one pass over memory.
template <class T>
void Transform<T>::step(T* from, T* to, bool exchanges, const Product& product) {
  to_lines_of_y(from, exchanges);
  auto &there = transposes_[1], &back = transposes_[2];
  const auto count = there.chunks();
  const auto work = [&](const AxisRange& x) {
    const auto parts = there.parts_in_cache(x.size());
    for (std::int64_t p = 0; p < parts; ++p) {
      auto part = grid::part_of_axis(x.size(), parts, p);
      part = {part.begin + x.begin, part.end + x.begin};
      transform(2, part, Direction::forward);
      {
        const miniapp::ScopedTimer timed(compute_);
        product(part);
      }
      transform(2, part, Direction::backward);
    }
  };
  const auto nothing = [](const AxisRange&) {};
  const auto send = [&](std::size_t c) {
    if (!at_once(back)) start(back, c, exchanges);
    copy_here(back, c, exchanges);
    if (at_once(back)) start(back, c, exchanges);
  };
  // Both use the landing, where values do not arrive in place: then one is over before the other begins.
  const bool together = !back.arranges();
  std::size_t chunk = 0;
  if (back.reads_others()) {
    turn(there, exchanges, nothing, work);
    turn(back, exchanges, nothing, nothing);
  } else {
    turn(there, exchanges, nothing, [&](const AxisRange& x) {
      work(x);
      if (together || at_once(back)) send(chunk);
      if (at_once(back)) finish(back, chunk, exchanges);
      ++chunk;
    });
    for (std::size_t c = 0; c < count && !together && !at_once(back); ++c) send(c);
    for (std::size_t c = 0; c < count && !at_once(back); ++c) finish(back, c, exchanges);
  }
  turn(
      transposes_[3], exchanges, [&](const AxisRange& z) { transform(1, z, Direction::backward); },
      [&](const AxisRange& z) { transform(0, z, Direction::backward, to); });
}

template <class T>
const typename Transpose<T>::Exchange* Transform<T>::main_exchange() const {
  const typename Transpose<T>::Exchange* most = nullptr;
  std::size_t messages = 0;
  for (const auto& transpose : transposes_)
    if (const auto& all = transpose.exchanges(); !all.empty() && all[0].slots().size() > messages) {
      most = all.data();
      messages = most->slots().size();
    }
  return most;
}

template <class T>
typename Transform<T>::SentBytes Transform<T>::sent_bytes() const {
  const auto half = [this](int rank) { return 2 * rank < comm_.size(); };
  SentBytes bytes;
  for (const auto& transpose : transposes_)
    for (const auto& [rank, values] : transpose.sent()) {
      const auto sent = values * static_cast<std::int64_t>(sizeof(Value));
      bytes.all += sent;
      if (half(rank) != half(comm_.rank())) bytes.across += sent;
    }
  return bytes;
}

template <class T>
double Transform<T>::seconds_of_lines() {
  constexpr std::size_t bytes = 1 << 16; // of a batch: more than a group of lines that a library takes together
  constexpr double least = 1e-3;         // seconds of a sample
  double seconds = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const auto line = 2 * static_cast<std::size_t>(pencils_[axis].line() + 1);    // of real values, too
    const auto lines = std::min(static_cast<std::size_t>(pencils_[axis].lines()), // no library is ready for more
                                std::max<std::size_t>(8, bytes / (line * sizeof(T)) / 8 * 8));
    if (lines == 0) continue;
    const Kokkos::View<T*, typename Space::memory_space> in("fft/lines in", lines * line),
        out("fft/lines out", lines * line);
    const bool real = axis == 0 && options_.real();
    for (const auto direction : {Direction::forward, Direction::backward}) {
      std::vector<double> samples;
      for (int n = 1; samples.size() < 5;) {
        device::fence(streams_.compute(), "fft/lines begin");
        const double begin = device::seconds();
        for (int i = 0; i < n; ++i)
          lines_[axis]->transform(streams_.compute(), in.data(), real ? out.data() : in.data(),
                                  static_cast<std::int64_t>(lines), direction);
        device::fence(streams_.compute(), "fft/lines end");
        if (const double taken = device::seconds() - begin; taken < least)
          n *= 2;
        else
          samples.push_back(taken / n);
      }
      seconds +=
          *std::ranges::min_element(samples) * static_cast<double>(pencils_[axis].lines()) / static_cast<double>(lines);
    }
  }
  return seconds;
}

template <class T>
void Transform<T>::poll() {
  for (auto& transpose : transposes_)
    for (auto& exchange : transpose.exchanges()) exchange.poll();
}

template <class T>
void Transform<T>::check() const {
  if (arrays_) arrays_->check();
}

template <class T>
void Transform<T>::add_times(miniapp::Timers& timers) {
  for (auto& transpose : transposes_)
    for (auto& exchange : transpose.exchanges()) {
      timers.add(exchange.times());
      exchange.reset_times();
    }
}

template class Transform<float>;
template class Transform<double>;

} // namespace kontor::fft
