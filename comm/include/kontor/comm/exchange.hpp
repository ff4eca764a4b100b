// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/checks/agreement_check.hpp>
#include <kontor/comm/communicator.hpp>
#include <kontor/comm/exchange/exchange_method.hpp>
#include <kontor/comm/exchange/handshake.hpp>
#include <kontor/comm/exchange/trial.hpp>
#include <kontor/comm/phase_times.hpp>
#include <kontor/comm/views/concepts.hpp>
#include <kontor/comm/views/rows.hpp>
#include <kontor/comm/views/view_buffer.hpp>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
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
  static_assert(detail::check_elements<View>());

  /// Whether a View of that type may be sent by this exchange; if not, the compiler says why.
  template <class V>
  static constexpr bool sends() {
    if constexpr (!detail::check_view<V>()) {
      return false;
    } else {
      constexpr bool same_scalar = std::is_same_v<typename V::non_const_value_type, value_type>;
      static_assert(same_scalar, "kontor::comm: all Views of an exchange must have its scalar type");
      constexpr bool same_space = std::is_same_v<typename V::memory_space, memory_space>;
      static_assert(same_space, "kontor::comm: all Views of an exchange must lie in its memory space");
      return same_scalar && same_space && detail::check_elements<V>();
    }
  }
  /// Whether one may receive.
  template <class V>
  static constexpr bool receives() {
    if constexpr (!sends<V>())
      return false;
    else
      return detail::check_not_const<V>();
  }

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
  /// the destination, so all ranks declare their slots in the same order; where each has neighbours of its
  /// own, add_send() and add_receive() ask for less. The slot keeps these Views: what becomes of the
  /// variables later, by swap, resize or assignment, does not change what travels. Memory that an unmanaged
  /// View refers to is the caller's to keep until the exchange is gone; after an exception in a step, until
  /// MPI has ended. Takes part in steps from the next commit() on.
  template <class SendView, class ReceiveView>
  requires(sends<SendView>() && receives<ReceiveView>()) void add(const SendView& send, int destination,
                                                                  const ReceiveView& receive, int source) {
    add_slot(Matching::by_slot, rows_of(send), destination, rows_of(receive), source, send, receive);
  }

  /// Local. The same with some rows of Views of rank 1 or 2, chosen along dimension 0: by index, in the order
  /// of a Kokkos::View of 32- or 64-bit integers on the host or the device; from one to before another, by a
  /// pair {begin, end}; or all, by Kokkos::ALL. Both ends have equally many: the k-th that is sent arrives in
  /// the k-th that receives, and either end may choose as it likes, or be strided. A row may be sent several
  /// times, and received once. What a list holds now is copied; what writes it on a device must be complete.
  template <class SendView, class SendRows, class ReceiveView, class ReceiveRows>
  requires(sends<SendView>() && receives<ReceiveView>() && detail::check_rows<SendView, SendRows>() &&
           detail::check_rows<ReceiveView, ReceiveRows>()) void add(const SendView& send,
                                                                    const SendRows& send_rows,
                                                                    int destination,
                                                                    const ReceiveView& receive,
                                                                    const ReceiveRows& receive_rows,
                                                                    int source) {
    add_slot(Matching::by_slot, rows_of(send, send_rows), destination, rows_of(receive, receive_rows), source,
             send, receive);
  }

  /// Local. Sends a View to `destination`; nothing if that is no_rank. The first View that rank a sends to
  /// rank b by this call arrives in the first that b receives from a by add_receive(), the second in the
  /// second, and so on: two ranks agree on an order among themselves, whatever else each of them adds. Slots
  /// of add() are not counted.
  template <class SendView>
  requires(sends<SendView>()) void add_send(const SendView& send, int destination) {
    add_slot(Matching::by_pair, rows_of(send), destination, {}, no_rank, send);
  }

  /// Local. The same with some rows of a View of rank 1 or 2, chosen as in add().
  template <class SendView, class SendRows>
  requires(sends<SendView>() && detail::check_rows<SendView, SendRows>()) void add_send(const SendView& send,
                                                                                        const SendRows& rows,
                                                                                        int destination) {
    add_slot(Matching::by_pair, rows_of(send, rows), destination, {}, no_rank, send);
  }

  /// Local. Receives a View from `source`; nothing if that is no_rank. Matched as add_send() says.
  template <class ReceiveView>
  requires(receives<ReceiveView>()) void add_receive(const ReceiveView& receive, int source) {
    add_slot(Matching::by_pair, {}, no_rank, rows_of(receive), source, receive);
  }

  /// Local. Receives into some rows of a View of rank 1 or 2, chosen as in add().
  template <class ReceiveView, class ReceiveRows>
  requires(receives<ReceiveView>() && detail::check_rows<ReceiveView, ReceiveRows>()) void add_receive(
      const ReceiveView& receive, const ReceiveRows& rows, int source) {
    add_slot(Matching::by_pair, {}, no_rank, rows_of(receive, rows), source, receive);
  }

  /// Collective over the communicator. Compares both ends of every message and makes all that repeats:
  /// buffers, datatypes, requests, windows. May be called again after more add(). Where the communicator's
  /// options leave a choice to `auto`, tries the methods there are and keeps the fastest; Views that receive
  /// keep what they held. Throws AgreedError on every rank if two ends differ in scalar, rank or extents, if
  /// one of them is missing, if rows lie beyond the View's, or, from check level `local` on, if an index
  /// does, if a cell is received twice or both received and sent; UsageError if the chosen packing or backend
  /// cannot carry a View; CallError if the exchange was moved from.
  void commit() {
    if (!comm_) throw CallError("commit() on an Exchange that was moved from");
    const device::Region region("comm/commit");
    check_order("commit");
    const auto agreement = handshake(comm_, label_, slots_);
    exchange_method_.reset();
    under_way_ = false;
    ending_.reset();
    timed_methods_.clear();
    auto exchange_methods = make_exchange_methods<ExchangeMethod>(comm_, label_, slots_, agreement,
                                                                  memory_of<View>(), instance_, views_);
    keep_different(comm_, exchange_methods);
    const auto seconds = time_methods<value_type>(comm_, exchange_methods, slots_, instance_);
    for (std::size_t i = 0; i < exchange_methods.size(); ++i)
      timed_methods_.push_back({exchange_methods[i]->options(), seconds[i]});
    exchange_method_ = std::move(exchange_methods[choose(seconds)]);
    committed_slots_ = slots_.size();
  }

  /// Collective like commit(), in the same order as all other steps, which check level `cross_rank` verifies;
  /// ordered after all work on the instance: by one fence, or by the instance's own stream where the backend
  /// is stream-ordered (nccl, ipc). The Views that are sent may be read but not written before finish(),
  /// those that receive neither. Throws CallError before commit(), after another add(), in a step, and after
  /// a step that failed, until commit() has made the plan anew.
  void start() {
    auto& exchange_method = committed();
    if (under_way_ || slots_.size() != committed_slots_ || exchange_method.failed()) [[unlikely]]
      refuse_start();
    check_order("start");
    under_way_ = true;
    exchange_method.start(instance_, timed());
    if (timed_) ++times_.exchanges;
  }

  /// Collective like start(). On return received data are valid for the next kernel on the instance; host
  /// code that reads them fences first.
  void finish() {
    auto& exchange_method = committed();
    if (!under_way_) throw CallError("exchange '" + label_ + "': finish() without start()");
    if (ending_)
      ending_->finish();
    else
      check_order("finish");
    ending_.reset();
    under_way_ = false;
    exchange_method.finish(instance_, timed());
  }

  /// Local. True if it has ended the step, as finish() does; else the step goes on. Does not wait, except
  /// where nothing else tells: with pattern `blocking`, whose messages travel in finish(), and with `rma`
  /// until the ranks that it sends to have started. Where the backend is stream-ordered it is true at once.
  /// At check level `cross_rank` the first test() of a step is compared with the finish() or test() of other
  /// ranks; where a message never comes, finish() alone has a timeout.
  bool test() {
    auto& exchange_method = committed();
    if (!under_way_) throw CallError("exchange '" + label_ + "': test() without start()");
    if (!ending_ && checks_order_) ending_.emplace(comm_, call("finish"));
    if (ending_ && !ending_->test()) return false;
    if (!exchange_method.test(instance_, timed())) return false;
    ending_.reset();
    under_way_ = false;
    return true;
  }

  /// Local. Throws Error if a step has gone wrong on the device since. A program that replays steps from a
  /// CapturedGraph of the instance, which takes a stream_ordered() exchange, is told by no other call.
  void poll() { committed().poll(); }

  /// How this rank's Views travel: `none` if all of them do as they lie, else by `kernel` or `datatype`.
  Packing packing() const { return exchange_method_ ? exchange_method_->packing() : Packing::none; }

  /// Whether start() and finish() only queue work on the instance, as `nccl` and `ipc` do; if not, start()
  /// waits for the instance and finish() for the messages.
  bool stream_ordered() const { return committed().stream_ordered(); }

  /// What commit() has chosen: the communicator's options with nothing left to `auto`.
  const Options& chosen() const { return committed().options(); }

  /// What commit() has tried, equal on all ranks; a single one has not been timed.
  const std::vector<TimedMethod>& timed_methods() const { return timed_methods_; }

  /// Local. Whether start() and finish() time their phases, which takes some tens of nanoseconds each; at
  /// first they do not.
  void measure_times(bool on = true) { timed_ = on; }
  /// Host seconds spent in each phase while they were measured, since the last reset.
  const PhaseTimes& times() const { return times_; }
  /// Sets times() to 0.
  void reset_times() { times_ = {}; }

  /// What has been added: who sends what to whom.
  const std::vector<Slot>& slots() const { return slots_; }

 private:
  /// Keeps what the rows lie in.
  template <class... Views>
  void add_slot(Matching matching, SelectedRows send, int destination, SelectedRows receive, int source,
                const Views&... views) {
    slots_.push_back({std::move(send.buffer), destination, std::move(receive.buffer), source, matching});
    auto kept = std::tuple(std::move(send.indices), std::move(receive.indices), views...);
    views_.push_back(std::make_shared<decltype(kept)>(std::move(kept)));
  }

  using ExchangeMethod = comm::ExchangeMethod<value_type, execution_space, memory_space>;

  PhaseTimes* timed() { return timed_ ? &times_ : nullptr; }

  ExchangeMethod& committed() const {
    if (!exchange_method_) [[unlikely]]
      throw CallError(comm_ ? "exchange '" + label_ + "': commit() comes before start() and finish()"
                            : "start() or finish() on an Exchange that was moved from");
    return *exchange_method_;
  }

  [[noreturn]] void refuse_start() const {
    const char* const why = under_way_ ? "start() again before finish()"
                            : slots_.size() != committed_slots_
                                ? "add() after commit(): commit() again before start()"
                                : "start() after a step that failed: commit() makes the plan anew";
    throw CallError("exchange '" + label_ + "': " + why);
  }

  /// At check level `cross_rank`: all ranks do the same with the same exchange.
  void check_order(const char* step) const {
    if (checks_order_) [[unlikely]]
      check_agreement(comm_, call(step));
  }
  CollectiveCall call(const char* step) const {
    return {.operation = step, .fields = {"exchange '" + label_ + "'"}};
  }

  Communicator comm_;
  std::string label_;
  execution_space instance_;
  bool checks_order_;
  std::vector<Slot> slots_;
  Owners views_;
  std::vector<TimedMethod> timed_methods_;
  PhaseTimes times_;
  bool timed_ = false;
  std::size_t committed_slots_ = 0;      ///< more have been added since if it differs
  bool under_way_ = false;               ///< between start() and finish()
  std::optional<AgreementCheck> ending_; ///< begun by the first test() of a step
  Held<ExchangeMethod> exchange_method_; // last: gone before the memory it uses
};

} // namespace kontor::comm
