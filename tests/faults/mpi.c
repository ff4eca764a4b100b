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

#include "../../comm/tests/mpi_functions.inc"

FUNCTION(Init_thread, (int* a, char*** v, int n, int* p), (a, v, n, p))
FUNCTION(Finalize, (void), ())
FUNCTION(Query_thread, (int* p), (p))
FUNCTION(Get_processor_name, (char* n, int* l), (n, l))
FUNCTION(Get_library_version, (char* n, int* l), (n, l))
FUNCTION(Get_address, (const void* b, MPI_Aint* a), (b, a))
FUNCTION(Comm_split, (MPI_Comm c, int k, int o, MPI_Comm* n), (c, k, o, n))
FUNCTION(Comm_split_type, (MPI_Comm c, int t, int k, MPI_Info i, MPI_Comm* n), (c, t, k, i, n))
FUNCTION(Comm_group, (MPI_Comm c, MPI_Group* g), (c, g))
FUNCTION(Comm_set_errhandler, (MPI_Comm c, MPI_Errhandler h), (c, h))
FUNCTION(Group_incl, (MPI_Group g, int n, const int r[], MPI_Group* o), (g, n, r, o))
FUNCTION(Group_free, (MPI_Group* g), (g))
FUNCTION(Cart_create, (MPI_Comm c, int n, const int d[], const int p[], int r, MPI_Comm* o), (c, n, d, p, r, o))
FUNCTION(Cart_get, (MPI_Comm c, int n, int d[], int p[], int x[]), (c, n, d, p, x))
FUNCTION(Cart_sub, (MPI_Comm c, const int d[], MPI_Comm* o), (c, d, o))
FUNCTION(Cartdim_get, (MPI_Comm c, int* n), (c, n))
FUNCTION(Dims_create, (int n, int m, int d[]), (n, m, d))
FUNCTION(Dist_graph_create_adjacent, (MPI_Comm c, int n, const int s[], const int u[], int m, const int d[], const int v[], MPI_Info i, int r, MPI_Comm* o), (c, n, s, u, m, d, v, i, r, o))
FUNCTION(Win_allocate, (MPI_Aint n, int u, MPI_Info i, MPI_Comm c, void* b, MPI_Win* o), (n, u, i, c, b, o))
FUNCTION(Win_allocate_shared, (MPI_Aint n, int u, MPI_Info i, MPI_Comm c, void* b, MPI_Win* o), (n, u, i, c, b, o))
FUNCTION(Win_shared_query, (MPI_Win w, int r, MPI_Aint* n, int* u, void* b), (w, r, n, u, b))
FUNCTION(Win_set_errhandler, (MPI_Win w, MPI_Errhandler h), (w, h))
FUNCTION(Win_lock_all, (int a, MPI_Win w), (a, w))
FUNCTION(Win_unlock_all, (MPI_Win w), (w))
FUNCTION(Win_test, (MPI_Win w, int* f), (w, f))
FUNCTION(Win_free, (MPI_Win* w), (w))
FUNCTION(File_open, (MPI_Comm c, const char* f, int m, MPI_Info i, MPI_File* o), (c, f, m, i, o))
FUNCTION(File_write_at, (MPI_File f, MPI_Offset o, const void* b, int n, MPI_Datatype t, MPI_Status* s), (f, o, b, n, t, s))
FUNCTION(File_close, (MPI_File* f), (f))
