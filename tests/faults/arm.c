/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define _GNU_SOURCE
#include "arm.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { places = 8192 };

static struct {
  const char* function;
  const void* address;
  char text[96];
  long calls;
} sites[places];
static int used = 0;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static const char *call, *site, *action, *folder, *reached, *trace;
static char rank[16] = "0";
static long number = 1, seen = 0;
static int repeat = 0, mine = 1, ready = 0;
static __thread int stop_after = 0;

/* The launcher preloads it too where a test cannot help it; there it does nothing. */
__attribute__((constructor)) static void read_environment(void) {
  const char* own = getenv("OMPI_COMM_WORLD_RANK");
  if (!own) own = getenv("PMI_RANK");
  if (own) snprintf(rank, sizeof rank, "%s", own);
  const char* only = getenv("KONTOR_FAULT_RANK");
  mine = !only || strcmp(only, rank) == 0;
  call = getenv("KONTOR_FAULT_CALL");
  site = getenv("KONTOR_FAULT_SITE");
  action = getenv("KONTOR_FAULT_DO");
  folder = getenv("KONTOR_FAULT_FOLDER");
  reached = getenv("KONTOR_FAULT_REACHED");
  trace = getenv("KONTOR_FAULT_TRACE");
  if (getenv("KONTOR_FAULT_NUMBER")) number = atol(getenv("KONTOR_FAULT_NUMBER"));
  repeat = getenv("KONTOR_FAULT_REPEAT") != NULL;
}

/* Nothing is counted and nothing fails before main(): of the program's constants nobody can tell an error. */
typedef int main_function(int, char**, char**);
static main_function* main_of_program;

static int begin_main(int arguments, char** values, char** environment) {
  ready = 1;
  return main_of_program(arguments, values, environment);
}

int __libc_start_main(main_function* program, int arguments, char** values, void (*begin)(void),
                      void (*end)(void), void (*unload)(void), void* stack) {
  int (*const start)(main_function*, int, char**, void (*)(void), void (*)(void), void (*)(void), void*) =
      dlsym(RTLD_NEXT, "__libc_start_main");
  main_of_program = program;
  return start(begin_main, arguments, values, begin, end, unload, stack);
}

/* By the kernel, not by functions that this library replaces. */
static int open_file(const char* name) {
  char path[4096];
  snprintf(path, sizeof path, "%s.%s", name, rank);
  return (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

static void stop_here(void) {
  kill(getpid(), SIGSTOP);
}

static void describe(const void* address, char* text, size_t size) {
  Dl_info info;
  if (!dladdr(address, &info) || !info.dli_fname) {
    snprintf(text, size, "unknown");
    return;
  }
  const char* slash = strrchr(info.dli_fname, '/');
  snprintf(text, size, "%s+0x%lx", slash ? slash + 1 : info.dli_fname,
           (unsigned long)((uintptr_t)address - (uintptr_t)info.dli_fbase));
}

static void count(const char* function, const void* address) {
  const size_t start = ((uintptr_t)address * 2654435761u ^ (uintptr_t)function) % places;
  pthread_mutex_lock(&mutex);
  for (size_t i = start; used < places - 1; i = (i + 1) % places) {
    if (!sites[i].function) {
      sites[i].function = function;
      sites[i].address = address;
      describe(address, sites[i].text,
               sizeof sites[i].text); /* now: its library may be unloaded at the end */
      ++used;
    }
    if (sites[i].function == function && sites[i].address == address) {
      ++sites[i].calls;
      break;
    }
  }
  pthread_mutex_unlock(&mutex);
}

static int is_wanted(const char* function, const void* address) {
  if (!mine || !call || strcmp(call, function) != 0) return 0;
  if (!site) return 1;
  char text[96];
  describe(address, text, sizeof text);
  return strcmp(text, site) == 0;
}

enum kontor_fault kontor_fault_at(const char* function, const void* address) {
  if (!ready) return FAULT_NONE;
  if (trace) count(function, address);
  if (!is_wanted(function, address)) return FAULT_NONE;
  const long now = __atomic_add_fetch(&seen, 1, __ATOMIC_RELAXED);
  if (now < number || (now > number && !repeat)) return FAULT_NONE;
  if (now == number && reached) close(open_file(reached));
  if (!action) return FAULT_NONE;
  if (strcmp(action, "pause") == 0) {
    stop_here();
    return FAULT_NONE;
  }
  if (strcmp(action, "done") == 0) {
    stop_after = 1;
    return FAULT_NONE;
  }
  if (strcmp(action, "after") == 0) return FAULT_AFTER;
  if (strcmp(action, "short") == 0) return FAULT_SHORT;
  return FAULT_ERROR;
}

void kontor_fault_past(void) {
  if (!stop_after) return;
  stop_after = 0;
  stop_here();
}

int kontor_fault_code(int fallback) {
  const int code = action ? atoi(action) : 0;
  return code ? code : fallback;
}

int kontor_fault_path(const char* path) {
  if (!folder) return 1;
  if (path[0] != '/') { /* relative to the working directory, which is the folder or is not */
    char here[4096];
    if (!getcwd(here, sizeof here)) return 1; /* it has vanished */
    return strcmp(here, folder) == 0;
  }
  return strncmp(path, folder, strlen(folder)) == 0;
}

int kontor_fault_descriptor(int file) {
  if (!folder) return 1;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = syscall(SYS_readlink, link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return strncmp(path, folder, strlen(folder)) == 0;
}

/* As a library whose exit handler never comes to an end. */
__attribute__((destructor)) static void stay(void) {
  while (mine && call && strcmp(call, "exit") == 0) pause();
}

__attribute__((destructor)) static void write_trace(void) {
  if (!trace) return;
  const int file = open_file(trace);
  for (size_t i = 0; i < places; ++i) {
    if (!sites[i].function) continue;
    char line[256];
    const int length =
        snprintf(line, sizeof line, "%s %s %ld\n", sites[i].function, sites[i].text, sites[i].calls);
    if (syscall(SYS_write, file, line, (size_t)length) != length) break;
  }
  syscall(SYS_close, file);
}
