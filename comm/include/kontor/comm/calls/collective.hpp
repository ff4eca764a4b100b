// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/calls/operand.hpp>
#include <kontor/comm/calls/value.hpp>
#include <kontor/comm/checks/agreement_check.hpp>
#include <kontor/comm/checks/envelope.hpp>
#include <kontor/comm/communicator.hpp>
#include <kontor/comm/communicator/internals.hpp>
#include <kontor/comm/on.hpp>
#include <kontor/comm/request.hpp>
#include <kontor/device/streams.hpp>

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

/// How a collective operation goes from Views to MPI. Each operation is a struct of its parameters, such as
/// `Gather{root}`, with its names and its flow; its operator() is compiled once and takes a Call. run() and
/// start() are what the typed functions have in common.
namespace kontor::comm::detail {

/// Which ranks give something, and which get a result.
enum class Flow : std::uint8_t {
  among_all, ///< all give, all get
  to_root,   ///< all give, the root gets
  from_root, ///< the root gives, all get
  to_higher  ///< all give, all but rank 0 get
};

/// What an operation is. The names are those in errors, and MPI's functions have them too: "MPI_Gather".
struct Traits {
  const char* blocking;
  const char* nonblocking;
  Flow flow;
  const char* of_mpi = ""; ///< what MPI's names have besides: "_block"
};

/// A collective that has begun: by MPI, or queued on a stream.
struct Pending {
  StreamCollectives* collectives = nullptr; ///< whoever queues it; null: MPI
  Stream stream = nullptr;
  MPI_Request request = MPI_REQUEST_NULL;
  std::shared_ptr<void> arrays{};        ///< of counts: MPI reads them until the operation is complete
  std::optional<AgreementCheck> check{}; ///< at check level `cross_rank`
  std::shared_ptr<void> keep{};          ///< then also the Views
};

/// Is complete when all ranks have been found to agree and the operation is.
std::shared_ptr<Checked> checked_collective(Pending);

/// A collective operation as MPI takes it on this rank.
struct Call {
  const Communicator& comm;
  const Traits& traits;
  Operand in;
  Operand out;
  Pending* pending = nullptr; ///< null: a blocking one

