// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "common/mini_app.hpp"
#include "common/options.hpp"

#include <kontor/comm/timed_method.hpp>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace kontor::miniapp {

/// What a finished run knows of itself. `figures` is empty if verification failed.
struct Outcome {
  std::vector<double> repeats; ///< seconds, of the slowest rank
  std::vector<RegionSummary> timers;
  std::vector<FigureOfMerit> figures;
  Verification verification;
  Calibration calibration;
  double start_to_first_sweep = 0; ///< s, from the start of main() to the first sweep
};

/// Collective; valid on every rank. The attributes of /run that do not depend on the result: app, version,
/// started, command, deck, hosts, the resolved comm options, ... (docs/output.md lists all).
nlohmann::ordered_json provenance(const comm::Communicator&, const RunOptions&, std::string_view app,
                                  const std::string& command, const std::string& resolved_deck);

/// Local. What is said of the path of Views in the default memory space: `host` where that is the host's.
std::string_view path_name(comm::Path);

/// Local. What an exchange was left to choose and has chosen: backend, pattern, path, and the table
/// `candidates` where more than one was tried.
void record_choice(nlohmann::ordered_json& record, const comm::Options& chosen,
                   const std::vector<comm::TimedMethod>& candidates);

/// Collective; valid on every rank. The whole of /run.
nlohmann::ordered_json make_record(const comm::Communicator&, nlohmann::ordered_json provenance,
                                   const MiniApp&, const Outcome&);

/// Local. The record as JSON text, for --results.
std::string results(const nlohmann::ordered_json& record);

} // namespace kontor::miniapp
