// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine/energy.hpp"
#include "run/app.hpp"
#include "run/checkpoint/restart.hpp"
#include "run/options.hpp"
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
  /// The repeats.
  struct Measured {
    std::vector<double> repeats; ///< seconds, of the slowest rank; of those that are complete
    double stepping = 0;         ///< seconds that this process has spent in repeats, complete or not, counted alike
    bool unfinished = false;     ///< the last repeat that was begun is not complete, and so are the fields

    /// Whether there is an answer to be verified.
    bool complete() const { return !unfinished && !repeats.empty(); }
  };

  void describe(config::Visitor&);
  config::Deck read();
  void resolve_sizes();
  void look_into_inputs();
  void check_restart();
  void require_no_series(const comm::Communicator&) const;
  CheckpointHeader checkpoint_header(int ranks);
  std::unique_ptr<Checkpoints> make_checkpoints(const comm::Communicator&, StopRequest&, Timers&);
  comm::Communicator make_communicator() const;
  std::unique_ptr<MiniApp> make_app(const RunContext&) const;
  std::unique_ptr<output::File> open_output(const comm::Communicator&) const;
  Measured measure(const RunContext&, MiniApp&, EnergyMeter&, Timer* verifying, Verification&) const;
  void verify(MiniApp&, Verification&) const;
  std::vector<std::filesystem::path> write(const comm::Communicator&, const MiniApp&, FieldSeries&, bool complete,
                                           nlohmann::ordered_json& record, Verification&,
                                           const std::vector<FileValue>&) const;

  CommandLine line_;
  std::string command_;
  const App& app_;
  std::optional<Restart> restart_;
  config::Deck deck_;
  RunOptions options_;
  std::vector<config::Setting> app_settings_; ///< as they are in the deck, but for files in checkpoints
  std::string resolved_deck_;                 ///< with every default and override; what is automatic is so in it
  comm::Stopwatch since_start_;
};

} // namespace kontor::miniapp
