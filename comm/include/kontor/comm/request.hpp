// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/calls/operation.hpp>
#include <kontor/comm/checks/envelope.hpp>
#include <kontor/comm/views/concepts.hpp>
#include <kontor/comm/views/lowering.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace kontor::comm {
namespace detail {

/// What happens to a View in an operation; nothing where the peer is no_rank.
enum class Use { nothing, read, written, both };

/// A View that an operation uses, and its elements in one piece. Reading begins here: a strided View that is
/// read is packed when this is made. An operation that goes on by itself keeps the View, one that blocks only
/// refers to it (`Kept` is const View&), because to copy a View takes longer than all else here.
template <class View, class Kept = View>
class Lent {
 public:
  using value_type = typename View::non_const_value_type;
  using Back = View; ///< what wait() gives

  Lent(const Communicator& comm, const char* operation, const View& view, Use use,
       const typename View::execution_space* instance, Taker taker)
      : view_(view),
        memory_(detail::internals(comm).lowering(), operation, view, instance, taker, use != Use::nothing),
        use_(use) {
    if (use_ == Use::read || use_ == Use::both)
      memory_.pack();
    else
      memory_.prepare();
  }
  const View& view() const { return view_; }
  Buffer buffer() const { return to_buffer(view_); }
  View give_back() { return std::move(view_); }
  void* data() const { return memory_.data(); }
  const Lowered<View>& memory() const { return memory_; }
  mpi::Payload payload() const { return memory_.payload(); }

  void deliver() const {
    if constexpr (!std::is_const_v<typename View::value_type>) {
      if (use_ == Use::written || use_ == Use::both) memory_.unpack();
    }
  }

 private:
  Kept view_;
  Lowered<View> memory_;
  Use use_;
};

/// What an operation has been lent: up to two Views or values. Of its own, because std::tuple and
/// std::optional take longer to compile than all else of a call.
template <class... Views>
struct Lenders;

template <>
struct Lenders<> {
  using Result = std::tuple<>;
  Result give_back() { return {}; }
  void deliver() const {}
  Buffer buffer(std::size_t) const { return {}; }
  template <class Function>
  void apply(const Function& function) const {
    function();
  }
};

template <class View>
struct Lenders<View> {
  using Result = typename Lent<View>::Back;
  Lent<View> first;

  Result give_back() { return first.give_back(); }
  void deliver() const { first.deliver(); }
  Buffer buffer(std::size_t) const { return first.buffer(); }
  template <class Function>
  void apply(const Function& function) const {
    function(first);
  }
};

template <class First, class Second>
struct Lenders<First, Second> {
  using Result = std::pair<typename Lent<First>::Back, typename Lent<Second>::Back>;
  Lent<First> first;
  Lent<Second> second;

  Result give_back() { return {first.give_back(), second.give_back()}; }
  void deliver() const {
    first.deliver();
    second.deliver();
  }
  Buffer buffer(std::size_t view) const { return view == 0 ? first.buffer() : second.buffer(); }
  template <class Function>
  void apply(const Function& function) const {
    function(first, second);
  }
};

/// Something that is kept until nobody needs it.
struct Kept {
  virtual ~Kept() = default;
};

struct RequestAccess;

} // namespace detail

