// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "communicator/handle_cache.hpp"

#include <kontor/comm/mpi_check.hpp>

namespace kontor::comm::mpi {

MPI_Op HandleCache::operation(MPI_User_function* function, bool commutative) {
  const std::lock_guard lock(mutex_);
  auto& op = operations_.try_emplace({function, commutative}, MPI_OP_NULL).first->second;
  if (op == MPI_OP_NULL) check(MPI_Op_create(function, commutative ? 1 : 0, &op), "MPI_Op_create");
  return op;
}

MPI_Datatype HandleCache::bytes(int size) {
  const std::lock_guard lock(mutex_);
  auto& type = types_.try_emplace(size, MPI_DATATYPE_NULL).first->second;
  if (type == MPI_DATATYPE_NULL) {
    check(MPI_Type_contiguous(size, MPI_BYTE, &type), "MPI_Type_contiguous");
    check(MPI_Type_commit(&type), "MPI_Type_commit");
  }
  return type;
}

void HandleCache::free() {
  for (auto& [key, op] : operations_) MPI_Op_free(&op);
  for (auto& [size, type] : types_) MPI_Type_free(&type);
  operations_.clear();
  types_.clear();
}

} // namespace kontor::comm::mpi
