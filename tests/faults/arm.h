/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which call of a function is to go wrong, and how. Read from the environment when the library is loaded. */
// clang-format off
/*
 * KONTOR_FAULT_CALL=<function>   such as pwrite or MPI_Allreduce; "exit": exit() does not come back
 * KONTOR_FAULT_SITE=<text>       only its calls from this place, <module>+<offset>; else from anywhere
 * KONTOR_FAULT_NUMBER=<n>        the n-th of these calls, from 1; 1 if it is not given
 * KONTOR_FAULT_REPEAT=1          that call and all later ones
 * KONTOR_FAULT_DO=<what>         an errno or an MPI error class as a number
 *                                "after"  it is made, and said to have failed
 *                                "short"  half of it is done
 *                                "pause"  the process stops itself, before the call
 *                                "done"   it stops itself, after the call
 * KONTOR_FAULT_RANK=<rank>       only on this rank of MPI_COMM_WORLD (Open MPI, MPICH); else on all
 * KONTOR_FAULT_FOLDER=<path>     only calls that concern files in this folder, where a function concerns files
 * KONTOR_FAULT_REACHED=<file>    FILE.<rank> is created when the call is reached
 * KONTOR_FAULT_TRACE=<file>      FILE.<rank> gets a line "<function> <site> <calls>" for each site, at the end
 */
// clang-format on
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum kontor_fault { FAULT_NONE, FAULT_ERROR, FAULT_AFTER, FAULT_SHORT };

/* Counts a call from `address`, and says what is to become of it. Stops the process where that is wanted. */
enum kontor_fault kontor_fault_at(const char* function, const void* address);
/* The same where a call has been made: stops the process if it is to be stopped after it. */
void kontor_fault_past(void);
/* The number of KONTOR_FAULT_DO, or `fallback`. */
int kontor_fault_code(int fallback);
/* Whether files of this name, or of this descriptor, are meant. */
int kontor_fault_path(const char* path);
int kontor_fault_descriptor(int file);

#ifdef __cplusplus
}
#endif
