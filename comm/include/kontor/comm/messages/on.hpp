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

/// What a call is given first: a Communicator, or {communicator, instance}. The instance is one of the execution space
/// of the Views in device memory: the call comes after what it has been given before, and data are valid for what it is
/// given after the call. Without one that is the default instance. Views in host memory are ordered on the host,
/// whatever the instance.
///
/// Views in device memory go to MPI as they are, or through pinned memory of the communicator: where MPI does not take
/// device memory, where the options say path `staged`, and in reductions and non-blocking collectives, which Open MPI
/// has for host memory alone. The host then waits for the instance before the call and for the copies after it. Where
/// the backend has the operation by itself, it is queued on the instance, and the call does not wait.
template <class... Views>
using On = detail::CallOn<typename detail::SpaceOf<Views...>::type>;

} // namespace kontor::comm
