// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine/calibration.hpp"
#include "machine/cores.hpp"
#include "machine/device.hpp"
#include "machine/energy.hpp"
#include "run/checkpoint/checkpoints.hpp"
#include "run/options.hpp"
#include "run/record/app_record.hpp"
#include "run/record/per_rank.hpp"
#include "run/record/result.hpp"
#include "run/record/timers.hpp"
#include "run/record/trace.hpp"

#include <kontor/comm/communicator.hpp>

#include <nlohmann/json.hpp>

namespace kontor::miniapp {

/// What a run knows of itself before it does anything.
struct Provenance {
  std::string app;
  std::string started; ///< date and time, UTC, ISO 8601
  std::string command;
  std::string resolved_deck;
  std::vector<std::string> hosts; ///< each once
  int ranks = 1;
  comm::Options comm; ///< the deck's
  bool overlap = true;
  std::string backend_remark;
  std::vector<Device> devices;
  std::vector<RankPinning> places;
};

/// What a run has found out. `figures` is empty if verification failed, or nothing is complete.
struct Outcome {
  std::vector<double> repeats; ///< seconds, of the slowest rank; of those that are complete
  std::int64_t repeats_wanted = 0;
  double stepping = 0;     ///< seconds that this process has spent in repeats, complete or not, counted alike
  bool unfinished = false; ///< the last repeat that was begun is not complete, and so are the fields
  std::string end_signal;  ///< what told the run to end early: a signal, "TERM", or "walltime"; empty: nothing
  std::optional<CheckpointSummary> checkpoint; ///< none: none were wanted, and it began at the beginning
  std::vector<RegionSummary> timers;
  PerRank per_rank; ///< the regions of each rank in each repeat
  TraceTable trace;
  /// Host seconds of single exchanges and steps; empty where kernels run on a device, whose work the host queues.
  std::map<std::string, Quantiles> distributions;
  std::optional<Energy> energy; ///< none: no repeat is complete
  std::vector<FigureOfMerit> figures;
  Verification verification;
  Calibration calibration;
  double start_to_first_step = 0; ///< s, from the start of main() to the warm-up
  std::int64_t peak_memory = 0;   ///< bytes, sum over ranks of the largest resident size

  bool ended_early() const { return !end_signal.empty(); }
  /// Whether there is an answer to be verified.
  bool complete() const { return !unfinished && !repeats.empty(); }
};

/// The whole of /run, before it is written.
struct RunRecord {
  Provenance provenance;
  AppRecord app; ///< with the sum of field_memory, and the traffic of all ranks
  Outcome outcome;

  /// What travelled: the app's choice, else the deck's.
  const comm::Options& chosen() const { return app.exchange ? app.exchange->chosen : provenance.comm; }
  std::string packing() const;
  /// Seconds of the median repeat that its kernels alone do not take, and how far they may be wrong.
  struct Exposed {
    double seconds;
    double error;
  };
  std::optional<Exposed> exposed() const; ///< none: not measured
};

/// Collective; valid at rank 0.
Provenance provenance(const comm::Communicator&, const RunOptions&, std::string_view app, const std::string& command,
                      const std::string& resolved_deck);

/// Collective; valid at rank 0. Adds up what each rank has given for itself, and the memory of the processes.
RunRecord make_record(const comm::Communicator&, Provenance, AppRecord mine, Outcome);

/// Local. The tree of /run, with the keys of docs/reference/record.md. Throws std::logic_error if a key of the app's
/// extras is one that every run has.
nlohmann::ordered_json to_json(const RunRecord&);

/// Local. What is said of the path of Views in the default memory space: `host` where that is the host's.
std::string_view path_name(comm::Path);

/// Local. The tree as JSON text, for --results: a line for each value, array of numbers, and row of a table.
std::string json_text(const nlohmann::ordered_json& tree);

/// Local, for rank 0: the table for people, with what the app found out in it and which files were written.
void print_table(const RunRecord&, const std::string& findings, const std::vector<std::filesystem::path>& written);

/// Local, for rank 0: `FOM <name> = <value> <unit>` lines and the verdict, for scripts.
void print_verdict(const Outcome&);

} // namespace kontor::miniapp
