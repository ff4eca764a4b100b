// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/start/files.hpp"

#include "machine/user_error.hpp"
#include "run/start/messages.hpp"

#include <kontor/comm/mpi_check.hpp>
#include <kontor/config/error.hpp>
#include <kontor/config/text.hpp>
#include <kontor/output/xdmf.hpp>

#include <fmt/format.h>

#include <optional>

namespace kontor::miniapp {

using comm::mpi::check;

config::Deck read_deck(const std::string& path, const std::vector<std::string>& overrides) {
  int rank = 0;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  std::string problem;
  std::string text;
  try {
    if (rank == 0) text = config::read_text(path);
  } catch (const config::Error& error) {
    problem = error.what();
  }
  problem = broadcast(MPI_COMM_WORLD, problem);
  if (!problem.empty()) throw config::Error({problem}, "E-FILE-READ");
  return config::Deck::parse(broadcast(MPI_COMM_WORLD, text), path, overrides);
}

namespace {

namespace fs = std::filesystem;

/// Whether both name one file, which need not exist yet.
bool same(const fs::path& a, const fs::path& b) {
  std::error_code failed, ignored;
  const auto whole = fs::weakly_canonical(a, failed); // empty where it fails, as for a name that is too long
  return a == b || (!failed && whole == fs::weakly_canonical(b, ignored)) || fs::equivalent(a, b, ignored);
}

struct Role {
  std::string what;
  fs::path path;
};

/// The deck, the HDF5 file and its sidecars.
std::vector<Role> roles(const Files& files) {
  std::vector<Role> all{{"the input deck", files.deck}, {"the HDF5 file", files.output}};
  if (files.fields) all.push_back({"the XDMF file", output::xdmf_path(files.output)});
  if (!files.results.empty()) all.push_back({"the file of --results", files.results});
  return all;
}

std::optional<std::string> problem_with(const Files& files) {
  const auto all = roles(files);
  const auto name = fs::path(files.output).filename().string();
  if (files.fields && (name.find(':') != std::string::npos || config::printable(name) != name))
    return fmt::format("{}: its XDMF file cannot refer to a name with a colon, or with bytes that are no printable "
                       "UTF-8; choose another by output.file or -o, or give output.fields: none",
                       files.output);
  for (auto b = all.begin(); b != all.end(); ++b)
    for (auto a = all.begin(); a != b; ++a)
      if (same(a->path, b->path))
        return fmt::format("{} cannot be both {} and {}; choose another file", b->path.string(), a->what, b->what);
  for (auto written = all.begin() + 1; written != all.end(); ++written)
    for (const auto& input : files.inputs)
      if (same(input.path, written->path))
        return fmt::format("{} cannot be both the file of {} and {}; choose another file", written->path.string(),
                           input.location.key, written->what);
  return std::nullopt;
}

} // namespace

std::vector<fs::path> sidecars(const Files& files) {
  std::vector<fs::path> paths;
  for (const auto& role : roles(files)) paths.push_back(role.path);
  paths.erase(paths.begin(), paths.begin() + 2);
  return paths;
}

void check_files(const comm::Communicator& comm, const Files& files) {
  agree_on_user_error(comm, comm.rank() == 0 ? problem_with(files) : std::nullopt, "E-FILE-SAME");
}

} // namespace kontor::miniapp
