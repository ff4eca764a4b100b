// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/loop/stop_request.hpp"

#include "machine/baseline_communicator.hpp"

#include <kontor/comm/reductions.hpp>
#include <kontor/device/clock.hpp>

#include <algorithm>
#include <array>
#include <csignal>

namespace kontor::miniapp {
namespace {

constexpr double interval = 0.5;   // seconds
constexpr double most_calls = 256; // before anything is known of their time
constexpr int by_walltime = 1000;  // beyond all signals

volatile std::sig_atomic_t caught = 0; // all that a handler may touch

extern "C" void note_signal(int signal) { caught = signal; }

} // namespace

void catch_end_signals() {
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGTERM, SIGUSR1}) ::sigaction(signal, &action, nullptr);
}

StopRequest::StopRequest(const comm::Communicator& comm)
    : comm_(baseline_communicator(comm)), asked_(device::seconds()) {}

void StopRequest::expect(double seconds_of_call) {
  const double seconds = comm::allreduce(comm_, seconds_of_call, comm::ReduceOp::max);
  const double calls = std::clamp(interval / std::max(seconds, interval / most_calls), 1.0, most_calls);
  calls_between_ = static_cast<std::int64_t>(calls);
  count_again();
}

/// Collective. Returns the seconds since the last time, of the slowest rank.
double StopRequest::ask_all() {
  const auto due = due_action_();
  const int mine = caught != 0 ? static_cast<int>(caught) : due == DueAction::end ? by_walltime : 0;
  const auto [told, checkpoint, seconds] = comm::allreduce(
      comm_,
      std::array{static_cast<double>(mine), due == DueAction::checkpoint ? 1.0 : 0.0, device::seconds() - asked_},
      comm::ReduceOp::max);
  signal_ = static_cast<int>(told);
  wants_checkpoint_ = wants_checkpoint_ || checkpoint > 0;
  return seconds;
}

bool StopRequest::ask() {
  if (signal_ == 0) ask_all();
  count_again();
  return granted();
}

/// The next time is when as many calls have been made as took the interval, in steps of at most eight.
bool StopRequest::ask_by_the_way() {
  asked_every_ = ask_all();
  const double factor = std::clamp(interval / std::max(asked_every_, interval / 8), 0.0, 8.0);
  calls_between_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(calls_between_) * factor));
  count_again();
  return granted();
}

void StopRequest::count_again() {
  calls_left_ = calls_between_;
  asked_ = device::seconds();
}

std::string_view StopRequest::signal() const {
  return signal_ == SIGTERM ? "TERM" : signal_ == SIGUSR1 ? "USR1" : signal_ == by_walltime ? "walltime" : "";
}

} // namespace kontor::miniapp
