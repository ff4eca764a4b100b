// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

/// The one place that knows Kokkos versions apart, 3.4 (Debian 12) to 5.x, and the one outside the backends
/// that knows the makers of GPUs apart: Kokkos has no name for events, priorities or a device's identity.
namespace kontor::comm {

/// A profiling region that ends with its scope: a few nanoseconds where no tool looks. Names of up to 15
/// characters cost no allocation.
class Region {
 public:
  explicit Region(const std::string& name) { Kokkos::Profiling::pushRegion(name); }
  ~Region() { Kokkos::Profiling::popRegion(); }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
};

/// Waits for all work on the instance. Tools see a fence of this name.
template <class ExecutionSpace>
void fence(const ExecutionSpace& instance, const std::string& name) {
#if KOKKOS_VERSION >= 30500
  instance.fence(name);
#else // Kokkos 3.4 has no names for fences, and none of its host spaces tells the tools about one
  std::uint64_t handle = 0; // these two ask whether a tool listens; profileLibraryLoaded() takes far longer
  Kokkos::Tools::beginFence(name, 0, &handle);
  instance.fence();
  Kokkos::Tools::endFence(handle);
#endif
}

/// Whether code on the host can reach what the space's kernels work on.
template <class Space>
inline constexpr bool on_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible;

/// What a device is called and which one it is, equal on all ranks that use it.
struct DeviceIdentity {
  std::string name; ///< "NVIDIA H200"; empty if there is none
  std::string uuid; ///< 32 hexadecimal digits; empty if it has none
};

/// Bytes of a device's memory.
struct DeviceMemory {
  std::size_t free = 0;  ///< of all that use the device
  std::size_t total = 0; ///< there is
};

/// The order in which a device takes up the work of several instances.
enum class Priority : std::uint8_t { usual, high };

/// An instance of its own, whose work goes on beside that of others, for as long as it lives. Where Kontor
/// cannot make one, such as on the host, it is the default instance.
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

/// Work that is given to an instance again and again, on a GPU by one launch (a graph). Events order other
/// instances into it: one that holds for an event of `instance` belongs to the recording from there on, and
/// `instance` must hold for an event of it in the end.
template <class ExecutionSpace>
class CapturedGraph {
 public:
  /// Local. Calls work(), here in each replay, on a GPU once and without anything being done. It may give
  /// work to instances and do nothing else: memory is not allocated, no instance waited for on the host.
  template <class Work>
  CapturedGraph(const ExecutionSpace& /*instance*/, const Work& work) : work_(work) {}
  /// Local. All that was recorded comes after what the instance has been given before.
  void replay(const ExecutionSpace& /*instance*/) const { work_(); }

 private:
  std::function<void()> work_;
};

/// The native queue of an instance; null where it has none.
template <class ExecutionSpace>
void* native_stream(const ExecutionSpace&) {
  return nullptr;
}

#if defined(KOKKOS_ENABLE_CUDA)
#define KONTOR_GPU(name) cuda##name
using GpuSpace = Kokkos::Cuda;
using PinnedSpace = Kokkos::CudaHostPinnedSpace; ///< host memory that kernels reach and that is never paged
#elif defined(KOKKOS_ENABLE_HIP)
#define KONTOR_GPU(name) hip##name
using GpuSpace = Kokkos::HIP;
using PinnedSpace = Kokkos::HIPHostPinnedSpace; ///< host memory that kernels reach and that is never paged
#elif defined(KOKKOS_ENABLE_SYCL)
using PinnedSpace = Kokkos::SYCLHostUSMSpace; ///< host memory that kernels reach and that is never paged
#else
using PinnedSpace = Kokkos::HostSpace; ///< host memory that kernels reach and that is never paged
#endif

#if !defined(KONTOR_GPU)

/// Local. The devices that this process can use.
inline int device_count() {
  return 0;
}
/// Local. Why there is no device that a build for devices could use; empty if there is one, or need not be.
inline std::string device_problem() {
  return {};
}
/// Local. The device of Kokkos' default instance.
inline DeviceIdentity device_identity() {
  return {};
}
/// Local. Of the device of Kokkos' default instance.
inline DeviceMemory device_memory() {
  return {};
}
/// Copies from device 0 to device 1 of this process, of which there must be two, by the devices' own way.
class PeerCopy {
 public:
  explicit PeerCopy(std::size_t /*bytes*/) {}
  /// Local. Returns when so many copies, one after the other, are complete.
  void operator()(int /*copies*/) const {}
};

#else // CUDA and HIP give the same functions other prefixes

namespace detail {
inline void check_gpu(KONTOR_GPU(Error_t) code, const char* call) {
  if (code != KONTOR_GPU(Success))
    throw std::runtime_error(std::string(call) + " failed: " + KONTOR_GPU(GetErrorString)(code));
}
} // namespace detail

inline int device_count() {
  int count = 0;
  return KONTOR_GPU(GetDeviceCount)(&count) == KONTOR_GPU(Success) ? count : 0;
}

inline std::string device_problem() {
  int count = 0;
  const auto code = KONTOR_GPU(GetDeviceCount)(&count);
  if (code != KONTOR_GPU(Success)) return KONTOR_GPU(GetErrorString)(code);
  return count > 0 ? "" : "no device is visible";
}

inline DeviceIdentity device_identity() {
  int device = 0;
  detail::check_gpu(KONTOR_GPU(GetDevice)(&device), "GetDevice");
#if defined(KOKKOS_ENABLE_CUDA)
  cudaDeviceProp properties;
#else
  hipDeviceProp_t properties;
#endif
  detail::check_gpu(KONTOR_GPU(GetDeviceProperties)(&properties, device), "GetDeviceProperties");
  std::string uuid;
  for (const char byte : properties.uuid.bytes) {
    const auto value = static_cast<unsigned char>(byte);
    uuid += "0123456789abcdef"[value >> 4];
    uuid += "0123456789abcdef"[value & 15];
  }
  return {properties.name, uuid};
}

inline DeviceMemory device_memory() {
  DeviceMemory memory;
  detail::check_gpu(KONTOR_GPU(MemGetInfo)(&memory.free, &memory.total), "MemGetInfo");
  return memory;
}

class PeerCopy {
 public:
  explicit PeerCopy(std::size_t bytes) : bytes_(bytes) {
    detail::check_gpu(KONTOR_GPU(GetDevice)(&mine_), "GetDevice");
    for (const int device : {0, 1}) {
      detail::check_gpu(KONTOR_GPU(SetDevice)(device), "SetDevice");
      if (KONTOR_GPU(DeviceEnablePeerAccess)(1 - device, 0) != KONTOR_GPU(Success))
        static_cast<void>(KONTOR_GPU(GetLastError)()); // there is none, or it was enabled before
      detail::check_gpu(KONTOR_GPU(Malloc)(&memory_[device], bytes), "Malloc");
    }
    detail::check_gpu(KONTOR_GPU(SetDevice)(mine_), "SetDevice");
  }
  ~PeerCopy() {
    for (void* memory : memory_) static_cast<void>(KONTOR_GPU(Free)(memory));
  }
  PeerCopy(const PeerCopy&) = delete;
  PeerCopy& operator=(const PeerCopy&) = delete;

