// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matmul/matmul.hpp"

#include "machine/blas.hpp"
#include "machine/memory.hpp"
#include "matmul/costs.hpp"
#include "matmul/problem/elements.hpp"
#include "matmul/problem/state.hpp"

#include <kontor/comm/collectives.hpp>

#include <fmt/format.h>

namespace kontor::matmul {
namespace {

/// Local. Threads of a rank's BLAS. Kokkos has been initialised.
int blas_threads(const Options& o) {
  return o.blas_threads > 0 ? static_cast<int>(o.blas_threads) : Kokkos::DefaultHostExecutionSpace().concurrency();
}

/// Before anything of a host's BLAS starts threads.
const Options& with_blas_threads(const Options& o) {
  miniapp::set_blas_threads(blas_threads(o));
  return o;
}

/// Who makes local products, in words for people.
std::string product_library(const Product& p) {
  return p.gemm == Gemm::plain ? "plain loops" : miniapp::gemm_library();
}

nlohmann::ordered_json volume_record(const comm::Communicator& comm, const Options& o, const SentBytes& mine) {
  const auto sent = comm::allreduce(comm, std::array{mine.skew, mine.shifts, mine.restore}, comm::ReduceOp::sum);
  const auto size =
      static_cast<double>(o.precision == miniapp::Precision::single_precision ? sizeof(float) : sizeof(double));
  return {{"skew", sent[0]},
          {"shifts", sent[1]},
          {"restore", sent[2]},
          {"grid_lower_bound", size * grid_lower_bound(o.size, o.shape())},
          {"lower_bound", size * lower_bound(o.size, comm.size())}};
}

} // namespace

template <class T>
Matmul<T>::Matmul(const Options& options, const miniapp::RunContext& context, bool as_on_device)
    : SteppedApp(context), options_(with_blas_threads(options)),
      grid_(context.comm, {options.shape().rows, options.shape().columns}, {true, true}), method_(grid_),
      streams_(context.overlap) {
  const auto& o = options_;
  context.progress.describe({.step = "step"});
  const double bytes = bytes_of_rank(o, o.shape(), {grid_.coordinates()[0], grid_.coordinates()[1]}, sizeof(T));
  miniapp::require_memory(grid_, bytes);
  cannon_.emplace(o, method_, streams_, context.timers, context.overlap, as_on_device);
  require_blas_memory(grid_, blas_threads(o));
  fill(grid_, o.a, o.stored_a(), a());
  fill(grid_, o.b, o.stored_b(), b());
  reset();
  if (context.comm.capabilities().moves_data) {
    elements_.emplace(grid_, o, context.seed);
    verifier_.emplace(grid_, o.shape().columns, o, a(), b(), c());
  }

  record_ = method_.record();
  record_.update({{"traffic", cannon_->traffic()},
                  {"process_grid", o.process_grid},
                  {"precision", miniapp::name_of_scalar<T>},
                  {"field_memory", static_cast<std::int64_t>(bytes)},
                  {"blas_threads", blas_threads(o)},
                  {"gemm_library", product_library(o)},
                  {"kernel", o.gemm == Gemm::plain ? "plain" : "gemm"},
                  {"volume", volume_record(context.comm, o, cannon_->sent())}});
}

template <class T>
double Matmul<T>::seconds_of_pass(Pass pass) {
  comm::barrier(this->context().comm);
  cannon_->begin(pass, 0);
  for (std::int64_t n = 0; n < cannon_->steps(); ++n) cannon_->step(n);
  cannon_->end();
  return comm::allreduce(this->context().comm, cannon_->seconds_of_steps(), comm::ReduceOp::max);
}

template <class T>
void Matmul<T>::warm_up() {
  miniapp::set_blas_threads(blas_threads(options_));
  reset();
  miniapp::run_steps(launches(), {});
  finish(cannon_->steps());
  complete_ = false;
  seconds_.clear();
  reset_blocks(); // which have numbers, as in a run
  products_alone_ = seconds_of_pass(Pass::products);
  reset_blocks();
  transfers_alone_ = seconds_of_pass(Pass::transfers);
}

template <class T>
void Matmul<T>::reset() {
  if (elements_ && std::exchange(complete_, false)) miniapp::also(earlier_, [&] { return elements_->product(c()); });
  reset_blocks();
  cannon_->invalidate();
}

/// What C is before does not matter with beta 0; then it is no number, so that what is not written shows.
template <class T>
void Matmul<T>::reset_blocks() {
  cannon_->reset();
  first_step_ = 0;
  if (options_.beta != 0) return fill(grid_, options_.c, options_.stored_c(), c());
  Kokkos::deep_copy(c().elements, std::numeric_limits<T>::quiet_NaN());
}

template <class T>
miniapp::StepPlan Matmul<T>::plan() const {
  return {.first = first_step_, .limit = cannon_->steps()};
}

template <class T>
int Matmul<T>::queue(int state, const miniapp::Pass& pass) {
  cannon_->step(pass.after);
  return state;
}

template <class T>
void Matmul<T>::finish(std::int64_t made) {
  if (made < cannon_->steps()) return;
  cannon_->end();
  seconds_.push_back(comm::allreduce(this->context().comm, cannon_->seconds_of_steps(), comm::ReduceOp::max));
  complete_ = true;
}

template <class T>
miniapp::Verification Matmul<T>::verify() {
  auto result = verifier_->verify(a(), b(), c());
  result.judged = {"all of C by C x against A (B x)", "A and B are what they were"};
  miniapp::also(result, [&] { return earlier_; });
  miniapp::also(result, [&] { return elements_->product(c()); });
  if (options_.write_c) file_values_ = elements_->in_file("/fields/C", c());
  return result;
}

template <class T>
miniapp::Verification Matmul<T>::verify_start() {
  return elements_->start(a(), b(), c());
}

/// The deck's steps, between multiples of lcm / columns and of lcm / rows up to their lcm, and the part of it after the
/// first ones.
template <class T>
std::optional<miniapp::StepCounts> Matmul<T>::counts() const {
  const auto rows = options_.process_grid[0], columns = options_.process_grid[1], all = std::lcm(rows, columns);
  std::int64_t steps = 0, left = 0;
  for (std::int64_t t = 0; t < all; ++t) {
    if (t % (all / columns) == 0 || t % (all / rows) == 0) ++steps;
    if (steps > first_step_) ++left;
  }
  return miniapp::StepCounts{.unit = "steps",
                             .of_deck = steps,
                             .of_loop = this->last_step(),
                             .of_figure = cannon_->steps(),
                             .of_field = steps_made_,
                             .work = static_cast<double>(left) / static_cast<double>(all) * options_.size.flops()};
}

template <class T>
double Matmul<T>::median_of_steps() const {
  return seconds_.empty() ? 0 : miniapp::median(seconds_);
}

template <class T>
std::vector<miniapp::FigureOfMerit> Matmul<T>::figures(double seconds, const miniapp::Calibration& machine) const {
  const double flops = share_made() * options_.size.flops();
  const double attainable = machine.gemm ? machine.gemm->rate : std::numeric_limits<double>::quiet_NaN();
  return {{"flops", flops / seconds, "flop/s", attainable},
          {"flops_of_steps", flops / median_of_steps(), "flop/s", attainable}};
}

/// What of the transfers was not hidden behind products: the time of the steps less that of the same products alone.
/// Products may be slower beside transfers; that counts as not hidden too.
template <class T>
double Matmul<T>::exposed() const {
  return std::max(0.0, median_of_steps() - share_made() * products_alone_);
}

template <class T>
double Matmul<T>::share_made() const {
  return cannon_->share_from(first_step_);
}

template <class T>
void Matmul<T>::write_state(output::File& file) const {
  matmul::write_state(file, options_.shape(), options_.stored_c(), {steps_made_, cannon_->steps()}, c());
}

template <class T>
void Matmul<T>::read_state(const output::Reader& reader) {
  first_step_ = matmul::read_state(reader, options_.shape(), options_.stored_c(), cannon_->steps(), c());
}

template <class T>
nlohmann::ordered_json Matmul<T>::record() const {
  auto record = record_;
  record["steps_seconds"] = median_of_steps();
  record["products_alone_seconds"] = products_alone_;
  record["transfers_alone_seconds"] = transfers_alone_;
  record["exposed_seconds"] = exposed();
  return record;
}

template <class T>
std::string Matmul<T>::table() const {
  const auto& o = options_;
  auto text = fmt::format("{} x {} times {} x {}, products by {}\n", o.size.m, o.size.k, o.size.k, o.size.n,
                          product_library(o));
  if (transfers_alone_ > 0)
    text += fmt::format("steps {:.4f} s; products alone {:.4f} s, transfers alone {:.4f} s: {:.0f} % of "
                        "them hidden\n",
                        median_of_steps(), products_alone_, transfers_alone_,
                        100 * std::max(0.0, 1 - exposed() / transfers_alone_));
  return text;
}

/// The product at the run's own block size, in the run's own memory.
template <class T>
miniapp::CalibrationRequest Matmul<T>::calibration() const {
  const auto form = gemm_form(options_);
  const int threads = blas_threads(options_);
  const auto operands = cannon_->largest_product();
  return {.working_set = record_.at("field_memory").template get<double>(),
          .gemm = [=](const comm::Communicator& comm) {
            Kokkos::deep_copy(operands.c, T(0)); // processors are slower with some numbers than with none
            return miniapp::gemm_rate<T>(comm, {form.transpose_a, form.transpose_b}, operands.a, operands.b, operands.c,
                                         threads);
          }};
}

template <class T>
std::optional<miniapp::FieldOutput> Matmul<T>::write_fields(output::File& file, const std::string& group) const {
  if (options_.write_c) write_matrix(file, group + "/C", options_.stored_c(), c());
  return {};
}

template class Matmul<float>;
template class Matmul<double>;

} // namespace kontor::matmul