  bool queued() const { return pending && pending->collectives; }
};

/// Whether this is the root: of Flow::to_higher, rank 0.
template <class Collective>
bool at_root(const Communicator& comm, const Collective& collective) {
  if constexpr (requires { collective.root; })
    return comm.rank() == collective.root;
  else
    return comm.rank() == 0;
}

/// What this rank does with the operands of an operation: with `in` and `out`, or with one that is both.
template <std::size_t operands>
constexpr std::array<Access, operands> accesses(Flow flow, bool at_root) {
  const bool gives = flow != Flow::from_root || at_root;
  const bool gets = flow == Flow::to_root ? at_root : flow != Flow::to_higher || !at_root;
  if constexpr (operands == 2) {
    return {gives ? Access::read : Access::none, gets ? Access::write : Access::none};
  } else if constexpr (operands == 1) {
    const bool changes = gets && !(flow == Flow::from_root && at_root); // the root's part lies there already
    return {!gives ? Access::write : changes ? Access::read_write : Access::read};
  } else {
    return {};
  }
}

/// One operand as both: MPI gets MPI_IN_PLACE for what is this rank's part of the other, and null for what
/// the rank does not have.
inline Call call_in_place(const Communicator& comm, const Traits& traits, bool at_root, const Operand& inout,
                          Pending* pending) {
  const bool root_alone = traits.flow == Flow::to_root || traits.flow == Flow::from_root;
  const auto part = inout.at(root_alone && !at_root ? nullptr : MPI_IN_PLACE);
  const bool gives = traits.flow == Flow::from_root ? at_root : root_alone && !at_root;
  return gives ? Call{comm, traits, inout, part, pending} : Call{comm, traits, part, inout, pending};
}

template <class Collective, class... Held>
Call call_of(const Communicator& comm, const Collective& collective, const Operands<Held...>& operands,
             Pending* pending) {
  if constexpr (sizeof...(Held) == 1)
    return call_in_place(comm, Collective::traits, at_root(comm, collective), operands.operand(0), pending);
  else
    return {comm, Collective::traits, operands.operand(0), operands.operand(1), pending};
}

/// Check level `local`, as this rank sees it: elements that are written share no memory.
template <class View>
void check_written(const Communicator& comm, const char* operation, const View& view, Access access) {
  if constexpr (may_share_elements<View>)
    if (writes(access) && comm.options().check != CheckLevel::off && overlaps_itself(shape_of(view)))
        [[unlikely]]
      refuse_shared_elements(operation, to_buffer(view));
}

/// What this rank does with the Views, which have been checked.
template <class Collective, class... Views>
std::array<Access, sizeof...(Views)> check_views(const Communicator& comm,
                                                 [[maybe_unused]] const char* operation,
                                                 const Collective& collective, const Views&... views) {
  if constexpr (sizeof...(Views) == 2)
    static_assert(std::is_same_v<typename Views::non_const_value_type...>,
                  "kontor::comm: the Views of a collective operation must have the same scalar type");
  const auto access = accesses<sizeof...(Views)>(Collective::traits.flow, at_root(comm, collective));
  [[maybe_unused]] const Access* next = access.data();
  (check_written(comm, operation, views, *next++), ...);
  return access;
}

/// Who reads and writes Views in device memory. Open MPI's non-blocking collective operations take none, and
/// its reductions copy it to the host themselves, into memory that is not pinned.
template <class Collective>
constexpr Taker taker(bool blocking) {
  constexpr bool reduces = requires(const Collective& collective) {
    collective.op;
  };
  return blocking && !reduces ? Taker::mpi : Taker::host;
}

/// Whether a backend can do the operation by itself with these Views, as far as their types tell.
template <class Collective, class... Views>
inline constexpr bool
    may_be_queued = ((memory_of<Views>() == MemoryKind::device) && ...) && sizeof...(Views) > 0 &&
                    requires(const Collective& collective, const StreamCollectives& backend) {
  collective.queues(backend, Scalar{}, sizeof...(Views), std::int64_t{});
};

/// The blocking operation by a backend that queues it on the instance. False: it has not got it.
template <class Collective, class Space, class... Views>
bool queue(CallOn<Space> on, StreamCollectives* backend, const Collective& collective,
           const Views&... views) {
  using Scalars = std::common_type_t<typename Views::non_const_value_type...>;
  const std::int64_t counts[] = {static_cast<std::int64_t>(views.size())...}; // the first one decides
  if (!backend || !collective.queues(*backend, scalar_of<Scalars>(), sizeof...(Views), counts[0]))
    return false;
  const Space instance = on.instance() ? *on.instance() : Space();
  Pending pending{backend, device::native_stream(instance)};
  const auto access = check_views(on.comm, Collective::traits.blocking, collective, views...);
  const Operands<const Views&...> operands(CallOn<Space>(on.comm, instance), Collective::traits.blocking,
                                           Taker::stream, access.data(), views...);
  collective(call_of(on.comm, collective, operands, &pending));
  operands.deliver();
  return true;
}

/// The blocking operation.
template <class Collective, class Space, class... Views>
void run(CallOn<Space> on, const Collective& collective, const Views&... views) {
  if constexpr (may_be_queued<Collective, Views...>)
    if (queue(on, detail::internals(on.comm).backend().stream_collectives(), collective, views...)) return;
  const auto access = check_views(on.comm, Collective::traits.blocking, collective, views...);
  const Operands<const Views&...> operands(on, Collective::traits.blocking, taker<Collective>(true),
                                           access.data(), views...);
  collective(call_of(on.comm, collective, operands, nullptr));
  operands.deliver();
}

/// The blocking operation on a value, in place, as elements of type E.
template <class E, class T, class Collective>
T run_value(const Communicator& comm, const Collective& collective, T value) {
  collective(
      call_in_place(comm, Collective::traits, at_root(comm, collective), value_operand<E>(value), nullptr));
  return value;
}

/// The non-blocking operation on what the Request has.
template <class Collective, class... Views>
Request<Views...> begin(const Communicator& comm, const Collective& collective, Request<Views...> request) {
  Pending pending;
  collective(call_of(comm, collective, RequestAccess::operands(request), &pending));
  const Envelope envelope{.operation = Collective::traits.nonblocking};
  if (pending.check) {
    pending.keep = RequestAccess::keep(request);
    RequestAccess::begun(request, checked_collective(std::move(pending)), envelope);
  } else {
    RequestAccess::begun(request, pending.request, envelope, std::move(pending.arrays));
  }
  return request;
}

/// The non-blocking operation.
template <class Collective, class Space, class... Views>
Request<Views...> start(CallOn<Space> on, const Collective& collective, const Views&... views) {
  const auto access = check_views(on.comm, Collective::traits.nonblocking, collective, views...);
  return begin(on.comm, collective,
               RequestAccess::make<Views...>(on, Collective::traits.nonblocking, taker<Collective>(false),
                                             access.data(), views...));
}

/// The non-blocking operation on a value. Unless this rank `gets` something, wait() gives T{}.
template <class E, class T, class Collective>
Request<Value<T>> start_value(const Communicator& comm, const Collective& collective, const T& value,
                              bool gets = true) {
  const Access access = Access::read_write;
  return begin(comm, collective,
               RequestAccess::make<Value<T>>(On<>(comm), Collective::traits.nonblocking, Taker::host, &access,
                                             GivenValue<T>{value, value_operand<E, T>, gets}));
}

} // namespace kontor::comm::detail
