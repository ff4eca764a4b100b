// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/run.hpp"

#include "machine/calibrate.hpp"
#include "machine/simulation.hpp"
#include "run/communicator.hpp"
#include "run/deck_file.hpp"
#include "run/files.hpp"
#include "run/guard.hpp"
#include "run/report.hpp"
#include "run/to_stderr.hpp"

#include <kontor/comm/collectives/broadcast.hpp>
#include <kontor/comm/collectives/reductions.hpp>
#include <kontor/config/error.hpp>
#include <kontor/config/input_files.hpp>
#include <kontor/output/error.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <utility>

namespace kontor::miniapp {
namespace {

/// Calls work() as a region; returns what it returns.
template <class Work>
auto timed(Timer& timer, const Work& work) {
  const ScopedTimer scope(timer);
  return work();
}

} // namespace

Run::Run(const CommandLine& line, std::string command, MiniAppFactory& factory, comm::Stopwatch since_start)
    : line_(line), command_(std::move(command)), factory_(factory), deck_(read_deck(line.deck, line.set)),
      since_start_(since_start) {
  if (deck_.app() != factory_.name())
    deck_.fail("app", fmt::format("is '{}', but this program is '{}'", deck_.app(), factory_.name()));
  deck_.read([this](config::Visitor& v) { describe(v); });
  if (!line_.output.empty()) options_.output_file = line_.output;
  // Before anything is chosen: what was left open stays so, for a run on other ranks or another machine.
  resolved_deck_ = config::print(factory_.name(), [this](config::Visitor& v) { describe(v); });
  if (options_.output_file.empty())
    options_.output_file = std::filesystem::path(line_.deck).stem().string() + ".h5";
}

void Run::describe(config::Visitor& v) {
  factory_.describe(v);
  options_.describe(v);
}

int Run::operator()() {
  const auto comm = make_communicator(deck_, options_, factory_.name());
  const bool root = comm.rank() == 0;
  factory_.resolve(deck_, comm.size());
  charges_computation(); // on simulated ranks: a file that cannot be read is told now
  if (line_.print_deck) {
    if (root) fmt::print("{}", resolved_deck_);
    return exit_verified;
  }
  auto facts = provenance(comm, options_, factory_.name(), command_, resolved_deck_);
  const auto file = open_output(comm);

  Outcome outcome;
  Timers timers;                                 // once a run
  Timers repeated{std::string(factory_.name())}; // in the repeats
  auto& machine = outcome.calibration;
  Progress progress(Progress::style_for(comm.rank(), line_.quiet));
  const RunContext context{comm, options_.overlap, repeated, progress, file.get(), options_.snapshot_every};
  {
    const ScopedTimer scope(timers.once("setup"), 0); // its first part
    factory_.prepare(context);
  }
  machine = timed(timers.once("calibrate"), [&] { return calibrate(comm); });
  const auto app = timed(timers.once("setup"), [&] { return make_app(context); });
  to_stderr(shared_devices(facts.devices)); // not before a refusal; known at rank 0
  machine = timed(timers.once("calibrate"),
                  [&] { return calibrate_for(comm, app->calibration(), std::move(machine)); });
  since_start_.lap(outcome.start_to_first_step);
  app->warm_up();
  repeated.reset();
  outcome.repeats = measure(comm, *app, progress, repeated);
  add_repeated(timers, repeated); // before the verification, which may use what is timed
  if (!comm.capabilities().moves_data)
    outcome.verification = {.measure = fmt::format("backend '{}' moves nothing", options_.comm.backend),
                            .off = true};
  else if (charges_computation())
    outcome.verification = {.measure = words_of_simulation(), .off = true};
  else
    outcome.verification = timed(timers.once("verify"), [&] { return app->verify(); });
  outcome.timers = summarise(comm, timers);
  if (!outcome.verification.failed()) outcome.figures = app->figures(median(outcome.repeats), machine);

  const auto record = make_record(comm, std::move(facts), app->record(), std::move(outcome));
  const auto tree = root ? to_json(record) : nlohmann::ordered_json::object();
  const auto written = write(*app, *file, tree);
  if (root && !line_.quiet) print_table(record, app->table(), written);
  if (root) print_verdict(record.outcome);
  return record.outcome.verification.failed() ? exit_verification_failed : exit_verified;
}

/// Which paths there are for Views in a GPU's memory is known only when the app's exchanges are made.
std::unique_ptr<MiniApp> Run::make_app(const RunContext& context) const {
  try {
    return factory_.make(context);
  } catch (const comm::UsageError& error) {
    const auto key = key_of(error, options_.comm);
    if (key != "comm.path") throw;
    deck_.fail(key, fmt::format("is not available: {}", error.what()));
  }
}

/// A path that cannot be written is the user's to mend, and is found before any work is done.
std::unique_ptr<output::File> Run::open_output(const comm::Communicator& comm) const {
  const Files files{line_.deck, options_.output_file, options_.fields != FieldSelection::none, line_.results,
                    config::input_files([this](config::Visitor& v) { factory_.describe(v); })};
  check_files(comm, files);
  try {
    return std::make_unique<output::File>(comm.native(), files.output, options_.access, sidecars(files));
  } catch (const output::Error& error) {
    throw config::Error({error.what()});
  }
}

/// Seconds of each repeat: the slowest rank's, without what it spent on writing fields of a series.
std::vector<double> Run::measure(const comm::Communicator& comm, MiniApp& app, Progress& progress,
                                 const Timers& timers) const {
  const auto io_so_far = [&] {
    const auto io = timers.entries().find("io");
    return io == timers.entries().end() ? 0.0 : io->second.seconds;
  };
  std::vector<double> repeats;
  for (std::int64_t repeat = 0; repeat < options_.repeats; ++repeat) {
    app.reset();
    progress.begin(std::string(factory_.name()), app.progress_words());
    const double io_before = io_so_far();
    comm::barrier(comm);
    comm::Stopwatch watch;
    app.run();
    double seconds = 0;
    watch.lap(seconds);
    seconds -= io_so_far() - io_before;
    repeats.push_back(comm::allreduce(comm, seconds, comm::ReduceOp::max));
    progress.end();
  }
  return repeats;
}

/// Times and calls of regions inside the repeats are given for one repeat.
void Run::add_repeated(Timers& timers, const Timers& repeated) const {
  for (const auto& [region, timer] : repeated.entries()) {
    const auto times = timer.once ? 1 : options_.repeats;
    auto& sum = timer.once ? timers.once(region) : timers[region];
    sum.add(timer.seconds / static_cast<double>(times), timer.calls / times);
  }
}

/// Returns the names of what was written, at rank 0.
std::vector<std::filesystem::path> Run::write(const MiniApp& app, output::File& file,
                                              const nlohmann::ordered_json& tree) const {
  file.record("/run", tree);
  std::optional<FieldOutput> fields;
  if (options_.fields != FieldSelection::none) fields = app.write_fields(file);
  if (fields)
    file.sidecar(output::xdmf_path(options_.output_file),
                 output::xdmf(options_.output_file, fields->image, fields->snapshots));
  if (!line_.results.empty()) file.sidecar(line_.results, json_text(tree));
  return file.commit();
}

} // namespace kontor::miniapp
