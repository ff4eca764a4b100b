// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/handle.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/comm/registry.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>

namespace kontor::comm {

using mpi::check;

struct Communicator::Group {
  MPI_Comm comm = MPI_COMM_NULL;
  Options options;
  std::unique_ptr<Backend> backend;
  int rank = 0;
  int size = 1;
  int tag_limit = 32767;
  int next_tag = 0;
  std::vector<int> dims;
  std::vector<int> coordinates;

  ~Group() {
    backend.reset();
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (comm != MPI_COMM_NULL && !finalized) MPI_Comm_free(&comm);
  }
};

namespace {

MPI_Comm duplicate(MPI_Comm parent) {
  MPI_Comm comm = MPI_COMM_NULL;
  check(MPI_Comm_dup(parent, &comm), "MPI_Comm_dup");
  return comm;
}

MPI_Comm make_cartesian(const Communicator& parent, const std::vector<int>& dims,
                        const std::vector<bool>& periodic) {
  if (dims.empty() || dims.size() > 3 || periodic.size() != dims.size())
    throw UsageError(
        fmt::format("a process grid has 1 to 3 dimensions, each closed or periodic; {} dimensions "
                    "and {} ends were given",
                    dims.size(), periodic.size()));
  const auto ranks = std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
  if (ranks != parent.size() || std::any_of(dims.begin(), dims.end(), [](int n) { return n < 1; }))
    throw UsageError(fmt::format("a process grid of {} takes {} ranks, but there are {}",
                                 fmt::join(dims, " x "), ranks, parent.size()));
  const std::vector<int> periods(periodic.begin(), periodic.end());
  MPI_Comm comm = MPI_COMM_NULL;
  check(
      MPI_Cart_create(parent.native(), static_cast<int>(dims.size()), dims.data(), periods.data(), 0, &comm),
      "MPI_Cart_create");
  return comm;
}

/// Throws UsageError on every rank, because all of them have the same options.
void check_options(const Options& options, const Capabilities& has) {
  if (options.packing == Packing::datatype && !has.strided_buffers)
    throw UsageError(fmt::format("backend '{}' takes contiguous buffers only, so packing 'datatype' is not "
                                 "possible; choose packing 'kernel' or backend 'view'",
                                 options.backend));
}

} // namespace

Communicator::Communicator(MPI_Comm parent, const Options& options)
    : Communicator(Owned{duplicate(parent)}, options) {}

Communicator::Communicator(const Communicator& parent, std::vector<int> dims,
                           const std::vector<bool>& periodic)
    : Communicator(Owned{make_cartesian(parent, dims, periodic)}, parent.options()) {
  group_->dims = std::move(dims);
  group_->coordinates.resize(group_->dims.size());
  check(MPI_Cart_coords(group_->comm, group_->rank, static_cast<int>(group_->dims.size()),
                        group_->coordinates.data()),
        "MPI_Cart_coords");
}

Communicator::Communicator(Owned owned_comm, const Options& options) : group_(std::make_shared<Group>()) {
  const MPI_Comm owned = owned_comm.comm;
  group_->comm = owned;
  group_->options = options;
  check(MPI_Comm_set_errhandler(owned, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_rank(owned, &group_->rank), "MPI_Comm_rank");
  check(MPI_Comm_size(owned, &group_->size), "MPI_Comm_size");
  int* limit = nullptr;
  int found = 0;
  check(MPI_Comm_get_attr(owned, MPI_TAG_UB, &limit, &found), "MPI_Comm_get_attr");
  if (found) group_->tag_limit = *limit;
  group_->backend = find_backend(group_->options.backend).make(MpiHandle{owned, group_->options.pattern});
  check_options(group_->options, group_->backend->capabilities());
}

int Communicator::rank() const {
  return group_->rank;
}
int Communicator::size() const {
  return group_->size;
}
const Options& Communicator::options() const {
  return group_->options;
}
Backend& Communicator::backend() const {
  return *group_->backend;
}
MPI_Comm Communicator::native() const {
  return group_->comm;
}
const std::vector<int>& Communicator::dims() const {
  return group_->dims;
}
const std::vector<int>& Communicator::coordinates() const {
  return group_->coordinates;
}

int Communicator::neighbour(int dim, int displacement) const {
  int source = MPI_PROC_NULL;
  int destination = MPI_PROC_NULL;
  check(MPI_Cart_shift(group_->comm, dim, displacement, &source, &destination), "MPI_Cart_shift");
  return destination == MPI_PROC_NULL ? no_rank : destination;
}

void Communicator::agree(const std::optional<std::string>& problem) const {
  int lowest = problem ? rank() : size();
  check(MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, native()), "MPI_Allreduce");
  if (lowest == size()) return;
  int length = rank() == lowest ? static_cast<int>(problem->size()) : 0;
  check(MPI_Bcast(&length, 1, MPI_INT, lowest, native()), "MPI_Bcast");
  std::string text = rank() == lowest ? *problem : std::string(length, '\0');
  check(MPI_Bcast(text.data(), length, MPI_CHAR, lowest, native()), "MPI_Bcast");
  throw AgreedError(text);
}

int Communicator::reserve_tags(int count) const {
  if (group_->next_tag > group_->tag_limit - count) group_->next_tag = 0;
  const int first = group_->next_tag;
  group_->next_tag += count;
  return first;
}

} // namespace kontor::comm
