// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matmul/algorithm/layer_sum.hpp"
#include "matmul/algorithm/multiplication.hpp"
#include "matmul/algorithm/ring_block.hpp"
#include "matmul/kernels/local_product.hpp"
#include "matmul/problem/given_part.hpp"
#include "run/record/sampled_exchange.hpp"

#include <kontor/comm/broadcast.hpp>

namespace kontor::matmul {
namespace {

/// Of A and of B, by whether they must be in place again.
struct Rings {
  RingShape a, b;

  Rings(const Options& o, const GridShape& grid, const GridPlace& place, const Panels& panels, bool keeps_a,
        bool keeps_b)
      : a{.across = block_part(o.size.m, grid.rows, place.row).size,
          .panels = panels.in_a,
          .offset = panels.first({place.layer, place.row, 0}),
          .shifts = panels.shifts_of_a(),
          .k_is_rows = is_transposed(o.a),
          .restores = keeps_a && place.layer == 0},
        b{.across = block_part(o.size.n, grid.columns, place.column).size,
          .panels = panels.in_b,
          .offset = panels.first({place.layer, 0, place.column}),
          .shifts = panels.shifts_of_b(),
          .k_is_rows = !is_transposed(o.b),
          .restores = keeps_b && place.layer == 0} {}
};

/// The panels of a rank are multiplied segment by segment, and while a block is multiplied the next one is on its way.
template <class T>
class Cannon final : public Multiplication<T> {
 public:
  explicit Cannon(const MultiplicationContext& context)
      : options_(context.options), grid_(context.grid), overlap_(context.run.overlap),
        as_on_device_(context.as_on_device), beta_(grid_.place.layer == 0 ? options_.beta : 0),
        streams_(context.streams), panels_(options_.size.k, grid_.shape),
        rings_(options_, grid_.shape, grid_.place, panels_, context.keeps_a, context.keeps_b),
        a_(grid_.ring_of_row(context.method), "A", panels_, rings_.a, streams_.compute(), streams_.exchange()),
        b_(grid_.ring_of_column(context.method), "B", panels_, rings_.b, streams_.compute(), streams_.exchange()),
        rows_(block_part(options_.size.m, grid_.shape.rows, grid_.place.row)),
        columns_(block_part(options_.size.n, grid_.shape.columns, grid_.place.column)),
        c_("matmul/C", rows_.size, columns_.size), moving_{{a_, panels_.in_a}, {b_, panels_.in_b}},
        segments_(segments(panels_, grid_.place, a_.stays() || b_.stays())), product_(options_),
        gemm_(context.run.timers["gemm"]),
        samples_(a_.shift() || b_.shift() ? std::optional<miniapp::ExchangeSamples>(context.run.timers) : std::nullopt),
        skew_(context.run.timers.communication("skew")), timers_(context.run.timers),
        restore_(context.run.timers.communication("restore")) {
    if (grid_.shape.layers == 1) return;
    sum_.emplace(grid_.ring_of_layers(context.method), c_, streams_.exchange());
    replicate_ = &context.run.timers.communication("replicate");
    layer_sum_ = &context.run.timers.communication("layer_sum");
  }

  LocalMatrix<T> a() const override {
    const auto k = block_part(options_.size.k, grid_.shape.columns, grid_.place.column);
    return {a_.natural(), is_transposed(options_.a) ? k : rows_, is_transposed(options_.a) ? rows_ : k};
  }
  LocalMatrix<T> b() const override {
    const auto k = block_part(options_.size.k, grid_.shape.rows, grid_.place.row);
    return {b_.natural(), is_transposed(options_.b) ? columns_ : k, is_transposed(options_.b) ? k : columns_};
  }
  LocalMatrix<T> c() const override { return {c_, rows_, columns_}; }

