// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/files.hpp"

#include <kontor/config/error.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

namespace kontor::miniapp {
namespace {

namespace fs = std::filesystem;

struct Role {
  std::string what;
  fs::path path;
  bool create_later = false;
};

std::vector<Role> roles(const Files& files) {
  std::vector<Role> all{{"the input deck", files.deck}, {"the HDF5 file", files.output}};
  if (files.fields) all.push_back({"the XDMF file", fs::path(files.output).replace_extension(".xmf"), true});
  if (!files.results.empty()) all.push_back({"the file of --results", files.results, true});
  return all;
}

/// Whether both name one file, which need not exist yet.
bool same(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  return fs::weakly_canonical(a, ignored) == fs::weakly_canonical(b, ignored);
}

/// Why no file can be written aside and renamed to `target`.
std::optional<std::string> obstacle(const fs::path& target) {
  std::error_code ignored;
  const auto status = fs::status(target, ignored);
  if (fs::is_directory(status)) return "it is a directory";
  if (fs::exists(status) && !fs::is_regular_file(status)) return "it is not a regular file";
  const fs::path aside = target.string() + ".tmp";
  errno = 0;
  if (!std::ofstream(aside)) return std::strerror(errno);
  fs::remove(aside, ignored);
  return std::nullopt;
}

std::optional<std::string> problem_with(const Files& files) {
  const auto all = roles(files);
  for (auto b = all.begin(); b != all.end(); ++b)
    for (auto a = all.begin(); a != b; ++a)
      if (same(a->path, b->path))
        return fmt::format("{} cannot be both {} and {}; choose another file", b->path.string(), a->what,
                           b->what);
  for (const auto& role : all)
    if (role.create_later)
      if (const auto reason = obstacle(role.path))
        return fmt::format("{}: cannot write {}: {}; choose another file", role.what, role.path.string(),
                           *reason);
  return std::nullopt;
}

} // namespace

void check_files(const comm::Communicator& comm, const Files& files) {
  try {
    comm.agree(comm.rank() == 0 ? problem_with(files) : std::nullopt);
  } catch (const comm::AgreedError& error) {
    throw config::Error({error.what()});
  }
}

} // namespace kontor::miniapp
