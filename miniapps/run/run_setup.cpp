// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A run before its first step: its deck, sizes, checkpoint and files.
#include "machine/memory.hpp"
#include "machine/user_error.hpp"
#include "run/checkpoint/checkpoints.hpp"
#include "run/record/build_info.hpp"
#include "run/run.hpp"
#include "run/start/files.hpp"
#include "run/start/messages.hpp"

#include <kontor/comm/mpi_check.hpp>
#include <kontor/config/error.hpp>
#include <kontor/config/text.hpp>
#include <kontor/device/clock.hpp>
#include <kontor/output/error.hpp>
#include <kontor/output/seal.hpp>

#include <fmt/format.h>

namespace kontor::miniapp {
namespace {

/// The key of the deck that the communication layer refuses; the whole section where the deck leaves that choice open.
std::string_view key_of(const comm::UsageError& error, const comm::Options& options) {
  switch (error.axis()) {
  case comm::Axis::backend: return "comm.backend";
  case comm::Axis::pattern: return options.pattern == comm::Pattern::automatic ? "comm" : "comm.pattern";
  case comm::Axis::packing: return options.packing == comm::Packing::automatic ? "comm" : "comm.packing";
  case comm::Axis::path: return options.path == comm::Path::automatic ? "comm" : "comm.path";
  case comm::Axis::none: break;
  }
  return "comm";
}

} // namespace

Run::Run(const CommandLine& line, std::string command, const App& app, comm::Stopwatch since_start)
    : line_(line), command_(std::move(command)), app_(app), deck_(read()), since_start_(since_start) {
  if (deck_.app() != app_.name)
    deck_.fail("app", fmt::format("is '{}', but this program is '{}'", config::shown(deck_.app()), app_.name),
               "E-DECK-APP");
  deck_.read([this](config::Visitor& v) { describe(v); });
  if (!line_.output.empty()) options_.output_file = line_.output;
  resolve_sizes();
  options_.checkpoint.resolve(deck_);
  app_settings_ = config::settings(app_.describe);
  if (options_.checkpoint.wanted() || !line_.restart.empty()) look_into_inputs();
  // Before anything is chosen: what was left open stays so, for a run on other ranks or another machine.
  resolved_deck_ = config::print(app_.name, [this](config::Visitor& v) { describe(v); });
  check_restart();
  auto& output = options_.output_file;
  if (output.empty())
    output = line_.deck.empty() ? restart_->header().output : std::filesystem::path(line_.deck).stem().string() + ".h5";
  options_.checkpoint.file = checkpoints_of(output).string();
}

/// The deck of the command line, else that in the checkpoint.
config::Deck Run::read() {
  if (!line_.deck.empty()) return read_deck(line_.deck, line_.set);
  restart_.emplace(MPI_COMM_WORLD, line_.restart);
  return config::Deck::parse(restart_->header().deck, restart_->path(), line_.set);
}

/// Collective. A run that goes on has the memory of another moment, so that its sizes would be others.
void Run::resolve_sizes() {
  const auto free_memory = [this] {
    if (!line_.restart.empty())
      deck_.fail("problem.memory_share",
                 fmt::format("chooses sizes, and a run that goes on has those of its checkpoint: run {} "
                             "itself with --restart, or give its sizes",
                             line_.restart),
                 "E-CHECKPOINT-DECK");
    return free_memory_of_rank(comm::Communicator(MPI_COMM_WORLD, comm::Options{}));
  };
  int ranks = 0;
  comm::mpi::check(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
  app_.resolve_sizes(deck_, ranks, free_memory);
}

/// Collective. For checkpoints a file that the deck names is what is in it, wherever it is.
void Run::look_into_inputs() {
  for (const auto& file : config::input_files(app_.describe)) {
    const auto setting = std::ranges::find(app_settings_, file.location.key, &config::Setting::key);
    try {
      setting->value = fmt::format("a file of {}", output::contents_of(MPI_COMM_WORLD, file.path));
    } catch (const output::Error& error) {
      deck_.fail(file.location.key, fmt::format("cannot be read: {}", error.what()), "E-FILE-READ");
    }
  }
}

/// Refuses checkpoints of an app that has none, and one that is of another deck.
void Run::check_restart() {
  const auto& may_change = app_.restart_may_change;
  if (!may_change && options_.checkpoint.wanted())
    deck_.fail("checkpoint", fmt::format("asks for checkpoints, but {} writes none; leave it out", app_.name));
  if (line_.restart.empty()) return;
  if (!may_change)
    throw config::Error({fmt::format("--restart: {} writes no checkpoints; leave it out", app_.name)},
                        "E-DECK-CONFLICT");
  if (!restart_) restart_.emplace(MPI_COMM_WORLD, line_.restart);
  restart_->require_same(app_.name, deck_, app_settings_, *may_change);
  if (const auto& header = restart_->header(); header.repeat >= options_.repeats)
    deck_.fail("measure.repeats",
               fmt::format("is {}, but {} was written in repeat {}; allowed are as many or "
                           "more",
                           options_.repeats, restart_->path(), header.repeat + 1),
               "E-CHECKPOINT-DECK");
}

void Run::describe(config::Visitor& v) {
  app_.describe(v);
  options_.describe(v);
}

/// All ranks, with the deck's comm options. Rank 0 tells what else a user of the backend should know.
comm::Communicator Run::make_communicator() const {
  try {
    auto comm = comm::Communicator(MPI_COMM_WORLD, options_.comm);
    const auto remark = comm.remark();
    if (!remark.empty() && comm.rank() == 0)
      to_stderr(fmt::format("{}: backend {}: {}\n", app_.name, options_.comm.backend, remark));
    return comm;
  } catch (const comm::UsageError& error) {
    deck_.fail(key_of(error, options_.comm), fmt::format("is not available: {}", error.what()), "E-COMM-BACKEND");
  }
}

/// Which paths there are for Views in a GPU's memory is known only when the app's exchanges are made.
std::unique_ptr<MiniApp> Run::make_app(const RunContext& context) const {
  try {
    return app_.make(context);
  } catch (const comm::UsageError& error) {
    const auto key = key_of(error, options_.comm);
    if (key != "comm.path") throw;
    deck_.fail(key, fmt::format("is not available: {}", error.what()), "E-COMM-BACKEND");
  }
}

/// A path that cannot be written is the user's to mend, and is found before any work is done.
std::unique_ptr<output::File> Run::open_output(const comm::Communicator& comm) const {
  Files files{line_.deck, options_.output_file, options_.fields != FieldSelection::none, line_.results,
              config::input_files(app_.describe)};
  if (restart_) files.inputs.push_back({restart_->path(), {"", "--restart"}});
  check_files(comm, files);
  require_no_series(comm);
  try {
    return std::make_unique<output::File>(comm.native(), files.output, sidecars(files));
  } catch (const output::Error& error) {
    throw config::Error({error.what()}, "E-FILE-WRITE");
  }
}

/// Fields of a series are written as the run goes on. Those of the part before a restart are in the file that was
/// written then, and in no other.
void Run::require_no_series(const comm::Communicator& comm) const {
  if (!restart_ || options_.snapshot_every == 0) return;
  std::optional<std::string> problem;
  std::error_code ignored;
  if (comm.rank() == 0 && std::filesystem::exists(options_.output_file, ignored))
    problem = fmt::format("{}: output.every is {} and {} is there already; the fields of its series would be "
                          "lost. Give another file by output.file or -o",
                          deck_.locate("output.every"), options_.snapshot_every, options_.output_file);
  agree_on_user_error(comm, problem, "E-FILE-SAME");
}

CheckpointHeader Run::checkpoint_header(int ranks) {
  CheckpointHeader header{.app = app_.name,
                          .version = build_info().version,
                          .run = restart_ ? restart_->header().run : "",
                          .ranks = ranks,
                          .output = options_.output_file,
                          .deck = resolved_deck_};
  for (const auto& [key, value] : app_settings_) header.keys[key] = value;
  return header;
}

/// None if no key asks for them. A name that cannot be written is found before any work is done.
std::unique_ptr<Checkpoints> Run::make_checkpoints(const comm::Communicator& comm, StopRequest& end, Timers& timers) {
  if (!options_.checkpoint.wanted()) return nullptr;
  auto since_start = since_start_;
  double elapsed = 0;
  since_start.lap(elapsed);
  try {
    return std::make_unique<Checkpoints>(comm, options_.checkpoint, checkpoint_header(comm.size()), end,
                                         timers.io("checkpoint"), device::seconds() - elapsed,
                                         restart_ ? restart_->path() : std::string());
  } catch (const output::Error& error) {
    throw config::Error({error.what()}, "E-FILE-WRITE");
  }
}

} // namespace kontor::miniapp
