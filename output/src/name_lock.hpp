// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "descriptor.hpp"

#include <kontor/errors/id.hpp>

#include <filesystem>
#include <optional>
#include <string>

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

} // namespace kontor::output
