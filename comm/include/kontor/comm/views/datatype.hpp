// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/views/layout.hpp>
#include <kontor/comm/views/predefined_op.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

namespace kontor::comm::mpi {

/// A derived datatype, freed with its owner. Movable.
class Datatype {
 public:
  Datatype() = default;
  /// Takes charge of a datatype.
  explicit Datatype(MPI_Datatype owned) : type_(owned) {}
  /// Leaves MPI_DATATYPE_NULL behind.
  Datatype(Datatype&& other) noexcept;
  /// Exchanges the two.
  Datatype& operator=(Datatype&& other) noexcept;
  ~Datatype() {
    if (type_ != MPI_DATATYPE_NULL) free();
  }
  /// Local. Must be done before messages use it.
  void commit();
  /// The handle, which stays the property of this.
  MPI_Datatype get() const { return type_; }
  /// Whether there is one.
  explicit operator bool() const { return type_ != MPI_DATATYPE_NULL; }

 private:
  void free();
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// Local. Items of the types at the places, in bytes. Not committed.
Datatype structure(std::span<const int> counts, std::span<const MPI_Aint> places, std::span<const MPI_Datatype> types);

/// MPI's name for one element and how many of them make one (structs travel as bytes).
struct Element {
  MPI_Datatype type; ///< a predefined one
  int per_element;   ///< how many make an element
};

/// MPI's type of the scalar; bytes, where MPI has none.
/// Here and not behind a call, so that it is a constant where the type is known to the compiler.
inline Element element(Scalar scalar) {
  const auto size = scalar.size;
  switch (scalar.kind) {
  case ScalarKind::signed_integer:
    if (size == 1) return {MPI_INT8_T, 1};
    if (size == 2) return {MPI_INT16_T, 1};
    if (size == 4) return {MPI_INT32_T, 1};
    if (size == 8) return {MPI_INT64_T, 1};
    break;
  case ScalarKind::unsigned_integer:
    if (size == 1) return {MPI_UINT8_T, 1};
    if (size == 2) return {MPI_UINT16_T, 1};
    if (size == 4) return {MPI_UINT32_T, 1};
    if (size == 8) return {MPI_UINT64_T, 1};
    break;
  case ScalarKind::boolean: return {MPI_C_BOOL, 1};
  case ScalarKind::floating:
    if (size == sizeof(float)) return {MPI_FLOAT, 1};
    if (size == sizeof(double)) return {MPI_DOUBLE, 1};
    if (size == sizeof(long double)) return {MPI_LONG_DOUBLE, 1};
    break;
  case ScalarKind::complex:
    if (size == 2 * sizeof(float)) return {MPI_C_FLOAT_COMPLEX, 1};
    if (size == 2 * sizeof(double)) return {MPI_C_DOUBLE_COMPLEX, 1};
    if (size == 2 * sizeof(long double)) return {MPI_C_LONG_DOUBLE_COMPLEX, 1};
    break;
  case ScalarKind::bytes: break;
  }
  return {MPI_BYTE, static_cast<int>(size)};
}

/// One element of the result is `count` items of `type` one after the other, beyond 2^31 - 1 of them too: blocks of
/// 2^30 and what is left over, as in BigMPI (Hammond, Schaefer, Latham, ExaMPI 2014).
Datatype large(std::int64_t count, MPI_Datatype type);

/// What to hand to MPI for all elements of contiguous memory. Owns the datatype where it had to make one.
struct Payload {
  MPI_Datatype type = MPI_DATATYPE_NULL; ///< what to give MPI
  int count = 0;                         ///< how many of them
  Datatype made{};                       ///< `type`, where it is not a predefined one
};

/// Local. Allocates nothing up to 2^31 - 1 items, and needs no MPI call.
inline Payload payload(std::int64_t elements, Scalar scalar) {
  const auto [type, per_element] = element(scalar);
  const auto items = elements * per_element;
  if (items <= std::numeric_limits<int>::max()) [[likely]]
    return {type, static_cast<int>(items)};
  auto made = large(items, type);
  const auto handle = made.get();
  return {handle, 1, std::move(made)};
}

/// One element of the result is the whole strided buffer, its elements in wire order.
Datatype strided(const Buffer&, const WireOrder&);

/// MPI_OP_NULL where MPI does not define the operation for the scalar.
MPI_Op reduction(ReduceOp, Scalar);

} // namespace kontor::comm::mpi
