// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "checks/agreement_check.hpp"
#include "exchange/exchange_method.hpp"
#include "views/sum_list.hpp"

#include <kontor/comm/checks/envelope.hpp>
#include <kontor/comm/error.hpp>
#include <kontor/comm/exchange/exchange_base.hpp>
#include <kontor/comm/exchange/trial.hpp>
#include <kontor/device/compat.hpp>
#include <kontor/device/noncopyable.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <exception>

namespace kontor::comm {
namespace {

using Step = ExchangeMethod::Step;

/// What the Views that receive hold, kept aside for as long as it lives.
class SavedViews : device::NonCopyable {
 public:
  SavedViews(std::span<const Slot> slots, const Executor& executor) : executor_(executor) {
    constexpr std::int64_t alignment = 16;
    std::int64_t bytes = 0;
    for (const auto& slot : slots)
      if (slot.source != no_rank) bytes += aligned(byte_count(slot.receive), alignment);
    memory_ = executor.allocate(Room::space, static_cast<std::size_t>(bytes), Contents::any);
    auto* place = static_cast<std::byte*>(memory_.get());
    std::vector<Piece> pieces;
    for (const auto& [send, destination, view, source, matching, op] : slots) {
      if (source == no_rank) continue;
      pieces.push_back(piece_of(view, place, storage_order(view.shape)));
      place += aligned(byte_count(view), alignment);
    }
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

/// Collective. An exchange method for each method that Views in this memory can use; one of several that turns out to
/// be impossible is left out. Throws UsageError on every rank if that leaves none.
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

/// Collective. Without `datatype` where no View needs packing on any rank: the others send the same messages.
void keep_different(const Communicator& comm, std::vector<std::unique_ptr<ExchangeMethod>>& methods) {
  if (methods.size() < 2 || comm.options().packing != Packing::automatic) return;
  const auto on_any_rank = [&](bool here) { return max_over_ranks(comm, here ? 1 : 0) > 0; };
  std::erase_if(methods, [&](const auto& method) {
    return method->options().packing == Packing::datatype && !on_any_rank(method->packing() == Packing::datatype);
  });
}

/// Collective. The methods' times; not measured, and 0, where there is no choice. Views that receive are saved before
/// and written back afterwards.
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

} // namespace

struct ExchangeBase::State {
  ~State() {
    if (method && method->step() == Step::under_way && comm.options().check != CheckLevel::off && !mpi::finalized() &&
        std::uncaught_exceptions() == 0)
      fmt::print(stderr,
                 "rank {}: exchange '{}' was dropped unfinished: it ends with all ranks; call finish() before\n",
                 comm.rank(), label);
  }
  [[noreturn]] void fail(const std::string& why) const { throw CallError("exchange '" + label + "': " + why); }
  ExchangeMethod& committed() const {
    if (!method) [[unlikely]]
      fail("commit() comes before start() and finish()");
    return *method;
  }
  /// The method of a step that `call` is to end.
  ExchangeMethod& started(const char* call) const {
    auto& committed_method = committed();
    if (committed_method.step() != Step::under_way) [[unlikely]]
      fail(std::string(call) + (committed_method.step() == Step::failed
                                    ? " after a step that failed: commit() makes the plan anew"
                                    : " without start()"));
    return committed_method;
  }
  /// At check level `cross_rank`: all ranks do the same with the same exchange.
  void check_order(const char* step) const {
    if (!detail::verified(comm)) [[likely]]
      return;
    auto which = "exchange '" + label + "'";
    if (number > 0) which += " (commit " + std::to_string(number) + ")"; // labels may be equal
    check_agreement(comm, {.operation = step, .fields = {std::move(which)}});
  }
  PhaseTimes* timed() { return measures ? &times : nullptr; }

