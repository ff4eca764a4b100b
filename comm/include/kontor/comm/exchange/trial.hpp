// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator/internals.hpp>
#include <kontor/comm/exchange/exchange_method.hpp>
#include <kontor/comm/timed_method.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// How an exchange chooses among the methods that it can use.
namespace kontor::comm {

/// How often a trial repeats.
struct TrialLength {
  int rounds = 0; ///< in each of which every method has its turn
  int count = 0;  ///< of what a method does in its turn
};

/// Collective. The largest of all ranks' values, each at its place, by MPI_Allreduce.
void max_over_ranks(const Communicator&, std::span<double> values);
/// The same of one value.
double max_over_ranks(const Communicator&, double value);

/// Long enough to tell methods apart, where `limit` seconds allow that. `seconds` is the time of all
/// methods together.
TrialLength trial_length(double seconds, double limit);

/// The medians over rounds; times[round * methods + c] is of method c.
std::vector<double> medians(std::span<const double> times, std::size_t methods);

/// Collective. An exchange method for each method that Views in this memory can use; one of several that
/// turns out to be impossible is left out. Throws UsageError on every rank if that leaves none.
template <class ExchangeMethod, class ExecutionSpace>
std::vector<Held<ExchangeMethod>> make_exchange_methods(const Communicator& comm, const std::string& label,
                                                        std::span<const Slot> slots,
                                                        const Agreement& agreement, MemoryKind memory,
                                                        const ExecutionSpace& instance, const Owners& views) {
  std::vector<Held<ExchangeMethod>> exchange_methods;
  std::optional<UsageError> refused;
  for (const auto& method : detail::internals(comm).methods(memory)) {
    try {
      exchange_methods.emplace_back(
          new ExchangeMethod(comm, method, label, slots, agreement, instance, views));
    } catch (const UsageError& error) {
      if (!refused) refused = error;
    }
  }
  if (exchange_methods.empty()) throw refused.value();
  return exchange_methods;
}

/// Collective. Where no View needs packing on any rank, `datatype` is the same as `kernel`: leaves one of
/// them.
template <class ExchangeMethod>
void keep_different(const Communicator& comm, std::vector<Held<ExchangeMethod>>& exchange_methods) {
  if (exchange_methods.size() < 2 || comm.options().packing != Packing::automatic) return;
  std::erase_if(exchange_methods, [&](const auto& exchange_method) {
    if (exchange_method->options().packing != Packing::datatype) return false;
    return max_over_ranks(comm, exchange_method->packing() == Packing::datatype ? 1 : 0) == 0;
  });
}

/// The first of those that are as fast as the fastest, give or take 3 %: so that it is not noise that chooses
/// between equals, and the usual method, which comes first, wins.
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
      const auto& shape = slot.receive.shape;
      list_.add(static_cast<T*>(slot.receive.data), place, loop_nest(shape, wire_order(shape, shape)),
                slot.receive.rows.indices);
      place += element_count(shape);
    }
    list_.commit();
    list_.template run<List::Direction::pack>(instance_);
    device::fence(instance_, "comm/saved");
  }
  ~Saved() {
    list_.template run<List::Direction::unpack>(instance_);
    device::fence(instance_, "comm/restored");
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

/// Collective. The seconds of each method as all ranks agree on them; turn(c, n) does what method c
/// does n times and returns the seconds of one. They take turns, so that what disturbs the machine disturbs
/// all of them.
template <class Turn>
std::vector<double> try_in_turns(const Communicator& comm, std::size_t methods, const Turn& turn) {
  double together = 0;
  for (std::size_t c = 0; c < methods; ++c) {
    turn(c, 2);
    together += turn(c, 1);
  }
  const auto [rounds, count] = trial_length(max_over_ranks(comm, together), comm.options().trial);
  std::vector<double> times(static_cast<std::size_t>(rounds) * methods);
  for (std::size_t i = 0; i < times.size(); ++i) {
    max_over_ranks(comm, 0); // a barrier
    times[i] = turn(i % methods, count);
  }
  max_over_ranks(comm, times);
  return medians(times, methods);
}

/// Collective. The exchange methods' times; not measured, and 0, where there is no choice. Views that receive
/// are saved before and written back afterwards.
template <class T, class ExecutionSpace, class MemorySpace>
std::vector<double>
time_methods(const Communicator& comm,
             std::vector<Held<ExchangeMethod<T, ExecutionSpace, MemorySpace>>>& exchange_methods,
             std::span<const Slot> slots, const ExecutionSpace& instance) {
  if (exchange_methods.size() < 2) return std::vector<double>(exchange_methods.size(), 0.0);
  const device::Region region("comm/trial");
  const Saved<T, ExecutionSpace, MemorySpace> saved(slots, instance);
  return try_in_turns(comm, exchange_methods.size(), [&](std::size_t c, int count) {
    Stopwatch watch;
    double seconds = 0;
    for (int i = 0; i < count; ++i) {
      exchange_methods[c]->start(instance, nullptr);
      exchange_methods[c]->finish(instance, nullptr);
    }
    device::fence(instance, "comm/tried");
    watch.lap(seconds);
    return seconds / count;
  });
}

} // namespace kontor::comm
