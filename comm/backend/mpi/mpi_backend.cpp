// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/mpi/mpi_backend.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

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

OwnMemory MpiBackend::own_memory(int /*peer*/, Pattern pattern) const {
  return {.receives = mpi::own_memory.has(pattern)};
}

PlannedExchange MpiBackend::plan(const Schedule& schedule) {
  switch (schedule.pattern) {
  case Pattern::blocking: return {make_blocking(context_, messages(schedule))};
  case Pattern::persistent: return {make_persistent(context_, messages(schedule))};
  case Pattern::neighborhood: return {make_neighborhood(context_, messages(schedule))};
  case Pattern::alltoall: return {make_alltoall(context_, messages(schedule))};
  case Pattern::two_hop: return {make_two_hop(context_, messages(schedule))};
  case Pattern::rma: return make_rma(context_, schedule);
  case Pattern::nonblocking:
  case Pattern::automatic: break;
  }
  return {make_nonblocking(context_, messages(schedule))};
}

} // namespace kontor::comm::mpi
