// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "disk.hpp"

#include <kontor/output/error.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace kontor::output {

namespace fs = std::filesystem;

void check_creatable(const fs::path& target, const fs::path& temporary) {
  constexpr const char* advice = "choose another file with output.file or -o";
  std::error_code ignored;
  const fs::file_status status = fs::status(target, ignored);
  if (fs::is_directory(status) || !target.has_filename())
    throw Error(fmt::format("output: {} is a directory; {}", target.string(), advice));
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw Error(
        fmt::format("output: {} is not a regular file and cannot be replaced; {}", target.string(), advice));
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT, 0666);
  if (file < 0) {
    const int reason = errno;
    throw Error(fmt::format("output: cannot create {}: {}; {}{}", temporary.string(), std::strerror(reason),
                            reason == ENOENT ? "make the directory or " : "", advice));
  }
  ::close(file);
}

void sync(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY);
  if (file < 0) throw Error(fmt::format("cannot open the written file to sync it: {}", std::strerror(errno)));
  const int reason = ::fsync(file) == 0 ? 0 : errno;
  ::close(file);
  if (reason != 0) throw Error(fmt::format("fsync failed: {}", std::strerror(reason)));
}

void replace(const fs::path& temporary, const fs::path& target) {
  if (::rename(temporary.c_str(), target.c_str()) != 0)
    throw Error(fmt::format("cannot rename it to {}: {}", target.string(), std::strerror(errno)));
  // Should this fail, a crash of the machine may bring the previous file back, which is whole too.
  const fs::path parent = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (const int directory = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY); directory >= 0) {
    ::fsync(directory);
    ::close(directory);
  }
}

void discard(const fs::path& file) noexcept {
  std::error_code ignored;
  fs::resize_file(file, 0, ignored);
  fs::remove(file, ignored);
}

} // namespace kontor::output
