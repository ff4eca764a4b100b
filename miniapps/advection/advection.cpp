// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "advection/advection.hpp"

#include "advection/check/verification.hpp"
#include "advection/kernels/plain.hpp"
#include "advection/probes.hpp"
#include "grid/block_output.hpp"
#include "grid/functions.hpp"
#include "grid/halo_pair.hpp"
#include "grid/process_grid.hpp"
#include "run/loop/stepped_app.hpp"
#include "run/record/exchange_record.hpp"
#include "run/record/sampled_exchange.hpp"
#include "run/verify/digest.hpp"
#include "run/verify/places.hpp"
#include "stepping/overlap.hpp"

#include <kontor/config/error.hpp>
#include <kontor/device/compat.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace kontor::advection {
namespace {

using Space = grid::FieldView<double>::execution_space;

/// Collective. The rank's block, whose Views fit in memory.
grid::Block make_fitting_block(const Options& options, const comm::Communicator& ring) {
  const auto block =
      grid::make_block({.extents = {options.cells}, .lower = {options.interval[0]}, .spacing = {options.width()}}, ring,
                       static_cast<int>(options.steps_per_pass));
  miniapp::require_memory(ring, views_of_rank(options, block));
  return block;
}

class Advection final : public miniapp::SteppedApp, private miniapp::Steps {
 public:
  Advection(const Options& options, const miniapp::RunContext& context)
      : SteppedApp(context), options_(options),
        ring_(grid::make_cartesian(context.comm, {context.comm.size()}, {true})),
        block_(make_fitting_block(options, ring_)), initial_(options.initial),
        streams_(context.overlap && options.steps_per_pass == 1),
        wanted_(random_cells(options.probes, options.cells, options.seed, ring_.rank())),
        values_("advection/values", wanted_.size()),
        samples_("advection/samples", static_cast<std::size_t>(options.samples()), wanted_.size()),
        fields_{grid::make_field<double>("advection/u", block_), grid::make_field<double>("advection/v", block_)},
        probes_(make_gatherings(ring_, block_, wanted_, fields_, values_)),
        // Only the cells downwind need ghosts: one slot, in the direction of the wave.
        halos_(ring_, grid::halo_slots(ring_, block_, {{options.direction(), 0, 0}}), block_,
               fields_, {"halo of advection/u", "halo of advection/v"}, streams_.exchange()),
        compute_(context.timers["compute"]), gather_(context.timers.communication("probes")),
        exchanges_(context.timers) {
    context.progress.describe({.step = "step", .work = "cell updates"});
    halos_.measure_times();
    const auto& halo = halos_[0];
    record_.exchange = {halo.chosen(), halo.timed_methods(), miniapp::packing_used(ring_, halo)};
    record_.process_grid = {ring_.size()};
    record_.precision = "double";
    record_.field_memory = static_cast<std::int64_t>(2 * fields_[0].span() * sizeof(double));
    record_.traffic = miniapp::traffic_of(ring_.rank(), halo);
    record_.extras = {{"steps", options.steps},
                      {"cells", std::vector<std::int64_t>{options.cells}},
                      {"time_step", options.time_step()},
                      {"samples", options.samples()},
                      {"kernel", "plain"}};
  }

  void warm_up() override {
    reset();
    for (int i = 0; i < 4; ++i) {
      queue(now_, {i});
      moved({i});
    }
    if (options_.samples() > 0) gather(0);
    choose_launches();
  }

  miniapp::Verification verify_launches() override {
    std::uint64_t kept = 0;
    const auto differs = [&] { return digest() == kept ? 0.0 : 1.0; };
    return launches().verify({.restart = [this] { reset(); },
                              .remember = [&] { kept = digest(); },
                              .differences = [&] { return comm::allreduce(ring_, differs(), comm::ReduceOp::sum); }});
  }

  void reset() override {
    now_ = 0;
    first_ = 0;
    const auto scratch = grid::as_scratch(fields_[1], block_);
    grid::FiniteCheck finite;
    grid::fill(scratch, block_, initial_, 0, finite);
    finite.agree(ring_);
    grid::copy_values(grid::view_of(fields_[0], block_, block_.all()), scratch);
    device::fence(Space(), "advection/reset");
    halos_.reset_times();
  }

  miniapp::Verification verify() override {
    return advection::verify(ring_, options_, block_, fields_[now_], wanted_, samples_, context().seed);
  }

  miniapp::Verification verify_start() override {
    return advection::verify_start(ring_, options_, block_, fields_[now_], context().seed);
  }

  /// The exact solution tells how many steps the field has.
  std::optional<miniapp::StepCounts> counts() const override {
    miniapp::StepCounts counts{"steps", options_.steps, last_step(), made_, made_};
    counts.work = static_cast<double>(options_.cells) * static_cast<double>(options_.steps - first_);
    return counts;
  }

