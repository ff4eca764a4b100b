// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/nccl/nccl_comm.hpp"

#include "base/agree.hpp"
#include "base/deadline.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kontor::comm::nccl {

std::string error_text(ncclResult_t code, ncclComm_t comm) {
  const char* last = ncclGetLastError(comm);
  std::string words = last ? last : "";
  std::ranges::replace(words, '\n', ' ');
  words.erase(words.find_last_not_of(' ') + 1);
  if (words.empty()) return ncclGetErrorString(code);
  return fmt::format("{} ({})", ncclGetErrorString(code), words);
}

void fail(ncclResult_t code, const std::string& operation, ncclComm_t comm) {
  throw Error(fmt::format("{} failed: {}", operation, error_text(code, comm)), "E-GPU-CALL");
}

NcclComm::NcclComm(const BackendContext& context, int size) : context_(context), size_(size) {}

// Delegates, so that the destructor runs if this throws.
NcclComm::NcclComm(const BackendContext& context) : NcclComm(context, mpi::size_of(context.comm)) {
  const int rank = mpi::rank_of(context.comm);
  const auto on_this_rank = [&](const auto& call) {
    mpi::agree(context.comm, "backend 'nccl'", [&] {
      failed_ = true; // unless it returns
      call();
      failed_ = false;
    });
  };
  refuse_shared_devices(context.comm);
  ncclUniqueId id{};
  on_this_rank([&] {
    if (rank == 0) check(ncclGetUniqueId(&id), "ncclGetUniqueId");
    check(cudaMalloc(reinterpret_cast<void**>(&scratch_), 2 * size_), "cudaMalloc");
  });
  mpi::check(MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, context.comm), "MPI_Bcast");
  on_this_rank([&] {
    // Blocking: NCCL's calls then report their errors themselves, and a group is not handed to a thread.
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 1;
    check(ncclCommInitRankConfig(&comm_, size_, id, rank, &config), "ncclCommInitRankConfig");
  });
}

NcclComm::~NcclComm() {
  if (failed_ || *context_.unsafe_to_free || std::uncaught_exceptions() > 0) abort();
  if (comm_ && !aborted_) ncclCommDestroy(comm_);
  if (scratch_) static_cast<void>(cudaFree(scratch_));
}

void NcclComm::abort() noexcept {
  if (aborted_) return;
  aborted_ = true;
  if (!comm_) return;
  *context_.unsafe_to_free = true;
  ncclCommAbort(comm_);
}

void NcclComm::fail(ncclResult_t code, const std::string& doing) {
  failed_ = true;
  nccl::fail(code, doing, comm_);
}

void NcclComm::poll(const std::string& user) {
  if (aborted_ || failed_)
    throw Error(fmt::format("{}: NCCL's communicator is of no more use after an earlier error; make another "
                            "Communicator",
                            user),
                "E-GPU-CALL");
  ncclResult_t state = ncclSuccess;
  const auto code = ncclCommGetAsyncError(comm_, &state);
  if (code != ncclSuccess) fail(code, user + ": ncclCommGetAsyncError");
  if (state != ncclSuccess && state != ncclInProgress)
    fail(state, user + ": what NCCL does on the device or with a peer");
}

void NcclComm::connect(const std::set<int>& destinations, const std::set<int>& sources, cudaStream_t stream,
                       const std::string& user) {
  if (destinations.empty() && sources.empty()) return;
  poll(user);
  auto code = ncclGroupStart();
  for (const int peer : destinations)
    if (code == ncclSuccess) code = ncclSend(scratch_ + peer, 1, ncclUint8, peer, comm_, stream);
  for (const int peer : sources)
    if (code == ncclSuccess) code = ncclRecv(scratch_ + size_ + peer, 1, ncclUint8, peer, comm_, stream);
  const auto ended = ncclGroupEnd();
  if (code == ncclSuccess) code = ended;
  if (code != ncclSuccess) fail(code, user + ": connecting to the peers by NCCL");
  wait(stream, user);
}

void NcclComm::wait(cudaStream_t stream, const std::string& user) {
  const auto done = [&] {
    const auto state = query(stream);
    if (state != cudaErrorNotReady) {
      failed_ = state != cudaSuccess;
      check(state, "cudaStreamQuery");
      return true;
    }
    poll(user);
    return false;
  };
  mpi::wait_within(mpi::timeout(context_.options), context_.comm, user, done, [&] {
    failed_ = true;
    return "its peers to connect by NCCL";
  });
}

} // namespace kontor::comm::nccl
