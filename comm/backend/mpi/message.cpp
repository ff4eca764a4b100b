// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/mpi/message.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

#include <utility>

namespace kontor::comm::mpi {

Message message(const Transfer& transfer) {
  const auto& [buffer, order, peer, tag, turn] = transfer;
  if (is_contiguous(buffer.shape, order)) {
    auto sent = payload(element_count(buffer.shape), buffer.scalar);
    return {buffer.data, sent.count, sent.type, peer, tag, turn, buffer.label, std::move(sent.made)};
  }
  auto made = strided(buffer, order);
  const auto type = made.get();
  return {buffer.data, 1, type, peer, tag, turn, buffer.label, std::move(made)};
}

MessageSet messages(const Schedule& schedule) {
  MessageSet set{schedule.label, {}, {}};
  for (const auto& transfer : schedule.sends) set.sends.push_back(message(transfer));
  for (const auto& transfer : schedule.receives) set.receives.push_back(message(transfer));
  return set;
}

void fail_message(const std::string& exchange, int code, const char* operation, const Message& m) {
  throw MpiError(fmt::format("exchange '{}': {} rank {} of View '{}' failed: {}", exchange, operation, m.peer,
                             m.label, error_text(code)));
}

} // namespace kontor::comm::mpi
