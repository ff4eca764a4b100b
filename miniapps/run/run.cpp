// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/run.hpp"

#include "machine/calibration.hpp"
#include "machine/device.hpp"
#include "machine/energy.hpp"
#include "run/checkpoint/checkpoints.hpp"
#include "run/loop/stop_request.hpp"
#include "run/record/record.hpp"
#include "run/start/guard.hpp"
#include "run/start/messages.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/config/error.hpp>

#include <fmt/format.h>

#include <random>

namespace kontor::miniapp {
namespace {

/// Calls work() as a region; returns what it returns.
template <class Work>
auto timed(Timer& timer, const Work& work) {
  const ScopedTimer scope(timer);
  return work();
}

/// Collective. Throws config::Error for a state that lacks a number.
void read_state(MiniApp& app, const Restart& restart) {
  try {
    app.read_state(restart.reader());
  } catch (const nlohmann::json::exception& error) { // on all ranks
    throw config::Error({fmt::format("restart: {} has no whole state: {}", restart.path(), error.what())},
                        "E-CHECKPOINT-NONE");
  }
}

} // namespace

int Run::operator()() {
  const auto comm = make_communicator();
  const bool root = comm.rank() == 0;
  app_.resolve(deck_, comm.size(), options_);
  if (line_.print_deck) {
    if (root) fmt::print("{}", resolved_deck_);
    return exit_verified;
  }
  auto record = provenance(comm, options_, app_.name, command_, resolved_deck_);
  const auto file = open_output(comm);

  Timers timers(app_.name);
  Progress progress(root && !line_.quiet, app_.name);
  StopRequest end(comm);
  const auto checkpoints = make_checkpoints(comm, end, timers);
  if (restart_ && root) to_stderr(restart_->note());
  FieldSeries series{file.get(), options_.snapshot_every};
  series.complete = restart_ && restart_->header().repeat > 0; // in the file of the run before
  const auto seed = options_.sample_seed.value_or(root ? std::random_device()() : 0);
  const RunContext context{.comm = comm,
                           .overlap = options_.overlap,
                           .timers = timers,
                           .progress = progress,
                           .series = &series,
                           .end = &end,
                           .checkpoints = checkpoints.get(),
                           .restart = restart_ ? &*restart_ : nullptr,
                           .seed = static_cast<std::uint64_t>(comm::allreduce(comm, seed, comm::ReduceOp::max))};
  const auto app = timed(timers.once("setup"), [&] { return make_app(context); });
  to_stderr(shared_devices(record.value("devices", nlohmann::ordered_json()))); // not before a refusal
  Calibration machine;
  if (options_.calibrate)
    machine = timed(timers.once("calibrate"), [&] { return calibrate(comm, app_.huge_pages, app->calibration()); });
  double start_to_first_step = 0;
  since_start_.lap(start_to_first_step);
  timed(timers.once("warm_up"), [&] { app->warm_up(); });
  end.expect(timers.once("warm_up").seconds); // longer than a step
  EnergyMeter energy(comm);
  const bool verifies = comm.capabilities().moves_data;
  Verification verification; // first of launches and starts
  if (verifies) verification = timed(timers.once("verify"), [&] { return app->verify_launches(); });
  timers.reset();
  Measured measured;
  if (verification.passed()) // else no repeat would have a figure
    measured = measure(context, *app, energy, verifies ? &timers.once("verify") : nullptr, verification);
  auto& repeats = measured.repeats;
  const auto begun = static_cast<std::int64_t>(repeats.size()) + (measured.unfinished ? 1 : 0);
  if (!verification.passed())
    repeats.clear();
  else if (!measured.complete())
    verification = {.measure = "no answer is complete", .off = true};
  else if (!verifies)
    verification = {.measure = fmt::format("backend '{}' moves nothing", options_.comm.backend), .off = true};
  else
    timers.uncounted([&] { timed(timers.once("verify"), [&] { verify(*app, verification); }); });
  verification.seed = context.seed;
  std::vector<FigureOfMerit> figures;
  if (measured.complete() && !verification.failed()) {
    const double seconds = median(repeats);
    figures = app->figures(seconds, machine);
    if (const auto counts = app->counts()) also(verification, [&] { return verify_work(*counts, figures, seconds); });
  }
  if (machine.oversubscribed)
    for (auto& figure : figures) figure.attainable = std::numeric_limits<double>::quiet_NaN();
  const bool compares = measured.complete() && verification.passed() && options_.fields != FieldSelection::none;
  const auto values = gather(comm, compares ? app->file_values() : std::vector<FileValue>{});
  if (!values.empty()) verification.judged.push_back(words_of(values));

  record["start_to_first_step"] = start_to_first_step;
  record["ended_early"] = end.granted();
  if (end.granted()) record["end_signal"] = end.signal();
  add_verdict(record, verification, figures);
  add_repeats(record, repeats, app->computing());
  if (checkpoints || restart_)
    record["checkpoint"] =
        checkpoints ? checkpoints->record(measured.stepping) : nlohmann::ordered_json{{"written", 0}};
  if (restart_)
    record["checkpoint"].update({{"restarted_from", restart_->path()},
                                 {"at_step", restart_->header().step},
                                 {"at_repeat", restart_->header().repeat}});
  record["timers"] = summarise(comm, timers, std::max<std::int64_t>(1, begun));
  if (auto seconds = timers.per_rank(comm); !seconds.empty()) record["per_rank"] = std::move(seconds);
  if (auto durations = distributions(comm, timers); !durations.empty()) record["distributions"] = std::move(durations);
  if (auto rows = timers.trace(comm); !rows.empty()) record["trace"] = std::move(rows);
  if (!machine.noise.empty()) record["noise"] = machine.noise;
  if (!repeats.empty())
    if (auto joules = energy.over_ranks(comm, median(repeats)); !joules.empty()) record["energy"] = std::move(joules);
  record["calibration"] = machine.record;
  add_app(record, comm, app->record());
  const auto written = write(comm, *app, series, measured.complete(), record, verification, values);
  if (root && !line_.quiet) print_table(record, app->table(), written);
  if (root) print_verdict(record, options_.repeats);
  if (verification.failed()) return exit_verification_failed;
  return end.granted() ? exit_ended_early : exit_verified;
}

/// Seconds of each repeat: the slowest rank's, without what it spent on writing fields of a series and checkpoints.
/// Ends early when told to: between repeats, or where the app notices; if there are checkpoints, it always is the app.
/// A repeat that began in another process counts only if it is the last. `verifying` takes the time of checks; null:
/// there are none.
Run::Measured Run::measure(const RunContext& context, MiniApp& app, EnergyMeter& energy, Timer* verifying,
                           Verification& verification) const {
  Measured measured;
  const auto apart_so_far = [&] {
    double seconds = 0;
    for (const auto& [region, timer] : context.timers.entries())
      if (!timer.once && timer.outside()) seconds += timer.seconds;
    return seconds;
  };
  const std::int64_t first = restart_ ? restart_->header().repeat : 0;
  for (std::int64_t repeat = first; repeat < options_.repeats; ++repeat) {
    if (context.end->ask() && !context.checkpoints) break;
    context.timers.uncounted([&] {
      for (int sample = 0; sample < 4; ++sample) app.time_alone();
    });
    app.reset();
    const bool goes_on = restart_ && repeat == first;
    if (goes_on) read_state(app, *restart_);
    if (verifying && !goes_on) timed(*verifying, [&] { also(verification, [&] { return app.verify_start(); }); });
    if (verification.failed()) return measured;
    if (context.checkpoints) context.checkpoints->begin_repeat(repeat, goes_on ? restart_->header().step : 0);
    context.progress.begin();
    const double apart_before = apart_so_far();
    const bool traced = options_.trace > 0 && repeat + 1 == options_.repeats;
    if (repeat == first) energy.begin(device::seconds());
    comm::barrier(context.comm);
    comm::Stopwatch watch;
    if (traced) context.timers.begin_trace(options_.trace, context.comm.size());
    try {
      const device::Region region(app_.name + "/run");
      app.run();
    } catch (const EndedEarly&) { // on all ranks
    }
    double seconds = 0;
    watch.lap(seconds);
    context.timers.end_trace();
    seconds -= apart_so_far() - apart_before;
    const double slowest = comm::allreduce(context.comm, seconds, comm::ReduceOp::max);
    measured.stepping += slowest;
    measured.unfinished = context.end->granted();
    if (measured.unfinished) break;
    if (goes_on && repeat + 1 < options_.repeats) {
      context.timers.reset();
      continue;
    }
    energy.end(device::seconds());
    context.timers.end_repeat(seconds);
    measured.repeats.push_back(slowest);
  }
  return measured;
}

/// Collective, after the last repeat. Adds what the app and the counts say to what was found before.
void Run::verify(MiniApp& app, Verification& found) const {
  auto earlier = std::exchange(found, restart_ ? restart_->verdict() : Verification{});
  also(found, [&] { return std::move(earlier); });
  if (const auto counts = app.counts()) also(found, [&] { return verify_counts(*counts); });
  if (!found.passed()) return;
  auto judged = std::move(found.judged);
  found = app.verify();
  found.judged.insert(found.judged.end(), judged.begin(), judged.end());
}

/// Returns the names of what was written, at rank 0: none where the file lacks one of the values, and then the run has
/// failed its verification. Fields of an unfinished repeat are not written: time is short.
std::vector<std::filesystem::path> Run::write(const comm::Communicator& comm, const MiniApp& app, FieldSeries& series,
                                              bool complete, nlohmann::ordered_json& record, Verification& verification,
                                              const std::vector<FileValue>& values) const {
  auto& file = *series.file;
  file.record("/run", record);
  std::optional<FieldOutput> fields;
  if (complete && options_.fields != FieldSelection::none) fields = app.write_fields(file, "/fields");
  auto wanted = values; // also by the names under which VTK and XDMF find them
  std::string description;
  if (fields) {
    series.snapshots.push_back(fields->snapshot);
    file.describe(fields->mesh, series.snapshots);
    description = output::xdmf(options_.output_file, fields->mesh, series.snapshots);
    file.sidecar(output::xdmf_path(options_.output_file), description);
    for (const auto& field : fields->snapshot.fields)
      for (const auto& [dataset, index, value, at] : values)
        if (dataset == field.dataset)
          wanted.push_back({output::vtkhdf_path(field),
                            output::vtkhdf_index(fields->mesh, field, index, series.snapshots.size()), value, at});
  }
  if (!line_.results.empty()) file.sidecar(line_.results, json_text(record));
  std::optional<Verification> of_file;
  auto written = file.commit([&](const std::filesystem::path& temporary) {
    if (!values.empty()) of_file = compare_with_file(temporary, wanted);
    if (const auto* image = fields ? std::get_if<output::Image>(&fields->mesh) : nullptr; of_file && image)
      also(*of_file, [&] { return compare_with_image(*image, fields->snapshot.fields, values); });
    if (of_file && fields)
      for (const auto& field : fields->snapshot.fields)
        if (description.find(":" + field.dataset + "<") == std::string::npos)
          of_file = {.measure = "fields that the XDMF file does not name", .error = 1, .remark = field.dataset};
    return !of_file || of_file->passed();
  });
  const int wrong = of_file && !of_file->passed() ? 1 : 0;
  if (comm::allreduce(comm, wrong, comm::ReduceOp::max) == 0) return written;
  verification = of_file.value_or(Verification{.measure = "file", .error = 1}); // what rank 0 prints
  add_verdict(record, verification, {});
  return {};
}

} // namespace kontor::miniapp
