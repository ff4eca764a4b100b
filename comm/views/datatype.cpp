// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/comm/mpi_check.hpp>
#include <kontor/comm/views/datatype.hpp>

namespace kontor::comm {
namespace mpi {
namespace {

/// `count` items of `inner`, each `stride` bytes after the one before.
Datatype vector(std::int64_t count, MPI_Aint stride, MPI_Datatype inner) {
  constexpr std::int64_t block = std::int64_t{1} << 30;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (count <= block) {
    check(MPI_Type_create_hvector(static_cast<int>(count), 1, stride, inner, &type), "MPI_Type_create_hvector");
    return Datatype(type);
  }
  const auto one_block = vector(block, stride, inner);
  const auto blocks = vector(count / block, block * stride, one_block.get());
  const auto rest = vector(count % block, stride, inner);
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {0, count / block * block * stride};
  const MPI_Datatype parts[] = {blocks.get(), rest.get()};
  return structure(lengths, places, parts);
}

/// An item of `inner` at each of the rows, which are `stride` bytes apart.
Datatype at_rows(std::span<const std::int64_t> indices, MPI_Aint stride, MPI_Datatype inner) {
  constexpr std::size_t most = std::size_t{1} << 30;
  std::vector<MPI_Aint> places(std::min(indices.size(), most));
  std::vector<Datatype> parts;
  for (; !indices.empty(); indices = indices.subspan(std::min(indices.size(), most))) {
    const auto some = indices.first(std::min(indices.size(), most));
    std::ranges::transform(some, places.begin(), [&](std::int64_t row) { return row * stride; });
    MPI_Datatype type = MPI_DATATYPE_NULL;
    check(MPI_Type_create_hindexed_block(static_cast<int>(some.size()), 1, places.data(), inner, &type),
          "MPI_Type_create_hindexed_block");
    parts.emplace_back(type);
  }
  if (parts.size() == 1) return std::move(parts.front());
  const std::vector<int> lengths(parts.size(), 1);
  const std::vector<MPI_Aint> origin(parts.size(), 0);
  std::vector<MPI_Datatype> types;
  for (const auto& part : parts) types.push_back(part.get());
  return structure(lengths, origin, types);
}

} // namespace

Datatype::Datatype(Datatype&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}

Datatype& Datatype::operator=(Datatype&& other) noexcept {
  std::swap(type_, other.type_);
  return *this;
}

void Datatype::free() {
  if (!finalized()) check_or_terminate(MPI_Type_free(&type_), "MPI_Type_free");
}

void Datatype::commit() { check(MPI_Type_commit(&type_), "MPI_Type_commit"); }

Datatype structure(std::span<const int> counts, std::span<const MPI_Aint> places, std::span<const MPI_Datatype> types) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check(MPI_Type_create_struct(static_cast<int>(types.size()), counts.data(), places.data(), types.data(), &type),
        "MPI_Type_create_struct");
  return Datatype(type);
}

Datatype large(std::int64_t count, MPI_Datatype type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  check(MPI_Type_get_extent(type, &lower, &extent), "MPI_Type_get_extent");
  auto made = vector(count, extent, type);
  made.commit();
  return made;
}

Datatype strided(const Buffer& buffer, const WireOrder& order) {
  const auto nest = loop_nest(buffer.shape, order);
  const auto [base, per_element] = element(buffer.scalar);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check(MPI_Type_contiguous(per_element, base, &type), "MPI_Type_contiguous");
  Datatype inner(type);
  for (int d = nest.depth - 1; d >= 0; --d) {
    const auto stride = static_cast<MPI_Aint>(nest.strides[d]) * buffer.scalar.size;
    inner = d == nest.indexed
                ? at_rows({buffer.rows.indices, static_cast<std::size_t>(nest.extents[d])}, stride, inner.get())
                : vector(nest.extents[d], stride, inner.get());
  }
  inner.commit();
  return inner;
}

namespace {

/// What an operation is called, and MPI's handle.
struct NamedOp {
  ReduceOp op;
  const char* name;
  MPI_Op handle;
};
const NamedOp named_ops[] = {
    {ReduceOp::sum, "sum", MPI_SUM},
    {ReduceOp::product, "product", MPI_PROD},
    {ReduceOp::min, "min", MPI_MIN},
    {ReduceOp::max, "max", MPI_MAX},
    {ReduceOp::logical_and, "logical and", MPI_LAND},
    {ReduceOp::logical_or, "logical or", MPI_LOR},
    {ReduceOp::logical_xor, "logical xor", MPI_LXOR},
    {ReduceOp::bitwise_and, "bitwise and", MPI_BAND},
    {ReduceOp::bitwise_or, "bitwise or", MPI_BOR},
    {ReduceOp::bitwise_xor, "bitwise xor", MPI_BXOR},
};

const NamedOp* find(ReduceOp op) {
  const auto* const found = std::ranges::find(named_ops, op, &NamedOp::op);
  return found == std::end(named_ops) ? nullptr : found;
}

/// MPICH 4.0 compares unsigned numbers as if they were signed (https://github.com/pmodels/mpich/issues/6083).
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
constexpr bool orders_unsigned = false;
#else
constexpr bool orders_unsigned = true;
#endif

bool is_ordered(Scalar scalar) {
  if (scalar.kind == ScalarKind::unsigned_integer) return orders_unsigned;
  return scalar.kind != ScalarKind::complex;
}

} // namespace

MPI_Op reduction(ReduceOp op, Scalar scalar) {
  if (element(scalar).type == MPI_BYTE) return MPI_OP_NULL;
  const bool integer = scalar.kind == ScalarKind::signed_integer || scalar.kind == ScalarKind::unsigned_integer;
  const bool defined = op == ReduceOp::sum || op == ReduceOp::product ? true
                       : op == ReduceOp::min || op == ReduceOp::max   ? is_ordered(scalar)
                                                                      : integer;
  const bool logical = op == ReduceOp::logical_and || op == ReduceOp::logical_or || op == ReduceOp::logical_xor;
  const auto* const found = find(op);
  return (scalar.kind == ScalarKind::boolean ? logical : defined) && found ? found->handle : MPI_OP_NULL;
}

} // namespace mpi

const char* to_string(ReduceOp op) {
  const auto* const found = mpi::find(op);
  return found ? found->name : "unknown operation";
}

} // namespace kontor::comm
