// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string_view>

namespace {

const char* failing = "";
int calls_until = 0;
MPI_Request held = MPI_REQUEST_NULL; ///< never completes

bool fails(const char* name) { return std::string_view(failing) == name && --calls_until == 0; }

/// These do their work and then say that they have failed; the others do nothing.
bool works_before_it_fails(std::string_view name) {
  constexpr std::string_view names[] = {"MPI_Send",         "MPI_Recv", "MPI_Sendrecv",
                                        "MPI_Win_complete", "MPI_Wait", "MPI_Waitany"};
  return std::ranges::find(names, name) != std::end(names);
}

/// The messages of a call have arrived, and the last of them is said to have failed.
int fail_the_last(int n, MPI_Status s[]) {
  for (int i = 0; i < n; ++i) s[i].MPI_ERROR = i == n - 1 ? MPI_ERR_OTHER : MPI_SUCCESS;
  return MPI_ERR_IN_STATUS;
}

} // namespace

namespace kontor::comm::test {

void let_fail(const char* function, int call) {
  failing = function;
  calls_until = call;
}

bool has_failed() { return calls_until <= 0; }

} // namespace kontor::comm::test

// Each line stands for one MPI function: it is passed on, or fails.
#define OTHER_BODIES
#define FUNCTION(name, parameters, arguments)                                                                          \
  int MPI_##name parameters {                                                                                          \
    if (!fails("MPI_" #name)) return PMPI_##name arguments;                                                            \
    if (works_before_it_fails("MPI_" #name)) PMPI_##name arguments;                                                    \
    return MPI_ERR_OTHER;                                                                                              \
  }

extern "C" {
#include "mpi_functions.inc"

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
int MPI_Irecv(void* b, int n, MPI_Datatype t, int p, int g, MPI_Comm c, MPI_Request* r) {
  if (fails("MPI_Irecv, by a short one")) return PMPI_Irecv(b, n - 1, t, p, g, c, r);
  return fails("MPI_Irecv") ? MPI_ERR_OTHER : PMPI_Irecv(b, n, t, p, g, c, r);
}
int MPI_Isend(const void* b, int n, MPI_Datatype t, int p, int g, MPI_Comm c, MPI_Request* r) {
  if (fails("MPI_Isend")) return MPI_ERR_OTHER;
  const int code = PMPI_Isend(b, n, t, p, g, c, r);
  if (std::string_view(failing) == "MPI_Isend, by endless ones") held = *r;
  return code;
}
/// No request may be asked for after MPI.
int MPI_Test(MPI_Request* r, int* done, MPI_Status* s) {
  int ended = 0;
  PMPI_Finalized(&ended);
  if (ended) {
    std::printf("MPI_Test after MPI has ended\n");
    std::_Exit(3);
  }
  *done = 0;
  if (held != MPI_REQUEST_NULL && *r == held) return MPI_SUCCESS;
  const int code = PMPI_Test(r, done, s);
  return fails("MPI_Test") ? MPI_ERR_OTHER : code;
}
int MPI_Waitall(int n, MPI_Request r[], MPI_Status s[]) {
  const int code = PMPI_Waitall(n, r, s);
  return fails("MPI_Waitall") ? fail_the_last(n, s) : code;
}
}
