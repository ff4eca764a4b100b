// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/counts.hpp>
#include <kontor/comm/messages/on.hpp>
#include <kontor/comm/messages/operand.hpp>
#include <kontor/comm/sparse_exchange.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// An all-to-all of which each rank knows whom it sends to, but not who sends to it.
namespace kontor::comm {

/// Views, and the ranks that they go to or come from.
template <class View>
using SparseMessages = std::vector<std::pair<int, View>>;

namespace detail {

/// Collective. Throws CallError if a destination is no rank, or is there twice; at check level `cross_rank` AgreedError
/// if the two ends of a message have different scalars.
void check_sparse(const Communicator&, const std::string& what, const std::vector<int>& destinations, Scalar);

/// Throws Error: what the rank has sent is no multiple of an element.
[[noreturn]] void refuse_sparse(const std::string& what, int peer, std::size_t bytes, std::size_t element);

} // namespace detail

/// Collective. Sends each View to its rank, and gives what other ranks send to this one, in the order of ranks: Views
/// of rank 1 in the memory space of those that are sent. At most one View goes to a rank; an empty one is a message,
/// too; what goes to no_rank is left out. The work of a rank grows with the number of its messages and the logarithm of
/// the number of ranks: MPI_Issend, MPI_Iprobe and MPI_Ibarrier, by non-blocking consensus (T. Hoefler, C. Siebert, A.
/// Lumsdaine, PPoPP 2010). Views in device memory are ordered on the instance. Throws CallError if a destination is no
/// rank, or is there twice; Error, on the receiver, if a message is no multiple of an element; at check level
/// `cross_rank`, AgreedError if scalars differ, and Error, with the label, if it takes longer than Options::timeout.
template <SentView View>
SparseMessages<ReceivedOf<View>> sparse_alltoall(On<View> on, const SparseMessages<View>& messages,
                                                 const std::string& label = "") {
  using Out = ReceivedOf<View>;
  constexpr std::size_t size = sizeof(typename Out::value_type);
  const auto what = "sparse_alltoall '" + label + "'";
  std::vector<int> destinations;
  for (const auto& message : messages) destinations.push_back(message.first);
  detail::check_sparse(on.comm, what, destinations, scalar_of<typename Out::value_type>());

  constexpr const char* name = "sparse_alltoall";
  const auto& lowering = detail::internals(on.comm).lowering();
  const auto* const given = detail::instance_for<Out>(on);
  const auto instance = given ? *given : typename Out::execution_space();
  struct Sent {
    View view; // whose memory it may be
    detail::Lowered<View> elements;
  };
  const auto sent = std::make_shared<std::vector<Sent>>();
  sent->reserve(messages.size());
  std::vector<detail::SparseMessage> outgoing;
  bool waits = false;
  for (const auto& [peer, view] : messages) {
    if (peer == no_rank) continue;
    const auto& elements =
        sent->emplace_back(Sent{view, {lowering, name, view, detail::instance_for<View>(on)}}).elements;
    waits = elements.queue_pack() || waits;
    outgoing.push_back({peer, elements.data(), view.size() * size});
  }
  if (waits) device::fence(instance, "comm/packed"); // once for all
  struct Arrived {
    Out view;
    detail::Lowered<Out> elements;
  };
  std::multimap<int, Arrived> arrived;
  std::optional<std::pair<int, std::size_t>> incomplete;
  const auto place = [&](int peer, std::size_t bytes) -> void* {
    if (bytes % size != 0) incomplete = {peer, bytes};
    const Out view(Kokkos::view_alloc(std::string("comm/received"), Kokkos::WithoutInitializing),
                   (bytes + size - 1) / size);
    return arrived.emplace(peer, Arrived{view, {lowering, name, view, given}})->second.elements.data();
  };
  detail::sparse_exchange(on.comm, what, outgoing, sent, place);
  if (incomplete) detail::refuse_sparse(what, incomplete->first, incomplete->second, size);
  waits = false;
  for (const auto& [peer, one] : arrived) waits = one.elements.queue_unpack() || waits;
  if (waits) device::fence(instance, "comm/unpacked");
  SparseMessages<Out> received;
  for (const auto& [peer, one] : arrived) received.emplace_back(peer, one.view);
  return received;
}

} // namespace kontor::comm
