// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matmul/algorithm/multiplication.hpp"
#include "matmul/kernels/local_product.hpp"
#include "matmul/problem/given_part.hpp"

#include <kontor/comm/broadcast.hpp>
#include <kontor/device/compat.hpp>

#include <array>

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

std::vector<BroadcastPanel> broadcast_panels(std::int64_t k, std::int64_t width) {
  std::vector<BroadcastPanel> panels;
  for (std::int64_t begin = 0; begin < k; begin += panels.back().size)
    panels.push_back({begin, std::min(width, k - begin)});
  return panels;
}

/// A panel that has all of k is where a rank's own part of it lies, too, in host memory: nothing is copied into it. On
/// a device a copy takes no time, and a part without gaps is simpler.
bool part_lies_in_panel(std::int64_t width, std::int64_t k, int ranks_along_k) {
  return device::kernels_on_host && width == k && ranks_along_k > 1;
}

/// A or B of a rank, and the panels of it.
template <class T>
struct Operand {
  LocalMatrix<T> own;
  bool k_is_rows;                            ///< as it is stored, its rows are numbered along k
  std::int64_t across;                       ///< rows of op(A), columns of op(B)
  const comm::Communicator& comm;            ///< of the ranks that have parts of its panels
  std::vector<std::vector<PanelPart>> parts; ///< of each panel
  std::array<Buffer<T>, 2> buffers;          ///< of panels, in turn

  /// Local. Its Views; a part that lies in a panel has none of its own.
  Operand(const std::string& name, const MatrixParts& part, bool along_rows, std::int64_t length_across,
          const comm::Communicator& ranks, const std::vector<BroadcastPanel>& panels)
      : own{{}, part.rows, part.columns}, k_is_rows(along_rows), across(length_across), comm(ranks) {
    const auto k = panels.back().begin + panels.back().size, width = panels.front().size;
    for (const auto& panel : panels) parts.push_back(parts_of(k, comm.size(), panel.begin, panel.begin + panel.size));
    for (std::size_t n = 0; n < std::min(panels.size(), buffers.size()) && comm.size() > 1; ++n)
      buffers[n] = Buffer<T>("matmul/panel of " + name, across * width);
    if (part_lies_in_panel(width, k, comm.size()))
      own.elements = along_k(panel(0, panels[0]), k_is_rows, of_k().begin, of_k().begin + of_k().size);
    else
      own.elements = Matrix<T>("matmul/" + name, own.rows.size, own.columns.size);
  }

  /// Local. Panel n: it arrives in a buffer if several ranks have it, at them too; else it is used where it is.
  Matrix<T> panel(std::size_t n, const BroadcastPanel& of) const {
    if (comm.size() == 1) return of_own(of.begin, of.size);
    const auto& buffer = buffers[n % 2];
    return k_is_rows ? matrix_in(buffer, of.size, across) : matrix_in(buffer, across, of.size);
  }
  /// Local. Indices of k that this rank has.
  Matrix<T> of_own(std::int64_t begin, std::int64_t size) const {
    const auto first = begin - of_k().begin;
    return along_k(own.elements, k_is_rows, first, first + size);
  }
  const AxisPart& of_k() const { return k_is_rows ? own.rows : own.columns; }
  /// Elements that this rank receives.
  std::int64_t received() const {
    std::int64_t sum = 0;
    for (const auto& panel : parts)
      for (const auto& part : panel)
        if (part.owner != comm.rank()) sum += part.size * across;
    return sum;
  }
};

template <class T>
class Summa final : public Multiplication<T> {
 public:
  explicit Summa(const MultiplicationContext& context)
      : options_(context.options), grid_(context.grid), overlap_(context.run.overlap),
        as_on_device_(context.as_on_device), streams_(context.streams),
        panels_(broadcast_panels(options_.size.k, options_.panel)), c_(make_c()),
        a_("A", part_of(stored_a(options_), is_transposed(options_.a)), is_transposed(options_.a), c_.rows.size,
           grid_.row, panels_),
        b_("B", part_of(stored_b(options_), is_transposed(options_.b)), !is_transposed(options_.b), c_.columns.size,
           grid_.column, panels_),
        product_(options_), gemm_(context.run.timers["gemm"]),
        broadcast_(context.run.timers.communication("broadcast")),
        exchanges_(context.run.timers.durations("exchange")) {
    requests_.reserve(static_cast<std::size_t>(grid_.shape.columns) + static_cast<std::size_t>(grid_.shape.rows));
  }

  LocalMatrix<T> a() const override { return a_.own; }
  LocalMatrix<T> b() const override { return b_.own; }
  LocalMatrix<T> c() const override { return c_; }
  void reset() override {}

