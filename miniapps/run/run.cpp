// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/run.hpp"

#include "machine/calibrate.hpp"
#include "machine/simulation.hpp"
#include "run/communicator.hpp"
#include "run/deck_file.hpp"
#include "run/end_request.hpp"
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

#include <algorithm>
#include <cstdio>
#include <limits>
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

/// Calls work(); returns how long that took.
template <class Work>
double seconds_of(const Work& work) {
  comm::Stopwatch watch;
  work();
  double seconds = 0;
  watch.lap(seconds);
  return seconds;
}

/// Times and calls of regions inside the repeats, which were so many, are given for one repeat.
void add_repeated(Timers& timers, const Timers& repeated, std::int64_t repeats) {
  for (const auto& [region, timer] : repeated.entries()) {
    const auto times = timer.once ? 1 : repeats;
    auto& sum = timer.once ? timers.once(region) : timers[region];
    sum.add(timer.seconds / static_cast<double>(times), timer.calls / times);
  }
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
  factory_.resolve(deck_, comm.size(), options_);
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
  EndRequest end(comm);
  const RunContext context{comm,       options_.overlap,        repeated, progress,
                           file.get(), options_.snapshot_every, &end};
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
  end.expect(seconds_of([&] { app->warm_up(); })); // longer than a step
  repeated.reset();
  RepeatTimes times;
  measure(context, *app, outcome, times);
  outcome.end_signal = end.signal();
  const auto begun = static_cast<std::int64_t>(outcome.repeats.size()) + (outcome.unfinished ? 1 : 0);
  add_repeated(timers, repeated, std::max<std::int64_t>(1, begun)); // verification may use what is timed
  if (!outcome.complete())
    outcome.verification = {.measure = "no answer is complete", .off = true};
  else if (!comm.capabilities().moves_data)
    outcome.verification = {.measure = fmt::format("backend '{}' moves nothing", options_.comm.backend),
                            .off = true};
  else if (charges_computation())
    outcome.verification = {.measure = words_of_simulation(), .off = true};
  else
    outcome.verification = timed(timers.once("verify"), [&] { return app->verify(); });
  outcome.timers = summarise(comm, timers);
  outcome.per_rank = gather(comm, times);
  if (outcome.complete() && !outcome.verification.failed())
    outcome.figures = app->figures(median(outcome.repeats), machine);
  if (machine.oversubscribed)
    for (auto& figure : outcome.figures) figure.attainable = std::numeric_limits<double>::quiet_NaN();

  const auto record = make_record(comm, std::move(facts), app->record(), std::move(outcome));
  const auto tree = root ? to_json(record) : nlohmann::ordered_json::object();
  const auto written = write(*app, *file, tree, record.outcome.complete());
  if (root && !line_.quiet) print_table(record, app->table(), written);
  if (root) print_verdict(record.outcome);
  if (record.outcome.verification.failed()) return exit_verification_failed;
  return record.outcome.ended_early() ? exit_ended_early : exit_verified;
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

/// Seconds of each repeat: the slowest rank's, without what it spent on writing fields of a series. Ends
/// early when told to: between repeats, or where the app notices. `times` become this rank's.
void Run::measure(const RunContext& context, MiniApp& app, Outcome& outcome, RepeatTimes& times) const {
  const auto io_so_far = [&] {
    const auto io = context.timers.entries().find("io");
    return io == context.timers.entries().end() ? 0.0 : io->second.seconds;
  };
  outcome.repeats_wanted = options_.repeats;
  for (std::int64_t repeat = 0; repeat < options_.repeats && !context.end->ask(); ++repeat) {
    app.reset();
    context.progress.begin(std::string(factory_.name()), app.progress_words());
    const double io_before = io_so_far();
    comm::barrier(context.comm);
    comm::Stopwatch watch;
    try {
      app.run();
    } catch (const EndedEarly&) { // on all ranks
    }
    double seconds = 0;
    watch.lap(seconds);
    seconds -= io_so_far() - io_before;
    const double slowest = comm::allreduce(context.comm, seconds, comm::ReduceOp::max);
    context.progress.end();
    outcome.unfinished = context.end->granted();
    if (outcome.unfinished) break;
    times.add(seconds, context.timers);
    outcome.repeats.push_back(slowest);
  }
}

/// Returns the names of what was written, at rank 0. Fields of an unfinished repeat are not: time is short.
std::vector<std::filesystem::path> Run::write(const MiniApp& app, output::File& file,
                                              const nlohmann::ordered_json& tree, bool complete) const {
  file.record("/run", tree);
  std::optional<FieldOutput> fields;
  if (complete && options_.fields != FieldSelection::none) fields = app.write_fields(file);
  if (fields)
    file.sidecar(output::xdmf_path(options_.output_file),
                 output::xdmf(options_.output_file, fields->image, fields->snapshots));
  if (!line_.results.empty()) file.sidecar(line_.results, json_text(tree));
  return file.commit();
}

} // namespace kontor::miniapp
