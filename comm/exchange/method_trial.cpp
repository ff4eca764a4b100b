// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "exchange/method_trial.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/device/compat.hpp>
#include <kontor/device/noncopyable.hpp>

#include <optional>

namespace kontor::comm {
namespace {

/// What the Views that receive hold, kept aside for as long as it lives.
class SavedViews : device::NonCopyable {
 public:
  SavedViews(std::span<const Slot> slots, const Executor& executor) : executor_(executor) {
    constexpr std::int64_t alignment = 16;
    std::vector<Piece> pieces;
    std::vector<std::int64_t> places;
    std::int64_t bytes = 0;
    for (const auto& slot : slots) {
      if (slot.source == no_rank) continue;
      const auto& [data, scalar, shape, memory, label, rows] = slot.receive;
      pieces.push_back({data, nullptr, loop_nest(shape, wire_order(shape, shape)), scalar.size, rows.indices});
      places.push_back(bytes);
      bytes += aligned(byte_count(slot.receive), alignment);
    }
    memory_ = executor.allocate(Room::space, static_cast<std::size_t>(bytes));
    for (std::size_t p = 0; p < pieces.size(); ++p)
      pieces[p].packed = static_cast<std::byte*>(memory_.get()) + places[p];
    pieces_ = executor.list(pieces);
    executor.run(*pieces_, PackDirection::pack);
    executor.fence("comm/saved");
  }
  ~SavedViews() {
    executor_.run(*pieces_, PackDirection::unpack);
    executor_.fence("comm/restored");
  }

 private:
  const Executor& executor_;
  std::shared_ptr<void> memory_;
  std::unique_ptr<Executor::Pieces> pieces_;
};

} // namespace

std::vector<std::unique_ptr<ExchangeMethod>> make_methods(const Communicator& comm, const std::string& label,
                                                          std::span<const Slot> slots, const Agreement& agreement,
                                                          MemoryKind memory,
                                                          const std::shared_ptr<const Executor>& executor,
                                                          const Owners& views) {
  std::vector<std::unique_ptr<ExchangeMethod>> methods;
  std::optional<UsageError> refusal;
  for (const auto& method : detail::internals(comm).methods(memory)) {
    try {
      methods.push_back(std::make_unique<ExchangeMethod>(comm, method, label, slots, agreement, executor, views));
    } catch (const UsageError& error) {
      if (!refusal) refusal = error;
    }
  }
  if (methods.empty()) throw refusal.value();
  return methods;
}

void keep_different(const Communicator& comm, std::vector<std::unique_ptr<ExchangeMethod>>& methods) {
  if (methods.size() < 2) return;
  const auto on_any_rank = [&](bool here) { return max_over_ranks(comm, here ? 1 : 0) > 0; };
  if (comm.options().packing == Packing::automatic)
    std::erase_if(methods, [&](const auto& method) {
      return method->options().packing == Packing::datatype && !on_any_rank(method->packing() == Packing::datatype);
    });
  if (comm.options().messages != Messages::automatic) return;
  bool aggregated = false;
  for (const auto& method : methods) aggregated = on_any_rank(method->aggregated()) || aggregated;
  if (aggregated) return;
  const auto per_slot = [](const auto& method) { return method->options().messages == Messages::per_slot; };
  if (static_cast<std::size_t>(std::ranges::count_if(methods, per_slot)) < methods.size())
    std::erase_if(methods, per_slot);
}

std::vector<double> time_methods(const Communicator& comm, std::vector<std::unique_ptr<ExchangeMethod>>& methods,
                                 std::span<const Slot> slots, const Executor& executor) {
  if (methods.size() < 2) return std::vector<double>(methods.size(), 0.0);
  const device::Region region("comm/trial");
  const SavedViews saved(slots, executor);
  return try_in_turns(comm, methods.size(), [&](std::size_t c, int count) {
    Stopwatch watch;
    double seconds = 0;
    for (int i = 0; i < count; ++i) {
      methods[c]->start(nullptr);
      methods[c]->finish(nullptr);
    }
    executor.fence("comm/tried");
    watch.lap(seconds);
    return seconds / count;
  });
}

} // namespace kontor::comm
