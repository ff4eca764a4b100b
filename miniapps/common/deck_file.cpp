// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/deck_file.hpp"

#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

namespace kontor::miniapp {
namespace {

using comm::mpi::check;

/// Collective over MPI_COMM_WORLD.
std::string broadcast(std::string text) {
  auto length = static_cast<std::int64_t>(text.size());
  check(MPI_Bcast(&length, 1, MPI_INT64_T, 0, MPI_COMM_WORLD), "MPI_Bcast");
  text.resize(static_cast<std::size_t>(length));
  check(MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, 0, MPI_COMM_WORLD), "MPI_Bcast");
  return text;
}

} // namespace

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
  problem = broadcast(problem);
  if (!problem.empty()) throw config::Error({problem});
  return config::Deck::parse(broadcast(text), path, overrides);
}

void write_results(const comm::Communicator& comm, const std::string& path,
                   const nlohmann::ordered_json& record) {
  std::optional<std::string> problem;
  if (comm.rank() == 0) {
    const auto aside = path + ".tmp";
    errno = 0;
    std::ofstream file(aside);
    file << record.dump(2) << '\n';
    file.close();
    std::error_code error;
    if (file) std::filesystem::rename(aside, path, error);
    if (!file || error) {
      problem =
          fmt::format("--results: cannot write {}: {}", path, error ? error.message() : std::strerror(errno));
      std::filesystem::remove(aside, error);
    }
  }
  comm.agree(problem);
}

} // namespace kontor::miniapp
