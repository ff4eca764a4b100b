// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "checks/checked.hpp"

#include "base/deadline.hpp"
#include "communicator/internals.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

namespace kontor::comm::detail {

using mpi::check;

namespace {

/// The longest that a sender waits for the answer of a receive that has begun, in seconds and as a part of the timeout.
/// The receiver may be busy outside of these calls: that is no error, so the wait ends before the timeout of the send.
constexpr double answer_seconds = 2;
constexpr double answer_part_of_timeout = 0.9;

/// Tags begin again where numbers go on, so an answer is told by its number.
int answer_tag(std::int64_t number) {
  constexpr int tags = 32768; // the least that MPI guarantees
  return static_cast<int>(number % tags);
}

/// Description and elements as one message; to be used with MPI_BOTTOM.
mpi::Datatype described(const Description& description, const void* data, const mpi::Payload& payload) {
  const int lengths[] = {sizeof(Description), payload.count};
  MPI_Aint places[2];
  check(MPI_Get_address(&description, &places[0]), "MPI_Get_address");
  check(MPI_Get_address(data, &places[1]), "MPI_Get_address");
  const MPI_Datatype types[] = {MPI_BYTE, payload.type};
  auto made = mpi::structure(lengths, places, types);
  made.commit();
  return made;
}

void cancel(MPI_Request& request) {
  if (request != MPI_REQUEST_NULL && !mpi::finalized()) mpi::take_back(request);
}

} // namespace

/// What both ends of a message have.
class CheckedMessage : public Checked {
 protected:
  CheckedMessage(Checks& checks, const Envelope& envelope, const Buffer& buffer, const Description& mine)
      : checks_(checks), envelope_(envelope), buffer_(buffer), mine_(mine) {}

  Checks& checks_;
  Envelope envelope_;
  Buffer buffer_;
  Description mine_;
  Description theirs_;
  MPI_Request message_ = MPI_REQUEST_NULL;
};

class CheckedSend final : public CheckedMessage, public std::enable_shared_from_this<CheckedSend> {
 public:
  CheckedSend(Checks& checks, const Envelope& envelope, const Buffer& buffer, const void* data,
              const mpi::Payload& payload, const Description& mine)
      : CheckedMessage(checks, envelope, buffer, mine) {
    mine_.number = checks.next_number();
    listen();
    const auto type = described(mine_, data, payload);
    const int code = MPI_Issend(MPI_BOTTOM, 1, type.get(), envelope.peer, envelope.tag, checks.messages(), &message_);
    if (code == MPI_SUCCESS) return;
    cancel(answer_);
    fail_message(code, "MPI_Issend", envelope, buffer);
  }
  ~CheckedSend() override { cancel(answer_); }

  bool poll() override {
    if (!unanswered_by_) unanswered_by_.emplace(answer_part_of_timeout * checks_.timeout());
    if (message_ != MPI_REQUEST_NULL) {
      int done = 0;
      const int code = MPI_Test(&message_, &done, MPI_STATUS_IGNORE);
      if (code != MPI_SUCCESS) fail_message(code, "MPI_Issend", envelope_, buffer_);
      if (!done) return false;
      answer_by_.emplace(answer_seconds);
    }
    for (;;) {
      if (!mpi::test(answer_)) return answer_by_->passed() || unanswered_by_->passed();
      if (theirs_.number == mine_.number) break;
      listen(); // that was the answer to a send that has gone on without it
    }
    if (const auto what = difference(mine_, theirs_)) throw Error(fmt::format("{}: {}", to_string(envelope_), *what));
    return true;
  }

  std::string missing() const override { return fmt::format("rank {} has not begun to receive it", envelope_.peer); }

  void detach(const Communicator& comm, const std::shared_ptr<void>& memory) override {
    cancel(answer_);
    if (message_ != MPI_REQUEST_NULL)
      detail::internals(comm).detach(std::exchange(message_, MPI_REQUEST_NULL), memory, shared_from_this());
  }

 private:
  void listen() {
    check(MPI_Irecv(&theirs_, sizeof(theirs_), MPI_BYTE, envelope_.peer, answer_tag(mine_.number), checks_.answers(),
                    &answer_),
          "MPI_Irecv");
  }

  MPI_Request answer_ = MPI_REQUEST_NULL;
  std::optional<mpi::Deadline> answer_by_;     ///< from the moment at which the receive has begun
  std::optional<mpi::Deadline> unanswered_by_; ///< from the first poll
};

class CheckedReceive final : public CheckedMessage {
 public:
  CheckedReceive(Checks& checks, const Envelope& envelope, const Buffer& buffer, void* data,
                 const mpi::Payload& payload, const Description& mine)
      : CheckedMessage(checks, envelope, buffer, mine) {
    theirs_.signature = 0;
    const auto type = described(theirs_, data, payload);
    const std::lock_guard lock(checks.mutex_);
    const int code = MPI_Irecv(MPI_BOTTOM, 1, type.get(), mpi_rank(envelope.peer), mpi_tag(envelope.tag),
                               checks.messages(), &message_);
    if (code != MPI_SUCCESS) fail_message(code, "MPI_Irecv", envelope, buffer);
    checks.open_.push_back(this);
  }
  ~CheckedReceive() override { close(); }

