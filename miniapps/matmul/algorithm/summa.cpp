// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matmul/algorithm/summa.hpp"

#include "matmul/algorithm/panels.hpp"
#include "matmul/kernels/local_product.hpp"
#include "matmul/problem/given_part.hpp"

#include <kontor/comm/broadcast.hpp>
#include <kontor/device/compat.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace kontor::matmul {
namespace {

/// Part of a panel that one column of ranks has of A, or one row of ranks of B.
struct PanelPart {
  std::int64_t begin = 0; ///< of k
  std::int64_t size = 0;
  int owner = 0;
};

/// Indices of k that are multiplied at once.
struct BroadcastPanel {
  std::int64_t begin = 0;
  std::int64_t size = 0;
  std::vector<PanelPart> of_a, of_b;
};

std::vector<PanelPart> parts_of(std::int64_t k, int ranks, std::int64_t begin, std::int64_t end) {
  std::vector<PanelPart> parts;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto first = std::max(begin, part_begin(k, ranks, rank));
    const auto last = std::min(end, part_begin(k, ranks, rank + 1));
    if (first < last) parts.push_back({first, last - first, rank});
  }
  return parts;
}

std::vector<BroadcastPanel> broadcast_panels(std::int64_t k, std::int64_t width, const GridShape& grid) {
  std::vector<BroadcastPanel> panels;
  for (std::int64_t begin = 0, end = 0; begin < k; begin = end) {
    end = begin + std::min(width, k - begin);
    panels.push_back(
        {begin, end - begin, parts_of(k, grid.columns, begin, end), parts_of(k, grid.rows, begin, end)});
  }
  return panels;
}

/// A panel that has all of k is where a rank's own part of it lies, too, in host memory: nothing is copied
/// into it. On a device a copy takes no time, and a part without gaps is simpler.
bool part_lies_in_panel(std::int64_t width, std::int64_t k, int ranks_along_k) {
  return device::kernels_on_host && width == k && ranks_along_k > 1;
}

template <class T>
class Summa final : public Multiplication<T> {
 public:
  explicit Summa(const MultiplicationContext& context)
      : options_(context.options), grid_(context.grid), overlap_(context.run.overlap),
        as_on_device_(context.as_on_device), streams_(context.streams),
        panels_(broadcast_panels(options_.size.k, options_.panel, grid_.shape)),
        c_(part_of(stored_c(options_), Operation::none)),
        a_(part_of(stored_a(options_), options_.a.operation)),
        b_(part_of(stored_b(options_), options_.b.operation)), product_(options_),
        timeline_(grid_.all.rank(), {{"gemm", panels_.size()}, {"broadcast", panels_.size()}}),
        gemm_(context.run.timers["gemm"]), broadcast_(context.run.timers.communication("broadcast")) {
    const auto width = panels_.front().size;
    requests_.reserve(static_cast<std::size_t>(grid_.shape.columns) +
                      static_cast<std::size_t>(grid_.shape.rows));
    for (std::size_t n = 0; n < std::min(panels_.size(), buffers_.size()); ++n) {
      auto& [a, b] = buffers_[n];
      if (grid_.shape.columns > 1) a = Buffer<T>("matmul/panel of A", c_.rows.size * width);
      if (grid_.shape.rows > 1) b = Buffer<T>("matmul/panel of B", width * c_.columns.size);
    }
    allocate("C", c_);
    if (in_panel(grid_.shape.columns))
      a_.elements = part_in_panel(part_of_a(0), a_transposed(), a_transposed() ? a_.rows : a_.columns);
    else
      allocate("A", a_);
    if (in_panel(grid_.shape.rows))
      b_.elements = part_in_panel(part_of_b(0), !b_transposed(), b_transposed() ? b_.columns : b_.rows);
    else
      allocate("B", b_);
  }

  LocalMatrix<T> a() const override { return a_; }
  LocalMatrix<T> b() const override { return b_; }
  LocalMatrix<T> c() const override { return c_; }
  void reset() override {}

  std::int64_t steps() const override { return number(panels_.size()); }

  void begin(Pass pass, std::int64_t first) override {
    pass_ = pass;
    start_ = device::seconds();
    timeline_.start(streams_.compute());
    product_.begin(options_.beta);
    const auto begun = static_cast<std::size_t>(first);
    for (std::size_t n = 0; n < begun; ++n) product_.skip(part_of_a(n), part_of_b(n));
    if (!moves() || !overlap_ || begun >= panels_.size()) return;
    broadcast(begun);
    wait(begun);
  }

