// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/state.hpp"

#include "machine/user_error.hpp"
#include "random/counter_random.hpp"
#include "run/checkpoint/state.hpp"

#include <kontor/comm/reductions.hpp>

#include <fmt/format.h>

namespace kontor::cg {
namespace {

using nlohmann::ordered_json;

/// Collective. A number by which two distributions of the rows differ, almost certainly; empty where a solve goes on
/// with any.
std::string distribution_of(const comm::Communicator& comm, const Partition& partition, const SolverOptions& options) {
  if (options.preconditioner != PreconditionerKind::gauss_seidel) return "";
  const auto numbers = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), partition.global);
  std::uint64_t sum = 0;
  for (LocalIndex i = 0; i < partition.own; ++i)
    sum += random::mix(static_cast<std::uint64_t>(numbers(i)) * random::step + static_cast<std::uint64_t>(comm.rank()) +
                       1);
  return fmt::format("{:016x}", comm::allreduce(comm, sum, comm::ReduceOp::sum));
}

std::string crc_of(const Problem& problem) { return problem.matrix_record().value("file_crc32", ""); }

std::optional<std::string> refusal_of(const SolverOptions& options, const ordered_json& found, const SolverState& state,
                                      const std::string& crc, const std::string& distribution,
                                      const std::string& path) {
  const auto made = state.iterations;
  if (const auto then = found.value("matrix_crc32", ""); then != crc)
    return fmt::format("restart: the matrix file has the checksum (CRC-32) {}; in {} it is {}: it is another "
                       "matrix",
                       crc, path, then);
  if (found.value("distribution", "") != distribution)
    return fmt::format("restart: solver.preconditioner is gauss_seidel, which depends on which rank has which "
                       "rows, and in {} ranks had others; go on with as many ranks and the same process grid",
                       path);
  const int ended = state.state.ended;
  const bool converged = ended == code_of(StopReason::converged) || ended == code_of(StopReason::exact_guess);
  if (converged && state.made.back().residual > options.tolerance)
    return fmt::format("restart: the solve in {} has ended: converged after {} iterations, with the residual "
                       "{:.3e}, which is not below solver.tolerance, {:g}; go on from an earlier checkpoint",
                       path, state.made.size() - 1, state.made.back().residual, options.tolerance);
  if (ended == 0 && made >= options.max_iterations)
    return fmt::format("restart: solver.max_iterations is {}, and in {} {} are made already; give more",
                       options.max_iterations, path, made);
  return {};
}

} // namespace

void write_state(output::File& file, const comm::Communicator& comm, const Problem& problem, const Partition& partition,
                 const SolverOptions& options, const Solver& solver) {
  const auto state = solver.state();
  for (const auto& vector : state.vectors) problem.write_vector(file, "/state/" + vector.name, vector.values);
  std::vector<double> residuals, alphas, betas;
  for (const auto& entry : state.made) {
    residuals.push_back(entry.residual);
    alphas.push_back(entry.alpha);
    betas.push_back(entry.beta);
  }
  const auto native = comm.native();
  miniapp::write_values(file, native, "/state/history/residual", residuals);
  miniapp::write_values(file, native, "/state/history/alpha", alphas);
  miniapp::write_values(file, native, "/state/history/beta", betas);
  miniapp::write_values(file, native, "/state/counts", state.counts);
  miniapp::write_values(file, native, "/state/estimates", state.estimates);
  file.record("/state/numbers", {{"iterations", state.iterations},
                                 {"squared_rhs", state.state.rhs},
                                 {"smallest_square", state.state.smallest},
                                 {"smallest_at", state.state.smallest_at},
                                 {"entries", state.state.next},
                                 {"ended", state.state.ended},
                                 {"rz", state.numbers.rz},
                                 {"alpha", state.numbers.alpha},
                                 {"beta", state.numbers.beta},
                                 {"matrix_crc32", crc_of(problem)},
                                 {"distribution", distribution_of(comm, partition, options)}});
}

std::int64_t read_state(const output::Reader& reader, const comm::Communicator& comm, const Problem& problem,
                        const Partition& partition, const SolverOptions& options, Solver& solver) {
  const auto found = reader.record("/state/numbers");
  const auto number = [&](const char* name) { return found.at(name).get<double>(); };
  const auto count = [&](const char* name) { return found.at(name).get<std::int64_t>(); };
  auto state = solver.state();
  state.iterations = count("iterations");
  state.state.rhs = number("squared_rhs");
  state.state.smallest = number("smallest_square");
  state.state.smallest_at = count("smallest_at");
  state.state.next = count("entries");
  state.state.ended = static_cast<int>(count("ended"));
  state.numbers = {number("rz"), number("alpha"), number("beta")};
  const auto residuals = miniapp::read_values<double>(reader, "/state/history/residual"),
             alphas = miniapp::read_values<double>(reader, "/state/history/alpha"),
             betas = miniapp::read_values<double>(reader, "/state/history/beta");
  state.made.clear();
  for (std::size_t i = 0; i < residuals.size(); ++i)
    state.made.push_back({residuals[i], alphas.at(i), betas.at(i), 0, true});
  state.state.made = static_cast<std::int64_t>(state.made.size()) - 1;
  state.counts = miniapp::read_values<double>(reader, "/state/counts");
  state.estimates = miniapp::read_values<double>(reader, "/state/estimates");
  const auto path = reader.path().string();
  const auto refusal =
      refusal_of(options, found, state, crc_of(problem), distribution_of(comm, partition, options), path);
  miniapp::agree_on_user_error(comm, comm.rank() == 0 ? refusal : std::nullopt,
                               "E-CHECKPOINT-DECK"); // it has read the matrix
  solver.go_on_from(state, [&](const SolverStateVector& vector) {
    problem.read_vector(reader, "/state/" + vector.name, vector.values);
  });
  return state.iterations;
}

} // namespace kontor::cg
