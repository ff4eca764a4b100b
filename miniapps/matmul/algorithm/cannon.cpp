// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matmul/algorithm/cannon.hpp"

namespace kontor::matmul {
namespace {

RingShape ring_of_a(const Product& p, const Panels& panels, const GridShape& grid, const GridPlace& place) {
  return {.axis = 1,
          .across = part_of(p.size.m, grid.rows, place.row).size(),
          .panels = panels.in_a,
          .offset = panels.first({place.row, 0}),
          .k_is_rows = p.transposed_a()};
}

RingShape ring_of_b(const Product& p, const Panels& panels, const GridShape& grid, const GridPlace& place) {
  return {.axis = 0,
          .across = part_of(p.size.n, grid.columns, place.column).size(),
          .panels = panels.in_b,
          .offset = panels.first({0, place.column}),
          .k_is_rows = !p.transposed_b()};
}

GridShape shape_of(const comm::Communicator& grid) { return {grid.dims()[0], grid.dims()[1]}; }

} // namespace

template <class T>
Cannon<T>::Cannon(const Product& problem, ChosenMethod& method, stepping::Streams<Space>& streams,
                  miniapp::Timers& timers, bool overlap, bool as_on_device)
    : problem_(problem), grid_(method.grid()), place_{grid_.coordinates()[0], grid_.coordinates()[1]},
      overlap_(overlap), as_on_device_(as_on_device), streams_(streams), panels_(problem.size.k, shape_of(grid_)),
      a_(method, "A", panels_, ring_of_a(problem, panels_, shape_of(grid_), place_), streams.compute(),
         streams.exchange()),
      b_(method, "B", panels_, ring_of_b(problem, panels_, shape_of(grid_), place_), streams.compute(),
         streams.exchange()),
      rows_(part_of(problem.size.m, grid_.dims()[0], place_.row)),
      columns_(part_of(problem.size.n, grid_.dims()[1], place_.column)), c_("matmul/C", rows_.size(), columns_.size()),
      begins_(panels_.steps()), product_(problem), timers_(timers), gemm_(timers["gemm"]),
      skew_(timers.communication("skew")), restore_(timers.communication("restore")) {
  if (grid_.size() > 1) samples_.emplace(timers);
}

template <class T>
LocalMatrix<T> Cannon<T>::a() const {
  const auto k = part_of(problem_.size.k, grid_.dims()[1], place_.column);
  return problem_.transposed_a() ? LocalMatrix<T>{a_.natural(), k, rows_} : LocalMatrix<T>{a_.natural(), rows_, k};
}

template <class T>
LocalMatrix<T> Cannon<T>::b() const {
  const auto k = part_of(problem_.size.k, grid_.dims()[0], place_.row);
  return problem_.transposed_b() ? LocalMatrix<T>{b_.natural(), columns_, k}
                                 : LocalMatrix<T>{b_.natural(), k, columns_};
}

/// What is exchanged before or after the steps; waits, so that its time is its own.
template <class T>
template <class Work>
void Cannon<T>::phase(miniapp::Timer& timer, const Work& work) {
  const miniapp::ScopedTimer timed(timer);
  streams_.exchange_follows();
  work();
  streams_.compute_waits();
  streams_.fence();
}

template <class T>
void Cannon<T>::begin(Pass pass, std::int64_t first) {
  pass_ = pass;
  if (moves())
    phase(skew_, [&] {
      a_.skew();
      b_.skew();
    });
  const auto multiplied = panels_.size(panels_.first(place_), begins_[static_cast<std::size_t>(first)]);
  product_.begin(multiplied > 0 ? 1 : problem_.beta);
  for (std::int64_t n = 0; n < first; ++n) move_on(n, false);
  if (first > 0) streams_.fence(); // shifts that are repeated are no part of the steps
  start_ = device::seconds();
}

/// While a block is multiplied the next one is on its way. On a device products are queued before the exchange; on a
/// host messages are posted before the product begins.
template <class T>
void Cannon<T>::move_on(std::int64_t step, bool multiplies) {
  const auto begin = begins_[static_cast<std::size_t>(step)], end = begins_[static_cast<std::size_t>(step) + 1];
  const bool ahead = moves() && overlap_;
  streams_.mark_compute();
  if (ahead && !as_on_device_) start_shifts(begin);
  if (multiplies) {
    const miniapp::ScopedTimer timed(gemm_);
    product_.add(a_.panels(begin, end - begin), b_.panels(begin, end - begin), c_);
  }
  if (ahead && as_on_device_) start_shifts(begin);
  finish_shifts(end);
}

template <class T>
void Cannon<T>::start_shifts(std::int64_t panel) {
  if (a_.begins(panel) || b_.begins(panel)) streams_.exchange_waits();
  for (auto* const block : {&a_, &b_})
    if (block->begins(panel)) block->start_shift(*samples_);
}

/// Of blocks that are multiplied up to that panel; in a pass that moves nothing they are skipped.
template <class T>
void Cannon<T>::finish_shifts(std::int64_t panel) {
  for (auto* const block : {&a_, &b_})
    if (block->ends(panel) && moves() && !overlap_) block->start_shift(*samples_);
  for (auto* const block : {&a_, &b_}) {
    if (!block->ends(panel)) continue;
    if (moves())
      block->finish_shift();
    else
      block->skip_shift();
  }
  if (moves() && (a_.ends(panel) || b_.ends(panel))) streams_.compute_waits();
}

template <class T>
void Cannon<T>::end() {
  if (computes()) product_.end(c_);
  streams_.fence();
  seconds_ = device::seconds() - start_;
  if (!moves()) {
    a_.rewind();
    b_.rewind();
    return;
  }
  a_.add_times(timers_);
  b_.add_times(timers_);
  phase(restore_, [&] {
    a_.restore();
    b_.restore();
  });
}

template <class T>
double Cannon<T>::share_from(std::int64_t step) const {
  return 1 - static_cast<double>(begins_[static_cast<std::size_t>(step)]) / static_cast<double>(panels_.count);
}

template <class T>
void Cannon<T>::reset() {
  a_.reset();
  b_.reset();
}

template <class T>
void Cannon<T>::invalidate() {
  a_.invalidate();
  b_.invalidate();
}

template <class T>
typename Cannon<T>::Operands Cannon<T>::largest_product() const {
  std::int64_t most = 0;
  for (std::size_t n = 1; n < begins_.size(); ++n) most = std::max(most, begins_[n] - begins_[n - 1]);
  return {a_.panels(0, most), b_.panels(0, most), c_};
}

template <class T>
SentBytes Cannon<T>::sent() const {
  const auto a = a_.sent(), b = b_.sent();
  const std::int64_t size = sizeof(T);
  return {.skew = size * (a[0] + b[0]), .shifts = size * (a[1] + b[1]), .restore = size * (a[2] + b[2])};
}

template <class T>
nlohmann::ordered_json Cannon<T>::traffic() const {
  auto table = nlohmann::ordered_json::array();
  for (const auto* const shift : {a_.shift(), b_.shift()})
    if (shift)
      for (auto& row : miniapp::traffic_of(grid_.rank(), *shift)) table.push_back(std::move(row));
  return table;
}

double elements_of_rank(const Product& p, const GridShape& grid, const GridPlace& place) {
  const Panels panels(p.size.k, grid);
  const auto a = ring_of_a(p, panels, grid, place), b = ring_of_b(p, panels, grid, place);
  const auto blocks = [&](const RingShape& shape, int ranks) {
    return (ranks > 1 ? 2.0 : 1.0) * static_cast<double>(largest_block(panels, shape));
  };
  const auto packed = packed_elements(panels, a, place.column) + packed_elements(panels, b, place.row);
  return blocks(a, grid.columns) + blocks(b, grid.rows) +
         static_cast<double>(a.across) * static_cast<double>(b.across) + static_cast<double>(packed);
}

template class Cannon<float>;
template class Cannon<double>;

} // namespace kontor::matmul
