// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "step.hpp"

#include <kontor/output/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

namespace kontor::output {

namespace {

constexpr std::array<std::string_view, 7> kinds{"open",   "has",  "names", "attributes",
                                                "record", "info", "read"}; // as in Step::Kind
constexpr std::array scalars{Scalar::float64, Scalar::float32, Scalar::int32, Scalar::int64};

Extents extents_in(const std::string& text) {
  Extents found;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end; ++at) {
    const auto [behind, problem] = std::from_chars(at, end, found.emplace_back());
    if (problem != std::errc()) throw Error(fmt::format("'{}' are no numbers", text));
    at = behind;
  }
  return found;
}

/// Reads the first piece of a block, or one element where values lie in one piece: how many does not matter then.
void read_some(const Handle& dataset, const Step& step) {
  const hid_t type = native_type(step.scalar);
  const std::size_t size = H5Tget_size(type);
  const Pieces pieces = pieces_of(step.block.extent, size);
  if (pieces.count() == 0) return;
  Box some = in_array(step.block, pieces[0]);
  if (!is_packed(dataset, step.object)) std::fill(some.extent.begin(), some.extent.end(), 1);
  std::vector<std::byte> room(elements(some.extent) * size);
  read_box(dataset, step.object, some, type, room.data());
}

Json info(const Stored& stored, const std::string& name) {
  const Handle dataset = open_dataset(stored.file, name);
  require_room(stored, dataset, name);
  const Handle type(H5Dget_type(dataset), H5Tclose, "H5Dget_type", name);
  return {{"extents", extents_of(dataset, name)}, {"type", name_of_type(type)}};
}

} // namespace

std::vector<std::string> words(const Step& step) {
  const auto join = [](const Extents& extents) { return fmt::format("{}", fmt::join(extents, ",")); };
  return {std::string(kinds.at(static_cast<std::size_t>(step.kind))),
          step.object,
          std::string(name_of(step.scalar)),
          join(step.block.global),
          join(step.block.offset),
          join(step.block.extent)};
}

Step from_words(const std::vector<std::string>& words) {
  if (words.size() != 6) throw Error(fmt::format("a step has 6 words, not {}", words.size()));
  const auto* const kind = std::ranges::find(kinds, words[0]);
  const auto* const scalar = std::ranges::find(scalars, words[2], [](Scalar s) { return name_of(s); });
  if (kind == kinds.end() || scalar == scalars.end())
    throw Error(fmt::format("there is no step {} of {}", words[0], words[2]));
  return {static_cast<Step::Kind>(kind - kinds.begin()),
          words[1],
          *scalar,
          {extents_in(words[3]), extents_in(words[4]), extents_in(words[5])}};
}

Handle open_to_read(Driver& driver, int descriptor, const std::string& path) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "H5Pcreate", "the file");
  driver.use_in(access, descriptor, Driver::Beyond::error);
  return {H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose, "H5Fopen", "the file"};
}

Json take(const Stored& stored, const Step& step) {
  switch (step.kind) {
  case Step::Kind::open: break;
  case Step::Kind::has: return exists(stored.file, step.object);
  case Step::Kind::names: return member_names(stored.file, step.object);
  case Step::Kind::attributes: return stored_attributes(stored, step.object);
  case Step::Kind::record: return stored_group(stored, step.object);
  case Step::Kind::info: return info(stored, step.object);
  case Step::Kind::read: read_some(open_values(stored.file, step), step); break;
  }
  return {};
}

Handle open_values(hid_t file, const Step& step) {
  const auto& name = step.object;
  Handle dataset = open_dataset(file, name);
  const Handle stored(H5Dget_type(dataset), H5Tclose, "H5Dget_type", name);
  if (name_of_type(stored) != name_of(step.scalar))
    throw Error(fmt::format("the values of {} are {}; {} is wanted", name, name_of_type(stored), name_of(step.scalar)));
  if (const auto found = extents_of(dataset, name); found != step.block.global)
    throw Error(
        fmt::format("{} is ({}); ({}) is wanted", name, fmt::join(found, ", "), fmt::join(step.block.global, ", ")));
  return dataset;
}

hid_t native_type(Scalar scalar) {
  switch (scalar) {
  case Scalar::float64: return native_type<double>();
  case Scalar::float32: return native_type<float>();
  case Scalar::int32: return native_type<std::int32_t>();
  case Scalar::int64: return native_type<std::int64_t>();
  }
  return H5I_INVALID_HID;
}

} // namespace kontor::output
