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

void MpiPlan::fail_step(int code, const std::string& operation) const {
  mark_unsafe_to_free();
  throw MpiError(fmt::format("exchange '{}': {} failed: {}", label_, operation, error_text(code)));
}

void MpiPlan::fail_message(int code, const char* operation, const Message& m) const {
  fail_step(code, fmt::format("{} rank {} of View '{}'", operation, m.peer, m.label));
}

} // namespace kontor::comm::mpi
