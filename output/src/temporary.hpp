// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "descriptor.hpp"

#include <filesystem>
#include <list>
#include <string>
#include <vector>

namespace kontor::output {

/// A file that is written beside `target` as `<name>.<8 hexadecimal digits>.tmp` and takes that name at the end. What
/// was not to take its name is removed at the end; what a killed process has left, by the next that writes that name.
class Temporary {
 public:
  /// Throws Error, which ends with `advice`, if the target cannot be replaced.
  Temporary(std::filesystem::path target, const std::string& advice);
  Temporary(const Temporary&) = delete;
  ~Temporary();

  const std::filesystem::path& path() const { return path_; }
  int descriptor() const { return file_; }

  /// Its name at the end is another one of the same folder.
  void aim_at(std::filesystem::path target) { target_ = std::move(target); }

  /// Writes a text file, and syncs it. Throws Error.
  void write(const std::string& text);

 private:
  friend std::vector<std::filesystem::path> replace_together(std::list<Temporary>&);

  std::filesystem::path target_, path_;
  std::filesystem::path earlier_; ///< where the target's earlier file is, once put away
  Descriptor file_;
  bool written_ = false;
};

/// Gives the first of `files`, and those of the others that were written, their names; returns these.
///
/// The others describe the first: those of earlier are put away before it takes its name, so that they are never found
/// beside a file that they do not describe. Throws Error: if the first cannot take its name, all are as they were, and
/// the text says under which name it is; if another cannot, the text lists what was written.
std::vector<std::filesystem::path> replace_together(std::list<Temporary>& files);

} // namespace kontor::output
