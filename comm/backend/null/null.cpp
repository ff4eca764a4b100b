// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Backend `null`: messages go nowhere, so what is left of an exchange is packing and unpacking. Views that receive keep
// what they held, or get zeros where they are unpacked. Collectives are MPI's: programs decide by their results.
#include "backend/mpi/mpi_backend.hpp"

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

  OwnMemory own_memory(int /*peer*/, Pattern /*pattern*/) const override { return {}; }
  PlannedExchange plan(const Schedule& /*schedule*/) override { return {std::make_unique<NoMessages>()}; }
};

} // namespace

Capabilities capabilities() {
  return {.packings_because = "moves nothing", .device_buffers = true, .moves_data = false};
}

std::unique_ptr<Backend> make(const BackendContext& context) { return std::make_unique<Null>(context); }

} // namespace kontor::comm::null
