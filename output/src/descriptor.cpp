// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "descriptor.hpp"

#include <kontor/output/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/stat.h>

namespace kontor::output {

namespace {

constexpr std::uint64_t most = 1 << 30; // bytes of a call: more than an int has are cut off

/// What a call of the system has moved; none if it is to be called again.
std::uint64_t moved(ssize_t bytes, const char* call) {
  if (bytes >= 0) return static_cast<std::uint64_t>(bytes);
  if (errno != EINTR) throw Error(fmt::format("{} failed: {}", call, std::strerror(errno)));
  return 0;
}

} // namespace

void write_at(int descriptor, std::uint64_t position, const void* data, std::uint64_t bytes) {
  for (std::uint64_t done = 0; done < bytes;)
    done += moved(::pwrite(descriptor, static_cast<const char*>(data) + done, std::min(bytes - done, most),
                           static_cast<off_t>(position + done)),
                  "write");
}

void read_at(int descriptor, std::uint64_t position, void* to, std::uint64_t bytes) {
  for (std::uint64_t done = 0; done < bytes;) {
    const ssize_t got = ::pread(descriptor, static_cast<char*>(to) + done, std::min(bytes - done, most),
                                static_cast<off_t>(position + done));
    if (got == 0) throw Error(fmt::format("it ends at byte {}", position + done), "E-FILE-DAMAGED");
    done += moved(got, "read");
  }
}

std::uint64_t size_of(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) throw Error(std::strerror(errno), "E-FILE-READ");
  if (S_ISDIR(status.st_mode)) throw Error("it is a directory", "E-FILE-FORMAT");
  if (!S_ISREG(status.st_mode)) throw Error("it is not a regular file", "E-FILE-FORMAT");
  return static_cast<std::uint64_t>(status.st_size);
}

void sync(int descriptor) {
  if (::fsync(descriptor) != 0) throw Error(fmt::format("fsync failed: {}", std::strerror(errno)));
}

} // namespace kontor::output
