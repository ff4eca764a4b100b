// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "descriptor.hpp"

#include <kontor/errors/id.hpp>

#include <filesystem>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kontor::output {

/// Why a file cannot be written, and what can be done beside choosing another.
struct Obstacle {
  std::string reason;
  std::string remedy; ///< such as "make the directory or "; may be empty
  errors::Id id = "E-FILE-WRITE";
};

/// Keeps other processes that ask for it from writing the file of a name, as long as this lives: an advisory lock
/// (flock) on `.<name>.kontor-lock` beside it, where the holder's host, process and temporaries are noted. The name's
/// own file cannot be locked, because it is replaced. On a file system without locks nothing is locked.
class NameLock {
 public:
  /// Throws Obstacle, which names the holder if there is one. Removes the temporaries that a dead holder has left.
  explicit NameLock(const std::filesystem::path& target);
  NameLock(const NameLock&) = delete;
  ~NameLock();

  /// Notes a temporary beside the target, for the next holder, should this one die. Throws Obstacle.
  void note(const std::filesystem::path& temporary);
  /// Removes it; should that fail, the next holder does.
  void remove(const std::filesystem::path& temporary) noexcept;
  /// Leaves what it notes to the next holder.
  void leave() noexcept { stays_ = true; }

 private:
  void append(const std::string& line);

  std::filesystem::path path_;
  Descriptor file_;    ///< none: the file system has no locks
  bool stays_ = false; ///< at the end: it notes what could not be removed
};

/// `<name>.<8 random hexadecimal digits>.tmp`, beside the target.
std::filesystem::path temporary_name(const std::filesystem::path& target);

/// Whether the path, not what it may link to, is the open file; nothing, with errno, if the system does not tell.
std::optional<bool> is_file(const std::filesystem::path& path, int descriptor);

/// A file that is written beside `target` under a name of its own and takes that name at the end. The target is locked
/// as long as this lives. A file that was not to take its name is removed at the end.
class Temporary {
 public:
  /// Throws Error, which ends with `advice`, if the target cannot be replaced or is being written by another.
  Temporary(std::filesystem::path target, std::string_view advice);
  Temporary(const Temporary&) = delete;
  ~Temporary();

  const std::filesystem::path& target() const { return target_; }
  const std::filesystem::path& path() const { return path_; }
  int descriptor() const { return file_; }
  bool written() const { return written_; }

  /// Its name at the end is another one of the same folder; the lock stays. Throws Error if that cannot be replaced.
  void aim_at(const std::filesystem::path& target);

  /// Writes a text file, syncs it and reads it back. Throws Error.
  void write(const std::string& text);

 private:
  friend std::vector<std::filesystem::path> replace_together(std::list<Temporary>&);

  void create();
  void check() const;
  void put_away();
  void put_back() noexcept;
  void remove_earlier() noexcept;
  void take_name();

  std::filesystem::path target_;
  std::optional<NameLock> lock_;
  std::filesystem::path path_;
  Descriptor file_;
  std::filesystem::path earlier_; ///< where the earlier file is, once put away
  bool written_ = false;
  bool kept_ = false;
};

/// Throws Error, which ends with `advice`, if no file can take the name of `target`. Creates nothing.
void check_replaceable(const std::filesystem::path& target, std::string_view advice);

/// Gives the first of `files`, and those of the others that were written, their names; returns these.
///
/// The others describe the first: those of earlier are put away before it takes its name, so that they are never found
/// beside a file that they do not describe; of those that were not written, too. Throws Error: if the first cannot take
/// its name, all are as they were; if another cannot, the text lists what was written. No file is lost then: the text
/// says under which names those are that did not get theirs, and those of earlier that were put away.
std::vector<std::filesystem::path> replace_together(std::list<Temporary>& files);

/// Waits until the file's data are on the disk; throws Error if they did not get there.
void sync(const std::filesystem::path& file);

} // namespace kontor::output
