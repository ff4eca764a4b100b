// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/comm/messages/operand.hpp>
#include <kontor/comm/messages/operation.hpp>

namespace kontor::comm::detail {
namespace {

/// A message of a View that its caller has.
class LentMessage final : public Operation {
 public:
  LentMessage(const Communicator& comm, const Envelope& envelope, const Lent& lent) : Operation(comm), lent_(lent) {
    const auto& operand = lent.operand;
    begin(envelope, operand.data, mpi::payload(operand.count, operand.scalar));
  }
  ~LentMessage() {
    if (active()) drop();
  }

 private:
  void deliver() override {}
  Buffer buffer() const override { return lent_.operand.buffer(); }
  std::shared_ptr<void> keep() const override { return lent_.keep(lent_.typed); }
  const Lent& lent_;
};

} // namespace

MessageStatus message_verified(const Communicator& comm, const Envelope& envelope, const Lent& lent) {
  LentMessage message(comm, envelope, lent);
  message.complete();
  return envelope.direction == Direction::from ? message.status() : MessageStatus();
}

MessageStatus sendrecv_verified(const Communicator& comm, const Envelope& to, const Lent& sent, const Envelope& from,
                                const Lent& received) {
  LentMessage receiving(comm, from, received);
  LentMessage sending(comm, to, sent);
  Pool(std::array<Operation*, 2>{&receiving, &sending}).wait_all();
  return receiving.status();
}

} // namespace kontor::comm::detail