  /// With overlap the next panel travels meanwhile. On a device the product is queued before the host waits
  /// for anything of that panel.
  std::int64_t advance(std::int64_t made) override {
    const auto n = static_cast<std::size_t>(made);
    if (moves() && !overlap_) {
      broadcast(n);
      wait(n);
    }
    const bool next = moves() && overlap_ && n + 1 < panels_.size();
    streams_.mark_compute();
    if (next && !as_on_device_) broadcast(n + 1);
    if (pass_ != Pass::transfers) multiply(n);
    if (next && as_on_device_) broadcast(n + 1);
    if (next) wait(n + 1);
    return 1;
  }

  void end() override {
    if (pass_ != Pass::transfers) product_.end(c_.elements);
    streams_.fence();
    seconds_ = device::seconds() - start_;
  }

  double seconds_of_steps() const override { return seconds_; }
  const Timeline& timeline() const override { return timeline_; }

  typename Multiplication<T>::Operands largest_product() const override {
    return {part_of_a(0), part_of_b(0), c_.elements};
  }

  SentBytes sent() const override {
    std::int64_t received = 0; // by this rank
    for (const auto& panel : panels_) {
      for (const auto& part : panel.of_a)
        if (part.owner != grid_.place.column) received += part.size * c_.rows.size;
      for (const auto& part : panel.of_b)
        if (part.owner != grid_.place.row) received += part.size * c_.columns.size;
    }
    return {.shifts = received * static_cast<std::int64_t>(sizeof(T))};
  }
  std::vector<miniapp::Traffic> traffic() const override { return {}; }

 private:
  enum Activity { gemm, broadcast_of };
  bool moves() const { return pass_ != Pass::products; }
  static std::int64_t number(std::size_t n) { return static_cast<std::int64_t>(n); }

  struct PanelBuffers {
    Buffer<T> a, b;
  };
  using Request = comm::Request<Matrix<T>>;

  /// Without memory for its elements.
  LocalMatrix<T> part_of(const StoredSize& size, Operation operation) const {
    const auto part = wanted_part(size, grid_.shape, operation == Operation::transpose, grid_.place.row,
                                  grid_.place.column);
    return {{}, part.rows, part.columns};
  }
  static void allocate(const char* name, LocalMatrix<T>& matrix) {
    matrix.elements = Matrix<T>(std::string("matmul/") + name, matrix.rows.size, matrix.columns.size);
  }
  bool in_panel(int ranks_along_k) const {
    return part_lies_in_panel(panels_.front().size, options_.size.k, ranks_along_k);
  }
  static Matrix<T> part_in_panel(const Matrix<T>& panel, bool k_is_rows, const AxisPart& k) {
    return along_k(panel, k_is_rows, k.begin, k.begin + k.size);
  }
  bool a_transposed() const { return options_.a.operation == Operation::transpose; }
  bool b_transposed() const { return options_.b.operation == Operation::transpose; }

  /// A panel that several ranks have arrives in a buffer, at them too; else it is used where it is.
  Matrix<T> part_of_a(std::size_t n) const {
    const auto& panel = panels_[n];
    const auto rows = c_.rows.size;
    if (grid_.shape.columns == 1) return in_a(panel.begin, panel.size);
    const auto& buffer = buffers_[n % 2].a;
    return a_transposed() ? matrix_in(buffer, panel.size, rows) : matrix_in(buffer, rows, panel.size);
  }
  Matrix<T> part_of_b(std::size_t n) const {
    const auto& panel = panels_[n];
    const auto columns = c_.columns.size;
    if (grid_.shape.rows == 1) return in_b(panel.begin, panel.size);
    const auto& buffer = buffers_[n % 2].b;
    return b_transposed() ? matrix_in(buffer, columns, panel.size) : matrix_in(buffer, panel.size, columns);
  }
  Matrix<T> in_a(std::int64_t begin, std::int64_t size) const {
    const auto first = begin - (a_transposed() ? a_.rows : a_.columns).begin;
    return along_k(a_.elements, a_transposed(), first, first + size);
  }
  Matrix<T> in_b(std::int64_t begin, std::int64_t size) const {
    const auto first = begin - (b_transposed() ? b_.columns : b_.rows).begin;
    return along_k(b_.elements, !b_transposed(), first, first + size);
  }

