// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/options.hpp>
#include <kontor/comm/phase_times.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What an app tells of a run; how it is written stands in docs/reference/record.md.
namespace kontor::miniapp {

/// What an exchange was left to choose and has chosen.
struct ExchangeChoice {
  comm::Options chosen;                      ///< backend, pattern, path
  std::vector<comm::TimedMethod> candidates; ///< what was tried; one or none: nothing was left to choose
  std::string packing;                       ///< what the deck's packing came to, over all ranks
};

/// A number that was looked at every few iterations, of the last repeat.
struct History {
  std::vector<std::int64_t> iterations;
  std::vector<double> values; ///< one for each of the iterations
  std::string name = "norm";  ///< of the values
};

/// Messages and bytes from one rank to one neighbour in one step.
struct Traffic {
  int rank = 0;
  int neighbour = 0;
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
};

/// What an app adds to /run. It is rank 0's that is written, but for field_memory and traffic, which each rank gives
/// for itself.
struct AppRecord {
  std::vector<std::int64_t> process_grid; ///< ranks along x, y[, z]; empty: none
  std::string precision;                  ///< of the numbers computed with: "double"
  std::int64_t field_memory = 0;          ///< bytes of this rank's Views that hold the problem
  std::optional<ExchangeChoice> exchange; ///< none: the deck's options stand as they are
  History history;                        ///< empty: not written
  std::vector<double> computing; ///< seconds of a repeat's steps without exchanges, of the slowest rank: samples
  std::vector<Traffic> traffic;  ///< what this rank sends in a step
  std::string table;             ///< what people read before the figures; not written
  /// What the app has measured of the machine.
  nlohmann::ordered_json calibration = nlohmann::ordered_json::object();
  /// All else: numbers, texts, tables. No key of /run twice.
  nlohmann::ordered_json extras = nlohmann::ordered_json::object();
};

} // namespace kontor::miniapp
