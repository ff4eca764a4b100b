// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stencil/stencil_app.hpp"

#include "grid/block_output.hpp"
#include "grid/make_field.hpp"
#include "grid/process_grid.hpp"
#include "grid/wrap.hpp"
#include "machine/memory.hpp"
#include "machine/simulation.hpp"
#include "run/record/exchange_record.hpp"
#include "stencil/samples.hpp"
#include "stepping/overlap.hpp"

#include <kontor/config/error.hpp>

#include <fmt/format.h>

namespace kontor::stencil {
namespace {

/// Collective. The rank's block, whose Views fit into memory.
grid::Block make_fitting_block(const Problem& problem, const Options& options, const comm::Communicator& comm) {
  const auto block = grid::make_block({.extents = options.cells, .lower = {}, .spacing = problem.spacing}, comm, 1,
                                      grid::Wrapping::by_kernel);
  miniapp::require_memory(comm, bytes_of_rank(block));
  return block;
}

std::vector<grid::HaloSlot> slots_of(const Problem& problem, const comm::Communicator& comm, const grid::Block& block) {
  const auto& directions = problem.directions;
  return grid::halo_slots(comm, block, directions.empty() ? grid::across_faces(block.dimensions) : directions);
}

} // namespace

StencilApp::StencilApp(Problem problem, const Options& options, const miniapp::RunContext& context)
    : SteppedApp(context), problem_(std::move(problem)), options_(options),
      comm_(grid::make_cartesian(context.comm, options.process_grid, std::vector<bool>(options.cells.size(), true))),
      block_(make_fitting_block(problem_, options, comm_)), regions_(grid::split(block_, grid::Padding<double>::line)),
      streams_(context.overlap && regions_.any_strips()), fields_{grid::make_field<double>(
                                                                      problem_.app + "/first field", block_),
                                                                  grid::make_field<double>(
                                                                      problem_.app + "/second field", block_)},
      halos_(comm_, slots_of(problem_, comm_, block_), block_, fields_, {"halo of first field", "halo of second field"},
             streams_.exchange()),
      compute_(context.timers["compute"]), exchanges_(context.timers) {
  context.progress.describe({.step = "step"});
  halos_.measure_times();
  record_ = miniapp::record_of(comm_, halos_[0]);
  record_.update({{"process_grid", options.process_grid},
                  {"precision", "double"},
                  {"field_memory", static_cast<std::int64_t>(2 * fields_[0].span() * sizeof(double))},
                  {"steps", options.steps},
                  {"cells", options.cells},
                  {"time_step", problem_.time_step}});
}

void StencilApp::warm_up() {
  reset();
  for (int i = 0; i < 4; ++i) now_ = queue(now_, {i});
  choose_launches();
}

void StencilApp::reset() {
  drain();
  now_ = 0;
  first_ = made_ = 0;
  start(fields_[0], fields_[1]);
  halos_.reset_times();
}

miniapp::Verification StencilApp::verify_launches() {
  return launches().verify({.restart = [this] { reset(); },
                            .digest = [this] { return digest(grid::view_of(field(), block_, block_.all())); }});
}

/// The app's verify() tells how many steps the field has.
std::optional<miniapp::StepCounts> StencilApp::counts() const {
  miniapp::StepCounts counts{"steps", options_.steps, last_step(), made_, made_};
  counts.work = updates(options_.steps - first_);
  return counts;
}

double StencilApp::updates(std::int64_t steps) const {
  double product = static_cast<double>(steps);
  for (const auto n : options_.cells) product *= static_cast<double>(n);
  return product;
}

std::vector<miniapp::FileValue> StencilApp::file_values() const {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), field());
  const auto centre = [&](const miniapp::Place& place) {
    std::array<double, 3> at{};
    for (std::size_t axis = 0; axis < problem_.spacing.size(); ++axis)
      at[axis] = (static_cast<double>(block_.offset[axis] + place.index[axis]) + 0.5) * problem_.spacing[axis];
    return at;
  };
  return stencil::file_values("/fields/" + problem_.field, block_, sampled_places(block_, context().seed, comm_.rank()),
                              grid::view_of(host, block_, block_.all()), centre);
}

