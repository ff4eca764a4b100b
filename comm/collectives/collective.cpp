// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which ranks give and get, what backends have, and the operations whose Views have no parts.
#include "collectives/perform.hpp"

namespace kontor::comm::detail {

std::array<Access, 2> accesses(const Communicator& comm, const Collective& collective, std::size_t operands) {
  const auto flow = collective.kind.flow;
  const bool at_root = comm.rank() == collective.root;
  const bool gives = flow != Flow::from_root || at_root;
  const bool gets = flow == Flow::to_root ? at_root : gets_result(comm, collective);
  if (operands == 2) return {gives ? Access::read : Access::none, gets ? Access::write : Access::none};
  const bool changes = gets && !(flow == Flow::from_root && at_root); // the root's part lies there already
  return {!gives ? Access::write : changes ? Access::read_write : Access::read};
}

Call call_in_place(const Communicator& comm, const Collective& collective, const Operand& inout, Pending* pending) {
  const auto flow = collective.kind.flow;
  const bool at_root = comm.rank() == collective.root;
  const bool root_alone = collective.kind.rooted();
  const auto part = inout.at(root_alone && !at_root ? nullptr : MPI_IN_PLACE);
  const bool gives = flow == Flow::from_root ? at_root : root_alone && !at_root;
  return gives ? Call{comm, collective, inout, part, pending} : Call{comm, collective, part, inout, pending};
}

std::shared_ptr<void> hold_value(const void* value, std::size_t bytes, std::size_t alignment) {
  std::size_t room = bytes + alignment;
  const auto memory = std::make_shared<std::byte[]>(room);
  void* place = memory.get();
  std::memcpy(std::align(alignment, bytes, place, room), value, bytes);
  return {memory, place};
}

bool has(const StreamCollectives& backend, const Collective& collective, Scalar scalar, std::size_t operands,
         std::int64_t count) {
  const auto& kind = collective.kind;
  if (!kind.of_backends || !backend.any_stream()) return false;
  if (collective.op) return !collective.op->function && backend.reduces(scalar, collective.op->named, count);
  return operands == 2 || &kind != &Kind::alltoall; // in place, which none does
}

namespace {

struct Broadcast {
  const Call& call;
  const int root = call.collective.root;
  const Operand& view = call.comm.rank() == root ? call.in : call.out;

  static Problem problem() { return std::nullopt; }
  CollectiveCall operator()() const { return in_words(call, name(view), {equal_words(view)}); }
  void queue() const { call.pending->collectives->bcast(call.pending->stream, flat_buffer(view), root); }
};

void broadcast(const Call& call) {
  const Broadcast operation{call};
  check(call, operation);
  if (call.queued()) return naming(operation, [&] { operation.queue(); });
  const auto data = mpi::payload(operation.view.count, operation.view.scalar);
  call_mpi(call, operation, MPI_Bcast, MPI_Ibcast, operation.view.data, data.count, data.type);
}

struct Meeting {
  const Call& call;

  static Problem problem() { return std::nullopt; }
  CollectiveCall operator()() const { return in_words(call, "", {}); }
};

void meet(const Call& call) {
  const Meeting operation{call};
  check(call, operation);
  call_mpi(call, operation, MPI_Barrier, MPI_Ibarrier);
}

} // namespace

const Kind Kind::bcast{"bcast", "ibcast", Flow::from_root, broadcast, true};
const Kind Kind::barrier{"barrier", "ibarrier", Flow::among_all, meet};

} // namespace kontor::comm::detail
