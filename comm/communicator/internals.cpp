// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "communicator/internals.hpp"

#include "backend/backend_set.hpp"
#include "base/deadline.hpp"

#include <kontor/comm/backend/gpu_awareness.hpp>
#include <kontor/comm/views/datatype.hpp>

namespace kontor::comm::detail {

namespace {

constexpr int sparse_tags = 2; ///< the highest ones

} // namespace

MPI_Comm duplicate(MPI_Comm parent) {
  MPI_Comm comm = MPI_COMM_NULL;
  mpi::check(MPI_Comm_dup(parent, &comm), "MPI_Comm_dup");
  mpi::check(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return comm;
}

Internals::Internals() : unsafe_to_free_(std::make_shared<bool>(false)) {}

void Internals::open(MPI_Comm owned, const Options& options) {
  comm = owned;
  options_ = options;
  mpi::check(MPI_Comm_set_errhandler(owned, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  rank_ = mpi::rank_of(owned);
  check = options.check;
  size = mpi::size_of(owned);
  int* limit = nullptr;
  int found = 0;
  mpi::check(MPI_Comm_get_attr(owned, MPI_TAG_UB, &limit, &found), "MPI_Comm_get_attr");
  if (found) tag_limit = *limit;
  if (options.check == CheckLevel::cross_rank) {
    checked_messages_ = duplicate(owned);
    checked_calls_ = duplicate(owned);
    checks_ = make_checks(owned, checked_messages_, options.timeout);
  }
  exchanges_ = duplicate(owned);
  backends_ = std::make_unique<BackendSet>(BackendContext{exchanges_, options, unsafe_to_free_});
  all_methods_ = comm::methods(options);
  first_backend_ = backends_->get(all_methods_.front().options.backend);
  const auto mpi_says = gpu_awareness();
  const bool direct = options.path == Path::direct
                          ? mpi_says.aware
                          : options.path == Path::automatic && mpi_says.aware && !mpi_says.overruled;
  lowering = {options.packing, direct, &pool_};
  if (options.path != Path::automatic) static_cast<void>(methods(MemoryKind::device)); // refuses early
}

Internals::~Internals() {
  for (auto& list : methods_for_) list.clear();
  first_backend_.reset();
  backends_.reset();
  if (mpi::finalized()) return;
  const bool alone = mpi::ends_alone(*unsafe_to_free_);
  const double timeout = mpi::timeout(options_);
  for (auto& [request, memory, more] : detached_)
    if (!alone) mpi::or_terminate([&, &request = request] { mpi::wait_at_most(request, timeout); });
  sweep();
  if (!detached_.empty()) leak(std::move(detached_));
  for (auto& [key, op] : operations_) mpi::check_or_terminate(MPI_Op_free(&op), "MPI_Op_free");
  for (auto& [size, type] : byte_types_) mpi::check_or_terminate(MPI_Type_free(&type), "MPI_Type_free");
  if (alone) {
    leak(std::move(checks_));
    return;
  }
  checks_.reset();
  for (auto* owned : {&checked_messages_, &checked_calls_, &exchanges_, &comm})
    if (*owned != MPI_COMM_NULL) mpi::check_or_terminate(MPI_Comm_free(owned), "MPI_Comm_free");
}

void Internals::sweep() {
  std::erase_if(detached_, [](Detached& one) {
    int done = 0;
    return MPI_Test(&one.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done;
  });
}

const std::vector<Method>& Internals::methods(MemoryKind memory) {
  auto& methods = methods_for_[static_cast<std::size_t>(memory)];
  if (methods.empty()) methods = comm::methods(*backends_, all_methods_, memory);
  return methods;
}

int Internals::most_tags() const { return tag_limit - sparse_tags; }

int Internals::reserve_tags(int count) {
  if (next_tag_ > most_tags() - count) next_tag_ = 0;
  const int first = next_tag_;
  next_tag_ += count;
  return first;
}

Channel Internals::next_sparse_channel() {
  sparse_exchanges_ = (sparse_exchanges_ + 1) % sparse_tags;
  return {exchanges_, tag_limit - sparse_exchanges_};
}

MPI_Datatype Internals::element_type(Scalar scalar) {
  const auto [type, per_element] = mpi::element(scalar);
  if (per_element == 1 && scalar.kind != ScalarKind::bytes) return type;
  const std::lock_guard lock(making_);
  auto& bytes = byte_types_.try_emplace(scalar.size, MPI_DATATYPE_NULL).first->second;
  if (bytes == MPI_DATATYPE_NULL) {
    mpi::check(MPI_Type_contiguous(per_element, MPI_BYTE, &bytes), "MPI_Type_contiguous");
    mpi::check(MPI_Type_commit(&bytes), "MPI_Type_commit");
  }
  return bytes;
}

MPI_Op Internals::operation(MPI_User_function* function, bool commutative) {
  const std::lock_guard lock(making_);
  auto& op = operations_.try_emplace({function, commutative}, MPI_OP_NULL).first->second;
  if (op == MPI_OP_NULL) mpi::check(MPI_Op_create(function, commutative ? 1 : 0, &op), "MPI_Op_create");
  return op;
}

void Internals::detach(MPI_Request request, std::shared_ptr<void> memory, std::shared_ptr<void> more) {
  const std::lock_guard lock(detaching_);
  sweep();
  detached_.push_back({request, std::move(memory), std::move(more)});
}

StreamCollectives* stream_collectives(const Communicator& comm) {
  return internals(comm).backend().stream_collectives();
}

bool Internals::ends_together() const { return !mpi::ends_alone(*unsafe_to_free_); }

} // namespace kontor::comm::detail
