// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/cg.hpp"

#include "cg/check/file_entries.hpp"
#include "cg/problem/memory.hpp"
#include "cg/state.hpp"
#include "machine/baseline_communicator.hpp"
#include "machine/huge_pages.hpp"
#include "partition/row_order.hpp"
#include "run/record/exchange_record.hpp"

#include <kontor/comm/collectives.hpp>

#include <numeric>

namespace kontor::cg {
namespace {

std::unique_ptr<Matrix> format_rows(const Problem& problem, LinearSystem& system, const SolverOptions& options) {
  const auto& rows = system.matrix;
  const auto interior = system.partition.interior;
  const auto columns = system.partition.own + system.partition.ghosts;
  switch (options.format) {
  case Format::sell:
    if (!only_chunks(options)) return make_sell(rows, interior, columns);
    if (!system.chunks) { // rows of a file
      system.unassembled = system.entries();
      system.chunks = make_sell_rows(std::exchange(system.matrix, {}), interior, columns);
    }
    return make_sell(*system.chunks);
  case Format::matrix_free: return problem.matrix_free();
  case Format::csr: break;
  }
  miniapp::use_huge_pages(rows.values);
  miniapp::use_huge_pages(rows.columns);
  return make_csr(rows, interior);
}

/// Collective. Throws AgreedError if the format cannot number a rank's rows.
std::unique_ptr<Matrix> make_matrix(const comm::Communicator& comm, const Problem& problem, LinearSystem& system,
                                    const SolverOptions& options) {
  auto matrix = format_rows(problem, system, options);
  comm.agree(excess_of_positions(comm.rank(), system.partition.own, matrix->positions()));
  return matrix;
}

/// Collective. What each rank has: least, most, and all ranks together; an object.
nlohmann::ordered_json shares_of(const comm::Communicator& comm, const Partition& partition) {
  const std::array<std::int64_t, 4> mine{partition.own, partition.interior, partition.ghosts,
                                         static_cast<std::int64_t>(partition.neighbours.size())};
  const auto least = comm::allreduce(comm, mine, comm::ReduceOp::min);
  const auto most = comm::allreduce(comm, mine, comm::ReduceOp::max);
  const auto sums = comm::allreduce(comm, mine, comm::ReduceOp::sum);
  nlohmann::ordered_json shares{{"rows_per_rank_min", least[0]}, {"rows_per_rank_max", most[0]}};
  const std::string names[]{"", "interior_rows", "ghosts", "neighbours"};
  for (std::size_t i = 1; i < mine.size(); ++i)
    shares.update({{names[i], sums[i]}, {names[i] + "_min", least[i]}, {names[i] + "_max", most[i]}});
  return shares;
}

} // namespace

Cg::Cg(const Options& options, const miniapp::RunContext& context)
    : SteppedApp(context), options_(options), problem_(make_problem(options, context)), system_(this->build()),
      streams_(context.overlap), matrix_(make_matrix(context.comm, *problem_, system_, options.solver)),
      solver_(make_solver(
          {{.comm = context.comm, .partition = system_.partition, .rows = system_.matrix, .matrix = *matrix_},
           {.streams = streams_, .timers = context.timers, .overlap = context.overlap},
           options_.solver,
           system_.rhs,
           system_.initial})),
      entries_(comm::allreduce(context.comm, system_.entries(), comm::ReduceOp::sum)),
      matrix_bytes_(comm::allreduce(context.comm, matrix_->bytes(), comm::ReduceOp::sum)) {
  context.progress.describe({.step = "iteration", .norm = "residual"});
  record_ = miniapp::record_of(context.comm, solver_->exchange());
  record_["process_grid"] = options_.process_grid;
  record_["precision"] = "double";
  record_["field_memory"] = static_cast<std::int64_t>(matrix_->bytes());
  auto& of_matrix = record_["matrix"];
  of_matrix = {{"rows", system_.partition.rows}, {"nonzeros", entries_}, {"bytes", matrix_bytes_}};
  of_matrix.update(shares_of(context.comm, system_.partition));
  of_matrix.update(problem_->matrix_record());
}

Cg::~Cg() = default;

LinearSystem Cg::build() {
  return problem_->build(
      [this](const WholeSystem& file) { file_rows_ = reference_of(file, options_.matrix_market, context().seed); });
}

void Cg::reset() {
  solver_->reset();
  made_before_ = 0;
}

void Cg::write_state(output::File& file) const {
  cg::write_state(file, context().comm, *problem_, system_.partition, options_.solver, *solver_);
}

void Cg::read_state(const output::Reader& reader) {
  made_before_ = cg::read_state(reader, context().comm, *problem_, system_.partition, options_.solver, *solver_);
}

void Cg::finish(std::int64_t /*made*/) {
  outcome_ = solver_->outcome();
  context().timers.add(solver_->exchange_times());
}

const Cg::Judge& Cg::judge() {
  if (judge_) return *judge_;
  auto baseline = miniapp::baseline_communicator(context().comm);
  auto rows = problem_->block() ? reference_of(options_, context().comm, context().seed, *problem_->block())
                                : std::move(file_rows_);
  RowLookup lookup(baseline, system_.partition, rows.wanted());
  return judge_.emplace(Judge{std::move(baseline), std::move(rows), std::move(lookup)});
}

/// The product with stored rows, and what makes many iterations at once.
miniapp::Verification Cg::verify_launches() {
  const auto [x, y, more] = solver_->lent();
  auto result = verify_kernel(context().comm, system_, *matrix_, streams_.compute(), x, y);
  miniapp::also(result, [&] { return solver_->verify_launches(); });
  return result;
}

miniapp::Verification Cg::verify_start() {
  const auto& [baseline, rows, lookup] = judge();
  return cg::verify_start(baseline, rows, lookup(baseline, solver_->solution()));
}

std::optional<miniapp::StepCounts> Cg::counts() const {
  const bool all = outcome_.ending == StopReason::all_iterations;
  return miniapp::StepCounts{.unit = "iterations",
                             .of_deck = all ? std::optional(options_.solver.max_iterations) : std::nullopt,
                             .of_loop = last_step() - solver_->surplus(),
                             .of_figure = made_before_ + iterations(),
                             .of_field = solver_->made(),
                             .work = static_cast<double>(last_step() - solver_->surplus() - made_before_),
                             .figure = "iterations"};
}

miniapp::Verification Cg::verify() {
  const auto& [baseline, rows, lookup] = judge();
  const auto values = lookup(baseline, solver_->solution());
  file_values_.clear();
  for (std::size_t r = 0; r < rows.rows.size(); ++r)
    file_values_.push_back({"/fields/" + problem_->field(), place_in_file(rows.extents, rows.rows[r]), values[r],
                            point_of(options_, rows.extents, rows.rows[r])});
  const auto lent = solver_->lent();
  const auto& compute = streams_.compute();
  auto result = cg::verify(baseline, system_, rows, lookup, *matrix_, compute, options_,
                           {outcome_, solver_->solution(), solver_->coefficients(), lent}, solver_->preconditioner(),
                           &accuracy_.emplace());
  miniapp::also(result, [&, &comm = baseline, &reference = rows] {
    const auto multiply = [&](const Vector& x, const Vector& y) {
      matrix_->multiply(compute, Part::all, x, y);
      compute.fence();
    };
    return verify_entries(comm, system_.partition, system_.entries(), reference, multiply, lent[0], lent[1]);
  });
  return result;
}

std::vector<miniapp::FigureOfMerit> Cg::figures(double seconds, const miniapp::Calibration& machine) const {
  const auto rows = static_cast<double>(system_.partition.rows);
  const auto iterations = static_cast<double>(this->iterations());
  const auto entries = static_cast<double>(entries_);
  const auto cost = solver_->cost(made_before_, outcome_.iterations);
  const double flops = cost.flops(rows, entries);
  // As miniFE counts its solver, whatever the method: ref/src/driver.hpp of https://github.com/Mantevo/miniFE.
  const double minife_flops =
      2 * entries * (iterations + 1) + 2 * rows * 2 * iterations + 3 * rows * (3 * iterations + 2);
  const miniapp::BytesMoved moved{.read = cost.bytes_read(rows, matrix_bytes_), .written = cost.bytes_written(rows)};
  const auto figure = [&](const char* name, double value, const char* unit) {
    return miniapp::limited_by_memory({name, value / seconds, unit}, seconds, moved, machine);
  };
  const bool matrix_free = options_.solver.format == Format::matrix_free;
  return {figure(matrix_free ? "matrix_free_flops" : "flops", flops, "flop/s"),
          figure("effective_bandwidth", moved.read + moved.written, "B/s"),
          {"iterations", iterations / seconds, "1/s"},
          {"minife_flops", minife_flops / seconds, "flop/s"}};
}

nlohmann::ordered_json Cg::record() const {
  auto record = record_;
  const auto& residuals = solver_->history();
  std::vector<std::int64_t> numbers(residuals.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  record["history"] = {{"iteration", numbers}, {"residual", residuals}};
  record.update(launches().record());
  record["iterations"] = outcome_.iterations;
  record["residual"] = outcome_.residual;
  record["ending"] = keyword(outcome_.ending);
  record["ending_in_words"] = words(outcome_.ending);
  if (accuracy_) {
    record["true_residual"] = accuracy_->residual;
    if (accuracy_->error) {
      record["error"] = *accuracy_->error;
      record["relative_error"] = *accuracy_->relative_error;
    }
  }
  auto& solver = record["solver"];
  solver = words_of(options_.solver);
  solver.update(solver_->record());
  if (const auto made = static_cast<double>(outcome_.iterations - made_before_); made > 0) {
    const auto rows = static_cast<double>(system_.partition.rows);
    const auto cost = (1 / made) * solver_->cost(made_before_, outcome_.iterations);
    solver["iteration_flops"] = cost.flops(rows, static_cast<double>(entries_));
    solver["iteration_bytes_read"] = cost.bytes_read(rows, matrix_bytes_);
    solver["iteration_bytes_written"] = cost.bytes_written(rows);
  }
  return record;
}

miniapp::CalibrationRequest Cg::calibration() const {
  const PartSize part{.rows = static_cast<double>(system_.partition.own),
                      .entries = static_cast<double>(system_.entries())};
  return {.working_set = working_set(options_.solver, part, matrix_->bytes())};
}

std::optional<miniapp::FieldOutput> Cg::write_fields(output::File& file, const std::string& group) const {
  return problem_->write(file, group, solver_->solution());
}

} // namespace kontor::cg