  Communicator comm;
  std::string label;
  std::shared_ptr<const Executor> executor;
  MemoryKind memory;
  std::vector<Slot> slots{};
  Owners views{};
  std::vector<TimedMethod> timed_methods{};
  PhaseTimes times{};
  bool measures = false;
  std::size_t committed_slots = 0;          ///< more have been added if it differs
  std::int64_t number = 0;                  ///< of the last commit(), of its communicator's calls
  std::unique_ptr<ExchangeMethod> method{}; // last: gone before the memory it uses
};

ExchangeBase::ExchangeBase(const Communicator& comm, std::string label, std::shared_ptr<const Executor> executor,
                           MemoryKind memory)
    : state_(new State{comm.share(), std::move(label), std::move(executor), memory}) {}
ExchangeBase::ExchangeBase() noexcept = default;
ExchangeBase::ExchangeBase(ExchangeBase&&) noexcept = default;
ExchangeBase& ExchangeBase::operator=(ExchangeBase&&) noexcept = default;
ExchangeBase::~ExchangeBase() = default;

ExchangeBase::State& ExchangeBase::state() const {
  if (!state_) [[unlikely]]
    throw CallError("a call on an Exchange that was moved from, or never assigned to");
  return *state_;
}

void ExchangeBase::add_slot(Matching matching, SelectedRows send, int destination, SelectedRows receive, int source,
                            ReceiveOp op) {
  auto& s = state();
  if (op == ReceiveOp::add && source != no_rank && !can_add(receive.buffer.scalar))
    s.fail("View '" + receive.buffer.label + "' of " + to_string(receive.buffer.scalar) +
           " cannot add what it receives; numbers and complex numbers of 32 or 64 bits can");
  for (const auto& [buffer, peer] : {std::pair(&send.buffer, destination), {&receive.buffer, source}})
    if (peer != no_rank && !buffer->data && element_count(buffer->shape) > 0)
      s.fail("View '" + buffer->label + "' " + detail::no_memory);
  s.slots.push_back({std::move(send.buffer), destination, std::move(receive.buffer), source, matching, op});
  for (const auto* rows : {&send, &receive}) {
    if (rows->view) s.views.push_back(rows->view);
    if (rows->indices) s.views.push_back(rows->indices);
  }
}

void ExchangeBase::commit() {
  auto& s = state();
  if (s.method && s.method->step() == Step::under_way) s.fail("commit() between start() and finish()");
  const device::Region region("comm/commit");
  s.check_order("commit");
  const auto agreement = handshake(s.comm, s.label, s.slots, s.memory);
  s.method.reset();
  s.timed_methods.clear();
  auto methods = make_methods(s.comm, s.label, s.slots, agreement, s.memory, s.executor, s.views);
  keep_different(s.comm, methods);
  const auto seconds = time_methods(s.comm, methods, s.slots, *s.executor);
  for (std::size_t i = 0; i < methods.size(); ++i) s.timed_methods.push_back({methods[i]->options(), seconds[i]});
  s.method = std::move(methods[choose(seconds)]);
  s.committed_slots = s.slots.size();
  s.number = detail::internals(s.comm).number_call();
}

void ExchangeBase::start() {
  auto& s = state();
  auto& method = s.committed();
  if (method.step() != Step::none || s.slots.size() != s.committed_slots) [[unlikely]]
    s.fail((method.step() == Step::under_way ? "start() again before finish()"
            : method.step() == Step::failed  ? "start() after a step that failed: commit() makes the plan anew"
                                             : "add() after commit(): commit() again before start()"));
  s.check_order("start");
  method.start(s.timed());
  if (s.measures) ++s.times.exchanges;
}

void ExchangeBase::finish() {
  auto& s = state();
  s.started("finish()").finish(s.timed());
}

bool ExchangeBase::test() {
  auto& s = state();
  return s.started("test()").test(s.timed());
}

void ExchangeBase::poll() { state().committed().poll(); }
Packing ExchangeBase::packing() const { return state().method ? state().method->packing() : Packing::none; }
bool ExchangeBase::stream_ordered() const { return state().committed().stream_ordered(); }
const Options& ExchangeBase::chosen() const { return state().committed().options(); }
const std::vector<TimedMethod>& ExchangeBase::timed_methods() const { return state().timed_methods; }
std::vector<SentMessage> ExchangeBase::sent() const { return state().committed().sent(); }
void ExchangeBase::measure_times(bool on) { state().measures = on; }
const PhaseTimes& ExchangeBase::times() const { return state().times; }
void ExchangeBase::reset_times() { state().times = {}; }
const std::vector<Slot>& ExchangeBase::slots() const { return state().slots; }

} // namespace kontor::comm
