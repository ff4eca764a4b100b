// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/cg.hpp"

#include "cg/solver/operator.hpp"
#include "cg/verification.hpp"
#include "run/exchange_record.hpp"

#include <kontor/comm/collectives.hpp>

#include <fmt/format.h>

#include <array>
#include <utility>

namespace kontor::cg {

Cg::Cg(const Options& options, const miniapp::RunContext& context)
    : options_(options), context_(context), problem_(make_problem(options, context)),
      system_(problem_->build()), streams_(context.overlap),
      matrix_(make_csr(system_.matrix, system_.partition.interior)),
      solver_(make_solver(workspace(context_.comm))),
      entries_(comm::allreduce(context.comm, system_.matrix.entries(), comm::ReduceOp::sum)) {
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
                              {"ghosts_max", most[2]},         {"neighbours_max", most[3]}};
  record_.extras["matrix"].update(problem_->matrix_record());
}

Cg::~Cg() = default;

Workspace Cg::workspace(const comm::Communicator& comm) {
  return {comm,        system_.partition, system_.matrix,   *matrix_,
          system_.rhs, system_.initial,   options_.solver,  context_.overlap,
          streams_,    context_.timers,   context_.progress};
}

void Cg::warm_up() {
  solver_->warm_up();
}

void Cg::reset() {
  solver_->reset();
}

void Cg::run() {
  outcome_ = solver_->solve();
  context_.timers.add(solver_->exchange_times());
}

miniapp::Verification Cg::verify() {
  const auto& comm = solver_->exchange_comm();
  Operator product(workspace(comm));
  return cg::verify(comm, system_, product, streams_, options_, outcome_, solver_->solution());
}

std::vector<miniapp::FigureOfMerit> Cg::figures(double seconds, const miniapp::Calibration&) const {
  const auto rows = static_cast<double>(system_.partition.rows);
  const auto iterations = static_cast<double>(outcome_.iterations);
  const double flops = iterations * (2 * static_cast<double>(entries_) + 10 * rows);
  return {{"flops", flops / seconds, "flop/s"}, {"iterations", iterations / seconds, "1/s"}};
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
  record.extras["solver"] = solver_->record();
  return record;
}

miniapp::CalibrationRequest Cg::calibration() const {
  return {.working_set = matrix_->bytes()};
}

std::optional<miniapp::FieldOutput> Cg::write_fields(output::File& file) const {
  return problem_->write(file, solver_->solution());
}

} // namespace kontor::cg
