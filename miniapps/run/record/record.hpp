// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/options.hpp"
#include "run/record/result.hpp"

#include <kontor/comm/communicator.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>

/// The record of a run: the tree /run, with the keys of docs/reference/record.md. Each fact is added where it becomes
/// known. The tree is what is written, and what the table for people and the verdict are printed from.
namespace kontor::miniapp {

/// Collective; valid at rank 0. What a run knows of itself before it does anything.
nlohmann::ordered_json provenance(const comm::Communicator&, const RunOptions&, std::string_view app,
                                  const std::string& command, const std::string& resolved_deck);

/// Local. Adds seconds of the repeats, of the slowest rank, and of `computing`, those of the kernels alone: what of the
/// median repeat is exposed communication, and how far that may be wrong.
void add_repeats(nlohmann::ordered_json& record, const std::vector<double>& repeats,
                 const std::vector<double>& computing);

/// Local. Adds the verdict and, unless it failed, the figures.
void add_verdict(nlohmann::ordered_json& record, const Verification&, const std::vector<FigureOfMerit>&);

/// Collective; valid at rank 0. Adds what each rank's app tells (MiniApp::record()), and the memory of the processes.
void add_app(nlohmann::ordered_json& record, const comm::Communicator&, nlohmann::ordered_json mine);

/// Local. The tree as JSON text, for --results. Names of files may have any bytes; what is not UTF-8 in them becomes
/// U+FFFD.
std::string json_text(const nlohmann::ordered_json& record);

/// Local, for rank 0: the table for people, with what the app found out in it and which files were written.
void print_table(const nlohmann::ordered_json& record, const std::string& findings,
                 const std::vector<std::filesystem::path>& written);

/// Local, for rank 0: `FOM <name> = <value> <unit>` lines and the verdict, for scripts. `repeats`: how many were
/// wanted.
void print_verdict(const nlohmann::ordered_json& record, std::int64_t repeats);

} // namespace kontor::miniapp
