// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Non-blocking consensus: T. Hoefler, C. Siebert, A. Lumsdaine, "Scalable communication protocols for dynamic sparse
// data exchange", PPoPP 2010. Sends are synchronous, so a rank whose sends are complete knows that they have been
// received. It then enters a barrier, and goes on receiving until all ranks are in it.
//
// A rank that leaves the barrier may begin the next exchange while another one still receives for this one, but not the
// next but one: so two tags in turns keep them apart.
//
// A message longer than MPI can count comes in chunks, which between two ranks arrive in their order.

#include "backend/deadline.hpp"

#include <kontor/comm/communicator/internals.hpp>
#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/comm/sparse_exchange.hpp>
#include <kontor/device/noncopyable.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

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

  void send(const std::vector<detail::SparseMessage>& messages, std::size_t most) {
    for (const auto& [peer, data, bytes] : messages) {
      std::size_t begin = 0;
      do { // an empty message is one, too
        const auto size = std::min(bytes - begin, most);
        peers_.push_back(peer);
        check(MPI_Issend(static_cast<const std::byte*>(data) + begin, static_cast<int>(size), MPI_BYTE, peer,
                         channel_.tag, channel_.comm, &requests_.emplace_back(MPI_REQUEST_NULL)),
              "MPI_Issend");
        begin += size;
      } while (begin < bytes);
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
  void detach(MPI_Request request) {
    if (request != MPI_REQUEST_NULL) detail::internals(comm_).detach(request, sent_);
  }

  void receive() {
    while (true) {
      int found = 0;
      MPI_Status status;
      check(MPI_Iprobe(MPI_ANY_SOURCE, channel_.tag, channel_.comm, &found, &status), "MPI_Iprobe");
      if (!found) return;
      int size = 0;
      check(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count");
      const int peer = status.MPI_SOURCE;
      check(MPI_Recv(place_(peer, static_cast<std::size_t>(size)), size, MPI_BYTE, peer, channel_.tag, channel_.comm,
                     MPI_STATUS_IGNORE),
            "MPI_Recv");
    }
  }

  const Communicator& comm_;
  detail::Channel channel_;
  std::shared_ptr<void> sent_; ///< owns what MPI may still read
  const Place& place_;
  std::vector<MPI_Request> requests_; ///< a chunk each
  std::vector<int> peers_;            ///< to whom
  MPI_Request barrier_ = MPI_REQUEST_NULL;
  bool in_barrier_ = false;
};

} // namespace

void detail::sparse_exchange(const Communicator& comm, const std::string& what,
                             const std::vector<SparseMessage>& messages, const std::shared_ptr<void>& sent,
                             const std::function<void*(int, std::size_t)>& place, std::size_t most_at_once) {
  constexpr std::size_t most = std::numeric_limits<int>::max();
  if (most_at_once == 0 || most_at_once > most)
    throw CallError(fmt::format("{}: chunks of {} bytes; most_at_once is 1 to {}", what, most_at_once, most));
  SparseExchange exchange(comm, sent, place);
  exchange.send(messages, most_at_once);
  mpi::wait_within(
      mpi::timeout(comm.options()), comm.native(), what, [&] { return exchange.advance(); },
      [&] {
        internals(comm).leak_at_end();
        return exchange.missing() + " to come to it";
      });
}

std::vector<PeerMessage> sparse_exchange(const Communicator& comm, const std::string& label,
                                         std::vector<PeerMessage> messages, std::size_t most_at_once) {
  const auto sent = std::make_shared<std::vector<PeerMessage>>(std::move(messages));
  std::vector<detail::SparseMessage> outgoing;
  for (const auto& [peer, bytes] : *sent) outgoing.push_back({peer, bytes.data(), bytes.size()});
  std::map<int, std::vector<std::byte>> received;
  const auto place = [&](int peer, std::size_t size) -> void* {
    auto& bytes = received[peer];
    bytes.resize(bytes.size() + size);
    return bytes.data() + bytes.size() - size;
  };
  detail::sparse_exchange(comm, fmt::format("exchange '{}'", label), outgoing, sent, place, most_at_once);
  std::vector<PeerMessage> result;
  for (auto& [peer, bytes] : received) result.push_back({peer, std::move(bytes)});
  return result;
}

} // namespace kontor::comm
