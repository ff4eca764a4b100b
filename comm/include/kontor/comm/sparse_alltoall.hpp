// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/counts.hpp>
#include <kontor/comm/messages/on.hpp>
#include <kontor/comm/messages/operand.hpp>
#include <kontor/comm/sparse_exchange.hpp>

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

/// Local. Which place has the least value, which one the next, and so on.
std::vector<std::size_t> in_order(const std::vector<int>& values);

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

  constexpr bool on_host = memory_of<Out>() == MemoryKind::host;
  const auto& lowering = detail::cached(on.comm).lowering;
  const auto* const given = detail::instance_for<Out>(on);
  const auto instance = given ? *given : typename Out::execution_space();
  struct Sent {
    SparseMessages<View> views; // whose memory it may be
    std::vector<detail::LoweredIn<View>> elements;
  };
  const auto owner = detail::keep(Sent{messages, {}});
  auto* const sent = static_cast<Sent*>(owner.get());
  std::vector<detail::SparseMessage> outgoing;
  bool waits = false;
  for (const auto& [peer, view] : messages) {
    if (peer == no_rank) continue;
    auto elements = detail::lower(lowering, "sparse_alltoall", view, detail::instance_for<View>(on));
    waits = elements.queue_pack() || waits;
    outgoing.push_back({peer, elements.data(), view.size() * size});
    sent->elements.push_back(std::move(elements));
  }
  if (waits) device::fence(instance, "comm/packed"); // once for all

  SparseMessages<Out> arrived;
  std::vector<detail::LoweredIn<Out>> elements; // a new View in host memory lies in one piece
  std::vector<int> sources;
  std::optional<std::pair<int, std::size_t>> incomplete;
  const auto place = [&](int peer, std::size_t bytes) -> void* {
    if (bytes % size != 0) incomplete = {peer, bytes};
    const auto properties = Kokkos::view_alloc(std::string("comm/received"), Kokkos::WithoutInitializing);
    const Out& view = arrived.emplace_back(peer, Out(properties, (bytes + size - 1) / size)).second;
    sources.push_back(peer);
    if constexpr (on_host) return view.data();
    return elements.emplace_back(detail::lower(lowering, "sparse_alltoall", view, given)).data();
  };
  detail::sparse_exchange(on.comm, what, outgoing, owner, place);
  if (incomplete) detail::refuse_sparse(what, incomplete->first, incomplete->second, size);
  waits = false;
  for (const auto& one : elements) waits = one.queue_unpack() || waits;
  if (waits) device::fence(instance, "comm/unpacked");
  SparseMessages<Out> received;
  for (const auto i : detail::in_order(sources)) received.push_back(std::move(arrived[i]));
  return received;
}

} // namespace kontor::comm
