// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "faults.hpp"

#include <mpi.h>

#include <string_view>

namespace {

const char* failing = "";
int calls_until = 0;

bool fails(const char* name) {
  return std::string_view(failing) == name && --calls_until == 0;
}

} // namespace

namespace kontor::comm::test {

void let_fail(const char* function, int call) {
  failing = function;
  calls_until = call;
}

} // namespace kontor::comm::test

extern "C" {
int MPI_Comm_rank(MPI_Comm c, int* rank) {
  return fails("MPI_Comm_rank") ? MPI_ERR_OTHER : PMPI_Comm_rank(c, rank);
}
int MPI_Comm_get_attr(MPI_Comm c, int key, void* value, int* found) {
  if (!fails("MPI_Comm_get_attr, by few tags")) return PMPI_Comm_get_attr(c, key, value, found);
  static int highest = 5;
  *static_cast<int**>(value) = &highest;
  *found = 1;
  return MPI_SUCCESS;
}
int MPI_Comm_dup(MPI_Comm c, MPI_Comm* made) {
  if (!fails("MPI_Comm_dup")) return PMPI_Comm_dup(c, made);
  *made = MPI_COMM_NULL;
  return MPI_ERR_OTHER;
}
int MPI_Send(const void* b, int n, MPI_Datatype t, int p, int g, MPI_Comm c) {
  const int code = PMPI_Send(b, n, t, p, g, c);
  return fails("MPI_Send") ? MPI_ERR_OTHER : code;
}
int MPI_Recv(void* b, int n, MPI_Datatype t, int p, int g, MPI_Comm c, MPI_Status* s) {
  const int code = PMPI_Recv(b, n, t, p, g, c, s);
  return fails("MPI_Recv") ? MPI_ERR_OTHER : code;
}
int MPI_Sendrecv(const void* b, int n, MPI_Datatype t, int p, int g, void* d, int m, MPI_Datatype u, int q,
                 int h, MPI_Comm c, MPI_Status* s) {
  const int code = PMPI_Sendrecv(b, n, t, p, g, d, m, u, q, h, c, s);
  return fails("MPI_Sendrecv") ? MPI_ERR_OTHER : code;
}
int MPI_Isend(const void* b, int n, MPI_Datatype t, int p, int g, MPI_Comm c, MPI_Request* r) {
  return fails("MPI_Isend") ? MPI_ERR_OTHER : PMPI_Isend(b, n, t, p, g, c, r);
}
int MPI_Send_init(const void* b, int n, MPI_Datatype t, int p, int g, MPI_Comm c, MPI_Request* r) {
  return fails("MPI_Send_init") ? MPI_ERR_OTHER : PMPI_Send_init(b, n, t, p, g, c, r);
}
int MPI_Startall(int n, MPI_Request r[]) {
  return fails("MPI_Startall") ? MPI_ERR_OTHER : PMPI_Startall(n, r);
}
int MPI_Ineighbor_alltoallw(const void* b, const int n[], const MPI_Aint e[], const MPI_Datatype t[], void* o,
                            const int m[], const MPI_Aint d[], const MPI_Datatype u[], MPI_Comm c,
                            MPI_Request* r) {
  return fails("MPI_Ineighbor_alltoallw") ? MPI_ERR_OTHER
                                          : PMPI_Ineighbor_alltoallw(b, n, e, t, o, m, d, u, c, r);
}
int MPI_Win_complete(MPI_Win w) {
  const int code = PMPI_Win_complete(w);
  return fails("MPI_Win_complete") ? MPI_ERR_OTHER : code;
}
int MPI_Issend(const void* b, int n, MPI_Datatype t, int p, int g, MPI_Comm c, MPI_Request* r) {
  return fails("MPI_Issend") ? MPI_ERR_OTHER : PMPI_Issend(b, n, t, p, g, c, r);
}
int MPI_Irecv(void* b, int n, MPI_Datatype t, int p, int g, MPI_Comm c, MPI_Request* r) {
  if (fails("MPI_Irecv, by a short one")) return PMPI_Irecv(b, n - 1, t, p, g, c, r);
  return fails("MPI_Irecv") ? MPI_ERR_OTHER : PMPI_Irecv(b, n, t, p, g, c, r);
}
int MPI_Wait(MPI_Request* r, MPI_Status* s) {
  const int code = PMPI_Wait(r, s);
  return fails("MPI_Wait") ? MPI_ERR_OTHER : code;
}
int MPI_Test(MPI_Request* r, int* done, MPI_Status* s) {
  const int code = PMPI_Test(r, done, s);
  return fails("MPI_Test") ? MPI_ERR_OTHER : code;
}
/// The messages arrive, and the last request is said to have failed.
int MPI_Waitall(int n, MPI_Request r[], MPI_Status s[]) {
  const int code = PMPI_Waitall(n, r, s);
  if (!fails("MPI_Waitall")) return code;
  for (int i = 0; i < n; ++i) s[i].MPI_ERROR = i == n - 1 ? MPI_ERR_OTHER : MPI_SUCCESS;
  return MPI_ERR_IN_STATUS;
}
int MPI_Waitany(int n, MPI_Request r[], int* i, MPI_Status* s) {
  const int code = PMPI_Waitany(n, r, i, s);
  return fails("MPI_Waitany") ? MPI_ERR_OTHER : code;
}
int MPI_Waitsome(int n, MPI_Request r[], int* m, int i[], MPI_Status s[]) {
  const int code = PMPI_Waitsome(n, r, m, i, s);
  if (!fails("MPI_Waitsome")) return code;
  for (int k = 0; k < *m; ++k) s[k].MPI_ERROR = k == *m - 1 ? MPI_ERR_OTHER : MPI_SUCCESS;
  return MPI_ERR_IN_STATUS;
}
int MPI_Probe(int p, int g, MPI_Comm c, MPI_Status* s) {
  return fails("MPI_Probe") ? MPI_ERR_OTHER : PMPI_Probe(p, g, c, s);
}
int MPI_Iprobe(int p, int g, MPI_Comm c, int* found, MPI_Status* s) {
  return fails("MPI_Iprobe") ? MPI_ERR_OTHER : PMPI_Iprobe(p, g, c, found, s);
}
int MPI_Allreduce(const void* b, void* o, int n, MPI_Datatype t, MPI_Op p, MPI_Comm c) {
  return fails("MPI_Allreduce") ? MPI_ERR_OTHER : PMPI_Allreduce(b, o, n, t, p, c);
}
int MPI_Iallreduce(const void* b, void* o, int n, MPI_Datatype t, MPI_Op p, MPI_Comm c, MPI_Request* r) {
  return fails("MPI_Iallreduce") ? MPI_ERR_OTHER : PMPI_Iallreduce(b, o, n, t, p, c, r);
}
int MPI_Bcast(void* b, int n, MPI_Datatype t, int r, MPI_Comm c) {
  return fails("MPI_Bcast") ? MPI_ERR_OTHER : PMPI_Bcast(b, n, t, r, c);
}
int MPI_Alltoallv(const void* b, const int n[], const int e[], MPI_Datatype t, void* o, const int m[],
                  const int d[], MPI_Datatype u, MPI_Comm c) {
  return fails("MPI_Alltoallv") ? MPI_ERR_OTHER : PMPI_Alltoallv(b, n, e, t, o, m, d, u, c);
}
}
