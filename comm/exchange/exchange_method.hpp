// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "communicator/internals.hpp"
#include "exchange/routing.hpp"

#include <kontor/comm/phase_times.hpp>
#include <kontor/comm/views/executor.hpp>
#include <kontor/device/noncopyable.hpp>

namespace kontor::comm {

/// What owns the memory of Views.
using Owners = std::vector<std::shared_ptr<const void>>;

/// An exchange by one method, with all that it repeats: staging memory, lists of pieces and plans.
///
/// On path `staged` the pack kernels write into pinned host memory and the unpack kernels read from it, a chunk of each
/// message at a time: while one is between hosts, the next is between device and host.
class ExchangeMethod : device::NonCopyable {
 public:
  enum class Step : std::uint8_t { none, under_way, failed };

  /// Collective over the communicator. The memory of the slots must outlive this: `views` own it. Throws on every rank.
  ExchangeMethod(const Communicator&, const Method&, const std::string& label, std::span<const Slot>, const Agreement&,
                 std::shared_ptr<const Executor>, Owners views = {});

  /// Collective. `times` may be null: then no phase is timed.
  void start(PhaseTimes* times);
  /// Collective.
  void finish(PhaseTimes* times);
  /// Local. Unpacks what has come, in the order of chunks; whether that was all.
  bool test(PhaseTimes* times);
  /// Local. As Plan::poll().
  void poll();

  /// Collective, with the messages of a step that was not finished. At once where the step has failed or this rank ends
  /// alone: what MPI may still use is leaked then. With windows at check level `cross_rank`, so it is where others do
  /// not come within the timeout.
  ~ExchangeMethod();

  const Options& options() const { return method_.options; }
  Packing packing() const { return packing_; }
  bool stream_ordered() const { return stream_ordered_; }
  Step step() const { return step_; }
  /// What this rank sends in a step.
  std::vector<SentMessage> sent() const;

 private:
  struct Chunk {
    std::unique_ptr<Executor::Pieces> packs;
    std::unique_ptr<Executor::Pieces> unpacks;
    std::vector<SentMessage> sent;
    std::unique_ptr<Plan> plan;
  };

  PlannedExchange make_plan(const Communicator&, const Schedule&);
  void pack(Chunk&, const Executor&);
  bool others_come() const;
  template <class Complete>
  bool finish_chunks(PhaseTimes*, const Complete&);

  Communicator comm_;
  Method method_;
  Owners views_;
  std::shared_ptr<const Executor> executor_;
  std::array<std::unique_ptr<Executor>, 2> lanes_; ///< where chunks are packed in turns
  std::shared_ptr<void> staging_;
  std::unique_ptr<Executor::Pieces> sums_; ///< of all chunks: they are added when the last one has come
  bool stream_ordered_;
  double timeout_;      ///< seconds that finish() waits at most; 0: any time
  std::string subject_; ///< "exchange 'halo'"
  Step step_ = Step::none;
  Packing packing_ = Packing::none;
  bool idle_ = true;          ///< this rank neither sends nor receives: it has nothing to wait for
  bool releases_ = false;     ///< receives lie in memory of the backend's own
  std::size_t finished_ = 0;  ///< chunks of the step under way that have been unpacked
  std::vector<Chunk> chunks_; // last: plans are gone before the memory they use
};

} // namespace kontor::comm
