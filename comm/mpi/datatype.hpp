// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend.hpp>

#include <mpi.h>

namespace kontor::comm::mpi {

/// A committed derived datatype, freed with its owner. Movable.
class Datatype {
 public:
  Datatype() = default;
  explicit Datatype(MPI_Datatype owned) : type_(owned) {}
  Datatype(Datatype&& other) noexcept;
  Datatype& operator=(Datatype&& other) noexcept;
  ~Datatype();
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// MPI's name for one element and how many of them make one (structs travel as bytes).
struct Element {
  MPI_Datatype type;
  int per_element;
};
Element element(Scalar);

/// What to hand to MPI for all elements of a contiguous buffer; throws Error above 2^31 - 1 of them.
struct Count {
  MPI_Datatype type;
  int count;
};
Count contiguous(const Buffer&);

/// One element of the result is the whole strided buffer, its elements in wire order.
Datatype strided(const Buffer&, const WireOrder&);

/// Throws Error if MPI does not define the operation for the scalar.
MPI_Op reduction(ReduceOp, Scalar);

} // namespace kontor::comm::mpi
