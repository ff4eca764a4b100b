// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Preloaded into tests with MPICH (LD_PRELOAD). A rank of MPICH 4.0 that waits never yields its core, so with
 * more ranks than cores each message waits for the end of somebody's time slice, and a test takes a hundred
 * times longer. All of its waiting calls ucp_worker_progress(); here that yields when there was nothing to
 * do. With an MPICH over another network library than UCX this does nothing. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*progress)(void*);
  if (!progress) progress = (unsigned (*)(void*))dlsym(RTLD_NEXT, "ucp_worker_progress");
  const unsigned events = progress(worker);
  if (events == 0) sched_yield();
  return events;
}
