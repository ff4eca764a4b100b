// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "advection/advection.hpp"

#include "advection/exact.hpp"
#include "grid/process_grid.hpp"
#include "machine/memory.hpp"
#include "run/checkpoint/view_output.hpp"
#include "run/record/exchange_record.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/device/compat.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace kontor::advection {

namespace {

using ExecutionSpace = grid::FieldView<double>::execution_space;

grid::Block block_of(const Options& options, const comm::Communicator& ring) {
  return grid::make_block(
      {.extents = {options.cells}, .lower = {options.interval[0]}, .spacing = {options.width()}}, ring);
}

/// One step. A sum of two parts, so that with courant 1 not a bit changes.
struct Upwind {
  grid::FieldView<double> from;
  grid::FieldView<double> to;
  double part;         ///< that comes from upwind: the Courant number
  std::int64_t upwind; ///< from a cell to the one upwind: -1 or 1
  std::int64_t first;  ///< own cell 0 in the fields

  KOKKOS_FUNCTION void operator()(std::int64_t cell) const {
    const auto i = first + cell;
    to(0, 0, i) = (1 - part) * from(0, 0, i) + part * from(0, 0, i + upwind);
  }
};

void sweep(const Upwind& kernel, std::int64_t begin, std::int64_t end) {
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for("advection/upwind", Policy(begin, end), kernel);
}

/// The greatest difference, beside `scale`; infinite if a value is not finite.
double difference(double value, double exact, double scale) {
  const double d = std::abs(value - exact) / scale;
  return std::isfinite(d) ? d : std::numeric_limits<double>::infinity();
}

} // namespace

Advection::Advection(const Options& options, const miniapp::RunContext& context)
    : options_(options), context_(context),
      ring_(grid::make_cartesian(context.comm, {context.comm.size()}, {true})),
      block_(block_of(options, ring_)), initial_(options.initial),
      wanted_(random_cells(options.probes, options.cells, options.seed, ring_.rank())),
      probes_(ring_, block_, wanted_), compute_(context.timers["compute"]),
      gather_(context.timers.communication("probes")) {
  require_memory(options, context, block_);
  values_ = Kokkos::View<double*>("advection/values", wanted_.size());
  samples_ = Kokkos::View<double**>("advection/samples", static_cast<std::size_t>(options.samples()),
                                    wanted_.size());
  levels_.reserve(2); // so that the first stays where it is
  levels_.push_back(make_level(ring_, "advection/u"));
  auto& halo = levels_[0].halo;
  record_.exchange = {halo.chosen(), halo.timed_methods(), miniapp::packing_used(ring_, halo)};
  levels_.push_back(make_level(comm::Communicator(ring_.native(), halo.chosen()), "advection/v"));
  for (auto& level : levels_) level.halo.measure_times();

  record_.process_grid = {ring_.size()};
  record_.precision = "double";
  for (const auto& level : levels_)
    record_.field_memory += static_cast<std::int64_t>(level.field.span() * sizeof(double));
  record_.traffic = miniapp::traffic_of(ring_.rank(), halo);
  record_.extras = {{"steps", options.steps},
                    {"cells", std::vector<std::int64_t>{options.cells}},
                    {"time_step", options.time_step()},
                    {"samples", options.samples()}};
}

void Advection::require_memory(const Options& options, const miniapp::RunContext& context,
                               const grid::Block& block) {
  const auto extents = grid::field_extents<double>(block);
  const double field = static_cast<double>(extents[2]) * sizeof(double);
  const double samples =
      static_cast<double>(options.samples()) * static_cast<double>(options.probes) * sizeof(double);
  miniapp::require_memory(context.comm,
                          {{"advection/u", field}, {"advection/v", field}, {"advection/samples", samples}});
}

