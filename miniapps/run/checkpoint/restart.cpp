// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/checkpoint/restart.hpp"

#include "run/mini_app.hpp"
#include "run/start/messages.hpp"

#include <kontor/comm/mpi_check.hpp>
#include <kontor/config/error.hpp>
#include <kontor/output/error.hpp>
#include <kontor/output/seal.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <new>

namespace kontor::miniapp {
namespace {

using nlohmann::ordered_json;

/// The names of the files to try, as rank 0 finds them.
std::vector<std::string> candidates(MPI_Comm comm, const std::string& file) {
  int rank = 0;
  comm::mpi::check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  auto names = ordered_json::array();
  std::error_code ignored;
  if (rank == 0 && std::filesystem::exists(file, ignored))
    names.push_back(file);
  else if (rank == 0)
    for (const auto& found : find_checkpoints(file)) names.push_back(found.path.string());
  std::string bytes; // names may have any
  ordered_json::to_cbor(names, bytes);
  return ordered_json::from_cbor(broadcast(comm, std::move(bytes))).get<std::vector<std::string>>();
}

} // namespace

Restart::Restart(MPI_Comm comm, const std::string& file) {
  const auto names = candidates(comm, file);
  if (names.empty())
    throw config::Error({fmt::format("--restart: there is no checkpoint {} here, and none whose name is that with a "
                                     "number of steps; give the file of one, or NAME-checkpoint.h5 of the output "
                                     "NAME.h5",
                                     file)},
                        "E-CHECKPOINT-NONE");
  for (const auto& name : names) {
    try {
      output::check_seal(comm, name);
      reader_ = std::make_unique<output::Reader>(comm, name);
      header_ = header_in(*reader_);
      path_ = name;
      break;
    } catch (const output::MpiError&) { // maybe on this rank alone, as the next one
      throw;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) { // on all ranks
      reader_.reset();
      note_ += fmt::format("\n  {}", error.what());
    }
  }
  if (path_.empty())
    throw config::Error({fmt::format("--restart: no checkpoint of {} is whole:{}", file, note_)}, "E-CHECKPOINT-NONE");
  if (!note_.empty())
    note_ = fmt::format("restart: going on from {}, after step {}; newer ones are damaged:{}\n", path_, header_.step,
                        note_);
  if (header_.format != CheckpointHeader::current_format)
    throw config::Error({fmt::format("--restart: {} is of format {}; this program reads format {}", path_,
                                     header_.format, CheckpointHeader::current_format)},
                        "E-CHECKPOINT-DECK");
}

void Restart::require_same(std::string_view app, const config::Deck& deck, const std::vector<config::Setting>& now,
                           const std::vector<std::string>& may_change) const {
  if (header_.app != app)
    throw config::Error(
        {fmt::format("--restart: {} is a checkpoint of '{}', but this program is '{}'", path_, header_.app, app)},
        "E-CHECKPOINT-DECK");
  const auto free = [&](const std::string& key) {
    return std::ranges::any_of(may_change, [&](const std::string& allowed) {
      return key == allowed || (allowed.ends_with('.') && key.starts_with(allowed));
    });
  };
  std::vector<std::string> problems;
  for (const auto& [key, value] : now) {
    if (free(key)) continue;
    const auto of_checkpoint = header_.keys.find(key);
    const std::string then = of_checkpoint != header_.keys.end() ? of_checkpoint->second : "not there";
    if (value != then)
      problems.push_back(fmt::format("{}: {} is {}; in {} it is {}, and a restart cannot change it", deck.locate(key),
                                     key, value, path_, then));
  }
  if (!problems.empty()) throw config::Error(problems, "E-CHECKPOINT-DECK");
}

void Restart::compare(const comm::Communicator& comm, const MiniApp& app) {
  if (std::exchange(compared_, true)) return;
  output::File state(comm.native(), *reader_);
  app.write_state(state);
  const auto& differences = state.differences();
  verdict_ = {.measure = "parts of the restored state that differ from the checkpoint",
              .error = static_cast<double>(differences.size()),
              .judged = {"restored state against the checkpoint, all of it"}};
  if (!differences.empty()) verdict_.remark = fmt::format("{}", fmt::join(differences, ", "));
}

} // namespace kontor::miniapp
