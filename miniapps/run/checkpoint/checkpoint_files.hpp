// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/output/reader.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

/// The checkpoints of a run as files. Those of plate.h5 are plate-checkpoint-<step, 9 digits>.h5 in the same folder,
/// and plate-checkpoint.h5 stands for all of them.
namespace kontor::miniapp {

/// What a checkpoint tells of itself besides the app's state: the group /checkpoint.
struct CheckpointHeader {
  /// Of the layout of the file. A checkpoint of another one cannot be read.
  static constexpr std::int64_t current_format = 4;

  std::int64_t format = current_format;
  std::string app = {};
  std::string version = {};                     ///< of Kontor
  std::int64_t step = 0;                        ///< of the repeat
  std::int64_t repeat = 0;                      ///< complete ones before
  std::int64_t number = 1;                      ///< each that is written is one above all that were there
  std::string run = {};                         ///< the same in all of a run and of those that went on from them
  std::int64_t ranks = 1;                       ///< that it was written by
  std::string output = {};                      ///< the run's output file
  std::string deck = {};                        ///< resolved, with what was left to be chosen
  std::map<std::string, std::string> keys = {}; ///< the app's own keys of the deck and their values
};

/// The record that is written: to and from JSON.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CheckpointHeader, format, app, version, step, repeat, number, run, ranks, output,
                                   deck, keys)

/// Collective. What is in a file; of another format only this is read. Throws a std::exception that names the file if
/// something is missing or of another type.
CheckpointHeader header_in(const output::Reader&);

/// The name that stands for all checkpoints of a run with that output file.
std::filesystem::path checkpoints_of(const std::filesystem::path& output);

/// The checkpoint after so many steps, of those that `all` stands for.
std::filesystem::path checkpoint_name(const std::filesystem::path& all, std::int64_t step);

/// One that is there.
struct FoundCheckpoint {
  std::filesystem::path path;
  CheckpointHeader header;
  std::string problem; ///< why the header cannot be read; empty: it can
};

/// Local. The checkpoints that the name stands for, the newest first: by their numbers, those whose number is not known
/// at the beginning. Empty if there is none.
std::vector<FoundCheckpoint> find_checkpoints(const std::filesystem::path& all);

} // namespace kontor::miniapp
