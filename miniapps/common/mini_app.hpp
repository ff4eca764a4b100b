// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "common/progress.hpp"
#include "common/result.hpp"
#include "common/timers.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/config/deck.hpp>
#include <kontor/output/file.hpp>
#include <kontor/output/image.hpp>
#include <kontor/output/xdmf.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What a mini-app is to the life of a run (life.hpp). Every function is collective unless stated.
namespace kontor::miniapp {

/// What a run lends to its mini-app. All of it outlives the mini-app.
struct RunContext {
  const comm::Communicator& comm; ///< all ranks, with the deck's comm options
  bool overlap = true;            ///< comm.overlap of the deck
  Timers& timers;
  Progress& progress;
  output::File* file = nullptr;    ///< null if the run writes none
  std::int64_t snapshot_every = 0; ///< sweeps or steps between fields of the series; 0: no series
};

/// Messages and bytes from one rank to one neighbour in one step.
struct Traffic {
  int rank = 0;
  int neighbour = 0;
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
};

/// The fields of a run as the output describes them.
struct FieldOutput {
  output::Image image;
  std::vector<output::Snapshot> snapshots;
};

/// One problem, set up and ready to be solved any number of times.
class MiniApp {
 public:
  virtual ~MiniApp() = default;

  /// Runs a little of everything, so that the first measured repeat is like the others.
  virtual void warm_up() = 0;
  /// Back to where a repeat begins. Not timed.
  virtual void reset() = 0;
  /// One repeat; this is what is timed, less the region "io". Regions of `timers` tell where time goes.
  virtual void run() = 0;
  virtual Verification verify() = 0;
  /// For one repeat of `seconds`; the first is the one that runs are compared by. Local.
  virtual std::vector<FigureOfMerit> figures(double seconds, const Calibration&) const = 0;
  /// What the app adds to /run: process_grid, precision, field_memory (bytes, this rank), history, ... Local.
  virtual nlohmann::ordered_json record() const = 0;
  /// Bytes of this rank that a repeat goes through again and again; 0: it is not limited by that. Local.
  virtual double working_set() const { return 0; }
  /// What this rank sends in a step. Local.
  virtual std::vector<Traffic> traffic() const = 0;
  /// Writes the current fields, and describes those that have a mesh; nothing if none has. May be called
  /// whenever no other function is running.
  virtual std::optional<FieldOutput> write_fields(output::File&) const = 0;
  /// What people read before the figures; empty: nothing. Local.
  virtual std::string table() const { return {}; }
};

/// A mini-app's options and how to make it from them.
class MiniAppFactory {
 public:
  virtual ~MiniAppFactory() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;
  /// The app's own keys of the deck; those of every app (comm, measure, output) are not among them. Local.
  virtual void describe(config::Visitor&) = 0;
  /// What concerns several keys at once: resolves defaults that depend on others, and refuses what cannot
  /// run by deck.fail(). Called after reading, with the same arguments on all ranks. Local.
  virtual void resolve(const config::Deck&, int ranks) = 0;
  virtual std::unique_ptr<MiniApp> make(const RunContext&) = 0;
};

} // namespace kontor::miniapp
