// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "communicator/group.hpp"

#include "backend/deadline.hpp"

#include <kontor/comm/backend/gpu_awareness.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/comm/views/datatype.hpp>

#include <utility>

namespace kontor::comm::detail {

using mpi::check;

namespace {

constexpr int sparse_tags = 2; ///< the highest ones

Group& group(Internals& internals) {
  return static_cast<Group&>(internals);
}
const Group& group(const Internals& internals) {
  return static_cast<const Group&>(internals);
}

} // namespace

MPI_Comm duplicate(MPI_Comm parent) {
  MPI_Comm comm = MPI_COMM_NULL;
  check(MPI_Comm_dup(parent, &comm), "MPI_Comm_dup");
  check(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return comm;
}

void Group::open(MPI_Comm owned, const Options& given) {
  comm = owned;
  options = given;
  check(MPI_Comm_set_errhandler(owned, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_rank(owned, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(owned, &size), "MPI_Comm_size");
  int* limit = nullptr;
  int found = 0;
  check(MPI_Comm_get_attr(owned, MPI_TAG_UB, &limit, &found), "MPI_Comm_get_attr");
  if (found) tag_limit = *limit;
  cached_ = {owned, options.check, size, tag_limit};
  if (options.check == CheckLevel::cross_rank) {
    checked_messages = duplicate(owned);
    checked_calls = duplicate(owned);
    message_checks = make_checks(owned, checked_messages, rank, options.timeout);
  }
  exchanges = duplicate(owned);
  const BackendContext context{exchanges, options};
  unsafe_to_free = context.unsafe_to_free;
  backends.emplace(context);
  all_methods = comm::methods(options);
  first_backend = backends->get(all_methods.front().options.backend);
  const auto mpi_says = gpu_awareness();
  const bool direct = options.path == Path::direct
                          ? mpi_says.aware
                          : options.path == Path::automatic && mpi_says.aware && !mpi_says.overruled;
  lowering_ = {options.packing, direct, &pool};
  if (options.path != Path::automatic)
    static_cast<void>(Internals::methods(MemoryKind::device)); // refuses early
}

Group::~Group() {
  for (auto& list : methods_for) list.clear();
  first_backend.reset();
  if (backends) backends->clear();
  if (mpi::finalized()) return;
  const bool alone = mpi::ends_alone(unsafe_to_free && *unsafe_to_free);
  for (auto& [request, keep] : adopted) {
    if (alone) break;
    if (message_checks)
      mpi::wait_until_timeout(request, options.timeout);
    else
      MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  sweep();
  if (!adopted.empty()) leak(std::move(adopted));
  if (unsafe_to_free && *unsafe_to_free) {
    leak(std::move(message_checks));
    return;
  }
  handles.free();
  message_checks.reset();
  for (auto* owned : {&checked_messages, &checked_calls, &exchanges, &comm})
    if (*owned != MPI_COMM_NULL) MPI_Comm_free(owned);
}

void Group::sweep() {
  std::erase_if(adopted, [](Adopted& one) {
    int done = 0;
    return MPI_Test(&one.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done;
  });
}

Backend& Internals::backend() const {
  return *group(*this).first_backend;
}

const std::vector<Method>& Internals::methods(MemoryKind memory) {
  auto& g = group(*this);
  auto& methods = g.methods_for[static_cast<std::size_t>(memory)];
  if (methods.empty()) methods = comm::methods(*g.backends, g.all_methods, memory);
  return methods;
}

int Internals::most_tags() const {
  return group(*this).tag_limit - sparse_tags;
}

int Internals::reserve_tags(int count) {
  auto& g = group(*this);
  if (g.next_tag > most_tags() - count) g.next_tag = 0;
  const int first = g.next_tag;
  g.next_tag += count;
  return first;
}

Channel Internals::next_sparse_channel() {
  auto& g = group(*this);
  g.sparse_exchanges = (g.sparse_exchanges + 1) % sparse_tags;
  return {g.exchanges, g.tag_limit - g.sparse_exchanges};
}

MPI_Datatype Internals::element_type(Scalar scalar) {
  const auto [type, per_element] = mpi::element(scalar);
  return per_element == 1 && scalar.kind != ScalarKind::bytes ? type
                                                              : group(*this).handles.bytes(per_element);
}

MPI_Op Internals::operation(MPI_User_function* function, bool commutative) {
  return group(*this).handles.operation(function, commutative);
}

MPI_Comm Internals::checking() const {
  return group(*this).checked_messages;
}
MPI_Comm Internals::checking_calls() const {
  return group(*this).checked_calls;
}
std::int64_t Internals::number_call() {
  return ++group(*this).calls;
}
Checks* Internals::checks() const {
  return group(*this).message_checks.get();
}

void Internals::adopt(MPI_Request request, std::shared_ptr<void> keep) {
  auto& g = group(*this);
  const std::lock_guard lock(g.adopting);
  g.sweep();
  g.adopted.push_back({request, std::move(keep)});
}

bool Internals::ends_together() const {
  const auto& g = group(*this);
  return !mpi::ends_alone(*g.unsafe_to_free);
}

void Internals::abandon() {
  *group(*this).unsafe_to_free = true;
}

} // namespace kontor::comm::detail
