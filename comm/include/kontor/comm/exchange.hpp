// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/exchange/exchange_base.hpp>
#include <kontor/comm/views/concepts.hpp>
#include <kontor/comm/views/executor.hpp>
#include <kontor/comm/views/rows.hpp>
#include <kontor/comm/views/view_buffer.hpp>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace kontor::comm {

/// A repeatable exchange of Views between ranks: declared once with add(), agreed on with commit(), then start() and
/// finish() each step. Free of deadlock for any pattern of peers: a rank may be its own peer, and one rank may be on
/// both sides.
///
/// `View` gives the memory space and the execution space; the Views that travel may have any scalar, rank (0 to 8) and
/// layout. Where a kernel packs, all Views from one rank to another travel in one message. Elements meet by logical
/// index: a LayoutLeft sender and a LayoutRight receiver end with equal elements. The exchange shares ownership of its
/// Views, so they outlive the messages. One that is destroyed in the middle of a step finishes its messages, together
/// with all ranks. Where an exception is passing, or the step has failed, it does not wait: its Views and buffers are
/// leaked, because MPI may still use them. From check level `local` on, a line on stderr says that one was destroyed in
/// a step. Host handle: not copyable; one that was moved from takes part in nothing.
template <ViewType View>
class Exchange : public ExchangeBase {
 public:
  using execution_space = typename View::execution_space; ///< where pack kernels run
  using memory_space = typename View::memory_space;       ///< of all Views that travel
  static_assert(detail::check_elements<View>());

  /// Whether a View of that type may be sent by this exchange; if not, the compiler says why.
  template <class V>
  static constexpr bool sends() {
    if constexpr (!detail::check_view<V>()) {
      return false;
    } else {
      constexpr bool same_space = std::is_same_v<typename V::memory_space, memory_space>;
      static_assert(same_space, "kontor::comm: all Views of an exchange must lie in its memory space");
      return same_space && detail::check_elements<V>();
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
  /// Whether a slot may have both.
  template <class S, class R>
  static constexpr bool has_slots() {
    if constexpr (!(sends<S>() && receives<R>())) {
      return false;
    } else {
      constexpr bool same = std::is_same_v<typename S::non_const_value_type, typename R::non_const_value_type>;
      static_assert(same,
                    "kontor::comm: both Views of a slot must have the same scalar type, because what a rank sends "
                    "in its slot k arrives in slot k; add_send() and add_receive() declare them one by one");
      return same;
    }
  }

  /// Local. Takes part in nothing until another is assigned to it.
  Exchange() noexcept = default;

  /// Local. `label` names the exchange in errors. Pack kernels run on `instance`.
  Exchange(const Communicator& comm, std::string label, const execution_space& instance = {})
      : ExchangeBase(comm, std::move(label), executor_of(instance), memory_of<View>()) {}

  /// Local; takes the next slot. Sends one View to `destination` and receives another from `source`; where a peer is
  /// no_rank that half does not take place. What a rank sends in its slot k arrives in slot k of the destination, so
  /// all ranks declare their slots in the same order; where each has neighbours of its own, add_send() and
  /// add_receive() ask for less. The slot keeps these Views, whatever becomes of the variables. Memory of an unmanaged
  /// View is the caller's to keep until the exchange is gone; after an exception in a step, until MPI has ended. Takes
  /// part in steps from the next commit() on.
  ///
  /// With ReceiveOp::add what arrives is added to `receive`, whose cells may be sent in the same step and be added to
  /// by several messages: partial sums at shared nodes. Sums are made in the order of ranks, this rank's value among
  /// them, so ranks that send their values to each other end with the same bits. Numbers and complex numbers of 32- or
  /// 64-bit parts; throws CallError for others.
  template <class SendView, class ReceiveView>
  requires(has_slots<SendView, ReceiveView>()) void add(const SendView& send, int destination,
                                                        const ReceiveView& receive, int source,
                                                        ReceiveOp op = ReceiveOp::replace) {
    add_slot(Matching::by_slot, rows_of(send), destination, rows_of(receive), source, op);
  }

  /// Local. The same with some rows of Views of rank 1 or 2, chosen along dimension 0: by index, in the order of a
  /// Kokkos::View of 32- or 64-bit integers on the host or the device; from one to before another, by a pair {begin,
  /// end}; or all, by Kokkos::ALL. Both ends have equally many: the k-th that is sent arrives in the k-th that
  /// receives, and either end may choose as it likes, or be strided. A row may be sent several times, and received
  /// once. What a list holds now is copied; what writes it on a device must be complete.
  template <class SendView, class SendRows, class ReceiveView, class ReceiveRows>
  requires(!std::is_integral_v<SendRows> && has_slots<SendView, ReceiveView>() &&
           detail::check_rows<SendView, SendRows>() &&
           detail::check_rows<ReceiveView, ReceiveRows>()) void add(const SendView& send, const SendRows& send_rows,
                                                                    int destination, const ReceiveView& receive,
                                                                    const ReceiveRows& receive_rows, int source,
                                                                    ReceiveOp op = ReceiveOp::replace) {
    add_slot(Matching::by_slot, rows_of(send, send_rows), destination, rows_of(receive, receive_rows), source, op);
  }

  /// Local. Sends a View to `destination`; nothing if that is no_rank. The first View that rank a sends to rank b by
  /// this call arrives in the first that b receives from a by add_receive(), the second in the second, and so on: two
  /// ranks agree on an order among themselves, whatever else each of them adds. Slots of add() are not counted.
  template <class SendView>
  requires(sends<SendView>()) void add_send(const SendView& send, int destination) {
    add_slot(Matching::by_pair, rows_of(send), destination, {}, no_rank, ReceiveOp::replace);
  }

  /// Local. The same with some rows of a View of rank 1 or 2, chosen as in add().
  template <class SendView, class SendRows>
  requires(!std::is_integral_v<SendRows> && sends<SendView>() &&
           detail::check_rows<SendView, SendRows>()) void add_send(const SendView& send, const SendRows& rows,
                                                                   int destination) {
    add_slot(Matching::by_pair, rows_of(send, rows), destination, {}, no_rank, ReceiveOp::replace);
  }

  /// Local. Receives a View from `source`; nothing if that is no_rank. Matched as add_send() says.
  template <class ReceiveView>
  requires(receives<ReceiveView>()) void add_receive(const ReceiveView& receive, int source,
                                                     ReceiveOp op = ReceiveOp::replace) {
    add_slot(Matching::by_pair, {}, no_rank, rows_of(receive), source, op);
  }

  /// Local. Receives into some rows of a View of rank 1 or 2, chosen as in add().
  template <class ReceiveView, class ReceiveRows>
  requires(!std::is_integral_v<ReceiveRows> && receives<ReceiveView>() &&
           detail::check_rows<ReceiveView, ReceiveRows>()) void add_receive(const ReceiveView& receive,
                                                                            const ReceiveRows& rows, int source,
                                                                            ReceiveOp op = ReceiveOp::replace) {
    add_slot(Matching::by_pair, {}, no_rank, rows_of(receive, rows), source, op);
  }
};

} // namespace kontor::comm
