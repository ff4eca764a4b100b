/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Clocks that jump: from a certain call on, this clock is as many seconds ahead, or behind. */
#define _GNU_SOURCE
#include "arm.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void jump(struct timespec* time, int clock) {
  static double ahead[2];
  if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) return;
  const int real = clock == CLOCK_REALTIME;
  const char* function = real ? "CLOCK_REALTIME" : "CLOCK_MONOTONIC";
  if (kontor_fault_at(function, NULL) == FAULT_JUMP) ahead[real] = kontor_fault_jump();
  time->tv_sec += (time_t)ahead[real];
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  const int result = (int)syscall(SYS_clock_gettime, clock, time);
  if (result == 0) jump(time, clock);
  return result;
}

time_t time(time_t* place) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (place) *place = now.tv_sec;
  return now.tv_sec;
}