  void operator()(int copies) const {
    detail::check_gpu(KONTOR_GPU(SetDevice)(0), "SetDevice");
    for (int i = 0; i < copies; ++i)
      detail::check_gpu(KONTOR_GPU(MemcpyPeerAsync)(memory_[1], 1, memory_[0], 0, bytes_, nullptr),
                        "MemcpyPeerAsync");
    detail::check_gpu(KONTOR_GPU(DeviceSynchronize)(), "DeviceSynchronize");
    detail::check_gpu(KONTOR_GPU(SetDevice)(mine_), "SetDevice");
  }

 private:
  int mine_ = 0;
  std::size_t bytes_;
  void* memory_[2] = {};
};

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
      : stream_(make_stream(priority), destroy_stream),
        instance_(static_cast<KONTOR_GPU(Stream_t)>(stream_.get())) {}
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

template <>
class Event<GpuSpace> {
 public:
  void record(const GpuSpace& instance) {
    if (!event_) event_ = {make_event(), destroy_event};
    detail::check_gpu(KONTOR_GPU(EventRecord)(get(), detail::gpu_stream(instance)), "EventRecord");
  }
  void wait_for(const GpuSpace& instance) const {
    if (event_)
      detail::check_gpu(KONTOR_GPU(StreamWaitEvent)(detail::gpu_stream(instance), get(), 0),
                        "StreamWaitEvent");
  }
  void wait() const {
    if (event_) detail::check_gpu(KONTOR_GPU(EventSynchronize)(get()), "EventSynchronize");
  }

 private:
  KONTOR_GPU(Event_t) get() const { return static_cast<KONTOR_GPU(Event_t)>(event_.get()); }
  static void* make_event() {
    KONTOR_GPU(Event_t) event = nullptr;
    detail::check_gpu(KONTOR_GPU(EventCreateWithFlags)(&event, KONTOR_GPU(EventDisableTiming)),
                      "EventCreate");
    return event;
  }
  static void destroy_event(void* event) {
    static_cast<void>(KONTOR_GPU(EventDestroy)(static_cast<KONTOR_GPU(Event_t)>(event)));
  }

  std::shared_ptr<void> event_;
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
    detail::check_gpu(KONTOR_GPU(GraphLaunch)(static_cast<KONTOR_GPU(GraphExec_t)>(graph_.get()),
                                              detail::gpu_stream(instance)),
                      "GraphLaunch");
  }

 private:
  static void destroy(void* graph) {
    static_cast<void>(KONTOR_GPU(GraphExecDestroy)(static_cast<KONTOR_GPU(GraphExec_t)>(graph)));
  }

  std::shared_ptr<void> graph_;
};

#endif

} // namespace kontor::comm
