// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/record.hpp"

#include "common/build_info.hpp"

#include <kontor/comm/backend/mpi_check.hpp>
#include <kontor/comm/collectives.hpp>
#include <kontor/comm/kokkos/compat.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <set>
#include <sys/resource.h>

namespace kontor::miniapp {
namespace {

using comm::mpi::check;
using nlohmann::ordered_json;

std::vector<std::string> host_names(const comm::Communicator& comm) {
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  check(MPI_Get_processor_name(name, &length), "MPI_Get_processor_name");
  std::vector<char> all(static_cast<std::size_t>(comm.size()) * MPI_MAX_PROCESSOR_NAME);
  check(MPI_Allgather(name, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, all.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR,
                      comm.native()),
        "MPI_Allgather");
  std::set<std::string> hosts;
  for (int r = 0; r < comm.size(); ++r)
    hosts.insert(&all[static_cast<std::size_t>(r) * MPI_MAX_PROCESSOR_NAME]);
  return {hosts.begin(), hosts.end()};
}

std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  check(MPI_Get_library_version(text, &length), "MPI_Get_library_version");
  std::string version(text);
  return version.substr(0, version.find_first_of(",\n"));
}

/// Names of files may have any bytes; what is not UTF-8 in them becomes U+FFFD.
std::string dumped(const ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}
std::string utf8(const std::string& text) {
  return ordered_json::parse(dumped(text, -1)).get<std::string>();
}

/// Bytes, the largest this process has had in memory.
std::int64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{1024} * usage.ru_maxrss;
}

ordered_json to_json(const FigureOfMerit& figure) {
  ordered_json json{{"name", figure.name}, {"value", figure.value}, {"unit", figure.unit}};
  if (std::isfinite(figure.attainable)) {
    json["attainable"] = figure.attainable;
    json["fraction"] = figure.fraction();
  }
  return json;
}

/// Collective.
ordered_json traffic_table(const comm::Communicator& comm, const std::vector<Traffic>& mine) {
  const int bytes = static_cast<int>(mine.size() * sizeof(Traffic));
  std::vector<int> counts(comm.size());
  check(MPI_Allgather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, comm.native()), "MPI_Allgather");
  std::vector<int> offsets(comm.size(), 0);
  for (int r = 1; r < comm.size(); ++r) offsets[r] = offsets[r - 1] + counts[r - 1];
  std::vector<Traffic> all((offsets.back() + counts.back()) / sizeof(Traffic));
  check(MPI_Allgatherv(mine.data(), bytes, MPI_BYTE, all.data(), counts.data(), offsets.data(), MPI_BYTE,
                       comm.native()),
        "MPI_Allgatherv");
  auto table = ordered_json::array();
  for (const auto& t : all)
    table.push_back(
        {{"rank", t.rank}, {"neighbour", t.neighbour}, {"messages", t.messages}, {"bytes", t.bytes}});
  return table;
}

} // namespace

ordered_json provenance(const comm::Communicator& comm, const RunOptions& options, std::string_view app,
                        const std::string& command, const std::string& resolved_deck) {
  const auto& build = build_info();
  return {{"app", app},
          {"version", build.version},
          {"git_revision", build.git_revision},
          {"started", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
          {"command", utf8(command)},
          {"deck", utf8(resolved_deck)},
          {"hosts", host_names(comm)},
          {"ranks", comm.size()},
          {"execution_space", Kokkos::DefaultExecutionSpace::name()},
          {"threads", Kokkos::DefaultExecutionSpace::concurrency()},
          {"kokkos_version",
           fmt::format("{}.{}.{}", KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100, KOKKOS_VERSION % 100)},
          {"mpi_library", mpi_library()},
          {"hdf5_version", output::hdf5_version()},
          {"compiler", build.compiler},
          {"flags", build.flags},
          {"backend", options.comm.backend},
          {"pattern", name_of(options.comm.pattern)},
          {"packing", name_of(options.comm.packing)},
          {"check", name_of(options.comm.check)},
          {"backend_remark", comm.remark()},
          {"path", path_name(options.comm.path)},
          {"overlap", options.overlap}};
}

std::string_view path_name(comm::Path path) {
  return comm::on_host<Kokkos::DefaultExecutionSpace> ? "host" : name_of(path);
}

void record_choice(ordered_json& record, const comm::Options& chosen,
                   const std::vector<comm::TimedMethod>& candidates) {
  record["backend"] = chosen.backend;
  record["pattern"] = name_of(chosen.pattern);
  record["path"] = path_name(chosen.path);
  if (candidates.size() < 2) return;
  for (const auto& [options, seconds] : candidates)
    record["candidates"].push_back({{"backend", options.backend},
                                    {"pattern", name_of(options.pattern)},
                                    {"packing", name_of(options.packing)},
                                    {"path", path_name(options.path)},
                                    {"seconds", seconds}});
}

ordered_json make_record(const comm::Communicator& comm, ordered_json record, const MiniApp& app,
                         const Outcome& outcome) {
  record.update(app.record());
  record["field_memory"] =
      comm::allreduce(comm, record.value("field_memory", std::int64_t{0}), comm::ReduceOp::sum);
  record["peak_memory"] = comm::allreduce(comm, peak_memory(), comm::ReduceOp::sum);
  record["start_to_first_sweep"] = outcome.start_to_first_sweep;

  const auto& v = outcome.verification;
  if (v.off)
    record["verification"] = {{"measure", v.measure}};
  else
    record["verification"] = {
        {"passed", v.passed()}, {"measure", v.measure}, {"error", v.error}, {"tolerance", v.tolerance}};
  if (!v.remark.empty()) record["verification"]["remark"] = v.remark;
  if (!outcome.figures.empty()) {
    record["figure_of_merit"] = to_json(outcome.figures.front());
    for (const auto& figure : outcome.figures) record["figures_of_merit"][figure.name] = to_json(figure);
  }
  auto& calibration = record["calibration"]; // an app may have added to it
  calibration["triad_bandwidth"] = outcome.calibration.triad_bandwidth;
  calibration["latency"] = outcome.calibration.latency;
  calibration["bandwidth"] = outcome.calibration.bandwidth;
  if (outcome.calibration.copy_bandwidth > 0)
    calibration["copy_bandwidth"] = outcome.calibration.copy_bandwidth;
  if (outcome.calibration.working_set > 0)
    calibration["working_set"] = static_cast<std::int64_t>(outcome.calibration.working_set);
  if (outcome.calibration.working_set_bandwidth > 0)
    calibration["working_set_bandwidth"] = outcome.calibration.working_set_bandwidth;
  record["repeats"] = outcome.repeats;
  auto timers = ordered_json::array();
  for (const auto& t : outcome.timers)
    timers.push_back({{"region", t.region},
                      {"calls", t.calls},
                      {"min", t.min},
                      {"median", t.median},
                      {"max", t.max},
                      {"slowest_rank", t.slowest_rank}});
  record["timers"] = timers;
  auto traffic = traffic_table(comm, app.traffic());
  if (!traffic.empty()) record["traffic"] = traffic;
  return record;
}

std::string results(const ordered_json& record) {
  return dumped(record, 2) + '\n';
}

} // namespace kontor::miniapp
