// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "temporary.hpp"

#include "shared_file.hpp"

#include <kontor/output/error.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <set>

namespace kontor::output {

namespace fs = std::filesystem;

namespace {

/// Throws Obstacle if no file can be renamed to `target`.
void check_kind(const fs::path& target) {
  if (target.native().find('\0') != fs::path::string_type::npos)
    throw Obstacle{"its name has a NUL character in it", ""};
  std::error_code ignored;
  const fs::file_status status = fs::status(target, ignored);
  if (fs::is_directory(status) || !target.has_filename()) throw Obstacle{"it is a directory", ""};
  if (fs::exists(status) && !fs::is_regular_file(status)) throw Obstacle{"it is not a regular file", ""};
}

/// Runs `step`, an Obstacle to which becomes an Error.
template <class Step>
void refusing(const fs::path& target, std::string_view advice, Step&& step) {
  try {
    step();
  } catch (const Obstacle& obstacle) {
    throw Error(fmt::format("output: cannot write {}: {}; {}{}", std::string(target.c_str()), obstacle.reason,
                            obstacle.remedy, advice),
                obstacle.id);
  }
}

/// Should this fail, a crash of the machine may bring the previous file back, which is whole too.
void sync_directory(const fs::path& directory) {
  const Descriptor open(::open(directory.c_str(), O_RDONLY | O_DIRECTORY));
  if (open >= 0) ::fsync(open);
}

void give_name(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0)
    throw Error(fmt::format("{} cannot be renamed to {}: {}", from.string(), to.string(), std::strerror(errno)));
}

/// A temporary's name that is no file's.
fs::path unused_name(const fs::path& target) {
  std::error_code ignored;
  fs::path name;
  do name = temporary_name(target);
  while (fs::exists(fs::symlink_status(name, ignored)));
  return name;
}

std::string listed(const std::vector<fs::path>& paths) {
  std::string text;
  for (const fs::path& path : paths) text += (text.empty() ? "" : ", ") + path.string();
  return text;
}

} // namespace

void check_replaceable(const fs::path& target, std::string_view advice) {
  refusing(target, advice, [&] { check_kind(target); });
}

Temporary::Temporary(fs::path target, std::string_view advice) : target_(std::move(target)) {
  refusing(target_, advice, [this] {
    check_kind(target_);
    lock_.emplace(target_);
    create();
  });
}

Temporary::~Temporary() {
  remove_earlier(); // if an exception passes after another file has taken its name: it does not describe that
  if (file_ < 0 || kept_) return;
  const auto there = is_file(path_, file_);
  if (!there) lock_->leave();
  if (!there.value_or(false)) return;
  // Gives the space back even where another rank still has the file open.
  [[maybe_unused]] const int result = ::ftruncate(file_, 0);
  lock_->remove(path_);
}

void Temporary::create() {
  do {
    path_ = unused_name(target_);
    lock_->note(path_); // first: should this process be killed now, the next run knows of it
    file_ = Descriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  } while (file_ < 0 && errno == EEXIST);
  if (file_ < 0) throw Obstacle{std::strerror(errno), ""};
}

void Temporary::aim_at(const fs::path& target) {
  check_replaceable(target, "choose another file");
  target_ = target;
}

void Temporary::write(const std::string& text) {
  write_at(file_, 0, text.data(), text.size());
  if (::fsync(file_) != 0) throw Error(fmt::format("fsync failed: {}", std::strerror(errno)));
  std::string found(text.size() + 1, '\0');
  const ssize_t got = ::pread(file_, found.data(), found.size(), 0);
  found.resize(got > 0 ? got : 0);
  if (found != text) throw Error("what was read back is not what was written; check the disk and its quota");
  written_ = true;
}

/// Whether it can still take its name, as at the beginning.
void Temporary::check() const {
  try {
    check_kind(target_);
  } catch (const Obstacle& obstacle) {
    throw Error(fmt::format("{} cannot be replaced: {}", target_.string(), obstacle.reason));
  }
  const auto there = is_file(path_, file_);
  if (!there) throw Error(fmt::format("{}: {}", path_.string(), std::strerror(errno)));
  if (!*there) throw Error(fmt::format("{} is not there any more", path_.string()));
}

void Temporary::put_away() {
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(target_, ignored))) return;
  const fs::path away = unused_name(target_);
  try {
    lock_->note(away); // should this process be killed now, the next run removes it
  } catch (const Obstacle& obstacle) {
    throw Error(fmt::format("{} cannot be replaced: {}", target_.string(), obstacle.reason));
  }
  earlier_ = away; // before it is: what is said to have failed may have been done
  give_name(target_, away);
}

void Temporary::put_back() noexcept {
  if (!earlier_.empty()) ::rename(earlier_.c_str(), target_.c_str());
  earlier_.clear();
}

void Temporary::remove_earlier() noexcept {
  if (!earlier_.empty()) lock_->remove(earlier_);
  earlier_.clear();
}

void Temporary::take_name() {
  kept_ = true; // under its own name, if it cannot take the other
  try {
    give_name(path_, target_);
  } catch (const Error&) { // network file systems may say so of what they have done
    if (is_file(target_, file_) != true) throw;
  }
  remove_earlier();
}

std::vector<fs::path> replace_together(std::list<Temporary>& files) {
  Temporary& first = files.front();
  std::vector<Temporary*> others;
  for (Temporary& file : files)
    if (&file != &first) others.push_back(&file);
  const auto put_all_back = [&] {
    for (Temporary* other : others) other->put_back();
  };
  try {
    first.check();
    for (const Temporary* other : others) other->check();
    for (Temporary* other : others) other->put_away();
    first.take_name();
  } catch (const Error& error) {
    put_all_back();
    first.kept_ = is_file(first.path_, first.file_).value_or(true);
    throw Error(fmt::format("output: {}; no file was replaced{}{}", error.what(),
                            first.kept_ ? ", the new one is " : "", first.kept_ ? first.path_.string() : ""),
                "E-FILE-WRITE");
  } catch (...) { // no memory, and so nobody says where the new file would be
    put_all_back();
    first.kept_ = false;
    throw;
  }

  std::vector<fs::path> written{first.target()};
  std::string failures;
  for (Temporary* other : others) try {
      if (!other->written()) { // the earlier one does not describe the new file
        other->remove_earlier();
        continue;
      }
      other->take_name();
      written.push_back(other->target());
    } catch (const Error& error) {
      failures += fmt::format("{}{}; ", error.what(),
                              other->earlier_.empty() ? "" : ", the earlier one is " + other->earlier_.string());
      other->earlier_.clear(); // stays there
    }
  std::set<fs::path> directories;
  for (const fs::path& path : written) directories.insert(path.has_parent_path() ? path.parent_path() : ".");
  for (const fs::path& directory : directories) sync_directory(directory);
  if (!failures.empty())
    throw Error(fmt::format("output: {}written were {}", failures, listed(written)), "E-FILE-WRITE");
  return written;
}

void sync(const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY));
  if (file < 0) throw Error(fmt::format("cannot open the written file to sync it: {}", std::strerror(errno)));
  if (::fsync(file) != 0) throw Error(fmt::format("fsync failed: {}", std::strerror(errno)));
}

} // namespace kontor::output