/// An operation that has been begun and goes on by itself. Shares ownership of its Views, so they outlive it:
/// those that are sent may be read but not written before it is complete, those that receive neither.
/// Movable; what was moved from is empty, and so is one whose Views have been given back.
/// The memory of an unmanaged View is the caller's to keep until the operation is complete; if the Request is
/// dropped, until the communicator ends.
///
/// One that is dropped unfinished: a receive is cancelled, or completes if its message is there already, and
/// its View's contents mean nothing; anything else goes on, and the communicator keeps the Views until MPI
/// is done with them. From check level `local` on, a line on stderr says so.
template <class... Views>
class [[nodiscard("kontor::comm: a Request that is dropped is never waited for")]] Request final
    : public detail::Operation {
 public:
  /// What wait() gives back: the View, or a pair of them; of a Value, the result.
  using Result = typename detail::Lenders<Views...>::Result;

  /// An empty one.
  Request() {}
  /// The one moved from is empty.
  Request(Request && other) noexcept
      : Operation(static_cast<Operation&&>(other)), holds_(other.holds_) { // the Views are still there
    if (!holds_) return;
    std::construct_at(&lent_, std::move(other.lent_));
    other.forget();
  }
  /// The one that was here is dropped; the one moved from is empty.
  Request& operator=(Request&& other) noexcept {
    if (this == &other) return *this;
    std::destroy_at(this);
    return *std::construct_at(this, std::move(other));
  }
  ~Request() {
    if (active()) drop(keep());
    forget();
  }

  /// Waits until the operation is complete and gives the Views back: data that were received are valid, on
  /// the host or, in device memory, for every instance. The Request is empty then. MPI_Wait, where it is not
  /// `finished` already. Throws CallError if it is empty, and Error if MPI reports one.
  Result wait() {
    complete();
    return give_back();
  }

  /// Local. Like wait() if the operation is complete; else nothing, and it goes on. MPI_Test.
  std::optional<Result> test() {
    if (!completes()) return std::nullopt;
    return give_back();
  }

 private:
  friend struct detail::RequestAccess;
  using Lenders = detail::Lenders<Views...>;

  explicit Request(const Communicator& comm, detail::Lent<Views>... lent)
      : Operation(comm), lent_{std::move(lent)...}, holds_(true) {}

  std::shared_ptr<void> keep() const {
    struct Copy final : detail::Kept {
      explicit Copy(const Lenders& of) : lent(of) {}
      Lenders lent;
    };
    return std::shared_ptr<detail::Kept>(static_cast<detail::Kept*>(new Copy(lent_)));
  }

  Result give_back() {
    clear();
    Result result = lent_.give_back();
    forget();
    return result;
  }
  void forget() {
    if (std::exchange(holds_, false)) std::destroy_at(&lent_);
  }

  void deliver() override {
    lent_.deliver();
  }
  Buffer buffer(std::size_t view) const override {
    return lent_.buffer(view);
  }

  union {
    Lenders lent_; // if it holds some
  };
  bool holds_ = false;
};

namespace detail {

/// What the calls that begin operations see of a Request, and its users do not.
struct RequestAccess {
  /// For an operation with these Views, which is begun next.
  template <class... Views>
  static Request<Views...> make(const Communicator& comm, Lent<Views>... lent) {
    return Request<Views...>(comm, std::move(lent)...);
  }

  /// The Views, as they were lent.
  template <class... Views>
  static const Lenders<Views...>& lenders(const Request<Views...>& request) {
    return request.lent_;
  }
  template <std::size_t i, class... Views>
  static const auto& lent(const Request<Views...>& request) {
    if constexpr (i == 0)
      return request.lent_.first;
    else
      return request.lent_.second;
  }
  /// Shares ownership of the Views.
  template <class... Views>
  static std::shared_ptr<void> keep(const Request<Views...>& request) {
    return request.keep();
  }

  /// Begins a message with the i-th View.
  template <std::size_t i, class... Views>
  static void begin_send(Request<Views...>& request, const Envelope& envelope) {
    const auto& view = lent<i>(request);
    request.begin_send(envelope, view.data(), view.payload(), i);
  }
  /// Begins the receive of a message into the i-th View.
  template <std::size_t i, class... Views>
  static void begin_receive(Request<Views...>& request, const Envelope& envelope) {
    const auto& view = lent<i>(request);
    request.begin_receive(envelope, view.data(), view.payload(), i);
  }
  /// Another call of MPI's, or its check, has begun an operation of which errors name the first View.
  template <class... Views, class Begun, class... Arrays>
  static void begun(Request<Views...>& request, Begun begun, const Envelope& envelope, Arrays... arrays) {
    request.begun(std::move(begun), envelope, 0, std::move(arrays)...);
  }
};

} // namespace detail
} // namespace kontor::comm