  void multiply(std::size_t n) {
    const miniapp::ScopedTimer timed(gemm_);
    timeline_.begin(gemm, number(n), streams_.compute());
    product_.add(part_of_a(n), part_of_b(n), c_.elements);
    timeline_.end(gemm, number(n), streams_.compute());
  }

  /// Begins to bring panel n, after what streams.mark_compute() was called after.
  void broadcast(std::size_t n) {
    const miniapp::ScopedTimer timed(broadcast_);
    streams_.exchange_waits();
    timeline_.begin(broadcast_of, number(n), streams_.exchange());
    const auto& panel = panels_[n];
    const auto bring = [&](const comm::Communicator& comm, const PanelPart& part, const Matrix<T>& whole,
                           bool k_is_rows, const auto& own) {
      const auto begin = part.begin - panel.begin;
      const auto to = along_k(whole, k_is_rows, begin, begin + part.size);
      const auto& instance = streams_.exchange();
      if (comm.rank() == part.owner) {
        const auto from = own(part.begin, part.size);
        if (from.data() != to.data()) Kokkos::deep_copy(instance, to, from);
      }
      if (as_on_device_)
        comm::bcast({comm, instance}, to, part.owner);
      else
        requests_.push_back(comm::ibcast({comm, instance}, to, part.owner));
    };
    if (grid_.shape.columns > 1)
      for (const auto& part : panel.of_a)
        bring(grid_.row, part, part_of_a(n), a_transposed(),
              [this](auto begin, auto size) { return in_a(begin, size); });
    if (grid_.shape.rows > 1)
      for (const auto& part : panel.of_b)
        bring(grid_.column, part, part_of_b(n), !b_transposed(),
              [this](auto begin, auto size) { return in_b(begin, size); });
  }

  void wait(std::size_t n) {
    const miniapp::ScopedTimer timed(broadcast_, 0);
    for (auto& request : requests_) request.wait();
    requests_.clear();
    timeline_.end(broadcast_of, number(n), streams_.exchange());
    streams_.compute_waits();
  }

  const Options& options_;
  const ProcessGrid& grid_;
  bool overlap_;
  bool as_on_device_;
  stepping::Streams<Space>& streams_;
  std::vector<BroadcastPanel> panels_;
  LocalMatrix<T> c_;
  LocalMatrix<T> a_;
  LocalMatrix<T> b_;
  std::array<PanelBuffers, 2> buffers_; ///< in turn
  std::vector<Request> requests_;       ///< of a panel
  LocalProduct<T> product_;
  Timeline timeline_;
  Pass pass_ = Pass::whole;
  double start_ = 0; ///< of device::seconds()
  double seconds_ = 0;
  miniapp::Timer& gemm_;
  miniapp::Timer& broadcast_;
};

} // namespace

std::vector<miniapp::Allocation> summa_views(const Options& o, const GridShape& grid,
                                             const GridPlace& place) {
  const auto elements = [&](const StoredSize& size, bool transposed) {
    const auto part = wanted_part(size, grid, transposed, place.row, place.column);
    return static_cast<double>(part.rows.size) * static_cast<double>(part.columns.size);
  };
  const auto width = std::min(o.size.k, o.panel);
  const auto c = wanted_part(stored_c(o), grid, false, place.row, place.column);
  const auto panels = static_cast<double>(width) * (width == o.size.k ? 1 : 2);
  const auto own = [&](const StoredSize& size, bool transposed, int ranks_along_k) {
    return part_lies_in_panel(width, o.size.k, ranks_along_k) ? 0 : elements(size, transposed);
  };
  return {{"matmul/A", own(stored_a(o), is_transposed(o.a), grid.columns)},
          {"matmul/B", own(stored_b(o), is_transposed(o.b), grid.rows)},
          {"matmul/panel of A", grid.columns > 1 ? panels * static_cast<double>(c.rows.size) : 0},
          {"matmul/panel of B", grid.rows > 1 ? panels * static_cast<double>(c.columns.size) : 0}};
}

template <class T>
std::unique_ptr<Multiplication<T>> make_summa(const MultiplicationContext& context) {
  return std::make_unique<Summa<T>>(context);
}

template std::unique_ptr<Multiplication<float>> make_summa(const MultiplicationContext&);
template std::unique_ptr<Multiplication<double>> make_summa(const MultiplicationContext&);

} // namespace kontor::matmul
