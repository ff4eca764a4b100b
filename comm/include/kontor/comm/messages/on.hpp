// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/views/view_buffer.hpp>
#include <kontor/device/compat.hpp>

#include <type_traits>

namespace kontor::comm {
namespace detail {

/// A communicator and, perhaps, an instance.
template <class ExecutionSpace, bool on_device = !device::on_host<ExecutionSpace>>
struct CallOn {
  CallOn(const Communicator& on) : comm(on) {}
  CallOn(const Communicator& on, const ExecutionSpace& after) : comm(on), after(&after) {}
  /// Null: the default one.
  const ExecutionSpace* instance() const { return after; }

  const Communicator& comm;
  const ExecutionSpace* after = nullptr;
};

/// On the host there is nothing to be ordered, and nothing more to be passed.
template <class ExecutionSpace>
struct CallOn<ExecutionSpace, false> {
  CallOn(const Communicator& on) : comm(on) {}
  CallOn(const Communicator& on, const ExecutionSpace& /*after*/) : comm(on) {}
  const ExecutionSpace* instance() const { return nullptr; }

  const Communicator& comm;
};

/// Where the kernels run that can reach the Views: those of the first one in device memory, if there is one.
template <class... Views>
struct SpaceOf {
  using type = Kokkos::DefaultHostExecutionSpace;
};
template <class View, class... Views>
struct SpaceOf<View, Views...> : SpaceOf<Views...> {};
template <ViewType View, class... Views>
requires(sizeof...(Views) == 0 || memory_of<View>() == MemoryKind::device) struct SpaceOf<View, Views...> {
  using type = typename View::execution_space;
};

/// The instance of a call for one of its Views.
template <ViewType View, class Space>
const typename View::execution_space* instance_for(CallOn<Space> on) {
  if constexpr (std::is_same_v<Space, typename View::execution_space>)
    return on.instance();
  else
    return nullptr;
}

} // namespace detail

/// What messages and collectives are given first: a Communicator, or {communicator, instance}. This holds for all:
///
/// Views have rank 0 to 8 and any layout; elements travel in the order in which they lie. A contiguous View costs the
/// MPI call alone, a strided one travels through a copy. Blocking calls return when the result is valid; the others
/// give a Request, whose wait() returns the Views when they are. All throw MpiError if MPI reports an error.
///
/// Views in host memory are ordered on the host: fence what writes them. Views in device memory are ordered on the
/// instance, one of their execution space, by default the default one: the call comes after its work so far, and data
/// are valid for its later work. They go to MPI as they are, or through pinned memory: where MPI does not take device
/// memory, where the options say path `staged`, and in reductions and non-blocking collectives, which Open MPI has for
/// host memory alone. The host then waits for the instance before the call and for the copies after it. An operation of
/// the backend is queued on the instance, and the call does not wait.
template <class... Views>
using On = detail::CallOn<typename detail::SpaceOf<Views...>::type>;

} // namespace kontor::comm
