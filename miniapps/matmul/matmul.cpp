// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matmul/matmul.hpp"

#include "machine/blas.hpp"
#include "matmul/cannon.hpp"
#include "matmul/fill.hpp"
#include "matmul/local_product.hpp"
#include "matmul/volume.hpp"
#include "run/view_output.hpp"

#include <kontor/comm/collectives.hpp>

#include <array>
#include <limits>
#include <utility>

namespace kontor::matmul {
namespace {

GridShape shape_of(const Options& o) {
  return {static_cast<int>(o.layers), static_cast<int>(o.process_grid[0]),
          static_cast<int>(o.process_grid[1])};
}

/// Before anything of a host's BLAS starts threads.
const Options& with_blas_threads(const Options& o) {
  miniapp::set_blas_threads(static_cast<int>(o.blas_threads));
  return o;
}

nlohmann::ordered_json volume_record(const comm::Communicator& comm, const Options& o, const GridShape& grid,
                                     const SentBytes& mine) {
  const auto sent = comm::allreduce(
      comm, std::array<std::int64_t, 5>{mine.replicate, mine.skew, mine.shifts, mine.restore, mine.sum},
      comm::ReduceOp::sum);
  const auto size = static_cast<double>(o.precision == miniapp::Precision::single_precision ? sizeof(float)
                                                                                            : sizeof(double));
  return {{"replicate", sent[0]},
          {"skew", sent[1]},
          {"shifts", sent[2]},
          {"restore", sent[3]},
          {"sum", sent[4]},
          {"grid_lower_bound", size * grid_lower_bound(o.size, grid)},
          {"lower_bound", size * lower_bound(o.size, comm.size())}};
}

} // namespace

template <class T>
Matmul<T>::Matmul(const Options& options, const miniapp::RunContext& context)
    : options_(with_blas_threads(options)), context_(context), grid_(context.comm, shape_of(options)),
      streams_(context.overlap), multiplication_(make_cannon<T>({options_, grid_, context_, streams_})) {
  const auto a = multiplication_->a(), b = multiplication_->b(), c = multiplication_->c();
  if (grid_.place.layer == 0) {
    fill(grid_.layer, options_.a, a);
    fill(grid_.layer, options_.b, b);
  }
  reset();
  if (context.comm.capabilities().moves_data) verifier_.emplace(grid_, options_, a, b, c);

  record_.exchange = multiplication_->exchange();
  record_.traffic = multiplication_->traffic();
  record_.process_grid = {grid_.shape.rows, grid_.shape.columns};
  if (grid_.shape.layers > 1) record_.process_grid.push_back(grid_.shape.layers);
  record_.precision = miniapp::name_of_scalar<T>;
  record_.extras["volume"] = volume_record(context.comm, options_, grid_.shape, multiplication_->sent());
  record_.extras["gemm_library"] = miniapp::gemm_library(gemm_form(options_));
}

template <class T>
Matmul<T>::~Matmul() = default;

template <class T>
void Matmul<T>::warm_up() {
  miniapp::set_blas_threads(static_cast<int>(options_.blas_threads));
  reset();
  run();
  multiply_seconds_.clear();
}

/// What C is before does not matter with beta 0; then it is no number, so that what is not written shows.
template <class T>
void Matmul<T>::reset() {
  multiplication_->reset();
  const auto c = multiplication_->c();
  if (options_.beta == 0)
    Kokkos::deep_copy(c.elements, std::numeric_limits<T>::quiet_NaN());
  else if (grid_.place.layer == 0)
    fill(grid_.layer, options_.c, c);
}

template <class T>
void Matmul<T>::run() {
  multiplication_->run();
  streams_.fence();
}

template <class T>
miniapp::Verification Matmul<T>::verify() {
  return verifier_->verify(multiplication_->a(), multiplication_->b(), multiplication_->c());
}

template <class T>
std::vector<miniapp::FigureOfMerit> Matmul<T>::figures(double seconds,
                                                       const miniapp::Calibration& machine) const {
  const double flops = options_.size.flops();
  const double attainable = machine.gemm ? machine.gemm->rate : std::numeric_limits<double>::quiet_NaN();
  return {{"flops", flops / seconds, "flop/s", attainable}};
}

template <class T>
miniapp::AppRecord Matmul<T>::record() const {
  return record_;
}

/// The product at the run's own block size, in the run's own memory.
template <class T>
miniapp::CalibrationRequest Matmul<T>::calibration() const {
  const auto form = gemm_form(options_);
  const auto threads = static_cast<int>(options_.blas_threads);
  const auto operands = multiplication_->largest_product();
  return {.gemm = [=](const comm::Communicator& comm) {
    Kokkos::deep_copy(operands.c, T(0)); // processors are slower with some numbers than with none
    return miniapp::gemm_rate<T>(comm, {form.transpose_a, form.transpose_b}, operands.a, operands.b,
                                 operands.c, threads);
  }};
}

template <class T>
std::optional<miniapp::FieldOutput> Matmul<T>::write_fields(output::File& file) const {
  if (!options_.write_c) return {};
  const auto c = multiplication_->c();
  output::Block block{
      {static_cast<std::uint64_t>(options_.size.m), static_cast<std::uint64_t>(options_.size.n)},
      {static_cast<std::uint64_t>(c.rows.begin), static_cast<std::uint64_t>(c.columns.begin)},
      {static_cast<std::uint64_t>(c.rows.size), static_cast<std::uint64_t>(c.columns.size)}};
  if (grid_.place.layer > 0) block.extent = {0, 0};
  miniapp::write_view(file, "/fields/C", block, c.elements);
  return {};
}

template class Matmul<float>;
template class Matmul<double>;

} // namespace kontor::matmul