/// Only the cells downwind need a ghost: one slot, in the direction of the wave.
Advection::Level Advection::make_level(const comm::Communicator& halo_comm, const std::string& label) const {
  const auto slots =
      grid::halo_slots(ring_, block_, {grid::Direction{options_.direction(), 0, 0}}, grid::ToItself::yes);
  auto field = grid::make_field<double>(label, block_);
  return {field, grid::make_halo(halo_comm, slots, block_, field, "halo of " + label),
          probes_.gathering(ring_, block_, field, values_)};
}

void Advection::warm_up() {
  reset();
  for (int i = 0; i < 4; ++i) step();
  if (options_.samples() > 0) gather(0);
  device::fence(ExecutionSpace(), "advection/warm");
}

void Advection::reset() {
  now_ = 0;
  const auto scratch = grid::as_scratch(levels_[1].field, block_);
  grid::FiniteCheck finite;
  grid::fill(scratch, block_, initial_, 0, finite);
  finite.agree(ring_);
  grid::copy_values(grid::view_of(levels_[0].field, block_, block_.all()), scratch);
  device::fence(ExecutionSpace(), "advection/reset");
  for (auto& level : levels_) level.halo.reset_times();
}

void Advection::run() {
  for (std::int64_t n = 1; n <= options_.steps && !context_.told_to_end(); ++n) {
    step();
    if (options_.samples() > 0 && n % options_.probe_every == 0) gather(n / options_.probe_every - 1);
    if (context_.snapshot_every > 0 && n % context_.snapshot_every == 0 && n < options_.steps)
      write_snapshot(n);
    if (n % 64 == 0)
      context_.progress.update(
          {.step = n, .limit = options_.steps, .work_per_step = static_cast<double>(options_.cells)});
  }
  device::fence(ExecutionSpace(), "advection/end of a run");
  series_done_ = true;
  for (const auto& level : levels_) context_.timers.add(level.halo.times());
}

void Advection::step() {
  auto& halo = now().halo;
  const int upwind = -options_.direction();
  const Upwind kernel{now().field, levels_[static_cast<std::size_t>(1 - now_)].field, options_.courant,
                      upwind, grid::padding<double>(block_)[0]};
  const auto n = block_.extents[0];
  const auto edge = upwind < 0 ? 0 : n - 1; // the cell that needs the ghost
  halo.start();
  if (!context_.overlap) halo.finish();
  {
    const miniapp::ScopedTimer timed(compute_);
    sweep(kernel, upwind < 0 ? 1 : 0, upwind < 0 ? n : n - 1);
  }
  if (context_.overlap) halo.finish();
  const miniapp::ScopedTimer timed(compute_, 0);
  sweep(kernel, edge, edge + 1);
  now_ = 1 - now_;
}

void Advection::gather(std::int64_t sample) {
  const miniapp::ScopedTimer timed(gather_);
  now().probes.start();
  now().probes.finish();
  Kokkos::deep_copy(ExecutionSpace(), Kokkos::subview(samples_, sample, Kokkos::ALL), values_);
}

miniapp::Verification Advection::verify() {
  miniapp::Verification result{
      .measure = "largest difference from the exact solution of the scheme, of cells and probes"};
  const auto begin = block_.offset[0], end = begin + block_.extents[0];
  const auto solution = [&](std::int64_t steps, std::int64_t from, std::int64_t to) {
    return exact(options_, block_, initial_, steps, from, to);
  };
  const auto start = solution(0, begin, end);
  const auto [low, high] = std::minmax_element(start.begin(), start.end());
  const comm::Communicator baseline(ring_.native(), comm::Options{}); // what is verified takes no part
  const auto ends = comm::allreduce(baseline, std::array{-*low, *high}, comm::ReduceOp::max);
  const double scale = std::max(std::abs(ends[0]), std::abs(ends[1]));
  // A step multiplies, adds and has a rounded 1 - courant: four roundings at most, and the weights have as
  // many.
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  result.tolerance = options_.courant == 1 ? 0 : 4 * epsilon * static_cast<double>(options_.steps);
  const double variation = ends[0] + ends[1]; // of the values at the start
  if (!(variation > 4 * result.tolerance * scale))
    return miniapp::inconclusive(fmt::format(
        "problem.initial varies by {:.3g} only, so nothing that went wrong would show", variation));

  const auto final_values = solution(options_.steps, begin, end);
  const grid::BlockView<double> packed("advection/final", 1, 1, block_.extents[0]);
  grid::copy_values(packed, grid::view_of(now().field, block_, block_.all()));
  const auto own = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), packed);
  for (std::size_t i = 0; i < final_values.size(); ++i)
    result.error = std::max(result.error, difference(own(0, 0, i), final_values[i], scale));

  const auto samples = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), samples_);
  const auto every = options_.samples() / 100 + 1; // some hundred of them tell enough
  for (auto s = options_.samples() - 1; s >= 0; s -= every)
    for (std::size_t p = 0; p < wanted_.size(); ++p) {
      const auto expected = solution((s + 1) * options_.probe_every, wanted_[p], wanted_[p] + 1);
      result.error = std::max(result.error, difference(samples(s, p), expected[0], scale));
    }
  result.error = comm::allreduce(baseline, result.error, comm::ReduceOp::max);
  return result;
}

