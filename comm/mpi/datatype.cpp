// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/comm/mpi_datatype.hpp>

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace kontor::comm::mpi {
namespace {

/// `count` items of `inner`, each `stride` bytes after the one before.
Datatype vector(std::int64_t count, MPI_Aint stride, MPI_Datatype inner) {
  constexpr std::int64_t block = std::int64_t{1} << 30;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (count <= block) {
    check(MPI_Type_create_hvector(static_cast<int>(count), 1, stride, inner, &type),
          "MPI_Type_create_hvector");
    return Datatype(type);
  }
  const auto one_block = vector(block, stride, inner);
  const auto blocks = vector(count / block, block * stride, one_block.get());
  const auto rest = vector(count % block, stride, inner);
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {0, count / block * block * stride};
  const MPI_Datatype parts[] = {blocks.get(), rest.get()};
  check(MPI_Type_create_struct(2, lengths, places, parts, &type), "MPI_Type_create_struct");
  return Datatype(type);
}

struct OpName {
  MPI_Op op;
  std::string_view name;
};

OpName op_name(ReduceOp op) {
  switch (op) {
  case ReduceOp::sum: return {MPI_SUM, "sum"};
  case ReduceOp::product: return {MPI_PROD, "product"};
  case ReduceOp::min: return {MPI_MIN, "min"};
  case ReduceOp::max: return {MPI_MAX, "max"};
  case ReduceOp::logical_and: return {MPI_LAND, "logical and"};
  case ReduceOp::logical_or: return {MPI_LOR, "logical or"};
  }
  return {MPI_OP_NULL, "unknown operation"};
}

} // namespace

Datatype::Datatype(Datatype&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}

Datatype& Datatype::operator=(Datatype&& other) noexcept {
  std::swap(type_, other.type_);
  return *this;
}

void Datatype::free() {
  MPI_Type_free(&type_);
}

Datatype large(std::int64_t count, MPI_Datatype type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  check(MPI_Type_get_extent(type, &lower, &extent), "MPI_Type_get_extent");
  auto made = vector(count, extent, type);
  auto handle = made.get();
  check(MPI_Type_commit(&handle), "MPI_Type_commit");
  return made;
}

Datatype strided(const Buffer& buffer, const WireOrder& order) {
  const auto nest = loop_nest(buffer.shape, order);
  const auto [base, per_element] = element(buffer.scalar);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check(MPI_Type_contiguous(per_element, base, &type), "MPI_Type_contiguous");
  Datatype inner(type);
  for (int d = nest.depth - 1; d >= 0; --d)
    inner = vector(nest.extents[d], static_cast<MPI_Aint>(nest.strides[d]) * buffer.scalar.size, inner.get());
  type = inner.get();
  check(MPI_Type_commit(&type), "MPI_Type_commit");
  return inner;
}

MPI_Op reduction(ReduceOp op, Scalar scalar) {
  const auto [mpi_op, name] = op_name(op);
  const bool ordered = scalar.kind != ScalarKind::complex && scalar.kind != ScalarKind::bytes;
  const bool arithmetic = scalar.kind != ScalarKind::bytes;
  const bool integer =
      scalar.kind == ScalarKind::signed_integer || scalar.kind == ScalarKind::unsigned_integer;
  const bool defined = op == ReduceOp::min || op == ReduceOp::max       ? ordered
                       : op == ReduceOp::sum || op == ReduceOp::product ? arithmetic
                                                                        : integer;
  if (!defined) throw UsageError(fmt::format("allreduce: {} is not defined for {}", name, to_string(scalar)));
  return mpi_op;
}

} // namespace kontor::comm::mpi
