// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/exchange/handshake.hpp>
#include <kontor/comm/phase_times.hpp>
#include <kontor/comm/views/buffer.hpp>

#include <memory>
#include <string>
#include <vector>

namespace kontor::comm {

class Executor;

/// What an Exchange is without the types of its Views; compiled once. Exchanges of different Views can be kept together
/// by pointers to it.
class ExchangeBase {
 public:
  /// Local. Takes part in nothing until another is assigned to it.
  ExchangeBase() noexcept;
  /// The one moved from takes part in nothing.
  ExchangeBase(ExchangeBase&&) noexcept;
  /// Ends the plan that was there, collectively where a step is under way.
  ExchangeBase& operator=(ExchangeBase&&) noexcept;
  /// Collective where a step is under way and no exception is passing.
  virtual ~ExchangeBase();

  /// Collective over the communicator. Compares both ends of every message and makes all that repeats: buffers,
  /// datatypes, requests, windows. May be called again after more add(). Where the communicator's options leave a
  /// choice to `auto`, tries the methods there are and keeps the fastest; Views that receive keep what they held.
  /// Throws AgreedError on every rank if two ends differ in scalar, rank or extents, if one of them is missing, if rows
  /// lie beyond the View's, or, from check level `local` on, if an index does, if a cell is received twice or both
  /// received and sent; UsageError if the chosen packing or backend cannot carry a View; CallError in a step, or if the
  /// exchange was moved from.
  void commit();

  /// Collective like commit(), in the same order on all ranks, which check level `cross_rank` verifies; ordered after
  /// all work on the instance: by one fence, or by the instance's own stream where the backend is stream-ordered (nccl,
  /// ipc). The Views that are sent may be read but not written before finish(), those that receive neither. Throws
  /// CallError before commit(), after another add(), in a step, and after a step that failed, until commit() has made
  /// the plan anew.
  void start();

  /// Collective like start(). On return received data are valid for the next kernel on the instance; host code that
  /// reads them fences first. Throws CallError without start(), and after a step that failed.
  void finish();

  /// Local. True if it has ended the step, as finish() does; else the step goes on. Does not wait, except where nothing
  /// else tells: with pattern `blocking`, whose messages travel in finish(), and with `rma` until the ranks that it
  /// sends to have started. Where the backend is stream-ordered it is true at once. It has no timeout: where a message
  /// never comes, check level `cross_rank` makes that an error of finish() alone.
  bool test();

  /// Local. Throws Error if a step has gone wrong on the device. A program that replays steps from a CapturedGraph of
  /// the instance, which takes a stream_ordered() exchange, gets the error from no other call.
  void poll();

  /// How this rank's Views travel: `none` if all of them do as they lie, else by `kernel` or `datatype`.
  Packing packing() const;

  /// Whether start() and finish() only queue work on the instance, as `nccl` and `ipc` do; if not, start() waits for
  /// the instance and finish() for the messages.
  bool stream_ordered() const;

  /// What commit() has chosen: the communicator's options with nothing left to `auto`.
  const Options& chosen() const;

  /// What commit() has tried, equal on all ranks; a single one has not been timed.
  const std::vector<TimedMethod>& timed_methods() const;

  /// The messages that this rank sends in a step, in the order of their tags.
  std::vector<SentMessage> sent() const;

  /// Local. Whether start() and finish() time their phases, which takes some tens of nanoseconds each; at first they do
  /// not.
  void measure_times(bool on = true);
  /// Host seconds spent in each phase while they were measured, from the last reset on.
  const PhaseTimes& times() const;
  /// Sets times() to 0.
  void reset_times();

  /// What has been added: who sends what to whom.
  const std::vector<Slot>& slots() const;

 protected:
  /// Local.
  ExchangeBase(const Communicator&, std::string label, std::shared_ptr<const Executor>, MemoryKind);
  /// Keeps what owns the memory.
  void add_slot(Matching, SelectedRows send, int destination, SelectedRows receive, int source, ReceiveOp);

 private:
  struct State;
  State& state() const;
  std::unique_ptr<State> state_; ///< null: moved from, or never assigned to
};

} // namespace kontor::comm
