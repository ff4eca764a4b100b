// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "pingpong/bench.hpp"

/// The measures. All are collective over the bench's communicator.
namespace kontor::pingpong {

/// One View there and back between two ranks: raw pointers and typed bindings.
void measure_roundtrip(Bench&);
/// A View from one rank to all: raw pointers and typed bindings.
void measure_bcast(Bench&);
/// The halo of a block through every backend, pattern and packing.
void measure_halo(Bench&);
/// allreduce, allgather and alltoall: raw pointers and typed bindings.
void measure_collectives(Bench&);
/// What the layer adds to each kind of MPI calls.
void measure_calls(Bench&);
/// Columns and faces of Views: pack kernel, MPI datatype, what `auto` chooses, element by element.
void measure_strided(Bench&);
/// A View there and back between two ranks, in the memory that kernels work on, through every backend, pattern, packing
/// and path; measure device also by kernels that send and wait while they run.
void measure_exchange(Bench&);
/// Latency, bandwidth and overheads as models have them, and what they predict.
void measure_model(Bench&);

} // namespace kontor::pingpong