  std::int64_t steps() const override { return static_cast<std::int64_t>(panels_.size()); }

  void begin(Pass pass, std::int64_t first) override {
    pass_ = pass;
    start_ = device::seconds();
    product_.begin(options_.beta);
    const auto begun = static_cast<std::size_t>(first);
    for (std::size_t n = 0; n < begun; ++n) product_.skip(a_.panel(n, panels_[n]), b_.panel(n, panels_[n]));
    if (!moves() || !overlap_ || begun >= panels_.size()) return;
    broadcast(begun);
    wait();
  }

  /// With overlap the next panel travels meanwhile. On a device the product is queued before the host waits for
  /// anything of that panel.
  std::int64_t advance(std::int64_t made) override {
    const auto n = static_cast<std::size_t>(made);
    if (moves() && !overlap_) {
      broadcast(n);
      wait();
    }
    const bool next = moves() && overlap_ && n + 1 < panels_.size();
    streams_.mark_compute();
    if (next && !as_on_device_) broadcast(n + 1);
    if (pass_ != Pass::transfers) multiply(n);
    if (next && as_on_device_) broadcast(n + 1);
    if (next) wait();
    return 1;
  }

  void end() override {
    if (pass_ != Pass::transfers) product_.end(c_.elements);
    streams_.fence();
    seconds_ = device::seconds() - start_;
  }

  double seconds_of_steps() const override { return seconds_; }

  typename Multiplication<T>::Operands largest_product() const override {
    return {a_.panel(0, panels_[0]), b_.panel(0, panels_[0]), c_.elements};
  }

  SentBytes sent() const override {
    return {.shifts = (a_.received() + b_.received()) * static_cast<std::int64_t>(sizeof(T))};
  }
  std::vector<miniapp::Traffic> traffic() const override { return {}; }

 private:
  bool moves() const { return pass_ != Pass::products; }

  MatrixParts part_of(const StoredSize& size, bool transposed) const {
    return wanted_part(size, grid_.shape, transposed, grid_.place.row, grid_.place.column);
  }
  LocalMatrix<T> make_c() const {
    const auto part = part_of(stored_c(options_), false);
    return {Matrix<T>("matmul/C", part.rows.size, part.columns.size), part.rows, part.columns};
  }

  void multiply(std::size_t n) {
    const miniapp::ScopedTimer timed(gemm_);
    product_.add(a_.panel(n, panels_[n]), b_.panel(n, panels_[n]), c_.elements);
  }

  /// Begins to bring panel n, after what streams.mark_compute() was called after.
  void broadcast(std::size_t n) {
    before_ = broadcast_.seconds;
    const miniapp::ScopedTimer timed(broadcast_);
    streams_.exchange_waits();
    const auto& instance = streams_.exchange();
    for (const auto* operand : {&a_, &b_})
      for (const auto& part : operand->parts[n]) {
        const auto& comm = operand->comm;
        if (comm.size() == 1) continue;
        const auto begin = part.begin - panels_[n].begin;
        const auto to = along_k(operand->panel(n, panels_[n]), operand->k_is_rows, begin, begin + part.size);
        if (comm.rank() == part.owner) {
          const auto from = operand->of_own(part.begin, part.size);
          if (from.data() != to.data()) Kokkos::deep_copy(instance, to, from);
        }
        if (as_on_device_)
          comm::bcast({comm, instance}, to, part.owner);
        else
          requests_.push_back(comm::ibcast({comm, instance}, to, part.owner));
      }
  }

  void wait() {
    {
      const miniapp::ScopedTimer timed(broadcast_, 0);
      for (auto& request : requests_) request.wait();
      requests_.clear();
      streams_.compute_waits();
    }
    if (grid_.all.size() > 1) exchanges_.add(broadcast_.seconds - before_);
  }

  const Options& options_;
  const ProcessGrid& grid_;
  bool overlap_;
  bool as_on_device_;
  stepping::Streams<Space>& streams_;
  std::vector<BroadcastPanel> panels_;
  LocalMatrix<T> c_;
  Operand<T> a_;
  Operand<T> b_;
  std::vector<comm::Request<Matrix<T>>> requests_; ///< of a panel
  LocalProduct<T> product_;
  Pass pass_ = Pass::whole;
  double start_ = 0; ///< of device::seconds()
  double seconds_ = 0;
  miniapp::Timer& gemm_;
  miniapp::Timer& broadcast_;
  miniapp::Distribution& exchanges_; ///< broadcasts of a panel of A and of B
  double before_ = 0;                ///< seconds of broadcasts up to the one that is under way
};

} // namespace

std::vector<miniapp::Allocation> summa_views(const Options& o, const GridShape& grid, const GridPlace& place) {
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
