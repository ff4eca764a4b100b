// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/checkpoint/checkpoint_files.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <new>
#include <stdexcept>
#include <string_view>

namespace kontor::miniapp {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view ending = ".h5";

/// Of a checkpoint or of all: u.h5, or u where there is no ending, is u-000000300.h5 and others.
std::string front_of(const fs::path& all) {
  return (all.extension() == ending ? all.stem() : all.filename()).string() + "-";
}

FoundCheckpoint look_at(const fs::path& path) {
  FoundCheckpoint found{path, {}, {}};
  try {
    found.header = header_in(output::Reader(MPI_COMM_SELF, path));
  } catch (const std::exception& error) {
    found.problem = error.what();
  }
  return found;
}

} // namespace

CheckpointHeader header_in(const output::Reader& reader) {
  const auto json = reader.record("/checkpoint");
  try {
    CheckpointHeader header;
    header.format = json.at("format").get<std::int64_t>();
    return header.format == CheckpointHeader::current_format ? nlohmann::json(json).get<CheckpointHeader>() : header;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("{} is no checkpoint: /checkpoint: {}", reader.path().string(), error.what()));
  }
}

fs::path checkpoints_of(const fs::path& output) {
  return output.parent_path() / fmt::format("{}-checkpoint{}", output.stem().string(), ending);
}

fs::path checkpoint_name(const fs::path& all, std::int64_t step) {
  return all.parent_path() / fmt::format("{}{:09}{}", front_of(all), step, ending);
}

std::vector<FoundCheckpoint> find_checkpoints(const fs::path& all) {
  const auto front = front_of(all);
  const auto folder = all.parent_path();
  const auto is_one = [&](const std::string& name) {
    if (!name.starts_with(front) || !name.ends_with(ending)) return false;
    const auto step = std::string_view(name).substr(front.size(), name.size() - front.size() - ending.size());
    return step.size() >= 9 && step.find_first_not_of("0123456789") == std::string::npos;
  };
  std::vector<FoundCheckpoint> found;
  std::error_code none; // the folder cannot be read
  for (const auto& entry : fs::directory_iterator(folder.empty() ? fs::path(".") : folder, none))
    if (const auto name = entry.path().filename(); is_one(name.string())) found.push_back(look_at(folder / name));
  std::ranges::sort(found, std::ranges::greater(), [](const FoundCheckpoint& one) {
    return std::pair(one.problem.empty() ? one.header.number : std::numeric_limits<std::int64_t>::max(), one.path);
  });
  return found;
}

} // namespace kontor::miniapp
