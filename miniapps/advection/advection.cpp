// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "advection/advection.hpp"

#include "advection/check/verification.hpp"
#include "advection/kernels/plain.hpp"
#include "grid/block_output.hpp"
#include "grid/process_grid.hpp"
#include "machine/memory.hpp"
#include "run/record/exchange_record.hpp"
#include "stepping/overlap.hpp"
#include "stepping/seconds_alone.hpp"

#include <kontor/config/error.hpp>
#include <kontor/device/compat.hpp>

#include <fmt/format.h>

#include <utility>

namespace kontor::advection {

namespace {

/// Collective. The rank's block, whose Views fit in memory.
grid::Block make_fitting_block(const Options& options, const comm::Communicator& ring) {
  const auto block = grid::make_block(
      {.extents = {options.cells}, .lower = {options.interval[0]}, .spacing = {options.width()}}, ring);
  miniapp::require_memory(ring, views_of_rank(options, block));
  return block;
}

} // namespace

Advection::Advection(const Options& options, const miniapp::RunContext& context)
    : SteppedApp(context), options_(options),
      ring_(grid::make_cartesian(context.comm, {context.comm.size()}, {true})),
      block_(make_fitting_block(options, ring_)), initial_(options.initial), streams_(context.overlap),
      wanted_(random_cells(options.probes, options.cells, options.seed, ring_.rank())),
      probes_(ring_, block_, wanted_), values_("advection/values", wanted_.size()),
      samples_("advection/samples", static_cast<std::size_t>(options.samples()), wanted_.size()),
      levels_{make_level("advection/u"), make_level("advection/v")}, halos_(make_halos()),
      compute_(context.timers["compute"]), gather_(context.timers.communication("probes")) {
  context.progress.describe({.step = "step", .work = "cell updates"});
  halos_.measure_times();
  const auto& halo = halos_[0];
  record_.exchange = {halo.chosen(), halo.timed_methods(), miniapp::packing_used(ring_, halo)};
  record_.process_grid = {ring_.size()};
  record_.precision = "double";
  for (const auto& level : levels_)
    record_.field_memory += static_cast<std::int64_t>(level.field.span() * sizeof(double));
  record_.traffic = miniapp::traffic_of(ring_.rank(), halo);
  record_.extras = {{"steps", options.steps},
                    {"cells", std::vector<std::int64_t>{options.cells}},
                    {"time_step", options.time_step()},
                    {"samples", options.samples()},
                    {"kernel", "plain"}};
}

Advection::Level Advection::make_level(const std::string& label) const {
  auto field = grid::make_field<double>(label, block_);
  return {field, probes_.gathering(ring_, block_, field, values_)};
}

/// Only the cells downwind need a ghost: one slot, in the direction of the wave.
grid::HaloPair<double> Advection::make_halos() const {
  const auto slots =
      grid::halo_slots(ring_, block_, {grid::Direction{options_.direction(), 0, 0}}, grid::ToItself::yes);
  return {ring_,
          slots,
          block_,
          {levels_[0].field, levels_[1].field},
          {"halo of advection/u", "halo of advection/v"},
          streams_.exchange()};
}

void Advection::warm_up() {
  reset();
  for (int i = 0; i < 4; ++i) advance(i, options_.steps);
  if (options_.samples() > 0) gather(0);
  const auto refusal = [&]() -> std::optional<std::string> {
    if (!stepping::on_device) return "steps are made on the host";
    if (next_sample(0) < graph_steps)
      return fmt::format("a graph makes {} steps in a row, and there are {}", graph_steps, next_sample(0));
    return stepping::graph_refusal(ring_, halos_[0]);
  };
  graph_.choose(
      ring_, streams_, options_.graph, refusal(), 2,
      [this](int first) {
        for (int i = 0; i < graph_steps; ++i) queue_step((first + i) % 2, halos_[(first + i) % 2]);
      },
      [this] { return now_; }, [] {});
  stepping::NoExchange none;
  step_alone_ = stepping::seconds_alone(
      ring_, [&] { queue_step(now_, none); }, [&] { drain(); });
}

void Advection::reset() {
  now_ = 0;
  first_ = 0;
  const auto scratch = grid::as_scratch(levels_[1].field, block_);
  grid::FiniteCheck finite;
  grid::fill(scratch, block_, initial_, 0, finite);
  finite.agree(ring_);
  grid::copy_values(grid::view_of(levels_[0].field, block_, block_.all()), scratch);
  device::fence(Space(), "advection/reset");
  halos_.reset_times();
}

miniapp::StepPlan Advection::begin() {
  made_ = first_;
  return {first_, options_.steps, static_cast<double>(options_.cells)};
}

/// The step after which probes are gathered next, or the last one.
std::int64_t Advection::next_sample(std::int64_t step) const {
  const auto every = options_.samples() > 0 ? options_.probe_every : options_.steps;
  return std::min(options_.steps, (step / every + 1) * every);
}

std::int64_t Advection::advance(std::int64_t made, std::int64_t until) {
  std::int64_t count = 1;
  if (graph_ && made + graph_steps <= std::min(until, next_sample(made))) {
    halos_.poll();
    graph_.replay(streams_, now_);
    count = graph_steps;
  } else {
    queue_step(now_, halos_[now_]);
    now_ = 1 - now_;
  }
  made_ = made + count;
  if (options_.samples() > 0 && made_ % options_.probe_every == 0) gather(made_ / options_.probe_every - 1);
  return count;
}

/// The step from that level to the other one. One cell, at the upwind end, reads the ghost.
template <class Exchange>
void Advection::queue_step(int from, Exchange& halo) {
  const int upwind = -options_.direction();
  const auto sweep = [&](const Space& instance, std::int64_t begin, std::int64_t end) {
    const miniapp::ScopedTimer timed(compute_, begin == 0 ? 1 : 0);
    plain_step(instance, levels_[static_cast<std::size_t>(from)].field,
               levels_[static_cast<std::size_t>(1 - from)].field, options_.courant, upwind,
               grid::padding<double>(block_)[0], begin, end);
  };
  const auto n = block_.extents[0], edge = upwind < 0 ? std::int64_t{0} : n - 1;
  stepping::exchange_and_compute(
      streams_, halo, context().overlap,
      [&](const Space& i) { sweep(i, upwind < 0 ? 1 : 0, upwind < 0 ? n : n - 1); },
      [&](const Space& i) { sweep(i, edge, edge + 1); }, [&](const Space& i) { sweep(i, 0, n); });
}

void Advection::gather(std::int64_t sample) {
  const miniapp::ScopedTimer timed(gather_);
  auto& probes = levels_[static_cast<std::size_t>(now_)].probes;
  probes.start();
  probes.finish();
  Kokkos::deep_copy(streams_.compute(), Kokkos::subview(samples_, sample, Kokkos::ALL), values_);
}

void Advection::drain() {
  streams_.fence();
}

void Advection::finish(std::int64_t /*made*/) {
  context().timers.add(halos_.times());
}

miniapp::Verification Advection::verify() {
  return advection::verify(ring_, options_, block_, now().field, wanted_, samples_);
}

std::vector<miniapp::FigureOfMerit> Advection::figures(double seconds,
                                                       const miniapp::Calibration& machine) const {
  const double updates = static_cast<double>(options_.cells) * static_cast<double>(options_.steps - first_);
  const double bytes = updates * sizeof(double);
  return miniapp::figures_of_cells(updates, sizeof(double), seconds, {.read = bytes, .written = bytes},
                                   machine);
}

miniapp::AppRecord Advection::record() const {
  auto record = record_;
  record.computing = step_alone_ * static_cast<double>(made_ - first_);
  record.extras.update(graph_.record("steps", graph_steps));
  return record;
}

miniapp::CalibrationRequest Advection::calibration() const {
  return {.working_set = static_cast<double>(record_.field_memory)};
}

/// This rank's samples in the table of all: (gathering, probe), the probes of all ranks in their order.
output::Block Advection::samples_block() const {
  const auto ranks = static_cast<std::uint64_t>(ring_.size()),
             rank = static_cast<std::uint64_t>(ring_.rank());
  const std::uint64_t count = wanted_.size(), samples = samples_.extent(0);
  return {{samples, ranks * count}, {0, rank * count}, {samples, count}};
}

std::optional<miniapp::FieldOutput> Advection::write_fields(output::File& file,
                                                            const std::string& group) const {
  const auto name = group + "/u";
  const double time = static_cast<double>(made_) * options_.time_step();
  grid::write_field(file, name, block_, now().field);
  file.attributes(group, {{"steps", made_}, {"time", time}});
  if (group == "/fields" && options_.samples() > 0) {
    const auto block = samples_block();
    file.dataset("/fields/probe_cells", {{block.global[1]}, {block.offset[1]}, {block.extent[1]}},
                 wanted_.data());
    grid::write_view(file, "/fields/probes", block, samples_);
  }
  return miniapp::FieldOutput{grid::image_of(block_), {time, {grid::mesh_field<double>(block_, "u", name)}}};
}

void Advection::write_state(output::File& file) const {
  write_fields(file, "/state");
  if (options_.samples() > 0) grid::write_view(file, "/state/samples", samples_block(), samples_);
}

void Advection::read_state(const output::Reader& reader) {
  first_ = reader.attributes("/state").at("steps").get<std::int64_t>();
  if (first_ >= options_.steps)
    throw config::Error({fmt::format("restart: solver.steps is {}, and {} steps in {} are made already; give "
                                     "more",
                                     options_.steps, first_, reader.path().string())});
  grid::read_field(reader, "/state/u", block_, now().field);
  if (options_.samples() == 0) return;
  auto block = samples_block();
  const auto there = reader.info("/state/samples").extents;
  if (there.at(1) != block.global[1])
    throw config::Error(
        {fmt::format("restart: {} ranks ask for {} probes, and in {} there are {}; go on with "
                     "as many ranks",
                     ring_.size(), block.global[1], reader.path().string(), there.at(1))});
  block.global[0] = there.at(0);
  block.extent[0] = std::min(there.at(0), block.extent[0]);
  const auto made =
      Kokkos::subview(samples_, std::pair<std::uint64_t, std::uint64_t>(0, block.extent[0]), Kokkos::ALL);
  grid::read_view(reader, "/state/samples", block, made);
}

} // namespace kontor::advection
