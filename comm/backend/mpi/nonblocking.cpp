// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pattern `nonblocking`: all receives, all sends, one wait for all of them.
#include "backend/mpi/message_requests.hpp"
#include "backend/mpi/pattern.hpp"

namespace kontor::comm::mpi {
namespace {

class Nonblocking final : public Plan {
 public:
  Nonblocking(const BackendContext& context, MessageSet messages) : requests_(context, std::move(messages)) {}
  /// Collective in the middle of a step: waits for the messages.
  ~Nonblocking() override { requests_.end(); }

  void start() override {
    auto* request = requests_.data();
    for (const auto& m : requests_.messages().receives) {
      const int code = MPI_Irecv(m.data, m.count, m.type, m.peer, m.tag, requests_.comm(), request++);
      if (code != MPI_SUCCESS) [[unlikely]]
        requests_.fail(code, "MPI_Irecv from", m);
    }
    for (const auto& m : requests_.messages().sends) {
      const int code = MPI_Isend(m.data, m.count, m.type, m.peer, m.tag, requests_.comm(), request++);
      if (code != MPI_SUCCESS) [[unlikely]]
        requests_.fail(code, "MPI_Isend to", m);
    }
  }

  void finish() override { requests_.wait(); }
  bool test() override { return requests_.test(); }
  std::string awaited() const override { return requests_.awaited(); }

 private:
  MessageRequests requests_;
};

} // namespace

std::unique_ptr<Plan> make_nonblocking(const BackendContext& context, MessageSet messages) {
  return std::make_unique<Nonblocking>(context, std::move(messages));
}

} // namespace kontor::comm::mpi
