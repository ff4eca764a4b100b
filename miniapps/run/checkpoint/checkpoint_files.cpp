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
constexpr std::size_t digits = 9;

/// "plate-checkpoint" of plate-checkpoint.h5; a name without the ending stays as it is.
std::string stem_of(const fs::path& file) {
  return file.extension() == ending ? file.stem().string() : file.filename().string();
}

/// The step in the name of a file of that stem.
std::optional<std::int64_t> step_in(const std::string& name, const std::string& stem) {
  const auto front = stem + "-";
  if (!name.starts_with(front) || !name.ends_with(ending)) return {};
  const auto number = name.substr(front.size(), name.size() - front.size() - ending.size());
  if (number.size() < digits || number.size() > 18 || number.find_first_not_of("0123456789") != std::string::npos)
    return {};
  return std::stoll(number);
}

/// The stem without the step, if it has one.
std::optional<std::string> stem_without_step(const std::string& stem) {
  const auto dash = stem.rfind('-');
  if (dash == std::string::npos || !step_in(stem + std::string(ending), stem.substr(0, dash))) return {};
  return stem.substr(0, dash);
}

/// The app's keys: values are text.
nlohmann::ordered_json keys_of(const nlohmann::ordered_json& keys) {
  if (!keys.is_object() ||
      !std::ranges::all_of(keys, [](const nlohmann::ordered_json& value) { return value.is_string(); }))
    throw std::invalid_argument("its keys are not a list of names and texts");
  return keys;
}

/// A number of the header that is at least `least`, and that arithmetic can go on with.
std::int64_t counted(const nlohmann::ordered_json& json, const char* key, std::int64_t least) {
  constexpr std::int64_t most = std::int64_t{1} << 53;
  const auto number = json.at(key).get<std::int64_t>();
  if (number < least || number > most)
    throw std::range_error(fmt::format("its {} is {}; allowed is {} to 2^53", key, number, least));
  return number;
}

CheckpointHeader header_of(const nlohmann::ordered_json& json) {
  CheckpointHeader h;
  h.format = json.at("format").get<std::int64_t>();
  if (h.format != CheckpointHeader::current_format) return h;
  h.app = json.at("app").get<std::string>();
  h.version = json.at("version").get<std::string>();
  h.step = counted(json, "step", 0);
  h.repeat = counted(json, "repeat", 0);
  h.number = counted(json, "number", 1);
  h.run = json.at("run").get<std::string>();
  h.ranks = counted(json, "ranks", 1);
  h.output = json.at("output").get<std::string>();
  h.deck = json.at("deck").get<std::string>();
  h.keys = keys_of(json.at("keys"));
  return h;
}

FoundCheckpoint look_at(const fs::path& path, std::int64_t step) {
  FoundCheckpoint found{path, step, {}, {}};
  try {
    const output::Reader reader(MPI_COMM_SELF, path);
    if (reader.has("/checkpoint"))
      found.header = header_in(reader);
    else
      found.problem = fmt::format("{} is no checkpoint: it has no group /checkpoint", path.string());
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

std::vector<FoundCheckpoint> of_stem(const fs::path& folder, const std::string& stem) {
  std::vector<FoundCheckpoint> all;
  for (const auto& name : names_in(folder.empty() ? fs::path(".") : folder))
    if (const auto step = step_in(name, stem)) all.push_back(look_at(folder / name, *step));
  std::ranges::sort(all, std::ranges::greater(), [](const FoundCheckpoint& found) {
    return std::pair(found.problem.empty() ? found.header.number : std::numeric_limits<std::int64_t>::max(),
                     found.step);
  });
  return all;
}

} // namespace

nlohmann::ordered_json to_json(const CheckpointHeader& h) {
  return {{"format", h.format}, {"app", h.app},       {"version", h.version}, {"step", h.step},
          {"repeat", h.repeat}, {"number", h.number}, {"run", h.run},         {"ranks", h.ranks},
          {"output", h.output}, {"deck", h.deck},     {"keys", h.keys}};
}

CheckpointHeader header_in(const output::Reader& reader) {
  const auto json = reader.record("/checkpoint");
  try {
    return header_of(json);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("{} is no checkpoint: /checkpoint: {}", reader.path().string(), error.what()));
  }
}

fs::path checkpoint_name(const fs::path& file, std::int64_t step) {
  return file.parent_path() / fmt::format("{}-{:0{}}{}", stem_of(file), step, digits, ending);
}

fs::path checkpoint_family(const fs::path& file) { return file.parent_path() / (stem_of(file) + std::string(ending)); }

bool is_checkpoint_name(const fs::path& path, const fs::path& file) {
  const auto folder = [](const fs::path& of) {
    std::error_code ignored;
    return fs::weakly_canonical(fs::absolute(of, ignored).parent_path(), ignored);
  };
  return step_in(path.filename().string(), stem_of(file)).has_value() && folder(path) == folder(file);
}

std::vector<FoundCheckpoint> find_checkpoints(const fs::path& file) {
  const auto folder = file.parent_path();
  std::error_code ignored;
  const auto family = stem_without_step(stem_of(file));
  if (!family || !fs::exists(file, ignored)) {
    if (fs::exists(file, ignored) && of_stem(folder, stem_of(file)).empty()) return {look_at(file, 0)};
    return of_stem(folder, stem_of(file));
  }
  auto all = of_stem(folder, *family);
  const auto self =
      std::ranges::find(all, file.filename(), [](const FoundCheckpoint& found) { return found.path.filename(); });
  if (self == all.end()) return {look_at(file, 0)};
  const auto named = *self;
  std::erase_if(all, [&](const FoundCheckpoint& found) {
    if (found.path == named.path) return true;
    if (!found.problem.empty() || !named.problem.empty()) return found.step >= named.step;
    return found.header.number >= named.header.number;
  });
  all.insert(all.begin(), named);
  return all;
}

} // namespace kontor::miniapp
