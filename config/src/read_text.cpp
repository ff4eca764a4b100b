// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/config/deck.hpp>
#include <kontor/config/limits.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace kontor::config {

std::string read_text(const std::string& path) {
  const auto refuse = [&](std::string_view reason) {
    throw Error({fmt::format("{}: cannot read the deck: {}", path, reason)}, "E-FILE-READ");
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) refuse("it is a directory");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(limits::bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) refuse(std::strerror(errno));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

} // namespace kontor::config