std::vector<miniapp::FigureOfMerit> StencilApp::figures(double seconds, const miniapp::Calibration& machine) const {
  const double count = updates(made_ - first_), bytes = count * sizeof(double);
  return miniapp::figures_of_cells(count, sizeof(double), seconds,
                                   {.read = problem_.two_levels ? 2 * bytes : bytes, .written = bytes}, machine);
}

nlohmann::ordered_json StencilApp::record() const {
  auto record = record_;
  record.update(launches().record());
  return record;
}

miniapp::CalibrationRequest StencilApp::calibration() const {
  return {.working_set = record_.at("field_memory").get<double>()};
}

std::optional<miniapp::FieldOutput> StencilApp::write_fields(output::File& file, const std::string& group) const {
  const auto name = group + "/" + problem_.field;
  const double time = static_cast<double>(made_) * problem_.time_step;
  grid::write_field(file, name, block_, field());
  return miniapp::FieldOutput{grid::image_of(block_), {time, {grid::mesh_field<double>(block_, problem_.field, name)}}};
}

void StencilApp::write_state(output::File& file) const {
  write_fields(file, "/state");
  file.record("/state/numbers", {{"steps", made_}});
  if (problem_.two_levels) grid::write_field(file, "/state/step before", block_, fields_[1 - now_]);
}

void StencilApp::read_state(const output::Reader& reader) {
  first_ = made_ = reader.record("/state/numbers").at("steps").get<std::int64_t>();
  if (first_ >= options_.steps)
    throw config::Error({fmt::format("restart: solver.steps is {}, and {} steps in {} are made already; give more",
                                     options_.steps, first_, reader.path().string())},
                        "E-CHECKPOINT-DECK");
  grid::read_field(reader, "/state/" + problem_.field, block_, fields_[now_]);
  if (problem_.two_levels) grid::read_field(reader, "/state/step before", block_, fields_[1 - now_]);
}

miniapp::StepPlan StencilApp::plan() const { return {.first = first_, .limit = options_.steps}; }

miniapp::LaunchTerms StencilApp::launch_terms() {
  return {.wanted = options_.launch,
          .comm = &comm_,
          .streams = &streams_,
          .states = 2,
          .graph_refusal = stepping::graph_refusal(comm_, halos_[0])};
}

int StencilApp::queue(int state, const miniapp::Pass& pass) {
  if (pass.exchanges) {
    miniapp::SampledExchange halo(halos_[state], exchanges_);
    queue_step(state, halo);
  } else {
    stepping::NoExchange none;
    queue_step(state, none);
  }
  return 1 - state;
}

/// From that field to the other one.
template <class Exchange>
void StencilApp::queue_step(int from, Exchange& halo) {
  {
    const miniapp::ScopedTimer timed(compute_, 0);
    grid::wrap(streams_.compute(), fields_[from], block_);
  }
  const auto compute = [&](const Space& instance, const grid::Box& box, int calls) {
    const miniapp::ScopedTimer timed(compute_, calls);
    miniapp::compute(problem_.app + "/step", static_cast<double>(box.size()), static_cast<double>(block_.all().size()),
                     [&] { step(instance, fields_[from], fields_[1 - from], box); });
  };
  stepping::exchange_and_compute(
      streams_, halo, context().overlap, [&](const Space& i) { compute(i, regions_.interior, 1); },
      [&](const Space& i) {
        for (const auto& strip : regions_.strips)
          if (!strip.empty()) compute(i, strip, 0);
      },
      [&](const Space& i) { compute(i, block_.all(), 1); });
}

void StencilApp::finish(std::int64_t /*made*/) { context().timers.add(halos_.times()); }

} // namespace kontor::stencil
