// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/app.hpp"
#include "run/checkpoint/restart.hpp"
#include "run/options.hpp"
#include "run/record/record.hpp"
#include "run/record/trace.hpp"
#include "run/start/command_line.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/phase_times.hpp>
#include <kontor/config/deck.hpp>
#include <kontor/output/file.hpp>

namespace kontor::miniapp {

/// One run, from the deck to the verdict: open the output, calibrate, make the app, warm up, measure, verify, write the
/// record and the fields, report.
class Run {
 public:
  /// Collective over MPI_COMM_WORLD. Reads the deck; throws config::Error on every rank. The app must outlive this.
  Run(const CommandLine&, std::string command, const App&, comm::Stopwatch since_start);

  /// Collective. Returns the exit code. Throws what guarded() takes.
  int operator()();

 private:
  void describe(config::Visitor&);
  config::Deck read();
  void resolve_sizes();
  void look_into_inputs();
  void check_restart();
  void require_no_series(const comm::Communicator&) const;
  CheckpointHeader checkpoint_header(int ranks);
  std::unique_ptr<Checkpoints> make_checkpoints(const comm::Communicator&, StopRequest&, Timers&);
  std::unique_ptr<MiniApp> make_app(const RunContext&) const;
  std::unique_ptr<output::File> open_output(const comm::Communicator&) const;
  void measure(const RunContext&, MiniApp&, Outcome&, RepeatTimes&, Trace&, EnergyMeter&, Timer* verifying) const;
  void verify(MiniApp&, const RestartCheck&, Verification&) const;
  std::vector<std::filesystem::path> write(const comm::Communicator&, const MiniApp&, FieldSeries&,
                                           const nlohmann::ordered_json& tree, Outcome&,
                                           const std::vector<FileValue>&) const;

  CommandLine line_;
  std::string command_;
  const App& app_;
  std::optional<Restart> restart_;
  config::Deck deck_;
  RunOptions options_;
  std::vector<config::Setting> default_settings_; ///< of the app
  std::vector<config::Setting> app_settings_;     ///< as they are in the deck, but for files in checkpoints
  std::string resolved_deck_;                     ///< with every default and override; what is automatic is so in it
  std::string checkpoint_deck_;                   ///< the same for a checkpoint
  comm::Stopwatch since_start_;
};

} // namespace kontor::miniapp