  void begin(Pass pass, std::int64_t first) override {
    pass_ = pass;
    if (moves() && sum_)
      phase(*replicate_, [&] {
        for (const auto* block : {&a_, &b_}) comm::bcast({grid_.layer_group, streams_.exchange()}, block->natural(), 0);
      });
    if (moves())
      phase(skew_, [&] {
        a_.skew();
        b_.skew();
      });
    product_.begin(beta_);
    for (next_ = 0; next_ < segments_.size() && segments_[next_].begin < first;) next_segment(true);
    if (first > 0) streams_.fence(); // shifts that are repeated are no part of the steps
    start_ = device::seconds();
  }

  /// Up to where a segment of all ranks begins.
  std::int64_t advance(std::int64_t /*made*/) override {
    const auto first = segments_[next_].begin;
    do next_segment(false);
    while (next_ < segments_.size() && !is_common(segments_[next_].begin));
    return segments_[next_ - 1].end - first;
  }

  void end() override {
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
    if (sum_) phase(*layer_sum_, [&] { sum_->run(); });
  }

  std::int64_t steps() const override { return panels_.steps; }

  void reset() override {
    a_.reset();
    b_.reset();
  }

  void invalidate() override {
    a_.invalidate();
    b_.invalidate();
  }

  double seconds_of_steps() const override { return seconds_; }

  typename Multiplication<T>::Operands largest_product() const override {
    const auto largest = *std::max_element(segments_.begin(), segments_.end(),
                                           [](auto x, auto y) { return x.end - x.begin < y.end - y.begin; });
    const auto count = largest.end - largest.begin;
    return {a_.panels(0, count), b_.panels(0, count), c_};
  }

  SentBytes sent() const override {
    const auto a = a_.sent(), b = b_.sent();
    const std::int64_t size = sizeof(T);
    const bool copied = grid_.place.layer > 0; // counted where they arrive
    return {.replicate = copied ? size * static_cast<std::int64_t>(a_.natural().size() + b_.natural().size()) : 0,
            .skew = size * (a.skew + b.skew),
            .shifts = size * (a.shifts + b.shifts),
            .restore = size * (a.restore + b.restore),
            .sum = sum_ ? size * sum_->sent() : 0};
  }

  std::vector<miniapp::Traffic> traffic() const override {
    std::vector<miniapp::Traffic> table;
    for (const auto* const shift : {a_.shift(), b_.shift()})
      if (shift)
        for (const auto& entry : miniapp::traffic_of(grid_.all.rank(), *shift)) table.push_back(entry);
    return table;
  }

 private:
  /// A or B on its way.
  struct Moving {
    RingBlock<T>& block;
    std::int64_t panels; ///< of a block
    double before = 0;   ///< seconds of the block's shifts up to the one that is under way
  };

  /// What is exchanged before or after the steps; waits, so that its time is its own.
  template <class Work>
  void phase(miniapp::Timer& timer, const Work& work) {
    const miniapp::ScopedTimer timed(timer);
    streams_.exchange_follows();
    work();
    streams_.compute_waits();
    streams_.fence();
  }

