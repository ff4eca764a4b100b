// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/handshake.hpp>
#include <kontor/comm/pack.hpp>
#include <kontor/comm/phase_times.hpp>
#include <kontor/comm/routing.hpp>
#include <kontor/comm/view_buffer.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kontor::comm {

/// A repeatable exchange of Views between ranks: declared once with add(), agreed on with commit(), then
/// start() and finish() each step. Free of deadlock for any pattern of peers: a rank may be its own peer,
/// and one rank may be on both sides.
///
/// `View` gives the value type and the space; the Views that travel may have any rank (0 to 8) and layout.
/// Elements meet by logical index: a LayoutLeft sender and a LayoutRight receiver end with equal elements.
/// The exchange shares ownership of its Views, so they outlive the messages. Host handle: not copyable.
template <ViewType View>
class Exchange {
 public:
  using value_type = typename View::non_const_value_type;
  using execution_space = typename View::execution_space;
  using memory_space = typename View::memory_space;
  static_assert(Transferable<value_type>,
                "kontor::comm: the elements of a View that travels between ranks must "
                "be trivially copyable (numbers, complex numbers, plain structs)");

  /// Local. `label` names the exchange in errors. Pack kernels run on `instance`.
  Exchange(const Communicator& comm, std::string label, const execution_space& instance = {})
      : comm_(comm.share()), label_(std::move(label)), instance_(instance) {}

  Exchange(Exchange&&) noexcept = default;
  /// Ends the plan that was there before the memory that it uses, which memberwise assignment would not.
  Exchange& operator=(Exchange&& other) noexcept {
    if (this == &other) return *this;
    std::destroy_at(this);
    return *std::construct_at(this, std::move(other));
  }
  ~Exchange() = default;

  /// Local; takes the next slot. Sends one View to `destination` and receives another from `source`; where
  /// a peer is no_rank that half does not take place. What a rank sends in its slot k arrives in slot k of
  /// the destination, so all ranks declare their slots in the same order.
  template <class SendView, class ReceiveView>
  void add(const SendView& send, int destination, const ReceiveView& receive, int source) {
    static_assert(ViewType<SendView> && ViewType<ReceiveView>,
                  "kontor::comm: what is sent and what receives must each be a Kokkos::View");
    check_type<SendView>();
    check_type<ReceiveView>();
    static_assert(!std::is_const_v<typename ReceiveView::value_type>,
                  "kontor::comm: a const View cannot receive");
    slots_.push_back({to_buffer(send), destination, to_buffer(receive), source});
    views_.push_back(std::make_shared<std::pair<SendView, ReceiveView>>(send, receive));
  }

  /// Collective over the communicator. Compares both ends of every message and makes all that repeats:
  /// buffers, datatypes, requests. May be called again after more add(). Throws AgreedError on every rank if
  /// two ends differ in scalar, rank or extents, and UsageError if the chosen packing or backend cannot carry
  /// a View as it lies.
  void commit() {
    const Region region("comm/commit");
    auto routing = route(comm_, label_, slots_);
    packing_ = routing.used;
    plan_ = nullptr;
    packs_ = {};
    unpacks_ = {};
    staging_ = Staging(Kokkos::view_alloc(std::string("comm/staging"), Kokkos::WithoutInitializing),
                       routing.staging_elements);
    point_into_staging(routing.schedule.sends, routing.packed_sends, packs_);
    point_into_staging(routing.schedule.receives, routing.packed_receives, unpacks_);
    packs_.commit();
    unpacks_.commit();
    std::optional<std::string> problem;
    try {
      plan_ = comm_.backend().plan(routing.schedule);
    } catch (const Error& error) {
      problem = error.what();
    }
    comm_.agree(problem);
  }

  /// Collective like commit(); ordered after all work on the instance, on which it makes one fence. The
  /// Views that are sent may be read but not written before finish(), those that receive neither.
  void start() {
    Stopwatch watch;
    {
      const Region region("comm/pack");
      packs_.template run<Packs::Direction::pack>(instance_);
      fence(instance_, "comm/packed");
    }
    watch.lap(times_.pack);
    const Region region("comm/post");
    plan().start();
    watch.lap(times_.post);
    ++times_.exchanges;
  }

  /// Collective like start(). On return received data are valid for the next kernel on the instance; host
  /// code that reads them fences first.
  void finish() {
    Stopwatch watch;
    {
      const Region region("comm/wait");
      plan().finish();
    }
    watch.lap(times_.wait);
    const Region region("comm/unpack");
    unpacks_.template run<Packs::Direction::unpack>(instance_);
    watch.lap(times_.unpack);
  }

  /// How this rank's Views travel: `none` if all of them do as they lie, else by `kernel` or `datatype`.
  Packing packing() const { return packing_; }

  /// Host seconds spent in each phase since the last reset.
  const PhaseTimes& times() const { return times_; }
  void reset_times() { times_ = {}; }

  /// The slots as declared: who sends what to whom.
  const std::vector<Slot>& slots() const { return slots_; }

 private:
  using Staging = Kokkos::View<value_type*, memory_space>;
  using Packs = PackList<value_type, execution_space>;

  Plan& plan() const {
    if (!plan_) throw UsageError("exchange '" + label_ + "': commit() comes before start() and finish()");
    return *plan_;
  }

  template <ViewType V>
  static void check_type() {
    static_assert(std::is_same_v<typename V::non_const_value_type, value_type>,
                  "kontor::comm: all Views of an exchange must have its scalar type");
    static_assert(std::is_same_v<typename V::memory_space, memory_space>,
                  "kontor::comm: all Views of an exchange must lie in its memory space");
  }

  /// Redirects the transfers that are packed to their part of the staging buffer.
  void point_into_staging(std::vector<Transfer>& transfers, const std::vector<PackedTransfer>& packed,
                          Packs& list) {
    for (const auto& [index, offset] : packed) {
      auto& transfer = transfers[index];
      auto* place = staging_.data() + offset;
      list.add(static_cast<value_type*>(transfer.buffer.data), place,
               loop_nest(transfer.buffer.shape, transfer.order));
      transfer.buffer.data = place;
      transfer.buffer.shape = packed_shape(transfer.buffer.shape, transfer.order);
    }
  }

  Communicator comm_;
  std::string label_;
  execution_space instance_;
  std::vector<Slot> slots_;
  std::vector<std::shared_ptr<void>> views_;
  Packing packing_ = Packing::none;
  Staging staging_;
  Packs packs_;
  Packs unpacks_;
  std::unique_ptr<Plan> plan_; // last: gone before the memory it uses
  PhaseTimes times_;
};

} // namespace kontor::comm
