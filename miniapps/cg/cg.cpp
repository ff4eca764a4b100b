// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/cg.hpp"

#include "cg/solver/operator.hpp"
#include "cg/verification.hpp"
#include "machine/huge_pages.hpp"
#include "run/exchange_record.hpp"

#include <kontor/comm/collectives.hpp>

#include <fmt/format.h>

#include <array>
#include <utility>

namespace kontor::cg {
namespace {

std::unique_ptr<Matrix> make_matrix(const Problem& problem, const LinearSystem& system,
                                    const SolverOptions& options) {
  const auto& rows = system.matrix;
  const auto interior = system.partition.interior;
  const auto columns = system.partition.own + system.partition.ghosts;
  switch (options.format) {
  case Format::sell: return make_sell(rows, interior, columns);
  case Format::matrix_free: return problem.matrix_free();
  case Format::csr: break;
  }
  miniapp::use_huge_pages(rows.values);
  miniapp::use_huge_pages(rows.columns);
  if (options.kernel == Kernel::kokkos_kernels) return make_kokkos_kernels(rows, interior, columns);
  return make_csr(rows, interior);
}

/// What an iteration does beside the product, a row: additions with a multiplication, and numbers that
/// kernels read or write.
struct VectorWork {
  double operations;
  double numbers;
};
VectorWork vector_work(const SolverOptions& options) {
  const double dots = options.fused ? 0 : 2; // p and q once more; other sums are computed on the way
  switch (options.method) {
  case Method::classic: return {5, 8 + dots};    // p.q, r.r, x, r, p: r twice, q; x and p twice, r
  case Method::merged: return {6, 10 + dots};    // r.r, w.r, p, s, x, r: p, s, x, r twice, w twice
  case Method::pipelined: return {8, 13 + dots}; // r.r, w.r, z, s, p, x, r, w: each twice, and A w
  }
  return {};
}

} // namespace

Cg::Cg(const Options& options, const miniapp::RunContext& context)
    : options_(options), context_(context), problem_(make_problem(options, context)),
      system_(problem_->build()), streams_(context.overlap),
      matrix_(make_matrix(*problem_, system_, options.solver)),
      solver_(make_solver({context_.comm, system_.partition, *matrix_, system_.rhs, system_.initial,
                           options_.solver, context_.overlap, streams_, context_.timers, context_.progress})),
      entries_(comm::allreduce(context.comm, system_.entries(), comm::ReduceOp::sum)),
      matrix_bytes_(comm::allreduce(context.comm, matrix_->bytes(), comm::ReduceOp::sum)) {
  if (options.solver.format == Format::sell &&
      options.solver.preconditioner == PreconditionerKind::none) { // it is a copy
    system_.unassembled = system_.entries();
    system_.matrix = {};
  }
  const auto& exchange = solver_->exchange();
  const auto& comm = context.comm;
  record_.exchange = {exchange.chosen(), exchange.timed_methods(), miniapp::packing_used(comm, exchange)};
  record_.traffic = miniapp::traffic_of(comm.rank(), exchange);
  record_.process_grid = problem_->process_grid();
  record_.precision = "double";
  record_.field_memory = static_cast<std::int64_t>(matrix_->bytes());
  const auto& partition = system_.partition;
  const std::int64_t own = partition.own;
  const auto most =
      comm::allreduce(comm,
                      std::array<std::int64_t, 4>{own, -own, partition.ghosts,
                                                  static_cast<std::int64_t>(partition.neighbours.size())},
                      comm::ReduceOp::max);
  record_.extras["matrix"] = {{"rows", partition.rows},        {"nonzeros", entries_},
                              {"rows_per_rank_min", -most[1]}, {"rows_per_rank_max", most[0]},
                              {"ghosts_max", most[2]},         {"neighbours_max", most[3]},
                              {"bytes", matrix_bytes_}};
}

Cg::~Cg() = default;

void Cg::warm_up() {
  reset();
  solver_->solve();
}

void Cg::reset() {
  solver_->reset();
}

void Cg::run() {
  outcome_ = solver_->solve();
  context_.timers.add(solver_->exchange_times());
}

miniapp::Verification Cg::verify() {
  Operator product({context_.comm, system_.partition, *matrix_, system_.rhs, system_.initial, options_.solver,
                    context_.overlap, streams_, context_.timers, context_.progress});
  return cg::verify(context_.comm, system_, product, streams_, options_.solver, outcome_,
                    solver_->solution());
}

std::vector<miniapp::FigureOfMerit> Cg::figures(double seconds, const miniapp::Calibration& machine) const {
  const auto rows = static_cast<double>(system_.partition.rows);
  const auto iterations = static_cast<double>(outcome_.iterations);
  const auto entries = static_cast<double>(entries_);
  const double flops = iterations * 2 * (entries + vector_work(options_.solver).operations * rows);
  // As miniFE counts its solver, whatever the method: ref/src/driver.hpp of
  // https://github.com/Mantevo/miniFE.
  const double minife_flops =
      2 * entries * (iterations + 1) + 2 * rows * 2 * iterations + 3 * rows * (3 * iterations + 2);
  const double bytes = iterations * bytes_per_iteration();
  const double attainable = machine.attainable_bandwidth();
  const bool matrix_free = options_.solver.format == Format::matrix_free;
  return {
      {matrix_free ? "matrix_free_flops" : "flops", flops / seconds, "flop/s", attainable * flops / bytes},
      {"effective_bandwidth", bytes / seconds, "B/s", attainable},
      {"iterations", iterations / seconds, "1/s"},
      {"minife_flops", minife_flops / seconds, "flop/s"}};
}

double Cg::bytes_per_iteration() const {
  return matrix_bytes_ +
         vector_work(options_.solver).numbers * sizeof(double) * static_cast<double>(system_.partition.rows);
}

miniapp::AppRecord Cg::record() const {
  auto record = record_;
  record.history.name = "residual";
  const auto& history = solver_->history();
  for (std::size_t i = 0; i < history.size(); ++i) {
    record.history.iterations.push_back(static_cast<std::int64_t>(i));
    record.history.values.push_back(history[i]);
  }
  record.extras["iterations"] = outcome_.iterations;
  record.extras["residual"] = outcome_.residual;
  record.extras["ending"] = words(outcome_.ending);
  return record;
}

miniapp::CalibrationRequest Cg::calibration() const {
  return {.working_set = matrix_->bytes()};
}

std::optional<miniapp::FieldOutput> Cg::write_fields(output::File& file) const {
  return problem_->write(file, solver_->solution());
}

} // namespace kontor::cg
