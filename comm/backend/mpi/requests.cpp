// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pattern `nonblocking`: all receives, all sends, one wait for all of them. Pattern `persistent`: the requests are made
// with the plan (MPI 3.1, section 3.9) and started together.
#include "backend/mpi/mpi_backend.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

namespace kontor::comm::mpi {
namespace {

/// The calls that give a message its request.
struct Calls {
  decltype(&MPI_Irecv) receive;
  decltype(&MPI_Isend) send;
  const char* receive_from; ///< for errors
  const char* send_to;
};

/// A plan by requests, those of the receives first.
class RequestPlan : public MpiPlan {
 public:
  RequestPlan(const BackendContext& context, MessageSet messages)
      : MpiPlan(context, messages.label), messages_(std::move(messages)),
        requests_(messages_.receives.size() + messages_.sends.size(), MPI_REQUEST_NULL), statuses_(requests_.size()) {}

  void finish() override {
    if (!requests_.empty()) check_all(MPI_Waitall(size(), data(), statuses_.data()));
  }

  bool test() override {
    int done = 0;
    check_all(MPI_Testall(size(), data(), &done, statuses_.data()));
    return done != 0;
  }

  std::string awaited() const override {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      int done = 0;
      MPI_Request_get_status(requests_[i], &done, MPI_STATUS_IGNORE);
      if (done) continue;
      const auto& m = message_of(i);
      return fmt::format("rank {} to {} View '{}'; the message is lost, or that rank is elsewhere", m.peer,
                         receives(i) ? "send to" : "receive", m.label);
    }
    return "its messages";
  }

 protected:
  void call(const Calls& calls) {
    auto* request = data();
    for (const auto& m : messages_.receives)
      check_message(calls.receive(m.data, m.count, m.type, m.peer, m.tag, comm(), request++), calls.receive_from, m);
    for (const auto& m : messages_.sends)
      check_message(calls.send(m.data, m.count, m.type, m.peer, m.tag, comm(), request++), calls.send_to, m);
  }

  /// Collective in the middle of a step: the buffers are about to go, and all ranks have started.
  void complete() noexcept {
    if (!ends_alone()) check_or_terminate(MPI_Waitall(size(), data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  }

  MPI_Request* data() { return requests_.data(); }
  int size() const { return static_cast<int>(requests_.size()); }

 private:
  bool receives(std::size_t request) const { return request < messages_.receives.size(); }
  const Message& message_of(std::size_t request) const {
    return receives(request) ? messages_.receives[request] : messages_.sends[request - messages_.receives.size()];
  }

  /// Throws MpiError, of the first message that has failed.
  void check_all(int code) const {
    if (code == MPI_SUCCESS) [[likely]]
      return;
    for (std::size_t i = 0; code == MPI_ERR_IN_STATUS && i < statuses_.size(); ++i)
      if (const int error = statuses_[i].MPI_ERROR; error != MPI_ERR_PENDING)
        check_message(error, receives(i) ? "MPI_Waitall on the receive from" : "MPI_Waitall on the send to",
                      message_of(i));
    check_step(code, "MPI_Waitall");
  }

  MessageSet messages_;
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
};

class Nonblocking final : public RequestPlan {
 public:
  using RequestPlan::RequestPlan;
  /// Collective in the middle of a step.
  ~Nonblocking() override { complete(); }

  void start() override { call({MPI_Irecv, MPI_Isend, "MPI_Irecv from", "MPI_Isend to"}); }
};

class Persistent final : public RequestPlan {
 public:
  Persistent(const BackendContext& context, MessageSet messages) : RequestPlan(context, std::move(messages)) {
    call({MPI_Recv_init, MPI_Send_init, "MPI_Recv_init from", "MPI_Send_init to"});
  }
  /// Collective in the middle of a step.
  ~Persistent() override {
    complete();
    if (finalized()) return;
    for (int i = 0; i < size(); ++i)
      if (data()[i] != MPI_REQUEST_NULL) check_or_terminate(MPI_Request_free(&data()[i]), "MPI_Request_free");
  }

  void start() override {
    if (size() > 0) check_step(MPI_Startall(size(), data()), "MPI_Startall");
  }
};

} // namespace

std::unique_ptr<Plan> make_nonblocking(const BackendContext& context, MessageSet messages) {
  return std::make_unique<Nonblocking>(context, std::move(messages));
}

std::unique_ptr<Plan> make_persistent(const BackendContext& context, MessageSet messages) {
  try {
    return std::make_unique<Persistent>(context, std::move(messages));
  } catch (const MpiError& error) { // of local functions: no rank waits, so all can agree on it
    throw Error(error.what());      // with its id
  }
}

} // namespace kontor::comm::mpi
