// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/error.hpp>
#include <kontor/comm/reduction.hpp>
#include <kontor/comm/views/concepts.hpp>
#include <kontor/sums/detail/kernels.hpp>
#include <kontor/sums/local_sums.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace kontor::comm {

/// Sums over all ranks of any number of doubles, without an error but for one rounding in the end: the same bits in
/// whatever order values are added, however they are divided among ranks and threads, on a host as on a device. Dot
/// products are those of products that are rounded one by one.
///
/// Made once for a number of sums, then repeated: add(), start(), finish(). The ranks add their accumulators, integers
/// of 448 bytes a sum, by a Reduction, so all that it promises holds here. Collective where it is destroyed, as that
/// one is. Host handle: not copyable.
///
/// (S. Collange, D. Defour, S. Graillat, R. Iakymchuk, Numerical Reproducibility for the Parallel Reduction on Multi-
/// and Many-Core Architectures, Parallel Computing 49, 2015.)
template <class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class ExactSums {
 public:
  using execution_space = ExecutionSpace;                     ///< whose kernels add
  using memory_space = typename ExecutionSpace::memory_space; ///< of what is summed and of the results
  using Results = Kokkos::View<double*, memory_space>;        ///< sum k is result k

  /// Collective over the communicator. `count` sums, equal on all ranks, all 0. `label` names them in errors. The
  /// reduction is queued on `instance`. Throws as the constructor of Reduction, and CallError if `count` is below 0.
  ExactSums(const Communicator& comm, std::string label, int count, const ExecutionSpace& instance = {})
      : local_(std::make_unique<sums::LocalSums<ExecutionSpace>>(checked(label, count), instance)),
        label_(std::move(label)), totals_("comm/exact totals", static_cast<std::size_t>(count) * sums::length),
        results_("comm/exact results", count), alone_(comm.size() == 1),
        reduction_(comm, label_, totals_, ReduceOp::sum, instance) {}

  /// Local; queued on the instance. Adds value(i), a functor's double or float, to sum k for i from 0 to n, before
  /// start(). With `together` above 1 value(i) is a Kokkos::Array of so many doubles for the sums from k on, in one
  /// pass. It is called once for each i, so it may write what it computes as well. Throws CallError if there is no such
  /// sum, or n is below 0.
  template <int together = 1, class Value>
  void add(const ExecutionSpace& instance, int k, std::int64_t n, const Value& value) {
    local(k, together, n).template add<together>(instance, k, n, value);
  }

  /// Local; queued on the instance. The same of value(row, i), for all rows, and i from 0 to `length`.
  template <int together = 1, class Value>
  void add_rows(const ExecutionSpace& instance, int k, std::int64_t rows, std::int64_t length, const Value& value) {
    local(k, together, std::min(rows, length)).template add_rows<together>(instance, k, rows, length, value);
  }

  /// Local; queued on the instance. Adds the products x(i) y(i), of double or float, in double, to sum k. Throws
  /// CallError if the Views' extents differ.
  template <ViewType X, ViewType Y>
  void add_dot(const ExecutionSpace& instance, int k, const X& x, const Y& y) {
    check_view<X>();
    check_view<Y>();
    if (x.extent(0) != y.extent(0))
      throw CallError("exact sums: the dot product of Views '" + x.label() + "' (" + std::to_string(x.extent(0)) +
                      ") and '" + y.label() + "' (" + std::to_string(y.extent(0)) + "), whose extents differ");
    add(instance, k, static_cast<std::int64_t>(x.extent(0)), sums::detail::Product<X, Y>{x, y});
  }

  /// Local; queued on the instance. Adds the elements of a View of double or float to sum k.
  template <ViewType X>
  void add_sum(const ExecutionSpace& instance, int k, const X& x) {
    check_view<X>();
    add(instance, k, static_cast<std::int64_t>(x.extent(0)), sums::detail::Element<X>{x});
  }

  /// Collective, like Reduction::start(): what has been added until now travels. What is added from then on is for the
  /// next time; each begins at 0.
  void start(const ExecutionSpace& caller) {
    if (started_) throw CallError("exact sums '" + label_ + "': start() again before finish()");
    local().take(caller, totals_.data(), alone_ ? results_.data() : nullptr);
    if (!alone_) reduction_.start(caller);
    started_ = true;
  }
  /// Collective, like Reduction::finish(). The sums, valid for what `caller` is given from now on until the next
  /// start().
  const Results& finish(const ExecutionSpace& caller) {
    if (!started_) throw CallError("exact sums '" + label_ + "': finish() without start()");
    started_ = false;
    if (alone_) return results_;
    reduction_.finish(caller);
    Kokkos::parallel_for("comm/exact round", Kokkos::RangePolicy<ExecutionSpace>(caller, 0, results_.extent(0)),
                         sums::detail::Round{totals_.data(), results_.data()});
    return results_;
  }
  /// Where finish() leaves the sums: the same View each time.
  const Results& results() const { return results_; }

  /// Local; queued on the instance. Forgets what has been added since the last start().
  void clear(const ExecutionSpace& instance) { local().clear(instance); }

  /// Local. See Reduction.
  void progress() { reduction_.progress(); }
  /// Local. See Reduction.
  void poll() { reduction_.poll(); }
  /// Whether start() and finish() only queue work, so that they can be recorded by a CapturedGraph.
  bool stream_ordered() const { return alone_ || reduction_.stream_ordered(); }

 private:
  template <class View>
  static void check_view() {
    using T = typename View::non_const_value_type;
    static_assert(View::rank == 1 && (std::is_same_v<T, double> || std::is_same_v<T, float>),
                  "kontor::comm: exact sums are of Views of rank 1 of double or float");
  }

  using Totals = Kokkos::View<std::int64_t*, memory_space>;

  static int checked(const std::string& label, int count) {
    if (count < 0) throw CallError("exact sums '" + label + "': " + std::to_string(count) + " sums");
    return count;
  }

  sums::LocalSums<ExecutionSpace>& local(int k, int together, std::int64_t n) const {
    auto& sums = local();
    if (k < 0 || k > sums.count() - together || n < 0)
      throw CallError("exact sums '" + label_ + "': " + std::to_string(n) + " values for " + std::to_string(together) +
                      " from sum " + std::to_string(k) + " on; there are " + std::to_string(sums.count()));
    return sums;
  }
  sums::LocalSums<ExecutionSpace>& local() const {
    if (!local_) throw CallError("a call on ExactSums that was moved from");
    return *local_;
  }

  std::unique_ptr<sums::LocalSums<ExecutionSpace>> local_;
  std::string label_;
  Totals totals_;
  Results results_;
  bool alone_;
  bool started_ = false;
  Reduction<Totals> reduction_;
};

} // namespace kontor::comm
