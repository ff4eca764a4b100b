// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Backend `raw`, the traditional way: pointer, count and MPI datatype of contiguous memory. The baseline
// that the others are compared with.
#include "mpi/message.hpp"
#include "mpi/mpi_backend.hpp"

namespace kontor::comm::raw {
namespace {

mpi::Message message(const Transfer& transfer) {
  const auto [type, count] = mpi::contiguous(transfer.buffer);
  return {transfer.buffer.data, count, type, transfer.peer, transfer.tag, transfer.buffer.label};
}

class Raw final : public mpi::MpiBackend {
 public:
  using MpiBackend::MpiBackend;

  Capabilities capabilities() const override { return {}; }

  std::unique_ptr<Plan> plan(const Schedule& schedule) override {
    mpi::MessageSet messages{schedule.label, {}, {}, {}};
    for (const auto& transfer : schedule.sends) messages.sends.push_back(message(transfer));
    for (const auto& transfer : schedule.receives) messages.receives.push_back(message(transfer));
    return mpi::make_plan(handle(), std::move(messages));
  }
};

} // namespace

std::unique_ptr<Backend> make(const MpiHandle& handle) {
  return std::make_unique<Raw>(handle);
}

} // namespace kontor::comm::raw
