// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* A disk that fills up, and other faults of file systems. Stands before the C library, linked or preloaded
 * (LD_PRELOAD), and lets writes to temporaries, *.h5.*.tmp, fail with ENOSPC after a number of bytes. It is armed
 * by kontor_fault_arm(), or by the environment:
 *   KONTOR_FAULT_AFTER=<bytes>   how many bytes still arrive; without it nothing fails
 *   KONTOR_FAULT_FILE=<text>     in the names of the files; ".h5." if it is not given
 *   KONTOR_FAULT_RANK=<rank>     only on this rank of MPI_COMM_WORLD (Open MPI, MPICH) */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/types.h>
#include <unistd.h>

static long long left = -1; /* bytes that still arrive; negative: all */
static const char* of_file = ".h5.";
static int renames = -1; /* how many still work; negative: all */
static int no_unlink = 0;
static int no_create = 0;

void kontor_fault_arm(long long after) { left = after; }

/* The rename after so many others fails with EIO, once. */
void kontor_fault_rename(int after) { renames = after; }

/* Whether no temporary can be removed. */
void kontor_fault_unlink(int fails) { no_unlink = fails; }

/* Whether no file can be created. */
void kontor_fault_create(int fails) { no_create = fails; }

__attribute__((constructor)) static void arm_from_environment(void) {
  const char* after = getenv("KONTOR_FAULT_AFTER");
  const char* only = getenv("KONTOR_FAULT_RANK");
  if (getenv("KONTOR_FAULT_FILE")) of_file = getenv("KONTOR_FAULT_FILE");
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  if (!rank) rank = getenv("PMI_RANK");
  if (after && (!only || (rank && strcmp(only, rank) == 0))) kontor_fault_arm(atoll(after));
}

static int is_target(int file) {
  static const char ending[] = ".tmp";
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  const ssize_t n = sizeof ending - 1;
  if (length < n || memcmp(path + length - n, ending, n) != 0) return 0;
  path[length] = 0;
  return strstr(strrchr(path, '/'), of_file) != NULL;
}

/* Where a write of so many bytes goes: to the file, or to a full disk. */
static int redirect(int file, size_t bytes) {
  if (left < 0 || bytes == 0 || !is_target(file)) return file;
  if ((long long)bytes <= left) {
    left -= bytes;
    return file;
  }
  left = 0;
  static int full = -1;
  if (full < 0) full = open("/dev/full", O_WRONLY);
  return full;
}

/* The real function of a name. */
#define REAL(result, name, parameters)                                                                                 \
  static result(*real) parameters = NULL;                                                                              \
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, #name)

/* Defines `name`, which fails with `error` where `fails` is true, and else calls the real function of that
 * name with the given arguments. */
#define REPLACE(result, name, parameters, arguments, fails, error)                                                     \
  result name parameters {                                                                                             \
    REAL(result, name, parameters);                                                                                    \
    if (fails) return errno = error, -1;                                                                               \
    return real arguments;                                                                                             \
  }

/* Kontor and HDF5 write by these. */
REPLACE(ssize_t, write, (int file, const void* data, size_t n), (redirect(file, n), data, n), 0, 0)
REPLACE(ssize_t, pwrite, (int file, const void* data, size_t n, off_t at), (redirect(file, n), data, n, at), 0, 0)
REPLACE(ssize_t, pwrite64, (int file, const void* data, size_t n, off64_t at), (redirect(file, n), data, n, at), 0, 0)

REPLACE(int, rename, (const char* from, const char* to), (from, to), renames >= 0 && renames-- == 0, EIO)
REPLACE(int, unlink, (const char* path), (path), (no_unlink && strstr(path, ".tmp")), EIO)

/* HDF5 opens files by the one or the other. */
#define OPEN(name)                                                                                                     \
  int name(const char* path, int flags, ...) {                                                                         \
    REAL(int, name, (const char*, int, ...));                                                                          \
    if (!(flags & O_CREAT) && (flags & O_TMPFILE) != O_TMPFILE) return real(path, flags); /* has no mode */            \
    if (no_create) return errno = EROFS, -1;                                                                           \
    va_list rest;                                                                                                      \
    va_start(rest, flags);                                                                                             \
    const mode_t mode = va_arg(rest, mode_t);                                                                          \
    va_end(rest);                                                                                                      \
    return real(path, flags, mode);                                                                                    \
  }
OPEN(open)
OPEN(open64)
