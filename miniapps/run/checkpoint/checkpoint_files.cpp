// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/checkpoint/checkpoint_files.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <dirent.h>
#include <exception>
#include <limits>
#include <memory>
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

/// The members of /checkpoint: take(name, value) for each.
template <class Header, class Take>
void for_members(Header& h, const Take& take) {
  take("format", h.format);
  take("app", h.app);
  take("version", h.version);
  take("step", h.step);
  take("repeat", h.repeat);
  take("number", h.number);
  take("run", h.run);
  take("ranks", h.ranks);
  take("output", h.output);
  take("deck", h.deck);
  take("keys", h.keys);
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

/// None if the folder cannot be read. By POSIX: libstdc++'s iterator ends the program where memory is short.
std::vector<std::string> names_in(const fs::path& folder) {
  struct Close {
    void operator()(DIR* open) const { ::closedir(open); }
  };
  const std::unique_ptr<DIR, Close> open(::opendir(folder.c_str()));
  std::vector<std::string> names;
  if (open)
    while (const dirent* entry = ::readdir(open.get())) names.emplace_back(entry->d_name);
  return names;
}

} // namespace

nlohmann::ordered_json to_json(const CheckpointHeader& header) {
  nlohmann::ordered_json json;
  for_members(header, [&](const char* name, const auto& value) { json[name] = value; });
  return json;
}

CheckpointHeader header_in(const output::Reader& reader) {
  const auto json = reader.record("/checkpoint");
  try {
    CheckpointHeader header;
    header.format = json.at("format").get<std::int64_t>();
    if (header.format != CheckpointHeader::current_format) return header;
    for_members(header, [&](const char* name, auto& value) { json.at(name).get_to(value); });
    return header;
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
  for (const auto& name : names_in(folder.empty() ? fs::path(".") : folder))
    if (is_one(name)) found.push_back(look_at(folder / name));
  std::ranges::sort(found, std::ranges::greater(), [](const FoundCheckpoint& one) {
    return std::pair(one.problem.empty() ? one.header.number : std::numeric_limits<std::int64_t>::max(), one.path);
  });
  return found;
}

} // namespace kontor::miniapp
