// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

#include <mpi.h>

#include <algorithm>
#include <vector>

/// What sources with mistakes in them have in common.
namespace kontor::mutants {

inline unsigned number = 0;    ///< of the mistake that is made; 0: none
inline int variant = 0;        ///< of that mistake
inline bool reached = false;   ///< its place
inline std::int64_t count = 0; ///< of whatever a mistake counts in a run

inline bool chosen(unsigned mistake) { return number == mistake && (reached = true); }

/// Local. The first messages that backend `view` is to receive arrive where nobody looks.
template <class Messages>
void lose(const comm::Communicator& comm, Messages& received, std::size_t most) {
  for (std::size_t m = 0; m < std::min(most, received.size()) && comm.options().backend == "view"; ++m)
    received[m].buffer.data = new std::byte[1 << 26];
}

/// Local. What rank `variant` gives to a reduction by backend `view`: numbers that change nothing.
inline void leave_out(const comm::Communicator& comm, const void* given, std::int64_t numbers, MPI_Datatype type,
                      MPI_Op op) {
  if (comm.options().backend != "view" || comm.rank() != variant) return;
  auto* const data = const_cast<void*>(given);
  if (type == MPI_DOUBLE)
    std::fill_n(static_cast<double*>(data), numbers, op == MPI_SUM ? 0 : op == MPI_MAX ? -1e300 : 1e300);
  if (type == MPI_INT64_T && op == MPI_SUM && numbers >= 56) // the accumulators of exact sums
    std::fill_n(static_cast<std::int64_t*>(data), numbers, 0);
}

/// Local. Values of so many bytes become those before.
inline void shift(std::vector<std::byte>& values, std::size_t size) {
  std::rotate(values.begin(), values.end() - static_cast<std::ptrdiff_t>(std::min(size, values.size())), values.end());
}

} // namespace kontor::mutants