std::vector<miniapp::FigureOfMerit> Advection::figures(double seconds,
                                                       const miniapp::Calibration& machine) const {
  const double updates = static_cast<double>(options_.cells) * static_cast<double>(options_.steps);
  const double words = updates * sizeof(double);
  const miniapp::BytesMoved moved{.read = words, .written = words};
  return {miniapp::limited_by_memory({"cell_updates", updates / seconds, "1/s"}, seconds, moved, machine),
          miniapp::limited_by_memory({"effective_bandwidth", 2 * words / seconds, "B/s"}, seconds, moved,
                                     machine)};
}

miniapp::AppRecord Advection::record() const {
  return record_;
}

miniapp::CalibrationRequest Advection::calibration() const {
  return {.working_set = static_cast<double>(record_.field_memory)};
}

output::MeshField Advection::write_field(output::File& file, const std::string& group,
                                         std::int64_t step) const {
  const auto name = group + "/u";
  const auto unsigned_of = [](std::int64_t n) { return std::vector{static_cast<std::uint64_t>(n)}; };
  miniapp::write_view(
      file, name,
      {unsigned_of(options_.cells), unsigned_of(block_.offset[0]), unsigned_of(block_.extents[0])},
      grid::view_of(now().field, block_, block_.all()));
  file.attributes(group, {{"steps", step}, {"time", static_cast<double>(step) * options_.time_step()}});
  return {.name = "u", .dataset = name, .scalar = output::Scalar::float64};
}

void Advection::write_snapshot(std::int64_t step) {
  if (!context_.file || series_done_) return;
  const miniapp::ScopedTimer timed(context_.timers["io"]);
  const auto field = write_field(*context_.file, fmt::format("/series/{:09}", step), step);
  series_.push_back({static_cast<double>(step) * options_.time_step(), {field}});
}

std::optional<miniapp::FieldOutput> Advection::write_fields(output::File& file) const {
  const auto field = write_field(file, "/fields", options_.steps);
  if (options_.samples() > 0) { // a table (gathering, probe), the probes of all ranks in the order of ranks
    const auto all = static_cast<std::uint64_t>(ring_.size()),
               mine = static_cast<std::uint64_t>(ring_.rank());
    const std::uint64_t count = wanted_.size(), samples = samples_.extent(0);
    file.dataset("/fields/probe_cells", {{all * count}, {mine * count}, {count}}, wanted_.data());
    miniapp::write_view(file, "/fields/probes", {{samples, all * count}, {0, mine * count}, {samples, count}},
                        samples_);
  }
  miniapp::FieldOutput output{
      .image = {.dimensions = 1, .cells = {static_cast<std::uint64_t>(options_.cells), 1, 1}},
      .snapshots = series_};
  output.image.origin[0] = options_.interval[0];
  output.image.spacing[0] = options_.width();
  output.snapshots.push_back({static_cast<double>(options_.steps) * options_.time_step(), {field}});
  return output;
}

} // namespace kontor::advection
