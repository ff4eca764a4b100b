// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Non-blocking consensus: T. Hoefler, C. Siebert, A. Lumsdaine, "Scalable communication protocols for dynamic sparse
// data exchange", PPoPP 2010. Sends are synchronous, so a rank whose sends are complete knows that they have been
// received. It then enters a barrier, and goes on receiving until all ranks are in it.
//
// A rank that leaves the barrier may begin the next exchange while another one still receives for this one, but not the
// next but one: so two tags in turns keep them apart.
#include "base/deadline.hpp"
#include "base/ranks.hpp"
#include "communicator/internals.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/comm/sparse_exchange.hpp>
#include <kontor/comm/views/datatype.hpp>
#include <kontor/device/noncopyable.hpp>

#include <fmt/format.h>

#include <map>

namespace kontor::comm {

using mpi::check;

namespace {

class SparseExchange : device::NonCopyable {
 public:
  using Place = std::function<void*(int, std::size_t)>;

  SparseExchange(const Communicator& comm, const std::shared_ptr<void>& sent, const Place& place)
      : comm_(comm), channel_(detail::internals(comm).next_sparse_channel()), sent_(sent), place_(place) {}

  /// After an error MPI may still read what was sent.
  ~SparseExchange() {
    for (const auto request : requests_) detach(request);
    detach(barrier_);
  }

  void send(const std::vector<detail::SparseMessage>& messages) {
    for (const auto& [peer, data, bytes] : messages) {
      const auto payload = payload_of(bytes);
      peers_.push_back(peer);
      check(MPI_Issend(data, payload.count, payload.type, peer, channel_.tag, channel_.comm,
                       &requests_.emplace_back(MPI_REQUEST_NULL)),
            "MPI_Issend");
    }
  }

  /// Goes on without waiting. Whether all ranks have received all that was sent to them.
  bool advance() {
    receive();
    if (!in_barrier_) {
      int sent = 0;
      check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &sent, MPI_STATUSES_IGNORE),
            "MPI_Testall");
      if (!sent) return false;
      check(MPI_Ibarrier(channel_.comm, &barrier_), "MPI_Ibarrier");
      in_barrier_ = true;
    }
    return mpi::test(barrier_);
  }

  /// Whom this rank waits for, in words.
  std::string missing() {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      int done = 0;
      check(MPI_Request_get_status(requests_[i], &done, MPI_STATUS_IGNORE), "MPI_Request_get_status");
      if (!done) return fmt::format("rank {}", peers_[i]);
    }
    return "all ranks";
  }

 private:
  static mpi::Payload payload_of(std::size_t bytes) {
    return mpi::payload(static_cast<std::int64_t>(bytes), {ScalarKind::bytes, 1});
  }
  void detach(MPI_Request request) {
    if (request != MPI_REQUEST_NULL) detail::internals(comm_).detach(request, sent_);
  }

  void receive() {
    while (true) {
      int found = 0;
      MPI_Status status;
      check(MPI_Iprobe(MPI_ANY_SOURCE, channel_.tag, channel_.comm, &found, &status), "MPI_Iprobe");
      if (!found) return;
      const auto bytes = static_cast<std::size_t>(mpi::bytes_of(status));
      const int peer = status.MPI_SOURCE;
      const auto payload = payload_of(bytes);
      check(MPI_Recv(place_(peer, bytes), payload.count, payload.type, peer, channel_.tag, channel_.comm,
                     MPI_STATUS_IGNORE),
            "MPI_Recv");
    }
  }

  const Communicator& comm_;
  detail::Channel channel_;
  std::shared_ptr<void> sent_; ///< owns what MPI may still read
  const Place& place_;
  std::vector<MPI_Request> requests_;
  std::vector<int> peers_; ///< to whom
  MPI_Request barrier_ = MPI_REQUEST_NULL;
  bool in_barrier_ = false;
};

} // namespace

void detail::sparse_exchange(const Communicator& comm, const std::string& what,
                             const std::vector<SparseMessage>& messages, const std::shared_ptr<void>& sent,
                             const std::function<void*(int, std::size_t)>& place) {
  SparseExchange exchange(comm, sent, place);
  exchange.send(messages);
  mpi::wait_within(
      mpi::timeout(comm.options()), comm.native(), what, [&] { return exchange.advance(); },
      [&] {
        internals(comm).leak_at_end();
        return exchange.missing() + " to come to it";
      });
}

std::vector<PeerMessage> sparse_exchange(const Communicator& comm, const std::string& label,
                                         std::vector<PeerMessage> messages) {
  const auto sent = std::make_shared<std::vector<PeerMessage>>(std::move(messages));
  std::vector<detail::SparseMessage> outgoing;
  for (const auto& [peer, bytes] : *sent) outgoing.push_back({peer, bytes.data(), bytes.size()});
  std::map<int, std::vector<std::byte>> received;
  const auto place = [&](int peer, std::size_t size) -> void* {
    auto& bytes = received[peer];
    bytes.resize(bytes.size() + size);
    return bytes.data() + bytes.size() - size;
  };
  detail::sparse_exchange(comm, fmt::format("exchange '{}'", label), outgoing, sent, place);
  std::vector<PeerMessage> result;
  for (auto& [peer, bytes] : received) result.push_back({peer, std::move(bytes)});
  return result;
}

} // namespace kontor::comm
