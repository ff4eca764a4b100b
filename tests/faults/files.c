/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Calls of the C library that make, write, sync, rename and remove files. */
#define _GNU_SOURCE
#include "arm.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define CALLER __builtin_return_address(0)

/* Defines `name`: the real function, unless the call is one that is to fail. `when`: whether it concerns the
 * files that are meant. `half`: the call that does half of it. */
#define CALL(result, name, parameters, when, whole, half)                                                    \
  result name parameters {                                                                                   \
    static result(*real) parameters = NULL;                                                                  \
    if (!real) *(void**)&real = dlsym(RTLD_NEXT, #name);                                                     \
    const enum kontor_fault fault = when ? kontor_fault_at(#name, CALLER) : FAULT_NONE;                      \
    if (fault == FAULT_ERROR) {                                                                              \
      errno = kontor_fault_code(EIO);                                                                        \
      return -1;                                                                                             \
    }                                                                                                        \
    if (fault == FAULT_SHORT) return real half;                                                              \
    const result answer = real whole;                                                                        \
    const int reason = errno;                                                                                \
    kontor_fault_past();                                                                                     \
    errno = fault == FAULT_AFTER ? EIO : reason;                                                             \
    return fault == FAULT_AFTER ? -1 : answer;                                                               \
  }
#define FILE_CALL(result, name, parameters, whole, half)                                                     \
  CALL(result, name, parameters, kontor_fault_descriptor(file), whole, half)
#define PATH_CALL(name, parameters, path, whole)                                                             \
  CALL(int, name, parameters, kontor_fault_path(path), whole, whole)

FILE_CALL(ssize_t, write, (int file, const void* data, size_t n), (file, data, n), (file, data, n / 2))
FILE_CALL(ssize_t, pwrite, (int file, const void* data, size_t n, off_t at), (file, data, n, at),
          (file, data, n / 2, at))
FILE_CALL(ssize_t, pwrite64, (int file, const void* data, size_t n, off64_t at), (file, data, n, at),
          (file, data, n / 2, at))
FILE_CALL(ssize_t, writev, (int file, const struct iovec* v, int n), (file, v, n), (file, v, (n + 1) / 2))
FILE_CALL(ssize_t, pwritev, (int file, const struct iovec* v, int n, off_t at), (file, v, n, at),
          (file, v, (n + 1) / 2, at))
FILE_CALL(ssize_t, read, (int file, void* data, size_t n), (file, data, n), (file, data, (n + 1) / 2))
FILE_CALL(ssize_t, pread, (int file, void* data, size_t n, off_t at), (file, data, n, at),
          (file, data, (n + 1) / 2, at))
FILE_CALL(int, fsync, (int file), (file), (file))
FILE_CALL(int, fdatasync, (int file), (file), (file))
FILE_CALL(int, ftruncate, (int file, off_t bytes), (file, bytes), (file, bytes))
FILE_CALL(int, ftruncate64, (int file, off64_t bytes), (file, bytes), (file, bytes))
FILE_CALL(int, close, (int file), (file), (file))
FILE_CALL(int, flock, (int file, int operation), (file, operation), (file, operation))
FILE_CALL(int, fstat, (int file, struct stat* status), (file, status), (file, status))
PATH_CALL(lstat, (const char* path, struct stat* status), path, (path, status))
PATH_CALL(rename, (const char* from, const char* to), to, (from, to))
PATH_CALL(unlink, (const char* path), path, (path))
PATH_CALL(mkdir, (const char* path, mode_t mode), path, (path, mode))

/* Those that have a mode only at times. */
#define OPEN(name)                                                                                           \
  int name(const char* path, int flags, ...) {                                                               \
    static int (*real)(const char*, int, ...) = NULL;                                                        \
    if (!real) *(void**)&real = dlsym(RTLD_NEXT, #name);                                                     \
    va_list more;                                                                                            \
    va_start(more, flags);                                                                                   \
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;                            \
    va_end(more);                                                                                            \
    const enum kontor_fault fault = kontor_fault_path(path) ? kontor_fault_at(#name, CALLER) : FAULT_NONE;   \
    if (fault == FAULT_ERROR) {                                                                              \
      errno = kontor_fault_code(EIO);                                                                        \
      return -1;                                                                                             \
    }                                                                                                        \
    const int file = real(path, flags, mode);                                                                \
    kontor_fault_past();                                                                                     \
    return file;                                                                                             \
  }
OPEN(open)
OPEN(open64)