  bool moves() const { return pass_ != Pass::products; }
  bool computes() const { return pass_ != Pass::transfers; }
  /// On a device products are queued before the exchange, which may wait on the host; on a host messages are posted
  /// before the product begins.
  void next_segment(bool multiplied_before) {
    const auto segment = segments_[next_];
    const bool ahead = moves() && overlap_;
    streams_.mark_compute();
    if (ahead && !as_on_device_) start_shifts(segment.begin);
    if (computes()) multiply(segment, multiplied_before);
    if (ahead && as_on_device_) start_shifts(segment.begin);
    finish_shifts(segment.end);
    ++next_;
  }
  void multiply(const Segment& segment, bool multiplied_before) {
    const auto count = segment.end - segment.begin;
    const auto a = a_.panels(segment.begin, count), b = b_.panels(segment.begin, count);
    if (multiplied_before) return product_.skip(a, b);
    const miniapp::ScopedTimer timed(gemm_);
    product_.add(a, b, c_);
  }
  /// Whether a segment of all ranks begins at that panel.
  bool is_common(std::int64_t panel) const { return panel % panels_.in_a == 0 || panel % panels_.in_b == 0; }
  /// Of blocks of which another one follows the one that is multiplied from that panel on.
  void start_shifts(std::int64_t panel) {
    const auto begins = [&](const Moving& m) { return panel % m.panels == 0 && panel + m.panels < panels_.steps; };
    if (begins(moving_[0]) || begins(moving_[1])) streams_.exchange_waits();
    for (auto& moving : moving_)
      if (begins(moving)) start_shift(moving);
  }
  /// Of blocks that are multiplied up to that panel; in a pass that moves nothing they are skipped.
  void finish_shifts(std::int64_t panel) {
    const auto ends = [&](const Moving& m) { return panel % m.panels == 0 && panel < panels_.steps; };
    for (auto& moving : moving_)
      if (ends(moving) && moves() && !overlap_) start_shift(moving);
    for (const auto& moving : moving_) {
      if (!ends(moving)) continue;
      if (!moves()) {
        moving.block.skip_shift();
        continue;
      }
      miniapp::traced(samples_->wait, [&] { moving.block.finish_shift(); });
      samples_->durations.add(moving.block.seconds_of_shifts() - moving.before);
    }
    if (moves() && (ends(moving_[0]) || ends(moving_[1]))) streams_.compute_waits();
  }
  void start_shift(Moving& moving) {
    moving.before = moving.block.seconds_of_shifts();
    miniapp::traced(samples_->post, [&] { moving.block.start_shift(); });
  }

  const Options& options_;
  const ProcessGrid& grid_;
  bool overlap_;
  bool as_on_device_;
  double beta_; ///< 0 in layers other than the first
  stepping::Streams<Space>& streams_;
  Panels panels_;
  Rings rings_;
  RingBlock<T> a_;
  RingBlock<T> b_;
  AxisPart rows_;
  AxisPart columns_;
  Matrix<T> c_;
  Moving moving_[2];
  std::vector<Segment> segments_;
  LocalProduct<T> product_;
  Pass pass_ = Pass::whole;
  std::size_t next_ = 0; ///< segment
  double start_ = 0;     ///< of device::seconds()
  double seconds_ = 0;
  miniapp::Timer& gemm_;
  std::optional<miniapp::ExchangeSamples> samples_; ///< of shifts of A and of B; none: there are none
  std::optional<LayerSum<T>> sum_;                  ///< of several layers
  miniapp::Timer& skew_;
  miniapp::Timers& timers_;
  miniapp::Timer& restore_;
  miniapp::Timer* replicate_ = nullptr;
  miniapp::Timer* layer_sum_ = nullptr;
};

} // namespace

std::vector<miniapp::Allocation> cannon_views(const Options& o, const GridShape& grid, const GridPlace& place) {
  const Panels panels(o.size.k, grid);
  const auto buffers = [](int ring) { return ring == 1 ? 1.0 : 2.0; };
  const Rings rings(o, grid, place, panels, is_given_as_wanted(o, is_transposed(o.a), grid),
                    is_given_as_wanted(o, is_transposed(o.b), grid));
  const auto &a = rings.a, &b = rings.b;
  return {{"matmul/A", buffers(grid.columns) * static_cast<double>(largest_block(panels, a))},
          {"matmul/B", buffers(grid.rows) * static_cast<double>(largest_block(panels, b))},
          {"comm/packed parts of A", static_cast<double>(packed_elements(panels, a, grid.columns, place.column))},
          {"comm/packed parts of B", static_cast<double>(packed_elements(panels, b, grid.rows, place.row))}};
}

template <class T>
std::unique_ptr<Multiplication<T>> make_cannon(const MultiplicationContext& context) {
  return std::make_unique<Cannon<T>>(context);
}

template std::unique_ptr<Multiplication<float>> make_cannon(const MultiplicationContext&);
template std::unique_ptr<Multiplication<double>> make_cannon(const MultiplicationContext&);

} // namespace kontor::matmul