  bool poll() override {
    const std::lock_guard lock(checks_.mutex_);
    if (message_ != MPI_REQUEST_NULL) return false;
    if (problem_) std::rethrow_exception(problem_);
    return true;
  }
  MPI_Status status() const override { return status_; }

  std::string missing() const override {
    auto text = envelope_.peer == any_source ? std::string("nobody has sent it")
                                             : fmt::format("rank {} has not sent it", envelope_.peer);
    int found = 0;
    MPI_Status status;
    if (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, checks_.messages(), &found, &status) == MPI_SUCCESS && found)
      text += fmt::format("; what has come is a message from rank {} with tag {}", status.MPI_SOURCE, status.MPI_TAG);
    return text;
  }

  void detach(const Communicator&, const std::shared_ptr<void>&) override { close(); }

  /// Under the lock of the checks. Whether the message has come, and been answered.
  bool advance() {
    int done = 0;
    const int code = MPI_Test(&message_, &done, &status_);
    if (code == MPI_SUCCESS && !done) return false;
    message_ = MPI_REQUEST_NULL;
    // A message that is too long is an error of MPI's; its description lies in front and has arrived.
    const bool described = theirs_.signature == Description::sign;
    if (described) checks_.answer(theirs_, mine_);
    const auto fail = [&](const auto& error) { problem_ = std::make_exception_ptr(error); };
    const auto message = fmt::format("{} of {}", to_string(envelope_), to_string(buffer_));
    if (const auto what = described ? difference(theirs_, mine_) : std::nullopt)
      fail(Error(fmt::format("{}: {}", to_string(envelope_), *what)));
    else if (code != MPI_SUCCESS)
      fail(MpiError(fmt::format("{}: MPI_Irecv failed: {}", message, mpi::error_text(code))));
    else if (!described)
      fail(Error(fmt::format("{}: the message has no description; its sender must use these calls, and "
                             "check level 'cross_rank' too",
                             message)));
    return true;
  }

 private:
  void close() {
    const std::lock_guard lock(checks_.mutex_);
    std::erase(checks_.open_, this);
    cancel(message_);
  }

  MPI_Status status_{};
  std::exception_ptr problem_;
};

Checks::~Checks() {
  if (mpi::finalized()) return;
  for (auto& answer : underway_) mpi::or_terminate([&] { mpi::wait_at_most(answer.request, timeout_); });
}

void Checks::progress() {
  const std::lock_guard lock(mutex_);
  std::erase_if(open_, [](CheckedReceive* receive) { return receive->advance(); });
  std::erase_if(underway_, [](Answer& answer) {
    int done = 0;
    return MPI_Test(&answer.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done;
  });
}

std::int64_t Checks::next_number() {
  const std::lock_guard lock(mutex_);
  return ++last_number_;
}

void Checks::answer(const Description& sent, const Description& received) {
  auto& answer = underway_.emplace_back(Answer{MPI_REQUEST_NULL, received});
  answer.description.number = sent.number;
  check(MPI_Isend(&answer.description, sizeof(Description), MPI_BYTE, sent.rank, answer_tag(sent.number), answers_,
                  &answer.request),
        "MPI_Isend");
}

std::shared_ptr<Checks> make_checks(MPI_Comm messages, MPI_Comm answers, double timeout) {
  return std::make_shared<Checks>(messages, answers, timeout);
}

std::shared_ptr<Checked> checked_message(const Communicator& comm, const Envelope& envelope, const Buffer& buffer,
                                         void* data, const mpi::Payload& payload, const Description& mine) {
  auto& checks = *detail::internals(comm).checks();
  if (envelope.direction == Direction::to)
    return std::make_shared<CheckedSend>(checks, envelope, buffer, data, payload, mine);
  return std::make_shared<CheckedReceive>(checks, envelope, buffer, data, payload, mine);
}

void fail_timeout(const Communicator& comm, const Envelope& envelope, const Buffer& buffer, const std::string& why) {
  throw Error(fmt::format("rank {}: {} of {} is not complete within {} s: {}", comm.rank(), to_string(envelope),
                          to_string(buffer), comm.options().timeout, why),
              "E-COMM-TIMEOUT");
}

} // namespace kontor::comm::detail
