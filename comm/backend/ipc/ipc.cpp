// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Backend `ipc`: the receivers' cells are mapped into the senders by CUDA IPC, and a kernel of the sender writes into
// them from where its View lies: with packing `datatype` strided cells as they lie at both ends, with `kernel` from and
// to memory into which they are packed. Within one node. Reductions of a few numbers are made by a kernel too.
#include "backend/ipc/peer_memory.hpp"
#include "backend/ipc/plan.hpp"
#include "backend/mpi/mpi_backend.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

namespace kontor::comm::ipc {
namespace {

class Ipc final : public mpi::MpiBackend {
 public:
  Ipc(const BackendContext& context, Gpus gpus) : MpiBackend(context), gpus_(std::move(gpus)) {}

  PlannedExchange plan(const Schedule& schedule) override {
    return {make_plan(context(), gpus_, schedule, start_order())};
  }

  StreamCollectives* stream_collectives() override {
    if (!std::exchange(asked_, true)) collectives_ = make_stream_collectives(context(), gpus_);
    return collectives_.get();
  }

  std::unique_ptr<PeerAllocation> peer_memory(std::size_t bytes) override {
    return std::make_unique<PeerMemory>(context(), gpus_, bytes);
  }

 private:
  Gpus gpus_;
  bool asked_ = false;
  std::unique_ptr<StreamCollectives> collectives_;
};

/// "ranks 0, 1 on node1; ranks 2, 3 on node2"
std::string hosts(MPI_Comm comm, int size) {
  std::vector<char> names(static_cast<std::size_t>(size) * MPI_MAX_PROCESSOR_NAME);
  char mine[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  mpi::check(MPI_Get_processor_name(mine, &length), "MPI_Get_processor_name");
  mpi::check(
      MPI_Allgather(mine, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, names.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR, comm),
      "MPI_Allgather");
  std::map<std::string, std::vector<int>> ranks;
  for (int r = 0; r < size; ++r) ranks[&names[static_cast<std::size_t>(r) * MPI_MAX_PROCESSOR_NAME]].push_back(r);
  std::vector<std::string> parts;
  for (const auto& [host, on_it] : ranks)
    parts.push_back(fmt::format("{} {} on {}", on_it.size() == 1 ? "rank" : "ranks", fmt::join(on_it, ", "), host));
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// Collective.
void check_one_node(MPI_Comm comm) {
  auto node = mpi::split_by_node(comm);
  const int here = mpi::size_of(node);
  const int size = mpi::size_of(comm);
  MPI_Comm_free(&node);
  if (here == size) return; // then on every rank
  throw UsageError(fmt::format("backend 'ipc' works within one node, and there are several: {}; choose backend "
                               "'nccl', or 'raw' or 'view' with path 'direct' or 'staged'",
                               hosts(comm, size)),
                   Axis::backend);
}

} // namespace

Capabilities capabilities() {
  return {.patterns = {Pattern::nonblocking},
          .packings = {Packing::kernel, Packing::datatype, Packing::none},
          .host_buffers = false,
          .device_buffers = true,
          .stream_ordered = true,
          .stream_collectives = true,
          .peer_memory = true};
}

std::unique_ptr<Backend> make(const BackendContext& context) {
  check_one_node(context.comm);
  Gpus gpus;
  mpi::agree(
      context.comm, "backend 'ipc'", [&] { gpus = visible_gpus(); }, Axis::backend);
  return std::make_unique<Ipc>(context, std::move(gpus));
}

} // namespace kontor::comm::ipc
