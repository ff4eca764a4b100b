// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi_counter.hpp"

#include "allocation_counter.hpp"

#include <mpi.h>

#include <array>

namespace {

struct Function {
  const char* name = nullptr;
  int calls = 0;
};

bool counting_mpi = false;
std::array<Function, 256> functions;
std::size_t function_count = 0;

Function& function(const char* name) {
  functions[function_count] = {name, 0};
  return functions[function_count++];
}

} // namespace

namespace kontor::comm::test {

void start_counting_mpi() {
  for (auto& f : functions) f.calls = 0;
  counting_mpi = true;
}

MpiCalls stop_counting_mpi() {
  counting_mpi = false;
  MpiCalls calls;
  for (const auto& f : functions)
    if (f.calls > 0) calls[f.name] = f.calls;
  return calls;
}

} // namespace kontor::comm::test

// Each line stands for one MPI function: it is counted and passed on.
// clang-format off
#define COUNTED(name, parameters, arguments)            \
  int MPI_##name parameters {                           \
    static Function& counted = function("MPI_" #name);  \
    if (counting_mpi) ++counted.calls;                      \
    const kontor::comm::test::NotCounted inside_mpi;    \
    return PMPI_##name arguments;                       \
  }
#define SEND(name) COUNTED(name, (const void* b, int n, MPI_Datatype t, int p, int g, MPI_Comm c), (b, n, t, p, g, c))
#define ISEND(name) COUNTED(name, (const void* b, int n, MPI_Datatype t, int p, int g, MPI_Comm c, MPI_Request* r), (b, n, t, p, g, c, r))
#define IRECV(name) COUNTED(name, (void* b, int n, MPI_Datatype t, int p, int g, MPI_Comm c, MPI_Request* r), (b, n, t, p, g, c, r))

