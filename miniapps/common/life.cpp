// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/life.hpp"

#include "common/calibrate.hpp"
#include "common/command_line.hpp"
#include "common/deck_file.hpp"
#include "common/device.hpp"
#include "common/files.hpp"
#include "common/guard.hpp"
#include "common/kokkos_start.hpp"
#include "common/options.hpp"
#include "common/record.hpp"
#include "common/report.hpp"
#include "common/same_start.hpp"
#include "common/tell.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/registry.hpp>
#include <kontor/config/error.hpp>
#include <kontor/config/json_schema.hpp>
#include <kontor/config/text.hpp>
#include <kontor/output/error.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>

namespace kontor::miniapp {
namespace {

using comm::Stopwatch;

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// One run, from the deck to the verdict.
class Run {
 public:
  Run(const CommandLine& line, std::string command, MiniAppFactory& factory, Stopwatch since_start)
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

  void describe(config::Visitor& v) {
    factory_.describe(v);
    options_.describe(v);
  }

  /// Collective. Returns the exit code.
  int operator()() {
    const auto comm = make_communicator();
    factory_.resolve(deck_, comm.size());
    if (line_.print_deck) {
      if (comm.rank() == 0) fmt::print("{}", resolved_deck_);
      return exit_verified;
    }
    auto facts = provenance(comm, options_, factory_.name(), command_, resolved_deck_);
    const auto devices = devices_of(comm);
    if (!devices.empty()) facts["devices"] = to_json(devices);
    auto file = open_output(comm);

    Outcome outcome;
    Timers timers;   // once a run
    Timers repeated; // in the repeats
    outcome.calibration = timed(timers, "calibrate", [&] { return calibrate(comm); });
    Progress progress(Progress::style_for(comm.rank(), line_.quiet));
    const auto app = timed(timers, "setup", [&] {
      return make_app({comm, options_.overlap, repeated, progress, file.get(), options_.snapshot_every});
    });
    if (comm.rank() == 0) tell(shared_devices(devices)); // not before a refusal
    outcome.calibration = timed(
        timers, "calibrate", [&] { return with_working_set(comm, app->working_set(), outcome.calibration); });
    since_start_.lap(outcome.start_to_first_sweep);
    app->warm_up();
    repeated = {};
    measure(comm, *app, progress, repeated, outcome);
    if (comm.capabilities().moves_data)
      outcome.verification = timed(timers, "verify", [&] { return app->verify(); });
    else
      outcome.verification = {.measure = fmt::format("backend '{}' moves nothing", options_.comm.backend),
                              .off = true};
    add_repeated(timers, repeated);
    outcome.timers = summarise(comm, timers);
    if (!outcome.verification.failed())
      outcome.figures = app->figures(median(outcome.repeats), outcome.calibration);

    const auto record = make_record(comm, std::move(facts), *app, outcome);
    const auto written = write(*app, *file, record);
    if (comm.rank() == 0) {
      if (!line_.quiet) print_table(record, outcome, app->table(), written);
      print_verdict(outcome);
    }
    return outcome.verification.failed() ? exit_verification_failed : exit_verified;
  }

 private:
  comm::Communicator make_communicator() const {
    try {
      auto comm = comm::Communicator(MPI_COMM_WORLD, options_.comm_options());
      const auto remark = comm.remark();
      if (!remark.empty() && comm.rank() == 0)
        tell(fmt::format("{}: backend {}: {}\n", factory_.name(), options_.comm.backend, remark));
      return comm;
    } catch (const comm::UsageError& error) {
      deck_.fail(key_of(error), fmt::format("cannot be had: {}", error.what()));
    }
  }

  /// The key of the deck that the communication layer refuses.
  const char* key_of(const comm::UsageError& error) const {
    const auto known = comm::backends();
    const bool absent = std::any_of(known.begin(), known.end(), [this](const auto& entry) {
      return entry.name == options_.comm.backend && !entry.make;
    });
    if (absent) return "comm.backend";
    const std::string_view what = error.what();
    const bool of_path = what.starts_with("path '") || what.find("so path '") != std::string_view::npos;
    return of_path && options_.comm.path != comm::Path::automatic ? "comm.path" : "comm";
  }

  /// Which paths there are for Views in a GPU's memory is known only when the app's exchanges are made.
  std::unique_ptr<MiniApp> make_app(const RunContext& context) const {
    try {
      return factory_.make(context);
    } catch (const comm::UsageError& error) {
      const std::string_view key = key_of(error);
      if (key != "comm.path") throw;
      deck_.fail(key, fmt::format("cannot be had: {}", error.what()));
    }
  }

  /// A path that cannot be written is the user's to mend, and is found before any work is done.
  std::unique_ptr<output::File> open_output(const comm::Communicator& comm) const {
    const Files files{line_.deck, options_.output_file, options_.fields != FieldSelection::none,
                      line_.results};
    check_files(comm, files);
    try {
      return std::make_unique<output::File>(comm.native(), files.output, options_.access, sidecars(files));
    } catch (const output::Error& error) {
      throw config::Error({error.what()});
    }
  }

