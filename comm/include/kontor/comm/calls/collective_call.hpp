// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/checks/agreement_check.hpp>
#include <kontor/comm/checks/envelope.hpp>
#include <kontor/comm/communicator.hpp>
#include <kontor/comm/communicator/internals.hpp>
#include <kontor/comm/on.hpp>
#include <kontor/comm/request.hpp>
#include <kontor/comm/views/concepts.hpp>
#include <kontor/comm/views/view_buffer.hpp>
#include <kontor/device/streams.hpp>

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

/// How a collective operation goes from Views to MPI. Each operation is a struct of its parameters, such as
/// `Gather{root}`, whose operator() is compiled once and takes Operands; run() and start() are what the typed
/// functions have in common.
namespace kontor::comm::detail {

/// What a View without its type is.
using Describe = Buffer (*)(const void* view);
template <ViewType View>
Buffer describe_view(const void* view) {
  return to_buffer(*static_cast<const View*>(view));
}

/// A View in one piece and without its type. Its label and shape are asked for only where an error needs
/// them.
struct Operand {
  void* data = nullptr;
  std::int64_t count = 0;
  Scalar scalar{};
  const void* view = nullptr;
  Describe describe = nullptr;

  Buffer buffer() const { return describe(view); }
  bool in_place() const { return data == MPI_IN_PLACE; }
  /// What MPI takes for a rank's own part that is where it belongs already.
  Operand placed() const { return {MPI_IN_PLACE, count, scalar, view, describe}; }
  /// What MPI takes where a rank has nothing to give or to get.
  Operand absent() const { return {nullptr, 0, scalar, view, describe}; }
};

template <class View, class Kept>
Operand operand(const Lent<View, Kept>& lent) {
  using T = typename View::non_const_value_type;
  return {lent.data(), static_cast<std::int64_t>(lent.view().size()), scalar_of<T>(), &lent.view(),
          describe_view<View>};
}

/// An operation that does not block: one that MPI has begun, or one that is queued on a stream.
struct Posted {
  StreamCollectives* collectives = nullptr; ///< whoever queues it; null: MPI
  Stream stream = nullptr;
  MPI_Request request = MPI_REQUEST_NULL;
  std::shared_ptr<void> arrays{};        ///< of counts: MPI reads them until the operation is complete
  std::optional<AgreementCheck> check{}; ///< at check level `cross_rank`
  std::shared_ptr<void> keep{};          ///< then also the Views
};

/// Is complete when all ranks have been found to agree and the operation is.
std::shared_ptr<Checked> checked_collective(Posted);

/// A View of the caller's and what happens to it on this rank.
template <class View>
struct Used {
  const View& view;
  Use use;
};

template <class View>
Used<View> read(const View& view, bool here = true) {
  return {view, here ? Use::read : Use::nothing};
}
template <class View>
Used<View> written(const View& view, bool here = true) {
  return {view, here ? Use::written : Use::nothing};
}
template <class View>
Used<View> in_place(const View& view, Use use = Use::both) {
  return {view, use};
}

/// Check level `local`, as this rank sees it: elements that are written share no memory.
template <class View>
void check_written(const Communicator& comm, const char* operation, const Used<View>& used) {
  if constexpr (may_share_elements<View>)
    if ((used.use == Use::written || used.use == Use::both) && comm.options().check != CheckLevel::off &&
        overlaps_itself(shape_of(used.view))) [[unlikely]]
      refuse_shared_elements(operation, to_buffer(used.view));
}

/// Changed at the root, and only read on the other ranks.
template <class View>
Used<View> in_place_at(const Communicator& comm, int root, const View& view) {
  return in_place(view, comm.rank() == root ? Use::both : Use::read);
}

template <class... Views>
inline constexpr bool one_scalar = true;
template <class View, class... Views>
inline constexpr bool one_scalar<View, Views...> =
    (std::is_same_v<typename View::non_const_value_type, typename Views::non_const_value_type> && ...);

template <class... Views>
constexpr void check_one_scalar() {
  static_assert(one_scalar<Views...>,
                "kontor::comm: the Views of a collective operation must have the same scalar type");
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
           const Used<Views>&... used) {
  using Scalars = std::common_type_t<typename Views::non_const_value_type...>;
  const std::int64_t counts[] = {static_cast<std::int64_t>(used.view.size())...}; // the first one decides
  if (!backend || !collective.queues(*backend, scalar_of<Scalars>(), sizeof...(Views), counts[0]))
    return false;
  const Space instance = on.instance() ? *on.instance() : Space();
  Posted posted{backend, device::native_stream(instance)};
  [&](const Lent<Views, const Views&>&... lent) {
    collective(on.comm, operand(lent)..., &posted);
    (lent.deliver(), ...);
  }(Lent<Views, const Views&>(on.comm, Collective::name + 1, used.view, used.use, &instance,
                              Taker::stream)...);
  return true;
}

/// The blocking operation. `name` is that of the non-blocking one, an "i" longer.
template <class Collective, class Space, class... Views>
void run(CallOn<Space> on, const Collective& collective, const Used<Views>&... used) {
  check_one_scalar<Views...>();
  (check_written(on.comm, Collective::name + 1, used), ...);
  if constexpr (may_be_queued<Collective, Views...>)
    if (queue(on, detail::internals(on.comm).backend().stream_collectives(), collective, used...)) return;
  [&](const Lent<Views, const Views&>&... lent) {
    collective(on.comm, operand(lent)..., nullptr);
    (lent.deliver(), ...);
  }(Lent<Views, const Views&>(on.comm, Collective::name + 1, used.view, used.use, instance_for<Views>(on),
                              taker<Collective>(true))...);
}

/// The non-blocking operation, with what the Request has been lent.
template <class Collective, class... Views>
Request<Views...> begin(const Communicator& comm, const Collective& collective, Request<Views...> request) {
  Posted posted;
  RequestAccess::lenders(request).apply(
      [&](const auto&... lent) { collective(comm, operand(lent)..., &posted); });
  if (posted.check) posted.keep = RequestAccess::keep(request);
  const Envelope envelope{.operation = Collective::name};
  if (posted.check)
    RequestAccess::begun(request, checked_collective(std::move(posted)), envelope);
  else
    RequestAccess::begun(request, posted.request, envelope, std::move(posted.arrays));
  return request;
}

/// The non-blocking operation.
template <class Collective, class Space, class... Views>
Request<Views...> start(CallOn<Space> on, const Collective& collective, const Used<Views>&... used) {
  check_one_scalar<Views...>();
  (check_written(on.comm, Collective::name, used), ...);
  return begin(
      on.comm, collective,
      RequestAccess::make(on.comm, Lent<Views>(on.comm, Collective::name, used.view, used.use,
                                               instance_for<Views>(on), taker<Collective>(false))...));
}

} // namespace kontor::comm::detail
