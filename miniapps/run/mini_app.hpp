// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine/calibration.hpp"
#include "run/checkpoint/checkpoints.hpp"
#include "run/checkpoint/restart.hpp"
#include "run/loop/progress.hpp"
#include "run/loop/stop_request.hpp"
#include "run/record/result.hpp"
#include "run/record/timers.hpp"
#include "run/verify/counts.hpp"
#include "run/verify/read_back.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/output/file.hpp>
#include <kontor/output/image.hpp>
#include <kontor/output/reader.hpp>
#include <kontor/output/xdmf.hpp>

#include <nlohmann/json.hpp>

/// What a mini-app is to a run (run.hpp). Every function is collective unless stated.
namespace kontor::miniapp {

class MiniApp;

/// The fields of a run at one step, as the output describes them.
struct FieldOutput {
  output::Mesh mesh;
  output::Snapshot snapshot;
};

/// The fields of some steps, which the first repeat writes.
struct FieldSeries {
  output::File* file = nullptr; ///< null if the run writes none
  std::int64_t every = 0;       ///< steps between them; 0: no series
  bool complete = false;        ///< the first repeat is over
  std::vector<output::Snapshot> snapshots = {};
};

/// What a run lends to its mini-app. What it refers to outlives the mini-app, but this struct itself does not: keep a
/// copy, not a reference.
struct RunContext {
  const comm::Communicator& comm; ///< all ranks, with the deck's comm options
  bool overlap = true;            ///< comm.overlap of the deck
  Timers& timers;
  Progress& progress;
  FieldSeries* series = nullptr;
  StopRequest* end = nullptr;         ///< null: no request can end the run
  Checkpoints* checkpoints = nullptr; ///< null: none are written
  Restart* restart = nullptr;         ///< null: the run does not resume
  std::uint64_t seed = 0;             ///< of the places that are verified, the same on all ranks

  /// Local. Steps between the fields of the series that this repeat writes; 0: it writes none.
  std::int64_t series_every() const { return series && series->file && !series->complete ? series->every : 0; }

  /// Collective, between steps, of which so many of the repeat are made. Whether the run is to end
  /// (StopRequest::agreed()). Writes a checkpoint of `app` if one is due, after drain() has completed the steps.
  template <class Drain>
  bool ends_after(std::int64_t step, const MiniApp& app, const Drain& drain) const {
    if (restart) restart->compare(comm, app);
    const bool ends = end && end->agreed();
    if (checkpoints && checkpoints->due(step, ends)) {
      drain();
      checkpoints->write(step, app);
    }
    return ends;
  }
};

/// One problem, set up and ready to be solved any number of times.
class MiniApp {
 public:
  virtual ~MiniApp() = default;

  /// Runs a little of everything, so that the first measured repeat is like the others.
  virtual void warm_up() = 0;
  /// Adds a sample of how long steps take without exchanges, launched as run() launches them. Before reset(): what
  /// reset() makes anew is spoiled.
  virtual void time_alone() {}
  /// Back to where a repeat begins. Not timed.
  virtual void reset() = 0;
  /// One repeat, which is what is timed, without the regions "io" and "checkpoint", and which Kokkos Tools see as the
  /// region "<app>/run". Waits for the device. Regions of the context's timers tell where time goes; those of warm_up()
  /// are dropped. May return, or throw EndedEarly, before it is done if the run is to end. SteppedApp has it for apps
  /// that make steps.
  virtual void run() = 0;
  /// Writes what run() needs to go on from the current step, on any number of ranks: arrays as datasets and small
  /// things as records, below /state. Called by the context's ends_after() in run(), and only for apps that have
  /// restart_may_change (app.hpp).
  virtual void write_state(output::File&) const {}
  /// Takes in what write_state() wrote: the next run() resumes there, and its answer has the same bits as that of
  /// a run that was never interrupted. Called after reset(). Figures and the record count the steps that are made here.
  /// Throws output::Error or config::Error, on all ranks.
  virtual void read_state(const output::Reader&) {}
  /// After warm_up(): launches as run() makes them, of several steps at once or by tuned kernels, against plain ones
  /// from the same fields, bit for bit. Spoils what reset() makes anew. Passed by default, as nothing is compared.
  virtual Verification verify_launches() { return {}; }
  /// Before the first step of a repeat that begins where the deck says: the fields against the deck's start, at a
  /// sample of places. Not timed.
  virtual Verification verify_start() { return {}; }
  /// Local. Of the last repeat; none: the app makes no steps.
  virtual std::optional<StepCounts> counts() const { return std::nullopt; }
  /// Local, after verify(). Values of the verified fields at a sample of this rank's places, and where write_fields()
  /// puts them below "/fields".
  virtual std::vector<FileValue> file_values() const { return {}; }
  /// Of the last repeat, whose fields stay as they are. Not called with a backend that moves no data.
  virtual Verification verify() = 0;
  /// For one repeat of `seconds`; the first is the one that runs are compared by. Local.
  virtual std::vector<FigureOfMerit> figures(double seconds, const Calibration&) const = 0;
  /// What the app adds to /run, with the keys of docs/reference/record.md. Local, after the last repeat. It is rank 0's
  /// that is written, but for two members that each rank gives for itself: "field_memory", bytes of Views that hold the
  /// problem, of which the sum is written, and the table "traffic" (exchange_record.hpp). "process_grid" is an array;
  /// an empty one is not written.
  virtual nlohmann::ordered_json record() const = 0;
  /// What people read before the figures. Local, after the last repeat.
  virtual std::string table() const { return {}; }
  /// Seconds of a repeat's steps without exchanges, of the slowest rank: samples. Local, after the last repeat.
  virtual std::vector<double> computing() const { return {}; }
  /// What else the app's figures want to know of the machine. Local, before warm_up().
  virtual CalibrationRequest calibration() const { return {}; }
  /// Writes the current fields below a group, "/fields" or that of a series, and describes those that have a mesh;
  /// nothing if none has. May be called whenever no other function is running.
  virtual std::optional<FieldOutput> write_fields(output::File&, const std::string& group) const = 0;
};

} // namespace kontor::miniapp
