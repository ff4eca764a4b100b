// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/run.hpp"

#include "machine/calibrate.hpp"
#include "machine/memory.hpp"
#include "machine/simulation.hpp"
#include "run/checkpoint/checkpoints.hpp"
#include "run/loop/stop_request.hpp"
#include "run/record/build_info.hpp"
#include "run/record/report.hpp"
#include "run/start/communicator.hpp"
#include "run/start/deck_file.hpp"
#include "run/start/files.hpp"
#include "run/start/guard.hpp"
#include "run/start/to_stderr.hpp"

#include <kontor/comm/broadcast.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/comm/reductions.hpp>
#include <kontor/config/error.hpp>
#include <kontor/config/input_files.hpp>
#include <kontor/config/text.hpp>
#include <kontor/device/clock.hpp>
#include <kontor/output/contents.hpp>
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
    sum.kind = timer.kind;
  }
}

/// The file's name with another ending, in the working directory, or beside it.
std::string own_name(const std::filesystem::path& file, const char* ending) {
  return file.stem().string() + ending;
}
std::string beside(const std::filesystem::path& file, const char* ending) {
  return (file.parent_path() / own_name(file, ending)).string();
}

/// A deck in a checkpoint may come from anywhere, so a file that it names is written here or beside the
/// checkpoint, and elsewhere only if the command line says so.
void require_near(const config::Deck& deck, std::string_view key, const std::filesystem::path& file,
                  const std::filesystem::path& checkpoint) {
  namespace fs = std::filesystem;
  const auto folder_of = [](const fs::path& path) {
    std::error_code ignored;
    return fs::weakly_canonical(fs::absolute(path, ignored).parent_path(), ignored);
  };
  const auto folder = folder_of(file);
  if (deck.locate(key).starts_with("--set ") || folder == folder_of("here") ||
      folder == folder_of(checkpoint))
    return;
  deck.fail(key,
            fmt::format("is {}, neither in this folder nor in that of the checkpoint; say {}", file.string(),
                        key == "output.file" ? "-o FILE" : fmt::format("--set {}=FILE", key)));
}

} // namespace

Run::Run(const CommandLine& line, std::string command, const App& app, comm::Stopwatch since_start)
    : line_(line), command_(std::move(command)), app_(app), deck_(read()), since_start_(since_start) {
  if (deck_.app() != app_.name)
    deck_.fail("app",
               fmt::format("is '{}', but this program is '{}'", config::shown(deck_.app()), app_.name));
  const auto settings_of_app = [this] {
    return config::settings([this](config::Visitor& v) { app_.describe(v); });
  };
  default_settings_ = settings_of_app();
  deck_.read([this](config::Visitor& v) { describe(v); });
  if (!line_.output.empty()) options_.output_file = line_.output;
  if (!line_.restart.empty()) options_.restart = line_.restart;
  resolve_sizes();
  options_.checkpoint.resolve(deck_);
  app_settings_ = settings_of_app();
  if (options_.checkpoint.wanted() || !options_.restart.empty()) look_into_inputs();
  // Before anything is chosen: what was left open stays so, for a run on other ranks or another machine.
  const auto print = [this] { return config::print(app_.name, [this](config::Visitor& v) { describe(v); }); };
  resolved_deck_ = print();
  const auto restart = std::exchange(options_.restart, ""); // not what is gone on from later
  checkpoint_deck_ = print();
  options_.restart = restart;
  check_restart();
  auto& output = options_.output_file;
  if (output.empty()) output = line_.deck.empty() ? restart_->header().output : own_name(line_.deck, ".h5");
  auto& checkpoints = options_.checkpoint;
  if (line_.deck.empty() && line_.output.empty())
    require_near(deck_, "output.file", output, restart_->path());
  if (line_.deck.empty() && !checkpoints.file.empty())
    require_near(deck_, "checkpoint.file", checkpoints.file, restart_->path());
  if (checkpoints.wanted() && checkpoints.file.empty()) checkpoints.file = beside(output, "-checkpoint.h5");
}

