// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <string_view>

/// The end of a run before it is done, as schedulers ask for it by a signal some time before they kill.
namespace kontor::miniapp {

/// Local, of the process. SIGTERM and SIGUSR1 end it no longer: a StopRequest finds out that they came.
void catch_end_signals();

/// What an app may throw out of run(), on all ranks, when ranks have agreed to end.
struct EndedEarly : std::exception {
  const char* what() const noexcept override { return "ended early"; }
};

/// What is due by a rank's clock.
enum class DueAction { nothing, checkpoint, end };

/// Whether the run is to end, which all ranks find out together though only one may have been told.
class StopRequest {
 public:
  /// Collective.
  explicit StopRequest(const comm::Communicator& comm);

  /// Collective: all ranks call it equally often, at the same places. Whether they have agreed to end. They ask each
  /// other about twice a second, by a small allreduce; the other calls count down.
  bool agreed() { return signal_ != 0 || (--calls_left_ <= 0 && ask_by_the_way()); }

  /// Collective. The same, and they ask each other now.
  bool ask();

  /// Collective. A call of agreed() takes no more than so many seconds on this rank: how many make an interval until
  /// that is known. So short work is never interrupted, and long work from the first.
  void expect(double seconds_of_call);

  /// Local. due_action() is called whenever ranks ask each other; what is due on one rank is due on all: an end is
  /// agreed on as one by a signal is, a checkpoint stays due until forget_checkpoint().
  void set_due_action(std::function<DueAction()> action) { due_action_ = std::move(action); }
  /// Local. Whether it has been agreed that a checkpoint is to be written.
  bool wants_checkpoint() const { return wants_checkpoint_; }
  void forget_checkpoint() { wants_checkpoint_ = false; }
  /// Local. The seconds between the last two times that ranks asked each other, of the slowest rank.
  double asked_every() const { return asked_every_; }

  /// Local. Whether it has been agreed on so far.
  bool granted() const { return signal_ != 0; }
  /// Local. What it was agreed on for: the name of a signal, "TERM", or "walltime"; empty before.
  std::string_view signal() const;

 private:
  bool ask_by_the_way();
  double ask_all();
  void count_again();

  comm::Communicator comm_; ///< of its own, so that nothing meets what is on its way elsewhere
  int signal_ = 0;
  std::int64_t calls_between_ = 1;
  std::int64_t calls_left_ = 1;
  double asked_ = 0;       ///< of device::seconds()
  double asked_every_ = 0; ///< seconds
  std::function<DueAction()> due_action_ = [] { return DueAction::nothing; };
  bool wants_checkpoint_ = false;
};

} // namespace kontor::miniapp
