// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Non-blocking collective operations at check level `cross_rank`. They may not wait for other ranks when they are
// called, so MPI has begun when the check ends. Where the ranks differ, it cannot complete: its memory is leaked, and
// MPI is not asked about it again, because MPI reports its failure to the handler of MPI_COMM_WORLD.
#include "checks/checked.hpp"

#include <kontor/comm/calls/collective.hpp>
#include <kontor/comm/communicator/internals.hpp>
#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

namespace kontor::comm::detail {
namespace {

class CheckedCollective final : public Checked {
 public:
  explicit CheckedCollective(Pending pending) : pending_(std::move(pending)) {}
  ~CheckedCollective() override {
    if (pending_.request != MPI_REQUEST_NULL) detach(pending_.check->comm(), pending_.keep);
  }

  bool poll() override {
    try {
      if (!agreed_ && !pending_.check->test()) return false;
      if (!agreed_)
        if (const auto mismatch = pending_.check->finish())
          throw AgreedError(fmt::format("{}: {}", pending_.check->call().operation, *mismatch));
    } catch (const Error&) {
      detail::internals(pending_.check->comm()).leak_at_end();
      leak(std::pair(std::move(pending_.keep), std::move(pending_.arrays)));
      pending_.request = MPI_REQUEST_NULL;
      throw;
    }
    agreed_ = true;
    int done = 0;
    mpi::check(MPI_Test(&pending_.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  }

  std::string missing() const override {
    if (!agreed_) pending_.check->fail_timeout();
    return "all ranks have begun it, and not all have ended";
  }

  void detach(const Communicator& comm, const std::shared_ptr<void>& keep) override {
    detail::internals(comm).detach(std::exchange(pending_.request, MPI_REQUEST_NULL), keep, pending_.arrays);
  }

 private:
  Pending pending_;
  bool agreed_ = false;
};

} // namespace

void Operation::begun(const char* operation, Pending pending) {
  auto& part = next_part({.operation = operation}, 0);
  if (pending.check) {
    pending.keep = keep();
    part.checked = std::make_shared<CheckedCollective>(std::move(pending));
  } else {
    part.request = pending.request;
    part.arrays = std::move(pending.arrays);
  }
}

} // namespace kontor::comm::detail