extern "C" {
SEND(Send) SEND(Ssend) SEND(Bsend) SEND(Rsend)
ISEND(Isend) ISEND(Issend) ISEND(Ibsend) ISEND(Irsend)
ISEND(Send_init) ISEND(Ssend_init) ISEND(Bsend_init) ISEND(Rsend_init)
IRECV(Irecv) IRECV(Recv_init)
COUNTED(Recv, (void* b, int n, MPI_Datatype t, int p, int g, MPI_Comm c, MPI_Status* s), (b, n, t, p, g, c, s))
COUNTED(Sendrecv, (const void* b, int n, MPI_Datatype t, int p, int g, void* rb, int rn, MPI_Datatype rt, int rp, int rg, MPI_Comm c, MPI_Status* s), (b, n, t, p, g, rb, rn, rt, rp, rg, c, s))
COUNTED(Sendrecv_replace, (void* b, int n, MPI_Datatype t, int p, int g, int rp, int rg, MPI_Comm c, MPI_Status* s), (b, n, t, p, g, rp, rg, c, s))
COUNTED(Probe, (int p, int g, MPI_Comm c, MPI_Status* s), (p, g, c, s))
COUNTED(Iprobe, (int p, int g, MPI_Comm c, int* f, MPI_Status* s), (p, g, c, f, s))
COUNTED(Mprobe, (int p, int g, MPI_Comm c, MPI_Message* m, MPI_Status* s), (p, g, c, m, s))
COUNTED(Get_count, (const MPI_Status* s, MPI_Datatype t, int* n), (s, t, n))

COUNTED(Start, (MPI_Request* r), (r))
COUNTED(Startall, (int n, MPI_Request r[]), (n, r))
COUNTED(Wait, (MPI_Request* r, MPI_Status* s), (r, s))
COUNTED(Waitall, (int n, MPI_Request r[], MPI_Status s[]), (n, r, s))
COUNTED(Waitany, (int n, MPI_Request r[], int* i, MPI_Status* s), (n, r, i, s))
COUNTED(Waitsome, (int n, MPI_Request r[], int* o, int i[], MPI_Status s[]), (n, r, o, i, s))
COUNTED(Test, (MPI_Request* r, int* f, MPI_Status* s), (r, f, s))
COUNTED(Testall, (int n, MPI_Request r[], int* f, MPI_Status s[]), (n, r, f, s))
COUNTED(Testany, (int n, MPI_Request r[], int* i, int* f, MPI_Status* s), (n, r, i, f, s))
COUNTED(Testsome, (int n, MPI_Request r[], int* o, int i[], MPI_Status s[]), (n, r, o, i, s))
COUNTED(Cancel, (MPI_Request* r), (r))
COUNTED(Request_free, (MPI_Request* r), (r))
COUNTED(Request_get_status, (MPI_Request r, int* f, MPI_Status* s), (r, f, s))

COUNTED(Type_contiguous, (int n, MPI_Datatype t, MPI_Datatype* o), (n, t, o))
COUNTED(Type_vector, (int n, int l, int s, MPI_Datatype t, MPI_Datatype* o), (n, l, s, t, o))
COUNTED(Type_create_hvector, (int n, int l, MPI_Aint s, MPI_Datatype t, MPI_Datatype* o), (n, l, s, t, o))
COUNTED(Type_indexed, (int n, const int l[], const int d[], MPI_Datatype t, MPI_Datatype* o), (n, l, d, t, o))
COUNTED(Type_create_hindexed, (int n, const int l[], const MPI_Aint d[], MPI_Datatype t, MPI_Datatype* o), (n, l, d, t, o))
COUNTED(Type_create_hindexed_block, (int n, int l, const MPI_Aint d[], MPI_Datatype t, MPI_Datatype* o), (n, l, d, t, o))
COUNTED(Type_create_struct, (int n, const int l[], const MPI_Aint d[], const MPI_Datatype t[], MPI_Datatype* o), (n, l, d, t, o))
COUNTED(Type_create_subarray, (int n, const int a[], const int l[], const int d[], int k, MPI_Datatype t, MPI_Datatype* o), (n, a, l, d, k, t, o))
COUNTED(Type_create_resized, (MPI_Datatype t, MPI_Aint l, MPI_Aint e, MPI_Datatype* o), (t, l, e, o))
COUNTED(Type_dup, (MPI_Datatype t, MPI_Datatype* o), (t, o))
COUNTED(Type_commit, (MPI_Datatype* t), (t))
COUNTED(Type_free, (MPI_Datatype* t), (t))
COUNTED(Type_size, (MPI_Datatype t, int* n), (t, n))
COUNTED(Type_get_extent, (MPI_Datatype t, MPI_Aint* l, MPI_Aint* e), (t, l, e))
COUNTED(Pack, (const void* b, int n, MPI_Datatype t, void* o, int s, int* p, MPI_Comm c), (b, n, t, o, s, p, c))
COUNTED(Unpack, (const void* b, int s, int* p, void* o, int n, MPI_Datatype t, MPI_Comm c), (b, s, p, o, n, t, c))

COUNTED(Barrier, (MPI_Comm c), (c))
COUNTED(Bcast, (void* b, int n, MPI_Datatype t, int r, MPI_Comm c), (b, n, t, r, c))
COUNTED(Reduce, (const void* b, void* o, int n, MPI_Datatype t, MPI_Op p, int r, MPI_Comm c), (b, o, n, t, p, r, c))
COUNTED(Allreduce, (const void* b, void* o, int n, MPI_Datatype t, MPI_Op p, MPI_Comm c), (b, o, n, t, p, c))
COUNTED(Scan, (const void* b, void* o, int n, MPI_Datatype t, MPI_Op p, MPI_Comm c), (b, o, n, t, p, c))
COUNTED(Exscan, (const void* b, void* o, int n, MPI_Datatype t, MPI_Op p, MPI_Comm c), (b, o, n, t, p, c))
COUNTED(Gather, (const void* b, int n, MPI_Datatype t, void* o, int m, MPI_Datatype u, int r, MPI_Comm c), (b, n, t, o, m, u, r, c))
COUNTED(Scatter, (const void* b, int n, MPI_Datatype t, void* o, int m, MPI_Datatype u, int r, MPI_Comm c), (b, n, t, o, m, u, r, c))
COUNTED(Allgather, (const void* b, int n, MPI_Datatype t, void* o, int m, MPI_Datatype u, MPI_Comm c), (b, n, t, o, m, u, c))
COUNTED(Alltoall, (const void* b, int n, MPI_Datatype t, void* o, int m, MPI_Datatype u, MPI_Comm c), (b, n, t, o, m, u, c))
COUNTED(Neighbor_alltoall, (const void* b, int n, MPI_Datatype t, void* o, int m, MPI_Datatype u, MPI_Comm c), (b, n, t, o, m, u, c))
COUNTED(Allgatherv, (const void* b, int n, MPI_Datatype t, void* o, const int m[], const int d[], MPI_Datatype u, MPI_Comm c), (b, n, t, o, m, d, u, c))
COUNTED(Alltoallv, (const void* b, const int n[], const int e[], MPI_Datatype t, void* o, const int m[], const int d[], MPI_Datatype u, MPI_Comm c), (b, n, e, t, o, m, d, u, c))
COUNTED(Alltoallw, (const void* b, const int n[], const int e[], const MPI_Datatype t[], void* o, const int m[], const int d[], const MPI_Datatype u[], MPI_Comm c), (b, n, e, t, o, m, d, u, c))
COUNTED(Ibarrier, (MPI_Comm c, MPI_Request* q), (c, q))
COUNTED(Ibcast, (void* b, int n, MPI_Datatype t, int r, MPI_Comm c, MPI_Request* q), (b, n, t, r, c, q))
COUNTED(Iallreduce, (const void* b, void* o, int n, MPI_Datatype t, MPI_Op p, MPI_Comm c, MPI_Request* q), (b, o, n, t, p, c, q))
COUNTED(Op_free, (MPI_Op* o), (o))
COUNTED(Op_create, (MPI_User_function* f, int k, MPI_Op* o), (f, k, o))
COUNTED(Ialltoall, (const void* b, int n, MPI_Datatype t, void* o, int m, MPI_Datatype u, MPI_Comm c, MPI_Request* q), (b, n, t, o, m, u, c, q))
COUNTED(Iallgather, (const void* b, int n, MPI_Datatype t, void* o, int m, MPI_Datatype u, MPI_Comm c, MPI_Request* q), (b, n, t, o, m, u, c, q))
COUNTED(Iscatter, (const void* b, int n, MPI_Datatype t, void* o, int m, MPI_Datatype u, int r, MPI_Comm c, MPI_Request* q), (b, n, t, o, m, u, r, c, q))
COUNTED(Igather, (const void* b, int n, MPI_Datatype t, void* o, int m, MPI_Datatype u, int r, MPI_Comm c, MPI_Request* q), (b, n, t, o, m, u, r, c, q))
COUNTED(Iexscan, (const void* b, void* o, int n, MPI_Datatype t, MPI_Op p, MPI_Comm c, MPI_Request* q), (b, o, n, t, p, c, q))
COUNTED(Iscan, (const void* b, void* o, int n, MPI_Datatype t, MPI_Op p, MPI_Comm c, MPI_Request* q), (b, o, n, t, p, c, q))
COUNTED(Ireduce, (const void* b, void* o, int n, MPI_Datatype t, MPI_Op p, int r, MPI_Comm c, MPI_Request* q), (b, o, n, t, p, r, c, q))
COUNTED(Scatterv, (const void* b, const int n[], const int e[], MPI_Datatype t, void* o, int m, MPI_Datatype u, int r, MPI_Comm c), (b, n, e, t, o, m, u, r, c))
COUNTED(Gatherv, (const void* b, int n, MPI_Datatype t, void* o, const int m[], const int d[], MPI_Datatype u, int r, MPI_Comm c), (b, n, t, o, m, d, u, r, c))
COUNTED(Ineighbor_alltoallw, (const void* b, const int n[], const MPI_Aint e[], const MPI_Datatype t[], void* o, const int m[], const MPI_Aint d[], const MPI_Datatype u[], MPI_Comm c, MPI_Request* q), (b, n, e, t, o, m, d, u, c, q))
COUNTED(Put, (const void* b, int n, MPI_Datatype t, int p, MPI_Aint d, int m, MPI_Datatype u, MPI_Win w), (b, n, t, p, d, m, u, w))
COUNTED(Win_post, (MPI_Group g, int a, MPI_Win w), (g, a, w))
COUNTED(Win_start, (MPI_Group g, int a, MPI_Win w), (g, a, w))
COUNTED(Win_complete, (MPI_Win w), (w))
COUNTED(Win_wait, (MPI_Win w), (w))
COUNTED(Win_fence, (int a, MPI_Win w), (a, w))
COUNTED(Win_sync, (MPI_Win w), (w))
COUNTED(Win_flush, (int p, MPI_Win w), (p, w))

COUNTED(Comm_rank, (MPI_Comm c, int* r), (c, r))
COUNTED(Comm_size, (MPI_Comm c, int* n), (c, n))
COUNTED(Comm_dup, (MPI_Comm c, MPI_Comm* o), (c, o))
COUNTED(Comm_free, (MPI_Comm* c), (c))
COUNTED(Comm_get_attr, (MPI_Comm c, int k, void* v, int* f), (c, k, v, f))
COUNTED(Cart_coords, (MPI_Comm c, int r, int n, int x[]), (c, r, n, x))
COUNTED(Cart_shift, (MPI_Comm c, int d, int s, int* a, int* b), (c, d, s, a, b))
COUNTED(Cart_rank, (MPI_Comm c, const int x[], int* r), (c, x, r))
COUNTED(Initialized, (int* f), (f))
COUNTED(Finalized, (int* f), (f))
}
