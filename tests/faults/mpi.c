/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* MPI functions that fail on one rank: they are not called, or their success is not told. As MPI does it, the
 * error goes to the handler of the communicator or window first, which ends the program unless it is
 * MPI_ERRORS_RETURN. */
#include "arm.h"

#include <mpi.h>

/* Functions without a communicator, or a window, find these names. */
static const MPI_Comm c = MPI_COMM_NULL;
static const MPI_Win w = MPI_WIN_NULL;

static int raise_error(MPI_Comm comm, MPI_Win window) {
  const int code = kontor_fault_code(MPI_ERR_OTHER);
  if (comm != MPI_COMM_NULL) PMPI_Comm_call_errhandler(comm, code);
  if (window != MPI_WIN_NULL) PMPI_Win_call_errhandler(window, code);
  return code;
}

/* clang-format off */
#define FUNCTION(name, parameters, arguments)                                                     \
  int MPI_##name parameters {                                                                     \
    const enum kontor_fault fault = kontor_fault_at("MPI_" #name, __builtin_return_address(0));   \
    const MPI_Comm comm = _Generic((c), MPI_Comm: (c), const MPI_Comm: (c), default: MPI_COMM_NULL); \
    const MPI_Win window = _Generic((w), MPI_Win: (w), const MPI_Win: (w), default: MPI_WIN_NULL); \
    if (fault == FAULT_ERROR) return raise_error(comm, window);                                   \
    const int code = PMPI_##name arguments;                                                       \
    kontor_fault_past();                                                                          \
    return fault == FAULT_AFTER ? raise_error(comm, window) : code;                               \
  }

#include "mpi_functions.inc"
