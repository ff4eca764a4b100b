// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Backend `null`: messages go nowhere, so what is left of an exchange is packing and unpacking. Views that
// receive keep what they held, or get zeros where they are unpacked. Collectives are MPI's, because programs
// decide by their results.
#include "mpi/mpi_backend.hpp"

#include <kontor/comm/error.hpp>

namespace kontor::comm::null {
namespace {

class NoMessages final : public Plan {
 public:
  void start() override {}
  void finish() override {}
};

class Null final : public mpi::MpiBackend {
 public:
  using MpiBackend::MpiBackend;

  Capabilities capabilities() const override { return {.device_buffers = true, .moves_data = false}; }
  OwnMemory own_memory(int /*peer*/) const override { return {}; }
  std::unique_ptr<Plan> plan(Schedule& /*schedule*/) override { return std::make_unique<NoMessages>(); }
};

} // namespace

std::unique_ptr<Backend> make(const BackendContext& context) {
  if (context.options.packing == Packing::datatype)
    throw UsageError("backend 'null' moves nothing, so packing 'datatype' has nothing to pack with; choose "
                     "packing 'kernel'");
  return std::make_unique<Null>(context);
}

} // namespace kontor::comm::null
