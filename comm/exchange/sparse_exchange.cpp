// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Non-blocking consensus: T. Hoefler, C. Siebert, A. Lumsdaine, "Scalable communication protocols for dynamic
// sparse data exchange", PPoPP 2010. Sends are synchronous, so a rank whose sends are complete knows that
// they have been received. It then enters a barrier, and goes on receiving until all ranks are in it.
//
// A rank that leaves the barrier may begin the next exchange while another one still receives for this one,
// but not the next but one: so two tags in turns keep them apart.
//
// A message longer than MPI can count comes in pieces, which between two ranks arrive in their order.

#include "backend/deadline.hpp"

#include <kontor/comm/communicator/internals.hpp>
#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/comm/sparse_exchange.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace kontor::comm {

using mpi::check;

namespace {

class SparseExchange {
 public:
  SparseExchange(const Communicator& comm, std::vector<PeerMessage> messages)
      : comm_(comm), channel_(detail::internals(comm).next_sparse_channel()),
        sends_(std::make_shared<std::vector<PeerMessage>>(std::move(messages))) {}

  /// After an error MPI may still read what was sent.
  ~SparseExchange() {
    for (const auto request : requests_) keep(request);
    keep(barrier_);
  }
  SparseExchange(const SparseExchange&) = delete;
  SparseExchange& operator=(const SparseExchange&) = delete;

  void send(std::size_t most) {
    for (const auto& [peer, bytes] : *sends_) {
      std::size_t begin = 0;
      do { // an empty message is one, too
        const auto size = std::min(bytes.size() - begin, most);
        peers_.push_back(peer);
        check(MPI_Issend(bytes.data() + begin, static_cast<int>(size), MPI_BYTE, peer, channel_.tag,
                         channel_.comm, &requests_.emplace_back(MPI_REQUEST_NULL)),
              "MPI_Issend");
        begin += size;
      } while (begin < bytes.size());
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
    int done = 0;
    check(MPI_Test(&barrier_, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
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

  std::vector<PeerMessage> received() && {
    std::ranges::stable_sort(received_, {}, &PeerMessage::peer);
    std::vector<PeerMessage> whole;
    for (auto& [peer, bytes] : received_)
      if (!whole.empty() && whole.back().peer == peer)
        whole.back().bytes.insert(whole.back().bytes.end(), bytes.begin(), bytes.end());
      else
        whole.push_back({peer, std::move(bytes)});
    return whole;
  }

 private:
  void keep(MPI_Request request) {
    if (request != MPI_REQUEST_NULL) detail::internals(comm_).adopt(request, sends_);
  }

  void receive() {
    while (true) {
      int found = 0;
      MPI_Status status;
      check(MPI_Iprobe(MPI_ANY_SOURCE, channel_.tag, channel_.comm, &found, &status), "MPI_Iprobe");
      if (!found) return;
      int size = 0;
      check(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count");
      auto& message = received_.emplace_back(
          PeerMessage{status.MPI_SOURCE, std::vector<std::byte>(static_cast<std::size_t>(size))});
      check(MPI_Recv(message.bytes.data(), size, MPI_BYTE, message.peer, channel_.tag, channel_.comm,
                     MPI_STATUS_IGNORE),
            "MPI_Recv");
    }
  }

  const Communicator& comm_;
  detail::Channel channel_;
  std::shared_ptr<std::vector<PeerMessage>> sends_;
  std::vector<MPI_Request> requests_; ///< a piece each
  std::vector<int> peers_;            ///< to whom
  std::vector<PeerMessage> received_;
  MPI_Request barrier_ = MPI_REQUEST_NULL;
  bool in_barrier_ = false;
};

} // namespace

std::vector<PeerMessage> sparse_exchange(const Communicator& comm, const std::string& label,
                                         std::vector<PeerMessage> messages, std::size_t most_at_once) {
  SparseExchange exchange(comm, std::move(messages));
  exchange.send(most_at_once);
  mpi::wait_within(
      mpi::timeout(comm.options()), comm.native(), fmt::format("exchange '{}'", label),
      [&] { return exchange.advance(); },
      [&] {
        detail::internals(comm).abandon();
        return exchange.missing() + " to come to commit()";
      });
  return std::move(exchange).received();
}

} // namespace kontor::comm
