// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/candidate.hpp>
#include <kontor/comm/carrier.hpp>
#include <kontor/comm/collectives.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// How an exchange chooses among the ways that it can go.
namespace kontor::comm {

/// How often a trial repeats.
struct TrialLength {
  int rounds = 0; ///< in each of which every candidate has its turn
  int count = 0;  ///< of what a candidate does in its turn
};

/// Long enough to tell candidates apart, where `limit` seconds allow that. `seconds` is the time of all
/// candidates together.
TrialLength trial_length(double seconds, double limit);

/// The medians over rounds; times[round * candidates + c] is of candidate c.
std::vector<double> medians(std::span<const double> times, std::size_t candidates);

/// Collective. A carrier for each way that Views in this memory can go; a way that is one of several and
/// turns out to be impossible is left out. Throws UsageError on every rank if that leaves none.
template <class Carrier, class ExecutionSpace>
std::vector<Held<Carrier>> make_carriers(const Communicator& comm, const std::string& label,
                                         std::span<const Slot> slots, const Agreement& agreement,
                                         MemoryKind memory, const ExecutionSpace& instance,
                                         const Owners& views) {
  std::vector<Held<Carrier>> carriers;
  std::optional<UsageError> refused;
  for (const auto& way : comm.ways(memory)) {
    try {
      carriers.emplace_back(new Carrier(comm, way, label, slots, agreement, instance, views));
    } catch (const UsageError& error) {
      if (!refused) refused = error;
    }
  }
  if (carriers.empty()) throw refused.value();
  return carriers;
}

/// Collective. Where no View needs packing on any rank, `datatype` is the same as `kernel`: leaves one of
/// them.
template <class Carrier>
void keep_different(const Communicator& comm, std::vector<Held<Carrier>>& carriers) {
  if (carriers.size() < 2 || comm.options().packing != Packing::automatic) return;
  std::erase_if(carriers, [&](const auto& carrier) {
    if (carrier->options().packing != Packing::datatype) return false;
    return allreduce(comm, carrier->packing() == Packing::datatype ? 1 : 0, ReduceOp::max) == 0;
  });
}

/// The first of those that are as fast as the fastest, give or take 3 %: so that it is not noise that chooses
/// between equals, and the usual way, which comes first, wins.
std::size_t choose(std::span<const double> seconds);

/// What the Views that receive hold, kept aside for as long as it lives.
template <class T, class ExecutionSpace, class MemorySpace>
class Saved {
 public:
  Saved(std::span<const Slot> slots, const ExecutionSpace& instance) : instance_(instance) {
    std::int64_t elements = 0;
    for (const auto& slot : slots) elements += is_received(slot) ? element_count(slot.receive.shape) : 0;
    memory_ = Memory(Kokkos::view_alloc(std::string("comm/saved"), Kokkos::WithoutInitializing), elements);
    T* place = data_of(memory_);
    for (const auto& slot : slots) {
      if (!is_received(slot)) continue;
      const auto& [data, scalar, shape, memory, label] = slot.receive;
      list_.add(static_cast<T*>(data), place, loop_nest(shape, wire_order(shape, shape)));
      place += element_count(shape);
    }
    list_.commit();
    list_.template run<List::Direction::pack>(instance_);
    fence(instance_, "comm/saved");
  }
  ~Saved() {
    list_.template run<List::Direction::unpack>(instance_);
    fence(instance_, "comm/restored");
  }
  Saved(const Saved&) = delete;
  Saved& operator=(const Saved&) = delete;

 private:
  using Memory = Kokkos::View<T*, MemorySpace>;
  using List = PackList<T, ExecutionSpace>;
  static bool is_received(const Slot& slot) { return slot.source != no_rank; }

  ExecutionSpace instance_;
  Memory memory_;
  List list_;
};

/// Collective. The seconds of each candidate as all ranks agree on them; turn(c, n) does what candidate c
/// does n times and returns the seconds of one. They take turns, so that what disturbs the machine disturbs
/// all of them.
template <class Turn>
std::vector<double> try_in_turns(const Communicator& comm, std::size_t candidates, const Turn& turn) {
  double together = 0;
  for (std::size_t c = 0; c < candidates; ++c) {
    turn(c, 2);
    together += turn(c, 1);
  }
  const auto [rounds, count] = trial_length(allreduce(comm, together, ReduceOp::max), comm.options().trial);
  const Kokkos::View<double*, Kokkos::HostSpace> times("comm/times", rounds * candidates);
  for (std::size_t i = 0; i < times.size(); ++i) {
    barrier(comm);
    times(i) = turn(i % candidates, count);
  }
  allreduce(comm, times, ReduceOp::max);
  return medians({times.data(), times.size()}, candidates);
}

/// Collective. The carriers' times; not measured, and 0, where there is no choice. Views that receive are
/// saved before and written back afterwards.
template <class T, class ExecutionSpace, class MemorySpace>
std::vector<double> try_carriers(const Communicator& comm,
                                 std::vector<Held<Carrier<T, ExecutionSpace, MemorySpace>>>& carriers,
                                 std::span<const Slot> slots, const ExecutionSpace& instance) {
  if (carriers.size() < 2) return std::vector<double>(carriers.size(), 0.0);
  const Region region("comm/trial");
  const Saved<T, ExecutionSpace, MemorySpace> saved(slots, instance);
  return try_in_turns(comm, carriers.size(), [&](std::size_t c, int count) {
    Stopwatch watch;
    double seconds = 0;
    for (int i = 0; i < count; ++i) {
      carriers[c]->start(instance, nullptr);
      carriers[c]->finish(instance, nullptr);
    }
    fence(instance, "comm/tried");
    watch.lap(seconds);
    return seconds / count;
  });
}

} // namespace kontor::comm
