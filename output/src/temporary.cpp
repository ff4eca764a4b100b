// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "temporary.hpp"

#include <kontor/output/error.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <sys/file.h>

namespace kontor::output {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view ending = ".tmp";

/// Why no file can be renamed to `target`; empty: one can.
std::string obstacle(const fs::path& target) {
  if (target.native().find('\0') != fs::path::string_type::npos) return "its name has a NUL character in it";
  std::error_code ignored;
  const fs::file_status status = fs::status(target, ignored);
  if (fs::is_directory(status) || !target.has_filename()) return "it is a directory";
  return fs::exists(status) && !fs::is_regular_file(status) ? "it is not a regular file" : "";
}

fs::path folder_of(const fs::path& target) { return target.has_parent_path() ? target.parent_path() : "."; }

fs::path temporary_name(const fs::path& target) {
  std::random_device random;
  return fmt::format("{}.{:08x}{}", target.string(), static_cast<std::uint32_t>(random()), ending);
}

/// Removes temporaries of that name whose process is dead: a living one has them locked.
void remove_left(const fs::path& target) {
  const std::string front = target.filename().string() + ".";
  std::error_code failed;
  for (fs::directory_iterator entry(folder_of(target), failed); !failed && entry != fs::directory_iterator();
       entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    if (name.size() != front.size() + 8 + ending.size() || !name.starts_with(front) || !name.ends_with(ending) ||
        name.find_first_not_of("0123456789abcdef", front.size()) != front.size() + 8)
      continue;
    const Descriptor left(::open(entry->path().c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (left >= 0 && ::flock(left, LOCK_EX | LOCK_NB) == 0) ::unlink(entry->path().c_str());
  }
}

void give_name(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0)
    throw Error(fmt::format("{} cannot be renamed to {}: {}", from.string(), to.string(), std::strerror(errno)));
}

/// Removes a file, if there is one of the name.
void remove(fs::path& path) {
  if (!path.empty()) ::unlink(path.c_str());
  path.clear();
}

} // namespace

Temporary::Temporary(fs::path target, const std::string& advice) : target_(std::move(target)) {
  std::string reason = obstacle(target_);
  if (reason.empty()) {
    remove_left(target_);
    do {
      path_ = temporary_name(target_);
      file_ = Descriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    } while (file_ < 0 && errno == EEXIST);
    if (file_ < 0) reason = std::strerror(errno);
  }
  if (!reason.empty())
    throw Error(fmt::format("output: cannot write {}: {}; {}{}", std::string(target_.c_str()), reason,
                            fs::exists(folder_of(target_)) ? "" : "make the directory or ", advice),
                "E-FILE-WRITE");
  ::flock(file_, LOCK_EX | LOCK_NB);
}

Temporary::~Temporary() {
  remove(earlier_);
  if (path_.empty()) return;
  // Gives the space back even where another rank, or HDF5 after an error, still has the file open.
  [[maybe_unused]] const int result = ::ftruncate(file_, 0);
  remove(path_);
}

void Temporary::write(const std::string& text) {
  write_at(file_, 0, text.data(), text.size());
  sync(file_);
  written_ = true;
}

std::vector<fs::path> replace_together(std::list<Temporary>& files) {
  Temporary& first = files.front();
  std::vector<Temporary*> others;
  for (Temporary& file : files)
    if (&file != &first) others.push_back(&file);
  try {
    for (const Temporary& file : files)
      if (const auto reason = obstacle(file.target_); !reason.empty())
        throw Error(fmt::format("{} cannot be replaced: {}", file.target_.string(), reason));
    for (Temporary* other : others) {
      const fs::path away = temporary_name(other->target_);
      std::error_code ignored;
      if (!fs::exists(fs::symlink_status(other->target_, ignored))) continue;
      give_name(other->target_, away);
      other->earlier_ = away;
    }
    give_name(first.path_, first.target_);
  } catch (const Error& error) {
    for (Temporary* other : others)
      if (!other->earlier_.empty()) ::rename(std::exchange(other->earlier_, "").c_str(), other->target_.c_str());
    throw Error(fmt::format("output: {}; no file was replaced, the new one is {}", error.what(),
                            std::exchange(first.path_, "").string()),
                "E-FILE-WRITE");
  }
  first.path_.clear();
  std::vector<fs::path> written{first.target_};
  std::string failures;
  for (Temporary* other : others) try {
      if (!other->written_) continue;
      give_name(other->path_, other->target_);
      other->path_.clear();
      written.push_back(other->target_);
    } catch (const Error& error) {
      failures += fmt::format("{}; ", error.what());
    }
  // Should this fail, a crash of the machine may bring the earlier file back, which is whole too.
  const Descriptor folder(::open(folder_of(first.target_).c_str(), O_RDONLY | O_DIRECTORY));
  if (folder >= 0) ::fsync(folder);
  if (!failures.empty()) {
    std::string names;
    for (const fs::path& path : written) names += (names.empty() ? "" : ", ") + path.string();
    throw Error(fmt::format("output: {}written were {}", failures, names), "E-FILE-WRITE");
  }
  return written;
}

} // namespace kontor::output
