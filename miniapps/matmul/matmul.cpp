// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matmul/matmul.hpp"

#include "machine/blas.hpp"
#include "matmul/kernels/local_product.hpp"
#include "matmul/problem/costs.hpp"
#include "matmul/problem/elements.hpp"
#include "matmul/problem/state.hpp"

#include <kontor/comm/collectives.hpp>

#include <fmt/format.h>

namespace kontor::matmul {
namespace {

/// Before anything of a host's BLAS starts threads.
const Options& with_blas_threads(const Options& o) {
  miniapp::set_blas_threads(blas_threads(o));
  return o;
}

nlohmann::ordered_json volume_record(const comm::Communicator& comm, const Options& o, const GridShape& grid,
                                     const SentBytes& mine, std::int64_t redistribution) {
  const auto sent = comm::allreduce(
      comm, std::array<std::int64_t, 6>{mine.replicate, mine.skew, mine.shifts, mine.restore, mine.sum, redistribution},
      comm::ReduceOp::sum);
  const auto size =
      static_cast<double>(o.precision == miniapp::Precision::single_precision ? sizeof(float) : sizeof(double));
  return {{"replicate", sent[0]},
          {"skew", sent[1]},
          {"shifts", sent[2]},
          {"restore", sent[3]},
          {"sum", sent[4]},
          {"redistribution", sent[5]},
          {"grid_lower_bound", size * grid_lower_bound(o.size, grid)},
          {"lower_bound", size * lower_bound(o.size, comm.size())}};
}

} // namespace

template <class T>
Matmul<T>::Matmul(const Options& options, const miniapp::RunContext& context, bool as_on_device)
    : SteppedApp(context), options_(with_blas_threads(options)), grid_(context.comm, options.shape()),
      method_(grid_.all), streams_(context.overlap) {
  const auto& o = options_;
  context.progress.describe({.step = "step", .work = "flop"});
  require_memory(grid_, o, sizeof(T));
  memory_before_ = comm::allreduce(context.comm, miniapp::memory_in_use(), comm::ReduceOp::sum);
  const MultiplicationContext made_from{.options = o,
                                        .grid = grid_,
                                        .method = method_,
                                        .run = context,
                                        .streams = streams_,
                                        .keeps_a = is_given_as_wanted(o, is_transposed(o.a), grid_.shape),
                                        .keeps_b = is_given_as_wanted(o, is_transposed(o.b), grid_.shape),
                                        .as_on_device = as_on_device};
  multiplication_ = o.algorithm == Algorithm::summa ? make_summa<T>(made_from) : make_cannon<T>(made_from);
  given_.emplace(made_from, *multiplication_);
  require_blas_memory(grid_, o);
  if (given_->redistributes()) redistribute_ = &context.timers.communication("redistribute");
  fill(grid_, o, o.a, stored_a(o), a());
  fill(grid_, o, o.b, stored_b(o), b());
  reset();
  if (context.comm.capabilities().moves_data) {
    elements_.emplace(grid_.all, o, context.seed);
    verifier_.emplace(grid_.all, grid_.shape.columns, o, a(), b(), c());
  }

  record_.exchange = method_.choice();
  record_.traffic = multiplication_->traffic();
  record_.process_grid = {grid_.shape.rows, grid_.shape.columns};
  if (grid_.shape.layers > 1) record_.process_grid.push_back(grid_.shape.layers);
  record_.precision = miniapp::name_of_scalar<T>;
  const double bytes = miniapp::total_bytes(views_of_rank(o, grid_.shape, grid_.place, sizeof(T)));
  record_.field_memory = static_cast<std::int64_t>(bytes);
  memory_of_views_ = comm::allreduce(context.comm, bytes, comm::ReduceOp::sum);
  record_.extras["blas_threads"] = blas_threads(o);
  record_.extras["gemm_library"] = product_library(o);
  record_.extras["kernel"] = o.gemm == Gemm::plain ? "plain" : "gemm";
  record_.extras["volume"] =
      volume_record(context.comm, o, grid_.shape, multiplication_->sent(), given_->sent(o.beta != 0));
}

template <class T>
double Matmul<T>::seconds_of_pass(Pass pass) {
  comm::barrier(this->context().comm);
  multiplication_->begin(pass, 0);
  for (std::int64_t n = 0; n < multiplication_->steps();) n += multiplication_->advance(n);
  multiplication_->end();
  return comm::allreduce(this->context().comm, multiplication_->seconds_of_steps(), comm::ReduceOp::max);
}

template <class T>
void Matmul<T>::warm_up() {
  miniapp::set_blas_threads(blas_threads(options_));
  reset();
  miniapp::run_steps(*this, {});
  finish(multiplication_->steps());
  complete_ = false;
  seconds_.clear();
  reset_blocks(); // which have numbers, as in a run
  products_alone_ = seconds_of_pass(Pass::products);
  reset_blocks();
  transfers_alone_ = seconds_of_pass(Pass::transfers);
  const double in_use = comm::allreduce(this->context().comm, miniapp::memory_in_use(), comm::ReduceOp::sum);
  record_.extras["memory"] = {{"views", memory_of_views_}, {"before", memory_before_}, {"in_use", in_use}};
}

template <class T>
void Matmul<T>::reset() {
  if (elements_ && std::exchange(complete_, false)) miniapp::also(earlier_, [&] { return elements_->product(c()); });
  reset_blocks();
  multiplication_->invalidate();
}

/// What C is before does not matter with beta 0; then it is no number, so that what is not written shows.
template <class T>
void Matmul<T>::reset_blocks() {
  multiplication_->reset();
  first_step_ = 0;
  if (options_.beta != 0) return fill(grid_, options_, options_.c, stored_c(options_), c());
  Kokkos::deep_copy(c().elements, std::numeric_limits<T>::quiet_NaN());
  Kokkos::deep_copy(multiplication_->c().elements, std::numeric_limits<T>::quiet_NaN());
}

/// Collective. Its time is not that of the multiplication.
template <class T>
template <class Work>
void Matmul<T>::redistribute(const Work& work) {
  if (!redistribute_) return;
  const miniapp::ScopedTimer timed(*redistribute_);
  double aside = 0;
  watch_.lap(without_redistribution_);
  work();
  watch_.lap(aside);
}

template <class T>
miniapp::StepPlan Matmul<T>::begin() {
  const auto steps = multiplication_->steps();
  without_redistribution_ = 0;
  watch_ = {};
  redistribute([&] { given_->bring(options_.beta != 0 && first_step_ == 0); });
  multiplication_->begin(Pass::whole, first_step_);
  steps_made_ = first_step_;
  return {.first = first_step_,
          .limit = steps,
          .work_per_step = options_.size.flops() / static_cast<double>(steps),
          .report_every = 1};
}

template <class T>
std::int64_t Matmul<T>::advance(std::int64_t made, std::int64_t /*until*/) {
  const auto count = multiplication_->advance(made);
  steps_made_ = made + count;
  return count;
}

template <class T>
void Matmul<T>::finish(std::int64_t made) {
  if (made < multiplication_->steps()) return;
  multiplication_->end();
  redistribute([&] { given_->give_back(); });
  watch_.lap(without_redistribution_);
  const auto slowest =
      comm::allreduce(this->context().comm, std::array{without_redistribution_, multiplication_->seconds_of_steps()},
                      comm::ReduceOp::max);
  seconds_.push_back({slowest[0], slowest[1]});
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

template <class T>
std::optional<miniapp::StepCounts> Matmul<T>::counts() const {
  const auto& o = options_;
  const auto layer = std::lcm(std::lcm(o.process_grid[0], o.process_grid[1]), o.layers) / o.layers;
  const double counted = share_made() * static_cast<double>(multiplication_->steps());
  const auto panels = o.algorithm == Algorithm::summa ? (o.size.k + o.panel - 1) / o.panel : layer;
  const auto made = static_cast<double>(this->last_step() - first_step_), all = static_cast<double>(panels);
  const auto [m, n, k] =
      std::array{static_cast<double>(o.size.m), static_cast<double>(o.size.n), static_cast<double>(o.size.k)};
  return miniapp::StepCounts{.unit = "panels",
                             .of_deck = panels,
                             .of_loop = this->last_step(),
                             .of_figure = first_step_ + std::llround(counted),
                             .of_field = steps_made_,
                             .work = made / all * 2 * m * n * k};
}

template <class T>
double Matmul<T>::median_of(double Seconds::*part) const {
  std::vector<double> values;
  for (const auto& seconds : seconds_) values.push_back(seconds.*part);
  return values.empty() ? 0 : miniapp::median(std::move(values));
}

template <class T>
std::vector<miniapp::FigureOfMerit> Matmul<T>::figures(double seconds, const miniapp::Calibration& machine) const {
  const double flops = share_made() * options_.size.flops();
  const double attainable = machine.gemm ? machine.gemm->rate : std::numeric_limits<double>::quiet_NaN();
  std::vector<miniapp::FigureOfMerit> figures{{"flops", flops / seconds, "flop/s", attainable}};
  if (redistribute_)
    figures.push_back(
        {"flops_without_redistribution", flops / median_of(&Seconds::without_redistribution), "flop/s", attainable});
  figures.push_back({"flops_of_steps", flops / median_of(&Seconds::steps), "flop/s", attainable});
  return figures;
}

/// What of the transfers was not hidden behind products: the time of the steps less that of the same products alone.
/// Products may be slower beside transfers; that counts as not hidden too.
template <class T>
double Matmul<T>::exposed() const {
  return std::max(0.0, median_of(&Seconds::steps) - share_made() * products_alone_);
}

template <class T>
double Matmul<T>::share_made() const {
  const auto steps = multiplication_->steps();
  return static_cast<double>(steps - first_step_) / static_cast<double>(steps);
}

template <class T>
void Matmul<T>::write_state(output::File& file) const {
  matmul::write_state(file, grid_, options_, {steps_made_, multiplication_->steps()}, multiplication_->c());
}

template <class T>
void Matmul<T>::read_state(const output::Reader& reader) {
  first_step_ = matmul::read_state(reader, grid_, options_, multiplication_->steps(), multiplication_->c());
}

template <class T>
miniapp::AppRecord Matmul<T>::record() const {
  auto record = record_;
  record.table = table();
  record.extras["steps_seconds"] = median_of(&Seconds::steps);
  record.extras["products_alone_seconds"] = products_alone_;
  record.extras["transfers_alone_seconds"] = transfers_alone_;
  record.extras["exposed_seconds"] = exposed();
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
                        median_of(&Seconds::steps), products_alone_, transfers_alone_,
                        100 * std::max(0.0, 1 - exposed() / transfers_alone_));
  return text;
}

/// The product at the run's own block size, in the run's own memory.
template <class T>
miniapp::CalibrationRequest Matmul<T>::calibration() const {
  const auto form = gemm_form(options_);
  const int threads = blas_threads(options_);
  const auto operands = multiplication_->largest_product();
  double message = 0;
  for (const auto& entry : record_.traffic)
    message = std::max(message, static_cast<double>(entry.bytes) / static_cast<double>(entry.messages));
  return {.working_set = static_cast<double>(record_.field_memory),
          .message = message,
          .gemm = [=](const comm::Communicator& comm) {
            Kokkos::deep_copy(operands.c, T(0)); // processors are slower with some numbers than with none
            return miniapp::gemm_rate<T>(comm, {form.transpose_a, form.transpose_b}, operands.a, operands.b, operands.c,
                                         threads);
          }};
}

template <class T>
std::optional<miniapp::FieldOutput> Matmul<T>::write_fields(output::File& file, const std::string& group) const {
  if (options_.write_c) write_matrix(file, group + "/C", grid_, options_, stored_c(options_), c());
  return {};
}

template class Matmul<float>;
template class Matmul<double>;

} // namespace kontor::matmul
