// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/record/record.hpp"

#include "machine/gather_to_root.hpp"
#include "machine/node.hpp"

#include <kontor/comm/reductions.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <sys/resource.h>

namespace kontor::miniapp {
namespace {

/// Bytes, the largest this process has had in memory.
std::int64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{1024} * usage.ru_maxrss;
}

} // namespace

Provenance provenance(const comm::Communicator& comm, const RunOptions& options, std::string_view app,
                      const std::string& command, const std::string& resolved_deck) {
  return {.app = std::string(app),
          .started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))),
          .command = command,
          .resolved_deck = resolved_deck,
          .hosts = host_names(comm),
          .ranks = comm.size(),
          .comm = options.comm,
          .overlap = options.overlap,
          .backend_remark = comm.remark(),
          .devices = devices_of(comm),
          .places = places_of(comm)};
}

RunRecord make_record(const comm::Communicator& comm, Provenance provenance, AppRecord mine, Outcome outcome) {
  const int root = 0;
  mine.field_memory = comm::reduce(comm, mine.field_memory, comm::ReduceOp::sum, root);
  mine.traffic = gather_to_root(comm, std::span<const Traffic>(mine.traffic));
  outcome.peak_memory = comm::reduce(comm, peak_memory(), comm::ReduceOp::sum, root);
  return {std::move(provenance), std::move(mine), std::move(outcome)};
}

std::optional<RunRecord::Exposed> RunRecord::exposed() const {
  const auto& repeats = outcome.repeats;
  if (app.computing.empty() || repeats.empty()) return std::nullopt;
  const auto spread = [](const std::vector<double>& values) { // to either side
    const auto [least, most] = std::ranges::minmax(values);
    return (most - least) / 2;
  };
  const double alone = spread(app.computing); // a single repeat does not tell its own
  return Exposed{median(repeats) - median(app.computing), alone + (repeats.size() > 1 ? spread(repeats) : alone)};
}

std::string RunRecord::packing() const {
  return app.exchange ? app.exchange->packing : std::string(comm::to_string(provenance.comm.packing));
}

std::string_view path_name(comm::Path path) { return device::kernels_on_host ? "host" : comm::to_string(path); }

} // namespace kontor::miniapp
