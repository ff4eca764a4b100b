// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/checkpoint/checkpoint_files.hpp"
#include "run/loop/stop_request.hpp"
#include "run/options.hpp"
#include "run/record/timers.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/output/file.hpp>

#include <memory>

namespace kontor::miniapp {

class MiniApp;

/// Writes checkpoints of a run while it goes on: when one is due, and which stay.
class Checkpoints {
 public:
  /// Collective. `options.file` stands for them (checkpoints_of()). `like` is the header that all of them have, but for
  /// step, repeat and number; its run is empty, or that of the checkpoint that the run resumes from, whose name is
  /// `from`. Removes what a killed run has left. Throws output::Error if they cannot be written.
  Checkpoints(const comm::Communicator&, CheckpointOptions options, CheckpointHeader like, StopRequest&, Timer&,
              double started, std::string from = {});

  /// Local. A repeat begins, after so many complete ones, at that step.
  void begin_repeat(std::int64_t repeat, std::int64_t step);

  /// Local, the same on all ranks. Whether one is to be written now that so many steps are made.
  bool due(std::int64_t step, bool ending) const { return ending || step >= next_step_ || end_->wants_checkpoint(); }

  /// Collective. Writes one, and removes the oldest of the run if there are too many now. Throws output::Error on all
  /// ranks; those that there were stay.
  void write(std::int64_t step, const MiniApp&);

  /// Local. The steps after which this process has written one.
  const std::vector<std::int64_t>& steps() const { return steps_; }

  /// Local; valid at rank 0. The object /run/checkpoint of a run that has spent so many seconds in repeats.
  nlohmann::ordered_json record(double stepping) const;

 private:
  DueAction due_action() const;
  std::unique_ptr<output::File> open() const;
  void find_earlier();
  void remove_old(const std::filesystem::path& written);

  const comm::Communicator* comm_;
  CheckpointOptions options_;
  CheckpointHeader header_; ///< of the next one
  StopRequest* end_;
  Timer* timer_;
  double started_;     ///< when the program was, of device::seconds()
  double last_;        ///< when the last checkpoint was complete, or the first repeat began
  double longest_ = 0; ///< that one took
  std::string whole_;  ///< the newest: written by this process, or gone on from; empty: there is none
  std::int64_t next_step_;
  std::vector<std::filesystem::path> standing_; ///< of this run, at rank 0; the oldest first
  std::vector<std::int64_t> steps_;             ///< after which they were written, by this process
  std::int64_t bytes_ = 0;                      ///< of all of them; rank 0's
  double seconds_ = 0;                          ///< to write them, of the slowest rank
};

} // namespace kontor::miniapp
