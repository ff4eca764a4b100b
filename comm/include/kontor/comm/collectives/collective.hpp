// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/checks/envelope.hpp>
#include <kontor/comm/collectives/value.hpp>
#include <kontor/comm/communicator.hpp>
#include <kontor/comm/counts.hpp>
#include <kontor/comm/messages/on.hpp>
#include <kontor/comm/messages/operand.hpp>
#include <kontor/comm/reduce_op.hpp>
#include <kontor/comm/request.hpp>
#include <kontor/comm/views/datatype.hpp>
#include <kontor/device/streams.hpp>

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

/// How a collective operation goes from Views to MPI. A Collective says what is called, call() calls it with typed
/// Views, and Kind::perform is its body, compiled once.
namespace kontor::comm::detail {

/// Which ranks give something, and which get a result.
enum class Flow : std::uint8_t {
  among_all, ///< all give, all get
  to_root,   ///< all give, the root gets
  from_root, ///< the root gives, all get
  to_higher  ///< all give, all but rank 0 get
};

struct Call;
struct Collective;

/// What an operation is. The names are those in errors, and MPI's functions have them too: "MPI_Gather".
struct Kind {
  const char* blocking;
  const char* nonblocking;
  Flow flow;
  void (*perform)(const Call&);
  bool of_backends = false; ///< whether some backends have it by themselves

  bool rooted() const { return flow == Flow::to_root || flow == Flow::from_root; }

  static const Kind barrier, bcast, gather, gatherv, scatter, scatterv, allgather, allgatherv, alltoall, alltoallv,
      allreduce, reduce, scan, exscan;
};

/// An operation and its parameters: those that it has.
struct Collective {
  const Kind& kind;
  int root = 0;
  std::optional<Reducer> op{};
  const Counts* counts = nullptr;      ///< of the parts of the whole; of alltoallv those that are received
  const Counts* send_counts = nullptr; ///< of alltoallv
  const std::optional<std::string>* problem = nullptr; ///< that this rank's caller has found
};

/// A collective that has begun: by MPI, or queued on a stream.
struct Pending {
  StreamCollectives* collectives = nullptr; ///< whoever queues it; null: MPI
  Stream stream = nullptr;
  MPI_Request request = MPI_REQUEST_NULL;
};

/// A collective operation as MPI takes it on this rank.
struct Call {
  const Communicator& comm;
  const Collective& collective;
  Operand in;
  Operand out;
  Pending* pending = nullptr; ///< null: a blocking one