  std::vector<miniapp::FileValue> file_values() const override {
    constexpr int random_places = 16;
    auto random = miniapp::generator_of(context().seed, ring_.rank());
    const auto u = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), fields_[now_]);
    std::vector<miniapp::FileValue> values;
    const auto own = block_.extents[0], before = grid::padding<double>(block_)[0];
    for (const auto& place :
         miniapp::sample_places({{options_.cells, 1, 1}, {block_.offset[0]}, {own, 1, 1}}, random_places, random))
      values.push_back({"/fields/u",
                        {static_cast<std::uint64_t>(block_.offset[0] + place.index[0])},
                        u(0, 0, before + place.index[0])});
    if (options_.samples() == 0) return values;
    const auto samples = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), samples_);
    const auto begin = static_cast<std::int64_t>(samples_block().offset[1]);
    for (const auto p : miniapp::sample_numbers(options_.probes, random_places, random)) {
      const auto g = miniapp::sample_numbers(options_.samples(), 1, random)[0];
      const auto column = static_cast<std::uint64_t>(begin + p);
      values.push_back({"/fields/probes", {static_cast<std::uint64_t>(g), column}, samples(g, p)});
      values.push_back({"/fields/probe_cells", {column}, static_cast<double>(wanted_[p])});
    }
    return values;
  }

  std::vector<miniapp::FigureOfMerit> figures(double seconds, const miniapp::Calibration& machine) const override {
    const double updates = static_cast<double>(options_.cells) * static_cast<double>(made_ - first_);
    const double bytes = updates * sizeof(double);
    return miniapp::figures_of_cells(updates, sizeof(double), seconds, {.read = bytes, .written = bytes}, machine);
  }

  miniapp::AppRecord record() const override {
    auto record = record_;
    record_launches(record, made_ - first_);
    return record;
  }

  miniapp::CalibrationRequest calibration() const override {
    return {.working_set = static_cast<double>(record_.field_memory)};
  }

  std::optional<miniapp::FieldOutput> write_fields(output::File& file, const std::string& group) const override {
    const auto name = group + "/u";
    const double time = static_cast<double>(made_) * options_.time_step();
    grid::write_field(file, name, block_, fields_[now_]);
    file.attributes(group, {{"steps", made_}, {"time", time}});
    if (group == "/fields" && options_.samples() > 0) {
      const auto block = samples_block();
      file.dataset("/fields/probe_cells", {{block.global[1]}, {block.offset[1]}, {block.extent[1]}}, wanted_.data());
      grid::write_view(file, "/fields/probes", block, samples_);
    }
    return miniapp::FieldOutput{grid::image_of(block_), {time, {grid::mesh_field<double>(block_, "u", name)}}};
  }

  void write_state(output::File& file) const override {
    write_fields(file, "/state");
    if (gathered() == 0) return;
    auto block = samples_block();
    block.global[0] = block.extent[0] = gathered();
    grid::write_view(file, "/state/samples", block, Kokkos::subview(samples_, rows_made(), Kokkos::ALL));
  }

  void read_state(const output::Reader& reader) override {
    const auto path = reader.path().string();
    first_ = reader.attributes("/state").at("steps").get<std::int64_t>();
    if (first_ >= options_.steps)
      throw config::Error({fmt::format("restart: solver.steps is {}, and {} steps in {} are made already; give more",
                                       options_.steps, first_, path)},
                          "E-CHECKPOINT-DECK");
    grid::read_field(reader, "/state/u", block_, fields_[now_]);
    made_ = first_;
    if (gathered() == 0) return;
    auto block = samples_block();
    const auto there = reader.info("/state/samples").extents;
    if (there.at(1) != block.global[1])
      throw config::Error(
          {fmt::format("restart: {} ranks ask for {} probes, and in {} there are {}; go on with as many ranks",
                       ring_.size(), block.global[1], path, there.at(1))},
          "E-CHECKPOINT-DECK");
    block.global[0] = block.extent[0] = gathered();
    grid::read_view(reader, "/state/samples", block, Kokkos::subview(samples_, rows_made(), Kokkos::ALL));
  }

 private:
  Steps& steps() override { return *this; }

  miniapp::StepPlan plan() const override {
    return {.first = first_,
            .limit = options_.steps,
            .work_per_step = static_cast<double>(options_.cells),
            .together = static_cast<int>(options_.steps_per_pass),
            .break_every = options_.samples() > 0 ? options_.probe_every : 0};
  }

  miniapp::LaunchTerms launch_terms() override {
    return {.wanted = options_.launch,
            .comm = &ring_,
            .streams = &streams_,
            .states = 2,
            .graph_refusal = stepping::graph_refusal(ring_, halos_[0])};
  }

  void begin(miniapp::Launch) override { made_ = first_; }

  int queue(int state, const miniapp::Pass& pass) override {
    if (pass.exchanges) {
      miniapp::SampledExchange halo(halos_[state], exchanges_);
      queue_pass(state, halo, pass.steps);
    } else {
      stepping::NoExchange none;
      queue_pass(state, none, pass.steps);
    }
    return (state + pass.steps) % 2;
  }

  int current_state() const override { return now_; }
  void moved(const miniapp::Pass& pass) override { now_ = (now_ + pass.steps) % 2; }

  void account(const miniapp::Pass& pass) override {
    made_ = pass.after + pass.steps;
    if (options_.samples() > 0 && made_ % options_.probe_every == 0) gather(made_ / options_.probe_every - 1);
  }

  void poll() override { halos_.poll(); }

  void drain() override { streams_.fence(); }
  void finish(std::int64_t /*made*/) override { context().timers.add(halos_.times()); }

  /// Steps to and fro between the fields, from that one. Those of a pass begin upwind of the block, each a cell later.
  /// The cell at the upwind end reads a ghost, the one at the downwind end is what the next step sends: with overlap,
  /// both are computed after the exchange. A pass does not overlap.
  template <class Exchange>
  void queue_pass(int from, Exchange& halo, int steps) {
    const auto n = block_.extents[0];
    const auto sweep = [&](const Space& instance, int field, const Cells& cells, int calls) {
      const miniapp::ScopedTimer timed(compute_, calls);
      plain_step(instance, fields_[field], fields_[1 - field], options_.courant, -options_.direction(),
                 grid::padding<double>(block_)[0], cells);
    };
    stepping::exchange_and_compute(
        streams_, halo, context().overlap && options_.steps_per_pass == 1,
        [&](const Space& i) {
          sweep(i, from, {1, std::max<std::int64_t>(0, n - 2)}, 1);
        },
        [&](const Space& i) {
          sweep(i, from, {0, std::min<std::int64_t>(2, n), n - 1}, 0);
        },
        [&](const Space& i) {
          for (int step = 1; step <= steps; ++step) {
            const int upwind = steps - step;
            sweep(i, (from + step - 1) % 2, {options_.direction() > 0 ? -upwind : 0, n + upwind}, 1);
          }
        });
  }

  void gather(std::int64_t sample) {
    const miniapp::ScopedTimer timed(gather_);
    probes_[now_].start();
    probes_[now_].finish();
    Kokkos::deep_copy(streams_.compute(), Kokkos::subview(samples_, sample, Kokkos::ALL), values_);
  }

  /// Local, waits. A checksum of this rank's cells.
  std::uint64_t digest() const {
    const auto u = grid::view_of(fields_[now_], block_, block_.all());
    std::uint64_t sum = 0;
    Kokkos::parallel_reduce(
        "advection/digest", Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(0, block_.extents[0]),
        KOKKOS_LAMBDA(std::int64_t i, std::uint64_t & part) {
          part += miniapp::digest_of(static_cast<std::uint64_t>(i), u(0, 0, i));
        },
        sum);
    return sum;
  }

  /// Rows of the samples that the steps made have filled.
  std::uint64_t gathered() const {
    return options_.samples() > 0 ? static_cast<std::uint64_t>(made_ / options_.probe_every) : 0;
  }
  std::pair<std::uint64_t, std::uint64_t> rows_made() const { return {0, gathered()}; }

  /// This rank's samples in the table of all: (gathering, probe), the probes of all ranks in their order.
  output::Block samples_block() const {
    const auto ranks = static_cast<std::uint64_t>(ring_.size()), rank = static_cast<std::uint64_t>(ring_.rank());
    const std::uint64_t count = wanted_.size(), samples = samples_.extent(0);
    return {{samples, ranks * count}, {0, rank * count}, {samples, count}};
  }

  Options options_;
  comm::Communicator ring_;
  grid::Block block_;
  grid::DeckFunction initial_;
  stepping::Streams<Space> streams_;
  std::vector<std::int64_t> wanted_;              ///< the cells that this rank asks for
  Kokkos::View<double*> values_;                  ///< of them, as they arrive
  Kokkos::View<double**> samples_;                ///< of all gatherings of a run: (gathering, probe)
  std::array<grid::FieldView<double>, 2> fields_; ///< they take turns
  std::array<Gathering, 2> probes_;               ///< of the fields, as are the halos
  grid::HaloPair<double> halos_;
  int now_ = 0;            ///< the field that holds the solution
  std::int64_t first_ = 0; ///< steps made by another run
  std::int64_t made_ = 0;  ///< steps of the repeat
  miniapp::AppRecord record_;
  miniapp::Timer& compute_;
  miniapp::Timer& gather_;
  miniapp::ExchangeSamples exchanges_;
};

} // namespace

std::unique_ptr<miniapp::MiniApp> make_advection(const Options& options, const miniapp::RunContext& context) {
  return std::make_unique<Advection>(options, context);
}

} // namespace kontor::advection
