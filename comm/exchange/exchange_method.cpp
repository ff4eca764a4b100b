// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "exchange/exchange_method.hpp"

#include "base/deadline.hpp"
#include "checks/agreement_check.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/device/compat.hpp>

#include <tuple>

namespace kontor::comm {
namespace {

/// Where each message lies. `own`: those places in memory of the backend's own.
void* place_of(const RoutedMessages& routed, std::size_t message, void* staging, const std::vector<void*>& own) {
  const auto place = routed.places[message];
  return place == in_own_memory ? own[message] : static_cast<std::byte*>(staging) + place;
}

void point_into(void* staging, std::vector<Transfer>& messages, const RoutedMessages& routed) {
  for (std::size_t m = 0; m < messages.size(); ++m)
    if (routed.places[m] >= 0) messages[m].buffer.data = place_of(routed, m, staging, {});
}

/// What is copied, and what is added.
struct Pieces {
  std::vector<Piece> copied;
  std::vector<SummedPiece> added;
};

Pieces pieces_of(const std::vector<Transfer>& messages, const RoutedMessages& routed, void* staging,
                 const std::vector<void*>& own) {
  Pieces pieces;
  for (const auto& [message, offset, view, order, adds] : routed.packed) {
    const auto piece = piece_of(view, static_cast<std::byte*>(place_of(routed, message, staging, own)) + offset, order);
    if (adds)
      pieces.added.push_back({piece, view.scalar, messages[message].peer});
    else
      pieces.copied.push_back(piece);
  }
  return pieces;
}

} // namespace

ExchangeMethod::ExchangeMethod(const Communicator& comm, const Method& method, const std::string& label,
                               std::span<const Slot> slots, const Agreement& agreement,
                               std::shared_ptr<const Executor> executor, Owners views)
    : comm_(comm.share()), method_(method), views_(std::move(views)), executor_(std::move(executor)),
      stream_ordered_(method.can.stream_ordered), timeout_(mpi::timeout(comm.options())),
      subject_("exchange '" + label + "'") {
  auto routing = route(comm, method_, label, slots, agreement);
  packing_ = routing.used;
  staging_ = executor_->allocate(routing.staged ? Room::pinned : Room::space,
                                 static_cast<std::size_t>(routing.staging_bytes), Contents::zeros);
  std::vector<SummedPiece> added;
  for (auto& [schedule, sends, receives] : routing.chunks) {
    point_into(staging_.get(), schedule.sends, sends);
    point_into(staging_.get(), schedule.receives, receives);
    idle_ = idle_ && schedule.sends.empty() && schedule.receives.empty();
    schedule.stream = executor_->stream();
    auto& chunk = chunks_.emplace_back();
    auto planned = make_plan(comm, schedule);
    chunk.plan = std::move(planned.plan);
    chunk.packs = executor_->list(pieces_of(schedule.sends, sends, staging_.get(), planned.sends).copied);
    const auto received = pieces_of(schedule.receives, receives, staging_.get(), planned.receives);
    chunk.unpacks = executor_->list(received.copied);
    added.insert(added.end(), received.added.begin(), received.added.end());
    for (const auto place : receives.places) releases_ = releases_ || place == in_own_memory;
    for (const auto& [buffer, order, peer, tag, turn] : schedule.sends)
      chunk.sent.push_back({peer, byte_count(buffer)});
  }
  sums_ = executor_->list_sums(added, comm.rank());
  if (chunks_.size() > 1)
    for (auto& lane : lanes_) lane = executor_->fork();
}

PlannedExchange ExchangeMethod::make_plan(const Communicator& comm, const Schedule& schedule) {
  PlannedExchange planned;
  std::optional<std::string> problem;
  try {
    planned = method_.backend->plan(schedule);
  } catch (const UsageError&) {
    throw; // on every rank
  } catch (const MpiError&) {
    throw; // the other ranks may not come as far as to agree
  } catch (const Error& error) {
    problem = error.what();
  }
  comm.agree(problem);
  return planned;
}

void ExchangeMethod::start(PhaseTimes* times) {
  PhaseClock clock(times);
  step_ = Step::failed; // unless this returns
  finished_ = 0;
  const bool chunked = chunks_.size() > 1;
  const auto lane = [&](std::size_t chunk) -> const Executor& {
    return chunked ? *lanes_[chunk % lanes_.size()] : *executor_;
  };
  if (chunked) executor_->fence("comm/ready");
  for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
    if (chunk == 0) pack(chunks_[0], lane(0));
    if (chunk + 1 < chunks_.size()) pack(chunks_[chunk + 1], lane(chunk + 1));
    if (!stream_ordered_ && !idle_) lane(chunk).fence("comm/packed");
    clock.lap(&PhaseTimes::pack);
    const device::Region region("comm/post");
    chunks_[chunk].plan->start();
    clock.lap(&PhaseTimes::post);
  }
  step_ = Step::under_way;
}