  bool rooted() const { return collective.kind.rooted(); }
  bool queued() const { return pending && pending->collectives; }
  /// Or queued, so that ranks can be compared before it begins.
  bool blocking() const { return !pending || queued(); }
  const char* name() const { return blocking() ? collective.kind.blocking : collective.kind.nonblocking; }
};

/// What this rank does with the operands of an operation: with `in` and `out`, or with one that is both.
std::array<Access, 2> accesses(const Communicator&, const Collective&, std::size_t operands);

/// One operand as both: MPI gets MPI_IN_PLACE for what is this rank's part of the other, and null for what the rank
/// does not have.
Call call_in_place(const Communicator&, const Collective&, const Operand& inout, Pending*);

/// Whether this rank gets a result at all.
inline bool gets_result(const Communicator& comm, const Collective& collective) {
  return collective.kind.flow != Flow::to_higher || comm.rank() != 0;
}

template <class... Held>
Call call_of(const Communicator& comm, const Collective& collective, const Operands<Held...>& operands,
             Pending* pending) {
  if constexpr (sizeof...(Held) == 1)
    return call_in_place(comm, collective, operands.operand(0), pending);
  else
    return {comm, collective, operands.operand(0), operands.operand(1), pending};
}

/// Check level `local`, as this rank sees it: elements that are written share no memory.
template <class View>
void check_written(const Communicator& comm, const char* operation, const View& view, Access access) {
  if constexpr (may_share_elements<View>)
    if (writes(access) && comm.options().check != CheckLevel::off && overlaps_itself(shape_of(view))) [[unlikely]]
      refuse_shared_elements(operation, to_buffer(view));
}

/// What this rank does with the Views, which have been checked.
template <class... Views>
std::array<Access, 2> check_views(const Communicator& comm, [[maybe_unused]] const char* operation,
                                  const Collective& collective, const Views&... views) {
  if constexpr (sizeof...(Views) == 2)
    static_assert(std::is_same_v<typename Views::non_const_value_type...>,
                  "kontor::comm: the Views of a collective operation must have the same scalar type");
  const auto access = accesses(comm, collective, sizeof...(Views));
  [[maybe_unused]] const Access* next = access.data();
  (check_written(comm, operation, views, *next++), ...);
  return access;
}

/// Who reads and writes Views in device memory. Open MPI's non-blocking collective operations take none, and its
/// reductions copy it to the host themselves, into memory that is not pinned.
inline AccessibleTo accessible_to(const Collective& collective, bool blocking) {
  return blocking && !collective.op ? AccessibleTo::mpi : AccessibleTo::host;
}

/// Whether a backend has it, for so many operands of so many elements.
bool has(const StreamCollectives&, const Collective&, Scalar, std::size_t operands, std::int64_t count);

/// The blocking operation by a backend that queues it on the instance. False: it has not got it.
template <class Space, class... Views>
bool queue(CallOn<Space> on, StreamCollectives* backend, const Collective& collective, const Views&... views) {
  using Scalars = std::common_type_t<typename Views::non_const_value_type...>;
  const auto& kind = collective.kind;
  const std::int64_t counts[] = {static_cast<std::int64_t>(views.size())...}; // the first one decides
  if (!backend || !has(*backend, collective, scalar_of<Scalars>(), sizeof...(Views), counts[0])) return false;
  const Space instance = on.instance() ? *on.instance() : Space();
  Pending pending{backend, device::native_stream(instance)};
  const auto access = check_views(on.comm, kind.blocking, collective, views...);
  const Operands<const Views&...> operands(CallOn<Space>(on.comm, instance), kind.blocking, AccessibleTo::stream,
                                           access.data(), views...);
  kind.perform(call_of(on.comm, collective, operands, &pending));
  operands.deliver();
  return true;
}

/// Those of the backend of the one-shot calls; null: it has none.
StreamCollectives* stream_collectives(const Communicator&);

/// The non-blocking operation on what the Request has.
template <class... Views>
Request<Views...> begin(const Communicator& comm, const Collective& collective, Request<Views...> request) {
  Pending pending;
  collective.kind.perform(call_of(comm, collective, RequestAccess::operands(request), &pending));
  RequestAccess::operation(request).begun(collective.kind.nonblocking, pending.request);
  return request;
}

/// The operation: blocking, or one that `begins` and gives a Request.
template <bool begins, class = void, class Space, class... Views>
requires(ViewType<Views>&&...) auto call(CallOn<Space> on, const Collective& collective, const Views&... views) {
  const auto& kind = collective.kind;
  if constexpr (!begins && sizeof...(Views) > 0 && ((memory_of<Views>() == MemoryKind::device) && ...))
    if (kind.of_backends && queue(on, stream_collectives(on.comm), collective, views...)) return;
  const char* const name = begins ? kind.nonblocking : kind.blocking;
  const auto access = check_views(on.comm, name, collective, views...);
  if constexpr (begins) {
    return begin(on.comm, collective,
                 RequestAccess::make<Views...>(on, name, accessible_to(collective, false), access.data(), views...));
  } else {
    const Operands<const Views&...> operands(on, name, accessible_to(collective, true), access.data(), views...);
    kind.perform(call_of(on.comm, collective, operands, nullptr));
    operands.deliver();
  }
}

/// The operation on a value, in place, as elements of type E. T{} where this rank gets no result.
template <bool begins, class E, class Space, PlainValue T>
auto call(CallOn<Space> on, const Collective& collective, T value) {
  const bool gets = gets_result(on.comm, collective);
  if constexpr (begins) {
    const Access access = Access::read_write;
    const auto held = hold_value(&value, sizeof(T), alignof(T));
    const HeldValue given{held, value_operand<E>(*static_cast<T*>(held.get())), gets};
    return begin(on.comm, collective,
                 RequestAccess::make<Value<T>>(on, collective.kind.nonblocking, AccessibleTo::host, &access, given));
  } else {
    collective.kind.perform(call_in_place(on.comm, collective, value_operand<E>(value), nullptr));
    return gets ? value : T{};
  }
}

} // namespace kontor::comm::detail

namespace kontor::comm {

/// What is input and output: a View, or a value, whose result the call gives.
template <class T>
concept InPlace = InPlaceView<T> || PlainValue<T>;

} // namespace kontor::comm
