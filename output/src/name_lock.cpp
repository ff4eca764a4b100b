// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "temporary.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <random>
#include <sstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>

namespace kontor::output {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view mark = "kontor: "; // a lock file begins with it

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

std::string contents(int file) {
  std::string text(65536, '\0');
  const ssize_t got = ::pread(file, text.data(), text.size(), 0);
  text.resize(got > 0 ? got : 0);
  return text;
}

Descriptor open_lock(const fs::path& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
  const int reason = errno;
  struct stat status {};
  std::error_code ignored;
  if (file < 0 && reason != ENOENT && fs::exists(fs::symlink_status(path, ignored)))
    throw Obstacle{fmt::format("its lock {} cannot be opened: {}", path.string(), std::strerror(reason)),
                   "remove the lock if no run has it or ", "E-FILE-LOCKED"};
  if (file < 0) throw Obstacle{std::strerror(reason), reason == ENOENT ? "make the directory or " : ""};
  if (::fstat(file, &status) != 0)
    throw Obstacle{fmt::format("its lock {}: {}", path.string(), std::strerror(errno)), ""};
  if (!S_ISREG(status.st_mode))
    throw Obstacle{fmt::format("{}, which would be its lock, is not a regular file", path.string()), ""};
  return file;
}

/// "process 17 on host a, since ..."; a holder writes it as soon as it has the lock.
std::string holder(int file) {
  std::string text;
  for (int attempt = 0; attempt < 20 && text.find('\n') == std::string::npos; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    text = contents(file);
  }
  text = text.substr(0, text.find('\n'));
  return text.starts_with(mark) ? text.substr(mark.size()) : "another process";
}

bool is_temporary_of(const std::string& target, const std::string& name) {
  constexpr std::string_view digits = "0123456789abcdef", ending = ".tmp";
  return name.size() == target.size() + 1 + 8 + ending.size() && name.starts_with(target + ".") &&
         name.ends_with(ending) && name.find_first_not_of(digits, target.size() + 1) == target.size() + 9;
}

/// Whether the file is there no longer.
bool removed(const fs::path& file) noexcept { return ::unlink(file.c_str()) == 0 || errno == ENOENT; }

/// What the lock file of a dead process names: nothing else there is Kontor's. Returns the lines of those still there.
std::string remove_left(const fs::path& target, const std::string& noted) {
  std::istringstream lines(noted);
  std::string name, still;
  std::getline(lines, name); // the holder
  while (std::getline(lines, name)) {
    const fs::path left = target.parent_path() / name;
    std::error_code ignored;
    if (is_temporary_of(target.filename().string(), name) && fs::is_regular_file(fs::symlink_status(left, ignored)) &&
        !removed(left))
      still += name + "\n";
  }
  return still;
}

} // namespace

NameLock::NameLock(const fs::path& target)
    : path_(target.parent_path() / fmt::format(".{}.kontor-lock", target.filename().string())) {
  for (;;) {
    Descriptor file = open_lock(path_);
    if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK)
        throw Obstacle{fmt::format("{} is writing it", holder(file)), "wait for that run or ", "E-FILE-LOCKED"};
      if (contents(file).empty()) ::unlink(path_.c_str());
      return;
    }
    const auto still_there = is_file(path_, file);
    if (!still_there) throw Obstacle{fmt::format("its lock {}: {}", path_.string(), std::strerror(errno)), ""};
    if (!*still_there) continue; // its last holder has removed it meanwhile
    const std::string noted = contents(file);
    if (!noted.empty() && !noted.starts_with(mark))
      throw Obstacle{fmt::format("{}, which would be its lock, is not a file of Kontor's", path_.string()), ""};
    const std::string still = remove_left(target, noted);
    if (::ftruncate(file, 0) != 0) throw Obstacle{std::strerror(errno), ""};
    file_ = std::move(file);
    append(fmt::format("{}process {} on host {}, since {:%Y-%m-%dT%H:%M:%SZ},\n{}", mark, ::getpid(), host_name(),
                       fmt::gmtime(std::time(nullptr)), still));
    stays_ = !still.empty();
    return;
  }
}

NameLock::~NameLock() {
  if (file_ >= 0 && !stays_ && is_file(path_, file_) == true) ::unlink(path_.c_str());
}

void NameLock::remove(const fs::path& temporary) noexcept {
  if (!removed(temporary)) stays_ = true;
}

void NameLock::note(const fs::path& temporary) { append(temporary.filename().string() + "\n"); }

void NameLock::append(const std::string& line) {
  if (file_ < 0 || ::write(file_, line.data(), line.size()) == static_cast<ssize_t>(line.size())) return;
  const int reason = errno;
  ::unlink(path_.c_str());
  throw Obstacle{fmt::format("its lock cannot be written: {}", std::strerror(reason)), ""};
}

fs::path temporary_name(const fs::path& target) {
  std::random_device random;
  return fmt::format("{}.{:08x}.tmp", target.string(), static_cast<std::uint32_t>(random()));
}

std::optional<bool> is_file(const fs::path& path, int descriptor) {
  struct stat named {};
  struct stat open {};
  if (::lstat(path.c_str(), &named) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return false;
    return std::nullopt;
  }
  if (::fstat(descriptor, &open) != 0) return std::nullopt;
  return named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

} // namespace kontor::output
