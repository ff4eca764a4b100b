// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/backend_context.hpp"
#include "base/ranks.hpp"

#include <kontor/comm/backend/gpu_awareness.hpp>
#include <kontor/device/compat.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>
#include <mpi.h>

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <cstdlib>

namespace kontor::comm {
namespace {

using mpi::check;

std::optional<bool> from_environment(const char* name) {
  const char* value = std::getenv(name);
  if (!value) return {};
  return std::string_view(value) == "1";
}

std::string with(const char* source, bool aware) {
  return fmt::format("{} says that it {} it", source, aware ? "takes" : "does not take");
}

std::int32_t payload(int rank, int index) { return (rank + 1) * 1000003 + index * 7; }

} // namespace

GpuAwareness gpu_awareness() {
  if (const auto overruled = from_environment("KONTOR_GPU_AWARE_MPI"))
    return {*overruled, with("KONTOR_GPU_AWARE_MPI in the environment", *overruled), true};
#if defined(CRAY_MPICH_VERSION)
  const bool enabled = from_environment("MPICH_GPU_SUPPORT_ENABLED").value_or(false);
  return {enabled, with("MPICH_GPU_SUPPORT_ENABLED in the environment", enabled), false};
#elif defined(MPIX_GPU_SUPPORT_CUDA)
  int cuda = 0;
  int hip = 0;
  check(MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &cuda), "MPIX_GPU_query_support");
  check(MPIX_GPU_query_support(MPIX_GPU_SUPPORT_HIP, &hip), "MPIX_GPU_query_support");
  const bool either = cuda != 0 || hip != 0;
  return {either, with("MPIX_GPU_query_support()", either), false};
#else
  bool aware = false;
  const char* source = nullptr;
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  source = "MPIX_Query_cuda_support()";
  aware = MPIX_Query_cuda_support() == 1;
#endif
#if defined(OMPI_HAVE_MPI_EXT_ROCM) && OMPI_HAVE_MPI_EXT_ROCM
  if (!aware) {
    source = "MPIX_Query_rocm_support()";
    aware = MPIX_Query_rocm_support() == 1;
  }
#endif
  if (source) return {aware, with(source, aware), false};
  return {false, "this MPI library has no function that tells whether it takes it", false};
#endif
}

std::optional<std::string> probe_gpu_awareness(const BackendContext& context) {
  using Space = Kokkos::DefaultExecutionSpace;
  if (device::on_host<Space>) return {};
  const int rank = mpi::rank_of(context.comm);
  const int size = mpi::size_of(context.comm);
  const int next = (rank + 1) % size;
  const int previous = (rank + size - 1) % size;
  std::string problem;
  for (const int count : {2, 1 << 19}) { // by MPI's eager and by its rendezvous protocol
    const Kokkos::View<std::int32_t*, Space> out("comm/probe out", count);
    const Kokkos::View<std::int32_t*, Space> in("comm/probe in", count);
    const auto sent = Kokkos::create_mirror_view(out);
    for (int i = 0; i < count; ++i) sent(i) = payload(rank, i);
    Kokkos::deep_copy(out, sent);
    Kokkos::fence();
    const int code = MPI_Sendrecv(out.data(), count, MPI_INT32_T, next, 0, in.data(), count, MPI_INT32_T, previous, 0,
                                  context.comm, MPI_STATUS_IGNORE);
    const auto arrived = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), in);
    int wrong = code == MPI_SUCCESS ? 0 : count;
    for (int i = 0; wrong == 0 && i < count; ++i) wrong += arrived(i) != payload(previous, i) ? 1 : 0;
    int worst = 0;
    check(MPI_Allreduce(&wrong, &worst, 1, MPI_INT, MPI_MAX, context.comm), "MPI_Allreduce");
    if (worst > 0)
      return fmt::format("{}, but {} bytes of device memory that MPI sent around the ranks did not arrive as they "
                         "were; choose path 'staged'",
                         gpu_awareness().header, count * sizeof(std::int32_t));
  }
  return {};
}

} // namespace kontor::comm
