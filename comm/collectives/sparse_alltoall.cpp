// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "collectives/perform.hpp"

#include <kontor/comm/checks/envelope.hpp>
#include <kontor/comm/error.hpp>
#include <kontor/comm/sparse_alltoall.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace kontor::comm::detail {
namespace {

std::optional<std::string> destination_problem(std::vector<int> destinations, int ranks) {
  std::erase(destinations, no_rank);
  std::ranges::sort(destinations);
  for (const int rank : destinations)
    if (rank < 0 || rank >= ranks) return fmt::format("destination {} is no rank; there are {}, from 0", rank, ranks);
  const auto twice = std::ranges::adjacent_find(destinations);
  if (twice == destinations.end()) return std::nullopt;
  return fmt::format("destination {} is there twice; give all that goes to it in one View", *twice);
}

/// What this rank's messages are made of, to their receivers.
std::optional<std::string> scalar_problem(const Communicator& comm, const std::string& what,
                                          const std::vector<int>& destinations, Scalar scalar) {
  std::vector<PeerMessage> messages;
  std::vector<std::byte> bytes(sizeof(Scalar));
  std::memcpy(bytes.data(), &scalar, sizeof(Scalar));
  for (const int rank : destinations)
    if (rank != no_rank) messages.push_back({rank, bytes});
  std::optional<std::string> problem;
  for (const auto& message : sparse_exchange(comm, what, std::move(messages))) {
    Scalar theirs;
    std::memcpy(&theirs, message.bytes.data(), sizeof(Scalar));
    if (!problem && theirs != scalar)
      problem = fmt::format("{}: rank {} sends {}, but rank {} receives {}", what, message.peer, to_string(theirs),
                            comm.rank(), to_string(scalar));
  }
  return problem;
}

} // namespace

void check_sparse(const Communicator& comm, const std::string& what, const std::vector<int>& destinations,
                  Scalar scalar) {
  if (cached(comm).check == CheckLevel::off) return;
  check_call(comm, {.operation = what, .problem = destination_problem(destinations, comm.size())});
  if (verified(comm)) comm.agree(scalar_problem(comm, what, destinations, scalar));
}

std::vector<std::size_t> in_order(const std::vector<int>& values) {
  std::vector<std::size_t> places(values.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::stable_sort(places, {}, [&](std::size_t place) { return values[place]; });
  return places;
}

void refuse_sparse(const std::string& what, int peer, std::size_t bytes, std::size_t element) {
  throw Error(
      fmt::format("{}: rank {} sends {} bytes, no multiple of the {} bytes of an element", what, peer, bytes, element));
}

} // namespace kontor::comm::detail
