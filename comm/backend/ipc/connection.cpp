// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/ipc/connection.hpp"

#include "backend/peer_exchange.hpp"

#include <kontor/comm/views/layout.hpp>

#include <fmt/format.h>

namespace kontor::comm::ipc {

/// What a receiver tells its source.
struct Connection::RecvTarget {
  IpcAddress cells;   ///< of the View; none if there are no elements
  Shape shape;        ///< in which they lie
  IpcAddress arrived; ///< the counter to be told
};

/// What a rank tells its peers, in the order of its transfers.
struct Connection::PeerInfo {
  std::vector<RecvTarget> targets; ///< to the sources
  std::vector<IpcAddress> frees;   ///< to the destinations: the counters that they tell
};

namespace {

/// As many blocks as there is room for. A stream of higher priority has work of other streams beside it, which a large
/// copy lasts as long as: a few blocks reach most of a link's bandwidth, and products keep their room on all
/// processors.
std::uint32_t most_blocks(cudaStream_t stream, std::uint32_t tiles) {
  constexpr int per_processor = 3;
  constexpr std::uint32_t large = 64 * few_blocks;
  int priority = 0; // lower numbers go first, and 0 is that of streams for which none was asked
  check(cudaStreamGetPriority(stream, &priority), "cudaStreamGetPriority");
  if (priority < 0 && tiles >= large) return few_blocks;
  int device = 0;
  int processors = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  return static_cast<std::uint32_t>(per_processor * processors);
}

} // namespace

Connection::Connection(MPI_Comm comm, const Gpus& gpus, const Schedule& schedule)
    : comm_(comm), mappings_(gpus, mpi::rank_of(comm)) {
  const auto subject = fmt::format("exchange '{}'", schedule.label);
  PeerInfo mine;
  mpi::agree(
      comm, subject, [&] { mine = allocate(schedule, gpus); }, Axis::backend);
  const auto targets = mpi::peer_exchange(comm, schedule.receives, mine.targets, schedule.sends);
  const auto frees = mpi::peer_exchange(comm, schedule.sends, mine.frees, schedule.receives);
  mappings_.open_on_all_ranks(comm, subject, [&] { connect(schedule, targets, frees); });
}

Connection::PeerInfo Connection::allocate(const Schedule& schedule, const Gpus& gpus) {
  const auto stream = static_cast<cudaStream_t>(schedule.stream);
  const auto messages = schedule.receives.size() + schedule.sends.size();
  signals_ = make_pinned<PeerSignals>();
  state_ = to_device(std::vector<State>(1), stream);
  counters_ = to_device(std::vector<Counter>(messages), stream);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize"); // before a peer writes there
  plan_.state = state_.get();
  plan_.signals = signals_.get();
  plan_.receives = static_cast<int>(schedule.receives.size());
  plan_.arrived = counters_.get();
  plan_.sends = static_cast<int>(schedule.sends.size());
  plan_.free = counters_.get() + plan_.receives;

  PeerInfo info;
  if (messages == 0) return info;
  auto counter = address_of(counters_.get(), gpus, "the counters of steps");
  const auto next = [&] { return std::exchange(counter, counter + sizeof(Counter)); };
  for (const auto& [buffer, order, peer, tag, turn] : schedule.receives) {
    IpcAddress cells{};
    if (element_count(buffer.shape) > 0) cells = address_of(buffer.data, gpus, fmt::format("View '{}'", buffer.label));
    info.targets.push_back({cells, buffer.shape, next()});
  }
  for (std::size_t i = 0; i < schedule.sends.size(); ++i) info.frees.push_back(next());
  return info;
}

void Connection::connect(const Schedule& schedule, const std::vector<RecvTarget>& targets,
                         const std::vector<IpcAddress>& frees) {
  const auto stream = static_cast<cudaStream_t>(schedule.stream);
  std::vector<CopyBlock> all;
  std::vector<Counter*> tell_arrived;
  std::vector<Counter*> tell_free;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto& [from, order, peer, tag, turn] = schedule.sends[i];
    tell_arrived.push_back(counter(targets[i].arrived, peer));
    if (element_count(from.shape) == 0) continue;
    auto to = from;
    to.shape = targets[i].shape;
    to.data = mappings_.open(targets[i].cells, peer,
                             fmt::format("the memory of rank {} that receives View '{}'", peer, from.label));
    const auto more = copy_blocks(from, to);
    all.insert(all.end(), more.begin(), more.end());
  }
  for (std::size_t i = 0; i < frees.size(); ++i) tell_free.push_back(counter(frees[i], schedule.receives[i].peer));
  plan_.tiles = number_tiles(all);
  plan_.most_blocks = most_blocks(stream, plan_.tiles);
  plan_.block_count = static_cast<int>(all.size());
  copy_blocks_ = to_device(all, stream);
  tell_arrived_ = to_device(tell_arrived, stream);
  tell_free_ = to_device(tell_free, stream);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize"); // before the vectors are gone
  plan_.copy_blocks = copy_blocks_.get();
  plan_.tell_arrived = tell_arrived_.get();
  plan_.tell_free = tell_free_.get();
}

Counter* Connection::counter(const IpcAddress& place, int peer) {
  return reinterpret_cast<Counter*>(mappings_.open(place, peer, fmt::format("the counters of steps of rank {}", peer)));
}

} // namespace kontor::comm::ipc
