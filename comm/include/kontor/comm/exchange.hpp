// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/agreement_check.hpp>
#include <kontor/comm/carrier.hpp>
#include <kontor/comm/communicator.hpp>
#include <kontor/comm/handshake.hpp>
#include <kontor/comm/phase_times.hpp>
#include <kontor/comm/trial.hpp>
#include <kontor/comm/view_buffer.hpp>

#include <memory>
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
/// The exchange shares ownership of its Views, so they outlive the messages. One that is destroyed in the
/// middle of a step finishes its messages, together with all ranks; where an exception is passing it waits
/// for nobody: what receives is taken back where it can be, what is sent goes on, and the communicator keeps
/// Views and buffers until MPI is done with them. Host handle: not copyable; one that was moved from takes
/// part in nothing.
template <ViewType View>
class Exchange {
 public:
  using value_type = typename View::non_const_value_type; ///< of all Views that travel
  using execution_space = typename View::execution_space; ///< where pack kernels run
  using memory_space = typename View::memory_space;       ///< where the staging buffer lies
  static_assert(Transferable<value_type>,
                "kontor::comm: the elements of a View that travels between ranks must "
                "be trivially copyable (numbers, complex numbers, plain structs)");

  /// Local. `label` names the exchange in errors. Pack kernels run on `instance`.
  Exchange(const Communicator& comm, std::string label, const execution_space& instance = {})
      : comm_(comm.share()), label_(std::move(label)), instance_(instance),
        checks_order_(comm.options().check == CheckLevel::cross_rank) {}

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
  /// the destination, so all ranks declare their slots in the same order. The slot keeps these Views: what
  /// becomes of the variables later, by swap, resize or assignment, does not change what travels, and
  /// check_sends() and check_receives() find out. Memory that an unmanaged View refers to is the caller's to
  /// keep until the exchange is gone; after an exception in a step, until MPI has ended. Takes part in
  /// steps from the next commit() on.
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
  /// buffers, datatypes, requests, windows. May be called again after more add(). Where the communicator's
  /// options leave a choice to `auto`, tries the ways there are and keeps the fastest; Views that receive
  /// keep what they held. Throws AgreedError on every rank if two ends differ in scalar, rank or extents, or,
  /// from check level `local` on, if a cell is received twice or both received and sent; UsageError if the
  /// chosen packing or backend cannot carry a View; CallError if the exchange was moved from.
  void commit() {
    if (!comm_) throw CallError("commit() on an Exchange that was moved from");
    const Region region("comm/commit");
    check_order("commit");
    const auto agreement = handshake(comm_, label_, slots_);
    carrier_.reset();
    under_way_ = false;
    candidates_.clear();
    auto carriers =
        make_carriers<Carrier>(comm_, label_, slots_, agreement, memory_of<View>(), instance_, views_);
    keep_different(comm_, carriers);
    const auto seconds = try_carriers<value_type>(comm_, carriers, slots_, instance_);
    for (std::size_t i = 0; i < carriers.size(); ++i)
      candidates_.push_back({carriers[i]->options(), seconds[i]});
    carrier_ = std::move(carriers[choose(seconds)]);
    committed_slots_ = slots_.size();
  }

  /// Collective like commit(), in the same order as all other steps, which check level `cross_rank` verifies;
  /// ordered after all work on the instance: by one fence, or by the instance's own queue where the backend
  /// is stream-ordered (nccl, ipc). The Views that are sent may be read but not written before finish(),
  /// those that receive neither. Throws CallError before commit(), after another add(), in a step, and after
  /// a step that failed, until commit() has made the plan anew.
  void start() {
    auto& carrier = committed();
    if (under_way_ || slots_.size() != committed_slots_ || carrier.failed()) [[unlikely]]
      refuse_start();
    check_order("start");
    under_way_ = true;
    carrier.start(instance_, timed());
    if (timed_) ++times_.exchanges;
  }