  /// The time of a repeat is the slowest rank's, without what it spent on writing snapshots.
  void measure(const comm::Communicator& comm, MiniApp& app, Progress& progress, const Timers& timers,
               Outcome& outcome) const {
    const auto io_so_far = [&] {
      const auto io = timers.entries().find("io");
      return io == timers.entries().end() ? 0.0 : io->second.seconds;
    };
    for (std::int64_t repeat = 0; repeat < options_.repeats; ++repeat) {
      app.reset();
      progress.begin(factory_.name().data());
      const double io_before = io_so_far();
      comm::barrier(comm);
      Stopwatch watch;
      app.run();
      double seconds = 0;
      watch.lap(seconds);
      seconds -= io_so_far() - io_before;
      outcome.repeats.push_back(comm::allreduce(comm, seconds, comm::ReduceOp::max));
      progress.end();
    }
  }

  /// Times and calls of regions inside the repeats are given for one repeat.
  void add_repeated(Timers& timers, const Timers& repeated) const {
    for (const auto& [region, entry] : repeated.entries())
      timers.add(region, entry.seconds / static_cast<double>(options_.repeats),
                 entry.calls / options_.repeats);
  }

  /// Returns the names of what was written, on rank 0.
  std::vector<std::filesystem::path> write(MiniApp& app, output::File& file,
                                           const nlohmann::ordered_json& record) const {
    file.record("/run", record);
    std::optional<FieldOutput> fields;
    if (options_.fields != FieldSelection::none) fields = app.write_fields(file);
    if (fields)
      file.sidecar(output::xdmf_path(options_.output_file),
                   output::xdmf(options_.output_file, fields->image, fields->dimensions, fields->precision,
                                fields->snapshots));
    if (!line_.results.empty()) file.sidecar(line_.results, results(record));
    return file.commit();
  }

  CommandLine line_;
  std::string command_;
  MiniAppFactory& factory_;
  config::Deck deck_;
  RunOptions options_;
  std::string resolved_deck_; ///< with every default and override; what is automatic is so in it
  Stopwatch since_start_;
};

void print_backends() {
  for (const auto& entry : comm::backends())
    fmt::print("{:<8}{:<14}{}\n", entry.name, entry.make ? "built" : "not built", entry.summary);
  fmt::print("{:<8}{:<14}{}\n", comm::automatic_backend, "-",
             "the fastest of those that move data, by trial");
}

/// What needs no deck: help, the schema, the list of backends.
int inform(const CommandLine& line, MiniAppFactory& factory) {
  if (world_rank() != 0) return exit_verified;
  if (line.list_backends) print_backends();
  if (line.schema) {
    RunOptions options;
    const auto schema = config::json_schema(factory.name(), [&](config::Visitor& v) {
      factory.describe(v);
      options.describe(v);
    });
    fmt::print("{}\n", schema.dump(2));
  }
  return exit_verified;
}

/// Whatever is printed waits here until the end, so that a full disk is met in one place.
void hold_back_stdout() {
  static std::array<char, 1 << 20> buffer;
  std::setvbuf(stdout, buffer.data(), _IOFBF, buffer.size());
}

/// Now, because a launcher may end this rank once another has left with an error. Returns the exit code.
int flush_stdout(int code) {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
  const std::string reason = std::strerror(errno);
  tell(fmt::format("rank {}: stdout cannot be written: {}\n", world_rank(), reason));
  return code == exit_verified ? exit_failed : code;
}

} // namespace

int live(int argc, char** argv, MiniAppFactory& factory) {
  const Stopwatch since_start;
  std::signal(SIGXFSZ, SIG_IGN); // a write beyond `ulimit -f` is an error then, like others
  hold_back_stdout();
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const auto command = fmt::format("{}", fmt::join(std::span(argv, static_cast<std::size_t>(argc)), " "));
  const auto for_kokkos = take_kokkos_arguments(argc, argv);
  CommandLine line;
  int code = exit_verified;
  auto early = different_starts(factory.name(), argc, argv);
  if (!early) early = parse_command_line(argc, argv, factory.name(), factory.summary(), line);
  if (early) {
    code = early->code;
    const auto text = config::printable(early->text, '\n');
    if (world_rank() == 0 && code == exit_verified) fmt::print("{}", text);
    if (world_rank() == 0 && code != exit_verified) tell(text);
  } else if (line.schema || line.list_backends) {
    code = inform(line, factory);
  } else if (start_kokkos(for_kokkos)) {
    code = guarded([&] { return Run(line, command, factory, since_start)(); });
  } else {
    code = exit_user_error;
  }
  code = flush_stdout(code);
  if (Kokkos::is_initialized()) Kokkos::finalize();
  MPI_Finalize();
  return code;
}

} // namespace kontor::miniapp
