// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "checks/description.hpp"

#include <kontor/comm/checks/envelope.hpp>
#include <kontor/comm/views/datatype.hpp>
#include <kontor/device/noncopyable.hpp>

#include <list>

/// Messages at check level `cross_rank`.
///
/// A message carries its sender's description in front of its elements, so it meets the very receive that the elements
/// alone would have met, wildcards included. It is sent synchronously: one that nobody receives never completes. The
/// receiver answers with its own description, by the communicator for checking, as soon as it has the message and is in
/// any call that waits; so both ends see a difference.
namespace kontor::comm::detail {

class CheckedReceive;

/// What the checked messages of a communicator have in common.
class Checks : device::NonCopyable {
 public:
  Checks(MPI_Comm messages, MPI_Comm answers, double timeout)
      : messages_(messages), answers_(answers), timeout_(timeout) {}
  ~Checks();

  /// Local; any thread. Answers the messages that have come. Every wait of this rank calls it once a turn, because
  /// others may wait for the answers.
  void progress();

  MPI_Comm messages() const { return messages_; }
  MPI_Comm answers() const { return answers_; }
  double timeout() const { return timeout_; }

 private:
  friend class CheckedReceive;
  friend class CheckedSend;
  struct Answer {
    MPI_Request request;
    Description description;
  };

  std::int64_t next_number();
  void answer(const Description& sent, const Description& received);

  MPI_Comm messages_;
  MPI_Comm answers_;
  double timeout_;
  std::mutex mutex_;
  std::int64_t last_number_ = 0;
  std::vector<CheckedReceive*> open_;
  std::list<Answer> underway_; // a list, because MPI reads them where they are
};

/// One end of a message.
class Checked : device::NonCopyable {
 public:
  virtual ~Checked() = default;

  /// Goes on as far as it can without waiting; whether it is complete. Throws Error if the ends differ. To be called
  /// after progress() of the checks, which once a turn is enough for many messages: it asks MPI for each that is open.
  virtual bool poll() = 0;
  /// MPI's, of what has been received.
  virtual MPI_Status status() const { return {}; }
  /// What it waits for.
  virtual std::string missing() const = 0;
  /// Its owner goes: a send goes on, a receive is cancelled. `memory` is what MPI may still use.
  virtual void detach(const Communicator&, const std::shared_ptr<void>& memory) = 0;
};

/// Begins to send or to receive, as the envelope says, and is so described to the other end. The payload is at `data`.
std::shared_ptr<Checked> checked_message(const Communicator&, const Envelope&, const Buffer&, void* data,
                                         const mpi::Payload&, const Description&);

/// Throws Error: the timeout has passed.
[[noreturn]] void fail_timeout(const Communicator&, const Envelope&, const Buffer&, const std::string& why);

} // namespace kontor::comm::detail
