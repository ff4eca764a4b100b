// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/device/clock.hpp>
#include <kontor/device/compat.hpp>
#include <kontor/device/gpu.hpp>

#include <cstdint>
#include <functional>
#include <memory>

/// Streams, events and captured graphs, for which Kokkos 3.4 has no names.
namespace kontor::device {

/// The order in which a device takes up the work of several instances.
enum class Priority : std::uint8_t { usual, high };

/// An instance of its own, whose work goes on beside that of others, for as long as it lives. Where Kontor cannot make
/// one, such as on the host, it is the default instance.
template <class ExecutionSpace>
class OwnedStream {
 public:
  /// Local.
  explicit OwnedStream(Priority = Priority::usual) {}
  /// The instance.
  const ExecutionSpace& get() const { return instance_; }

 private:
  ExecutionSpace instance_;
};

/// A point in the work of one instance that others can wait for, on a GPU without the host.
template <class ExecutionSpace>
class Event {
 public:
  /// Local. The point is after all work that the instance has been given so far.
  void record(const ExecutionSpace& instance) { fence(instance, "comm/event"); }
  /// Local. What the instance is given from now on begins after the point last recorded, if there is one.
  void wait_for(const ExecutionSpace&) const {}
  /// Local. Waits on the host until the point last recorded, if there is one, has been reached.
  void wait() const {}
};

/// Work that is given to an instance again and again, on a GPU by one launch (a graph). Events order other instances
/// into it: one that holds for an event of `instance` belongs to the captured graph from there on, and `instance` must
/// hold for an event of it in the end.
template <class ExecutionSpace>
class CapturedGraph {
 public:
  /// Local. Calls work(), here in each replay, on a GPU once and without anything being done. It may give work to
  /// instances and do nothing else: memory is not allocated, no instance waited for on the host.
  template <class Work>
  CapturedGraph(const ExecutionSpace& /*instance*/, const Work& work) : work_(work) {}
  /// Local. All that was recorded comes after what the instance has been given before.
  void replay(const ExecutionSpace& /*instance*/) const { work_(); }

 private:
  std::function<void()> work_;
};

/// The native stream of an instance; null where it has none.
template <class ExecutionSpace>
void* native_stream(const ExecutionSpace&) {
  return nullptr;
}

#if defined(KONTOR_GPU)

template <>
inline void* native_stream<GpuSpace>(const GpuSpace& instance) {
#if defined(KOKKOS_ENABLE_CUDA)
  return instance.cuda_stream();
#else
  return instance.hip_stream();
#endif
}

namespace detail {
inline KONTOR_GPU(Stream_t) gpu_stream(const GpuSpace& instance) {
  return static_cast<KONTOR_GPU(Stream_t)>(native_stream(instance));
}
} // namespace detail

template <>
class OwnedStream<GpuSpace> {
 public:
  explicit OwnedStream(Priority priority = Priority::usual)
      : stream_(make_stream(priority), destroy_stream), instance_(static_cast<KONTOR_GPU(Stream_t)>(stream_.get())) {}
  const GpuSpace& get() const { return instance_; }

 private:
  static void* make_stream(Priority priority) {
    int usual = 0;
    int high = 0;
    detail::check_gpu(KONTOR_GPU(DeviceGetStreamPriorityRange)(&usual, &high), "GetStreamPriorityRange");
    KONTOR_GPU(Stream_t) stream = nullptr;
    detail::check_gpu(KONTOR_GPU(StreamCreateWithPriority)(&stream, KONTOR_GPU(StreamNonBlocking),
                                                           priority == Priority::high ? high : usual),
                      "StreamCreateWithPriority");
    return stream;
  }
  static void destroy_stream(void* stream) {
    static_cast<void>(KONTOR_GPU(StreamDestroy)(static_cast<KONTOR_GPU(Stream_t)>(stream)));
  }

  std::shared_ptr<void> stream_; // first: gone after the instance that uses it
  GpuSpace instance_;
};

namespace detail {

/// An event of the device, made when first recorded.
template <unsigned flags>
class GpuEvent {
 public:
  void record(const GpuSpace& instance) {
    if (!event_) event_ = {make(), destroy};
    check_gpu(KONTOR_GPU(EventRecord)(get(), gpu_stream(instance)), "EventRecord");
  }
  bool recorded() const { return event_ != nullptr; }
  KONTOR_GPU(Event_t) get() const { return static_cast<KONTOR_GPU(Event_t)>(event_.get()); }

 private:
  static void* make() {
    KONTOR_GPU(Event_t) event = nullptr;
    check_gpu(KONTOR_GPU(EventCreateWithFlags)(&event, flags), "EventCreate");
    return event;
  }
  static void destroy(void* event) {
    static_cast<void>(KONTOR_GPU(EventDestroy)(static_cast<KONTOR_GPU(Event_t)>(event)));
  }

  std::shared_ptr<void> event_;
};

} // namespace detail

template <>
class Event<GpuSpace> {
 public:
  void record(const GpuSpace& instance) { event_.record(instance); }
  void wait_for(const GpuSpace& instance) const {
    if (event_.recorded())
      detail::check_gpu(KONTOR_GPU(StreamWaitEvent)(detail::gpu_stream(instance), event_.get(), 0), "StreamWaitEvent");
  }
  void wait() const {
    if (event_.recorded()) detail::check_gpu(KONTOR_GPU(EventSynchronize)(event_.get()), "EventSynchronize");
  }

 private:
  detail::GpuEvent<KONTOR_GPU(EventDisableTiming)> event_;
};

template <>
class CapturedGraph<GpuSpace> {
 public:
  template <class Work>
  CapturedGraph(const GpuSpace& instance, const Work& work) {
    const auto stream = detail::gpu_stream(instance);
    detail::check_gpu(KONTOR_GPU(StreamBeginCapture)(stream, KONTOR_GPU(StreamCaptureModeRelaxed)),
                      "StreamBeginCapture");
    try {
      work();
    } catch (...) {
      KONTOR_GPU(Graph_t) half = nullptr;
      static_cast<void>(KONTOR_GPU(StreamEndCapture)(stream, &half));
      if (half) static_cast<void>(KONTOR_GPU(GraphDestroy)(half));
      static_cast<void>(KONTOR_GPU(GetLastError)()); // or the next launch of a kernel would be blamed
      throw;
    }
    KONTOR_GPU(Graph_t) graph = nullptr;
    detail::check_gpu(KONTOR_GPU(StreamEndCapture)(stream, &graph), "StreamEndCapture");
    KONTOR_GPU(GraphExec_t) made = nullptr;
    const auto code = KONTOR_GPU(GraphInstantiateWithFlags)(&made, graph, 0);
    static_cast<void>(KONTOR_GPU(GraphDestroy)(graph));
    detail::check_gpu(code, "GraphInstantiate");
    graph_ = {made, destroy};
  }
  void replay(const GpuSpace& instance) const {
    detail::check_gpu(
        KONTOR_GPU(GraphLaunch)(static_cast<KONTOR_GPU(GraphExec_t)>(graph_.get()), detail::gpu_stream(instance)),
        "GraphLaunch");
  }

 private:
  static void destroy(void* graph) {
    static_cast<void>(KONTOR_GPU(GraphExecDestroy)(static_cast<KONTOR_GPU(GraphExec_t)>(graph)));
  }

  std::shared_ptr<void> graph_;
};

#endif

} // namespace kontor::device