/// A region only where there is something to pack: it takes as long as an MPI call.
void ExchangeMethod::pack(Chunk& chunk, const Executor& on) {
  std::optional<device::Region> region;
  if (!chunk.packs->empty) region.emplace("comm/pack");
  chunk.plan->prepare();
  if (!chunk.packs->empty) on.run(*chunk.packs, PackDirection::pack);
}

/// Unpacks each chunk that is complete(plan), up to the first that is not; whether all of them are.
template <class Complete>
bool ExchangeMethod::finish_chunks(PhaseTimes* times, const Complete& complete) {
  PhaseClock clock(times);
  step_ = Step::failed; // unless this returns
  for (; finished_ < chunks_.size(); ++finished_) {
    auto& chunk = chunks_[finished_];
    bool is_complete = false;
    {
      const device::Region region("comm/wait");
      is_complete = complete(*chunk.plan);
    }
    clock.lap(&PhaseTimes::wait);
    if (!is_complete) {
      step_ = Step::under_way;
      return false;
    }
    const bool sums = finished_ + 1 == chunks_.size() && !sums_->empty;
    if (!chunk.unpacks->empty || sums) {
      const device::Region region("comm/unpack");
      executor_->run(*chunk.unpacks, PackDirection::unpack);
      if (sums) executor_->run(*sums_, PackDirection::unpack);
    }
    if (releases_) {
      if (!stream_ordered_) executor_->fence("comm/unpacked");
      chunk.plan->release();
    }
    clock.lap(&PhaseTimes::unpack);
  }
  step_ = Step::none;
  return true;
}

/// Stream-ordered plans have timeouts of their own, on the device.
void ExchangeMethod::finish(PhaseTimes* times) {
  finish_chunks(times, [&](Plan& plan) {
    if (timeout_ == 0 || stream_ordered_)
      plan.finish();
    else
      mpi::wait_within(
          timeout_, comm_.native(), subject_, [&] { return plan.test(); }, [&] { return plan.awaited(); });
    return true;
  });
}

bool ExchangeMethod::test(PhaseTimes* times) {
  return finish_chunks(times, [](Plan& plan) { return plan.test(); });
}

void ExchangeMethod::poll() {
  for (auto& chunk : chunks_) chunk.plan->poll();
}

/// Collective where memory is of windows, which all ranks free together. Whether they come within the timeout.
bool ExchangeMethod::others_come() const {
  const auto& internals = detail::internals(comm_);
  if (!method_.can.own_memory.has(options().pattern) || !internals.checks() || !internals.ends_together()) return true;
  try {
    check_agreement(comm_, {"destruction", {}, {subject_}});
    return true;
  } catch (const Error&) {
    return false;
  }
}

ExchangeMethod::~ExchangeMethod() {
  auto& internals = detail::internals(comm_);
  const bool left = step_ == Step::failed || (step_ == Step::under_way && !internals.ends_together()) || !others_come();
  if (!left || stream_ordered_) return; // the destructors of stream-ordered plans end what is queued
  internals.leak_at_end();
  detail::leak(std::tuple(std::move(chunks_), std::move(sums_), std::move(staging_), std::move(lanes_),
                          std::move(executor_), std::move(views_), std::move(method_)));
}

std::vector<SentMessage> ExchangeMethod::sent() const {
  std::vector<SentMessage> all;
  for (const auto& chunk : chunks_) all.insert(all.end(), chunk.sent.begin(), chunk.sent.end());
  return all;
}

} // namespace kontor::comm
