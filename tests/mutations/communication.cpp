// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A communication layer that is wrong: backend `view`, and what MPI reduces and broadcasts on the communicators that
// have it. Those of other backends are right, such as the baseline's that answers are verified with.
//
//   receives     of an exchange nothing is received
//   receive:R    rank R lacks the first message of each exchange
//   exchange     every other exchange is left out, the first one too, on all ranks
//   reduction:R  what rank R gives to a reduction of numbers is left out
//   broadcast    ranks other than the root do not get a broadcast
#include "backend/backend_context.hpp"
#include "mutation.hpp"

#include <kontor/comm/backend/backend.hpp>
#include <kontor/comm/views/layout.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace kontor::mutations {
namespace {

using namespace comm;

/// MPI's duplicates, each with what it was made from, and the communicators that are wrong.
std::map<MPI_Comm, MPI_Comm> made_from;
std::set<MPI_Comm> wrong;

int rank_in(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}

std::size_t reach(const comm::Buffer& buffer) {
  std::int64_t last = 0;
  for (int d = 0; d < buffer.shape.rank; ++d) last += (buffer.shape.extents[d] - 1) * buffer.shape.strides[d];
  if (buffer.shape.by_index) last += buffer.rows.extent * buffer.shape.strides[0];
  return static_cast<std::size_t>(last + 1) * buffer.scalar.size;
}

class WrongPlan final : public Plan {
 public:
  WrongPlan(std::unique_ptr<Plan> plan, std::vector<std::vector<std::byte>> aside)
      : plan_(std::move(plan)), aside_(std::move(aside)) {}

  void prepare() override {
    left_out_ = is("exchange") && ++steps_ % 2 == 1;
    if (!left_out_) plan_->prepare();
  }
  void start() override {
    if (!left_out_) plan_->start();
  }
  void finish() override {
    if (!left_out_) plan_->finish();
  }
  bool test() override { return left_out_ || plan_->test(); }
  void release() override {
    if (!left_out_) plan_->release();
  }
  std::string awaited() const override { return plan_->awaited(); }

 private:
  std::unique_ptr<Plan> plan_;
  std::vector<std::vector<std::byte>> aside_; ///< where messages arrive that nobody gets
  long steps_ = 0;
  bool left_out_ = false;
};

class WrongBackend final : public Backend {
 public:
  WrongBackend(std::unique_ptr<Backend> backend, int rank) : backend_(std::move(backend)), rank_(rank) {}

  PlannedExchange plan(const Schedule& schedule) override {
    auto changed = schedule;
    std::vector<std::vector<std::byte>> aside;
    const bool first = is("receive") && number() == rank_;
    for (auto& receive : changed.receives) {
      if (!is("receives") && !(first && &receive == changed.receives.data())) continue;
      aside.emplace_back(reach(receive.buffer));
      receive.buffer.data = aside.back().data();
    }
    return {std::make_unique<WrongPlan>(std::move(backend_->plan(changed).plan), std::move(aside))};
  }

 private:
  std::unique_ptr<Backend> backend_;
  int rank_;
};

/// Fills `memory` with what changes no reduction by `op`; false if this is no reduction of numbers.
bool fill_neutral(void* memory, int count, MPI_Datatype type, MPI_Op op) {
  const auto fill = [&]<class T>(T value) { std::fill_n(static_cast<T*>(memory), count, value); };
  const auto neutral = [&]<class T>(T) {
    using Limits = std::numeric_limits<T>;
    fill(op == MPI_SUM ? T(0) : op == MPI_MAX ? Limits::lowest() : Limits::max());
  };
  if (op != MPI_SUM && op != MPI_MAX && op != MPI_MIN) return false;
  if (type == MPI_DOUBLE)
    neutral(double());
  else if (type == MPI_FLOAT)
    neutral(float());
  else if (type == MPI_INT64_T && count >= 56 && op == MPI_SUM)
    neutral(std::int64_t()); // the accumulators of exact sums
  else
    return false;
  return true;
}

/// What this rank gives to a reduction: `in`, or nothing.
const void* given(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (!is("reduction") || !wrong.contains(comm) || rank_in(comm) != number()) return in;
  if (in == MPI_IN_PLACE) {
    fill_neutral(out, count, type, op);
    return in;
  }
  static std::map<std::pair<const void*, int>, std::vector<double>> neutral; // they outlive what is under way
  auto& memory = neutral[{out, count}];
  memory.resize(static_cast<std::size_t>(count));
  return fill_neutral(memory.data(), count, type, op) ? memory.data() : in;
}

/// Where a broadcast arrives.
void* place(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  if (!is("broadcast") || !wrong.contains(comm) || rank_in(comm) == root) return data;
  if (type != MPI_DOUBLE && type != MPI_FLOAT) return data;
  static std::map<std::pair<const void*, int>, std::vector<double>> aside;
  auto& memory = aside[{data, count}];
  memory.resize(static_cast<std::size_t>(count));
  return memory.data();
}

} // namespace
} // namespace kontor::mutations

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names
std::unique_ptr<kontor::comm::Backend>
real_make(const kontor::comm::BackendContext&) asm("__real__ZN6kontor4comm4view4makeERKNS0_14BackendContextE");
std::unique_ptr<kontor::comm::Backend>
wrong_make(const kontor::comm::BackendContext&) asm("__wrap__ZN6kontor4comm4view4makeERKNS0_14BackendContextE");
// NOLINTEND(bugprone-reserved-identifier)

std::unique_ptr<kontor::comm::Backend> wrong_make(const kontor::comm::BackendContext& context) {
  using namespace kontor::mutations;
  wrong.insert(context.comm);
  if (const auto origin = made_from.find(context.comm); origin != made_from.end()) wrong.insert(origin->second);
  return std::make_unique<WrongBackend>(real_make(context), rank_in(context.comm));
}

extern "C" {

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* duplicate) {
  const int code = PMPI_Comm_dup(comm, duplicate);
  kontor::mutations::wrong.erase(*duplicate); // MPI may give the handle of one that is gone
  kontor::mutations::made_from[*duplicate] = comm;
  return code;
}

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return PMPI_Allreduce(kontor::mutations::given(in, out, count, type, op, comm), out, count, type, op, comm);
}

int MPI_Iallreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  return PMPI_Iallreduce(kontor::mutations::given(in, out, count, type, op, comm), out, count, type, op, comm, request);
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return PMPI_Bcast(kontor::mutations::place(data, count, type, root, comm), count, type, root, comm);
}

int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  return PMPI_Ibcast(kontor::mutations::place(data, count, type, root, comm), count, type, root, comm, request);
}
}
