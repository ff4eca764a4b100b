// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Backend `view`, the typed View bindings: a View travels as it lies, a strided one described to MPI by a
// derived datatype that is made once, with the plan.
#include "mpi/message.hpp"
#include "mpi/mpi_backend.hpp"

namespace kontor::comm::view {
namespace {

mpi::Message message(const Transfer& transfer, std::vector<mpi::Datatype>& datatypes) {
  const auto& buffer = transfer.buffer;
  if (is_contiguous(buffer.shape, transfer.order)) {
    const auto [type, count] = mpi::contiguous(buffer);
    return {buffer.data, count, type, transfer.peer, transfer.tag, buffer.label};
  }
  datatypes.push_back(mpi::strided(buffer, transfer.order));
  return {buffer.data, 1, datatypes.back().get(), transfer.peer, transfer.tag, buffer.label};
}

class View final : public mpi::MpiBackend {
 public:
  using MpiBackend::MpiBackend;

  Capabilities capabilities() const override { return {.strided_buffers = true}; }

  std::unique_ptr<Plan> plan(const Schedule& schedule) override {
    mpi::MessageSet messages{schedule.label, {}, {}, {}};
    for (const auto& transfer : schedule.sends)
      messages.sends.push_back(message(transfer, messages.datatypes));
    for (const auto& transfer : schedule.receives)
      messages.receives.push_back(message(transfer, messages.datatypes));
    return mpi::make_plan(handle(), std::move(messages));
  }
};

} // namespace

std::unique_ptr<Backend> make(const MpiHandle& handle) {
  return std::make_unique<View>(handle);
}

} // namespace kontor::comm::view
