// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/backend_context.hpp"
#include "backend/gpu_runtime.hpp"
#include "backend/start_order.hpp"

#include <kontor/device/noncopyable.hpp>

/// NVIDIA's NCCL, or AMD's RCCL, which has the same names.
#if defined(__HIP__)
#include <rccl/rccl.h>
#else
#include <nccl.h>
#endif

#include <set>

namespace kontor::comm::nccl {

/// "unhandled cuda error (Cuda failure 'out of memory')": NCCL's name for the code, and its last words.
std::string error_text(ncclResult_t, ncclComm_t = nullptr);

/// Throws Error: `operation` failed, and the library's text.
[[noreturn]] void fail(ncclResult_t, const std::string& operation, ncclComm_t = nullptr);

using comm::check; // of the runtime library

/// Throws Error if `code`, what the function `operation` returned, is not success.
inline void check(ncclResult_t code, const char* operation, ncclComm_t comm = nullptr) {
  if (code != ncclSuccess) [[unlikely]]
    fail(code, operation, comm);
}

/// NCCL's counterpart of an MPI communicator, of the same ranks, which all plans of a backend share.
class NcclComm : device::NonCopyable {
 public:
  /// Collective over the handle's communicator. Throws AgreedError on every rank.
  explicit NcclComm(const BackendContext&);
  /// Collective like MPI_Comm_free. Local after a failure, while an exception is passing, or after abort().
  ~NcclComm();

  ncclComm_t get() const { return comm_; }

  /// Collective over the ranks named, which name this one. Makes the connections to them, which NCCL would otherwise
  /// make in the first step, and waits for them. `user` is who wants them, for errors.
  void connect(const std::set<int>& destinations, const std::set<int>& sources, cudaStream_t, const std::string& user);

  /// Local. Throws Error if NCCL has found since that a peer or a link has failed, or after abort().
  void poll(const std::string& user);

  /// Throws Error: what `user` was doing has failed, and NCCL's text. Nothing more can be done with this.
  [[noreturn]] void fail(ncclResult_t, const std::string& doing);

  bool failed() const { return failed_; }
  bool aborted() const { return aborted_; }

  /// Local. Ends what is under way on the device, whoever it waits for. Nothing more can be done with this.
  void abort() noexcept;

 private:
  explicit NcclComm(const BackendContext&, int size);
  void wait(cudaStream_t, const std::string& user);

  BackendContext context_;
  int size_;
  ncclComm_t comm_ = nullptr;
  char* scratch_ = nullptr; ///< device memory: a byte for each rank to send, and one to receive
  bool failed_ = false;
  bool aborted_ = false;
};

/// Collective. NCCL takes one GPU for each rank: throws UsageError, with two ranks, their GPU and host, where ranks use
/// the same one, and AgreedError where a rank has none.
void refuse_shared_devices(MPI_Comm);

/// Collective over the ranks of the communicator. The schedule's stream must outlive the plan.
std::unique_ptr<Plan> make_plan(std::shared_ptr<NcclComm>, const Schedule&, std::shared_ptr<mpi::StartOrder>);

/// Local.
std::unique_ptr<StreamCollectives> make_stream_collectives(std::shared_ptr<NcclComm>);

} // namespace kontor::comm::nccl
