// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/deck_file.hpp"

#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

namespace kontor::miniapp {
namespace {

using comm::mpi::check;

std::optional<std::string> read_file(const std::string& path, std::string& problem) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    problem = "it is a directory";
    return std::nullopt;
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  try {
    text.assign(std::istreambuf_iterator<char>(file), {});
  } catch (const std::ios_base::failure&) { // the buffer throws whatever the stream's mask says
    file.setstate(std::ios::badbit);
  }
  if (!file.is_open() || file.bad()) {
    problem = std::strerror(errno);
    return std::nullopt;
  }
  return text;
}

} // namespace

std::string broadcast(std::string text) {
  auto length = static_cast<std::int64_t>(text.size());
  check(MPI_Bcast(&length, 1, MPI_INT64_T, 0, MPI_COMM_WORLD), "MPI_Bcast");
  text.resize(static_cast<std::size_t>(length));
  check(MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, 0, MPI_COMM_WORLD), "MPI_Bcast");
  return text;
}

config::Deck read_deck(const std::string& path, const std::vector<std::string>& overrides) {
  int rank = 0;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  std::string problem;
  std::string text;
  if (rank == 0) text = read_file(path, problem).value_or("");
  problem = broadcast(problem);
  if (!problem.empty()) throw config::Error({fmt::format("{}: cannot read the deck: {}", path, problem)});
  return config::Deck::parse(broadcast(text), path, overrides);
}

} // namespace kontor::miniapp