  /// Collective like start(). On return received data are valid for the next kernel on the instance; host
  /// code that reads them fences first.
  void finish() {
    auto& carrier = committed();
    if (!under_way_) throw CallError("exchange '" + label_ + "': finish() without start()");
    check_order("finish");
    under_way_ = false;
    carrier.finish(instance_, timed());
  }

  /// Local; at check level `off` nothing. A plan keeps the Views that were added to it: where the variable
  /// has been swapped, resized or assigned since, the plan goes on with the former. Throws CallError, with
  /// labels and addresses, unless some slot sends cells of this View.
  template <ViewType V>
  void check_sends(const V& view) const {
    if (comm_.options().check != CheckLevel::off) check_use(label_, slots_, to_buffer(view), false);
  }
  /// The same unless some slot receives into cells of this View.
  template <ViewType V>
  void check_receives(const V& view) const {
    if (comm_.options().check != CheckLevel::off) check_use(label_, slots_, to_buffer(view), true);
  }

  /// Local. Throws Error if a step has gone wrong on the device since. A program that replays steps from a
  /// Recording of the instance, which takes a stream_ordered() exchange, is told by no other call.
  void poll() { committed().poll(); }

  /// How this rank's Views travel: `none` if all of them do as they lie, else by `kernel` or `datatype`.
  Packing packing() const { return carrier_ ? carrier_->packing() : Packing::none; }

  /// Whether start() and finish() only queue work on the instance, as `nccl` and `ipc` do; if not, start()
  /// waits for the instance and finish() for the messages.
  bool stream_ordered() const { return committed().stream_ordered(); }

  /// What commit() has chosen: the communicator's options with nothing left to `auto`.
  const Options& chosen() const { return committed().options(); }

  /// What commit() has tried, equal on all ranks; a single one has not been timed.
  const std::vector<Candidate>& candidates() const { return candidates_; }

  /// Local. Whether start() and finish() time their phases, which takes some tens of nanoseconds each; at
  /// first they do not.
  void measure_times(bool on = true) { timed_ = on; }
  /// Host seconds spent in each phase while they were measured, since the last reset.
  const PhaseTimes& times() const { return times_; }
  /// Sets times() to 0.
  void reset_times() { times_ = {}; }

  /// The slots as declared: who sends what to whom.
  const std::vector<Slot>& slots() const { return slots_; }

 private:
  using Carrier = comm::Carrier<value_type, execution_space, memory_space>;

  PhaseTimes* timed() { return timed_ ? &times_ : nullptr; }

  Carrier& committed() const {
    if (!carrier_) [[unlikely]]
      throw CallError(comm_ ? "exchange '" + label_ + "': commit() comes before start() and finish()"
                            : "start() or finish() on an Exchange that was moved from");
    return *carrier_;
  }

  [[noreturn]] void refuse_start() const {
    const char* const why = under_way_ ? "start() again before finish()"
                            : slots_.size() != committed_slots_
                                ? "add() after commit(): commit() again before start()"
                                : "start() after a step that failed: commit() makes the plan anew";
    throw CallError("exchange '" + label_ + "': " + why);
  }

  /// At check level `cross_rank`: all ranks do the same with the same exchange.
  void check_order(const char* call) const {
    if (checks_order_) [[unlikely]]
      check_agreement(comm_, {.operation = call, .fields = {"exchange '" + label_ + "'"}});
  }

  template <ViewType V>
  static void check_type() {
    static_assert(std::is_same_v<typename V::non_const_value_type, value_type>,
                  "kontor::comm: all Views of an exchange must have its scalar type");
    static_assert(std::is_same_v<typename V::memory_space, memory_space>,
                  "kontor::comm: all Views of an exchange must lie in its memory space");
  }

  Communicator comm_;
  std::string label_;
  execution_space instance_;
  bool checks_order_;
  std::vector<Slot> slots_;
  Owners views_;
  std::vector<Candidate> candidates_;
  PhaseTimes times_;
  bool timed_ = false;
  std::size_t committed_slots_ = 0; ///< more have been added since if it differs
  bool under_way_ = false;          ///< between start() and finish()
  Held<Carrier> carrier_;           // last: gone before the memory it uses
};

} // namespace kontor::comm