/// The deck of the command line, else that in the checkpoint.
config::Deck Run::read() {
  if (!line_.deck.empty()) return read_deck(line_.deck, line_.set);
  restart_.emplace(MPI_COMM_WORLD, line_.restart, "--restart");
  return config::Deck::parse(restart_->header().deck, restart_->path(), line_.set);
}

/// Collective. A run that goes on has the memory of another moment, so that its sizes would be others.
void Run::resolve_sizes() {
  const auto free_memory = [this] {
    if (!options_.restart.empty())
      deck_.fail("problem.memory_share",
                 fmt::format("chooses sizes, and a run that goes on has those of its checkpoint: run {} "
                             "itself with --restart, or give its sizes",
                             options_.restart));
    return free_memory_of_rank(comm::Communicator(MPI_COMM_WORLD, comm::Options{}));
  };
  int ranks = 0;
  comm::mpi::check(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
  app_.resolve_sizes(deck_, ranks, free_memory);
}

/// Collective. For checkpoints a file that the deck names is what is in it, wherever it is.
void Run::look_into_inputs() {
  for (const auto& file : config::input_files([this](config::Visitor& v) { app_.describe(v); })) {
    const auto setting = std::ranges::find(app_settings_, file.location.key, &config::Setting::key);
    try {
      setting->value = fmt::format("a file of {}", output::contents_of(MPI_COMM_WORLD, file.path));
    } catch (const output::Error& error) {
      deck_.fail(file.location.key, fmt::format("cannot be read: {}", error.what()));
    }
  }
}

/// Refuses checkpoints of an app that has none, and one that is of another deck.
void Run::check_restart() {
  const auto& may_change = app_.restart_may_change;
  const auto refuse = [&](std::string_view key, std::string_view value) {
    deck_.fail(key,
               fmt::format("is {}, but {} writes no checkpoints: its runs begin at the beginning; leave it "
                           "out",
                           value, app_.name));
  };
  if (!may_change) {
    const auto& c = options_.checkpoint;
    if (c.every > 0) refuse("checkpoint.every", fmt::format("{}", c.every));
    if (c.seconds > 0) refuse("checkpoint.seconds", fmt::format("{}", c.seconds));
    if (!c.walltime.empty()) refuse("checkpoint.walltime", c.walltime);
    if (!c.file.empty()) refuse("checkpoint.file", c.file);
    if (!options_.restart.empty()) refuse("restart", options_.restart);
  }
  if (options_.restart.empty()) return;
  const auto place = line_.restart.empty() ? deck_.location("restart").text() : "--restart";
  if (!restart_) restart_.emplace(MPI_COMM_WORLD, options_.restart, place);
  auto settings = app_settings_; // a key that the checkpoint's version did not have was its default
  std::erase_if(settings, [&](const config::Setting& s) {
    const auto same = [&](const config::Setting& d) { return d.key == s.key && d.value == s.value; };
    return !restart_->header().keys.contains(s.key) && std::ranges::any_of(default_settings_, same);
  });
  restart_->require_same(app_.name, deck_, settings, *may_change);
  if (const auto& header = restart_->header(); header.repeat >= options_.repeats)
    deck_.fail("measure.repeats",
               fmt::format("is {}, but {} was written in repeat {}; allowed are as many or "
                           "more",
                           options_.repeats, restart_->path(), header.repeat + 1));
}

void Run::describe(config::Visitor& v) {
  app_.describe(v);
  options_.describe(v);
}

int Run::operator()() {
  const auto comm = make_communicator(deck_, options_, app_.name);
  const bool root = comm.rank() == 0;
  app_.resolve(deck_, comm.size(), options_);
  charges_computation(); // on simulated ranks: a file that cannot be read is told now
  if (line_.print_deck) {
    if (root) fmt::print("{}", resolved_deck_);
    return exit_verified;
  }
  auto facts = provenance(comm, options_, app_.name, command_, resolved_deck_);
  const auto file = open_output(comm);

  Outcome outcome;
  Timers timers;              // once a run
  Timers repeated{app_.name}; // in the repeats
  auto& machine = outcome.calibration;
  Progress progress(Progress::style_for(comm.rank(), line_.quiet), app_.name);
  StopRequest end(comm);
  const auto checkpoints = make_checkpoints(comm, end, repeated);
  if (restart_ && root) to_stderr(restart_->note());
  FieldSeries series{file.get(), options_.snapshot_every};
  series.complete = restart_ && restart_->header().repeat > 0; // in the file of the run before
  const RunContext context{comm, options_.overlap, repeated, progress, &series, &end, checkpoints.get()};
  machine = timed(timers.once("calibrate"), [&] { return calibrate(comm, app_.huge_pages); });
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
  if (checkpoints) outcome.checkpoint = checkpoints->summary();
  if (restart_) {
    if (!outcome.checkpoint) outcome.checkpoint.emplace();
    outcome.checkpoint->restarted_from = restart_->path();
    outcome.checkpoint->at_step = restart_->header().step;
    outcome.checkpoint->at_repeat = restart_->header().repeat;
  }
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

  auto of_app = app->record();
  const auto table = std::exchange(of_app.table, {});
  const auto record = make_record(comm, std::move(facts), std::move(of_app), std::move(outcome));
  const auto tree = root ? to_json(record) : nlohmann::ordered_json::object();
  const auto written = write(*app, series, tree, record.outcome.complete());
  if (root && !line_.quiet) print_table(record, table, written);
  if (root) print_verdict(record.outcome);
  if (record.outcome.verification.failed()) return exit_verification_failed;
  return record.outcome.ended_early() ? exit_ended_early : exit_verified;
}

/// Which paths there are for Views in a GPU's memory is known only when the app's exchanges are made.
std::unique_ptr<MiniApp> Run::make_app(const RunContext& context) const {
  try {
    return app_.make(context);
  } catch (const comm::UsageError& error) {
    const auto key = key_of(error, options_.comm);
    if (key != "comm.path") throw;
    deck_.fail(key, fmt::format("is not available: {}", error.what()));
  }
}

/// A path that cannot be written is the user's to mend, and is found before any work is done.
std::unique_ptr<output::File> Run::open_output(const comm::Communicator& comm) const {
  Files files{line_.deck,
              options_.output_file,
              options_.fields != FieldSelection::none,
              line_.results,
              config::input_files([this](config::Visitor& v) { app_.describe(v); }),
              options_.checkpoint.file};
  if (restart_) files.inputs.push_back({restart_->path(), deck_.location("restart")});
  check_files(comm, files);
  require_no_series(comm);
  try {
    return std::make_unique<output::File>(comm.native(), files.output, options_.access, sidecars(files));
  } catch (const output::Error& error) {
    throw config::Error({error.what()});
  }
}

/// Fields of a series are written as the run goes on. Those of the part before a restart are in the file that
/// was written then, and in no other.
void Run::require_no_series(const comm::Communicator& comm) const {
  if (!restart_ || options_.snapshot_every == 0) return;
  std::optional<std::string> problem;
  std::error_code ignored;
  if (comm.rank() == 0 && std::filesystem::exists(options_.output_file, ignored))
    problem = fmt::format("{}: output.every is {} and {} is there already; the fields of its series would be "
                          "lost. Give another file by output.file or -o",
                          deck_.locate("output.every"), options_.snapshot_every, options_.output_file);
  try {
    comm.agree(problem);
  } catch (const comm::AgreedError& error) {
    throw config::Error({error.what()});
  }
}

CheckpointHeader Run::checkpoint_header(int ranks) {
  CheckpointHeader header{.app = app_.name,
                          .version = build_info().version,
                          .run = restart_ ? restart_->header().run : "",
                          .ranks = ranks,
                          .output = options_.output_file,
                          .deck = checkpoint_deck_,
                          .keys = nlohmann::ordered_json::object()};
  for (const auto& [key, value] : app_settings_) header.keys[key] = value;
  return header;
}

/// None if no key asks for them. A name that cannot be written is found before any work is done.
std::unique_ptr<Checkpoints> Run::make_checkpoints(const comm::Communicator& comm, StopRequest& end,
                                                   Timers& timers) {
  if (!options_.checkpoint.wanted()) return nullptr;
  auto since_start = since_start_;
  double elapsed = 0;
  since_start.lap(elapsed);
  try {
    return std::make_unique<Checkpoints>(
        comm, options_.checkpoint, checkpoint_header(comm.size()), options_.access, end, timers["checkpoint"],
        device::seconds() - elapsed, restart_ ? restart_->path() : std::string());
  } catch (const output::Error& error) {
    throw config::Error({error.what()});
  }
}

/// Seconds of each repeat: the slowest rank's, without what it spent on writing fields of a series and
/// checkpoints. Ends early when told to: between repeats, or where the app notices; if there are checkpoints,
/// it always is the app. A repeat that began in another process counts only if it is the last. `times` become
/// this rank's.
void Run::measure(const RunContext& context, MiniApp& app, Outcome& outcome, RepeatTimes& times) const {
  const auto apart_so_far = [&] {
    double seconds = 0;
    for (const auto& [region, timer] : context.timers.entries())
      if (apart(region)) seconds += timer.seconds;
    return seconds;
  };
  outcome.repeats_wanted = options_.repeats;
  const std::int64_t first = restart_ ? restart_->header().repeat : 0;
  for (std::int64_t repeat = first; repeat < options_.repeats; ++repeat) {
    if (context.end->ask() && !context.checkpoints) break;
    app.reset();
    const bool goes_on = restart_ && repeat == first;
    if (goes_on) app.read_state(restart_->reader());
    if (context.checkpoints) context.checkpoints->begin_repeat(repeat, goes_on ? restart_->header().step : 0);
    context.progress.begin();
    const double apart_before = apart_so_far();
    comm::barrier(context.comm);
    comm::Stopwatch watch;
    try {
      app.run();
    } catch (const EndedEarly&) { // on all ranks
    }
    double seconds = 0;
    watch.lap(seconds);
    seconds -= apart_so_far() - apart_before;
    const double slowest = comm::allreduce(context.comm, seconds, comm::ReduceOp::max);
    outcome.stepping += slowest;
    context.progress.end();
    outcome.unfinished = context.end->granted();
    if (outcome.unfinished) break;
    if (goes_on && repeat + 1 < options_.repeats) {
      context.timers.reset();
      continue;
    }
    times.add(seconds, context.timers);
    outcome.repeats.push_back(slowest);
  }
}

/// Returns the names of what was written, at rank 0. Fields of an unfinished repeat are not: time is short.
std::vector<std::filesystem::path> Run::write(const MiniApp& app, FieldSeries& series,
                                              const nlohmann::ordered_json& tree, bool complete) const {
  auto& file = *series.file;
  file.record("/run", tree);
  std::optional<FieldOutput> fields;
  if (complete && options_.fields != FieldSelection::none) fields = app.write_fields(file, "/fields");
  if (fields) {
    if (fields->image.dimensions > 1) file.image_data(fields->image, fields->snapshot.fields);
    series.snapshots.push_back(fields->snapshot);
    file.sidecar(output::xdmf_path(options_.output_file),
                 output::xdmf(options_.output_file, fields->image, series.snapshots));
  }
  if (!line_.results.empty()) file.sidecar(line_.results, json_text(tree));
  return file.commit();
}

} // namespace kontor::miniapp
