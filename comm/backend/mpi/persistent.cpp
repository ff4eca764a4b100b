// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pattern `persistent`: requests are made with the plan (MPI 3.1, section 3.9) and started together.
#include "backend/mpi/message_requests.hpp"
#include "backend/mpi/pattern.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

namespace kontor::comm::mpi {
namespace {

class Persistent final : public Plan {
 public:
  Persistent(const BackendContext& context, MessageSet messages) : requests_(context, std::move(messages)) {
    auto* request = requests_.data();
    for (const auto& m : requests_.messages().receives) {
      const int code = MPI_Recv_init(m.data, m.count, m.type, m.peer, m.tag, context.comm, request++);
      if (code != MPI_SUCCESS) requests_.fail(code, "MPI_Recv_init from", m);
    }
    for (const auto& m : requests_.messages().sends) {
      const int code = MPI_Send_init(m.data, m.count, m.type, m.peer, m.tag, context.comm, request++);
      if (code != MPI_SUCCESS) requests_.fail(code, "MPI_Send_init to", m);
    }
  }

  /// Collective in the middle of a step: waits for the messages.
  ~Persistent() override {
    if (under_way_) requests_.end();
    if (finalized()) return;
    for (int i = 0; i < requests_.size(); ++i)
      if (requests_.data()[i] != MPI_REQUEST_NULL) MPI_Request_free(&requests_.data()[i]);
  }

  void start() override {
    under_way_ = true;
    if (requests_.size() == 0) return;
    const int code = MPI_Startall(requests_.size(), requests_.data());
    if (code != MPI_SUCCESS) [[unlikely]]
      throw MpiError(fmt::format("exchange '{}': MPI_Startall failed: {}", requests_.messages().label,
                                 error_text(code)));
  }

  void finish() override {
    requests_.wait();
    under_way_ = false;
  }

  bool test() override {
    under_way_ = !requests_.test();
    return !under_way_;
  }
  std::string awaited() const override { return requests_.awaited(); }

 private:
  MessageRequests requests_;
  bool under_way_ = false;
};

} // namespace

std::unique_ptr<Plan> make_persistent(const BackendContext& context, MessageSet messages) {
  try {
    return std::make_unique<Persistent>(context, std::move(messages));
  } catch (const MpiError& error) { // of local functions: no rank waits, so all can agree on it
    throw Error(error.what());
  }
}

} // namespace kontor::comm::mpi
