// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/mini_app.hpp"

#include <kontor/device/clock.hpp>

#include <mpi.h>

namespace kontor::miniapp::test {

/// What a run lends to its mini-app; with checkpoints if a key of `wanted` asks for them.
struct Loan {
  /// Collective over the ranks of the communicator.
  explicit Loan(const std::string& app, comm::Communicator ranks = comm::Communicator(MPI_COMM_WORLD),
                CheckpointOptions wanted = {}, CheckpointHeader header = {})
      : comm(std::move(ranks)), timers(app) {
    if (wanted.file.empty()) return;
    header.app = app;
    end = std::make_unique<StopRequest>(comm);
    checkpoints = std::make_unique<Checkpoints>(comm, std::move(wanted), std::move(header), *end, timers["checkpoint"],
                                                device::seconds());
  }

  RunContext context(bool overlap = true) {
    return {comm, overlap, timers, progress, nullptr, end.get(), checkpoints.get()};
  }

  /// Collective. A repeat from the beginning, warmed up.
  void run(MiniApp& app) const {
    app.warm_up();
    app.reset();
    if (checkpoints) checkpoints->begin_repeat(0, 0);
    app.run();
  }

  comm::Communicator comm;
  Timers timers;
  Progress progress{false};
  std::unique_ptr<StopRequest> end;         ///< null without checkpoints
  std::unique_ptr<Checkpoints> checkpoints; ///< null: none are written
};

/// A checkpoint in the files of that name after so many steps each, of which so many stay.
inline CheckpointOptions checkpoints(std::string file, std::int64_t every, std::int64_t keep = 2) {
  CheckpointOptions wanted;
  wanted.every = every;
  wanted.keep = keep;
  wanted.file = std::move(file);
  return wanted;
}

} // namespace kontor::miniapp::test
