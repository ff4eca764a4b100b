// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/record/record.hpp"

#include "machine/cores.hpp"
#include "machine/device.hpp"
#include "machine/gather_to_root.hpp"
#include "machine/simulation.hpp"
#include "run/record/build_info.hpp"
#include "run/record/exchange_record.hpp"
#include "run/record/timers.hpp"

#include <kontor/comm/mpi_check.hpp>
#include <kontor/comm/reductions.hpp>
#include <kontor/output/file.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ctime>
#include <map>
#include <set>
#include <sys/resource.h>

namespace kontor::miniapp {
namespace {

using nlohmann::ordered_json;

std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  comm::mpi::check(MPI_Get_library_version(text, &length), "MPI_Get_library_version");
  std::string version(text);
  return version.substr(0, version.find_first_of(",\n"));
}

/// What is said of the path of Views in the default memory space.
std::string_view path_name(comm::Path path) { return device::kernels_on_host ? "host" : comm::to_string(path); }

/// How data travel.
ordered_json of_options(const comm::Options& options) {
  return {{"backend", options.backend},
          {"pattern", comm::to_string(options.pattern)},
          {"packing", comm::to_string(options.packing)},
          {"path", path_name(options.path)}};
}

ordered_json of_figure(const FigureOfMerit& figure) {
  ordered_json json{{"name", figure.name}, {"value", figure.value}, {"unit", figure.unit}};
  if (figure.moved.read > 0) json.update({{"bytes_read", figure.moved.read}, {"bytes_written", figure.moved.written}});
  if (figure.has_fraction()) json.update({{"attainable", figure.attainable}, {"fraction", figure.fraction()}});
  if (const auto remark = figure.remark(); !remark.empty()) json["remark"] = remark;
  return json;
}

ordered_json of_verification(const Verification& v) {
  ordered_json json{{"measure", v.measure}};
  if (!v.off)
    json = {{"passed", v.passed()},
            {"conclusive", v.conclusive},
            {"measure", v.measure},
            {"error", v.error},
            {"tolerance", v.tolerance}};
  if (v.failed()) json["id"] = errors::Id("E-VERIFY").text();
  if (!v.remark.empty()) json["remark"] = v.remark;
  if (!v.judged.empty()) json.update({{"judged", v.judged}, {"seed", v.seed}});
  for (const auto& [name, value] : v.more) json[name] = value;
  return json;
}

/// Bytes, the largest this process has had in memory.
std::int64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{1024} * usage.ru_maxrss;
}

} // namespace

ordered_json provenance(const comm::Communicator& comm, const RunOptions& options, std::string_view app,
                        const std::string& command, const std::string& resolved_deck) {
  const auto& build = build_info();
  ordered_json json{{"app", app},
                    {"version", build.version},
                    {"git_revision", build.git_revision},
                    {"started", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
                    {"command", command},
                    {"deck", resolved_deck}};
  if (simulated) json["simulated"] = "kernels take the times of KONTOR_KERNEL_TIMES";
  const auto version = KOKKOS_VERSION;
  auto places = placement_of(comm);
  std::set<std::string> hosts;
  for (const auto& place : places) hosts.insert(place["host"]);
  json.update({{"hosts", hosts},
               {"ranks", comm.size()},
               {"execution_space", Kokkos::DefaultExecutionSpace::name()},
               {"threads", Kokkos::DefaultExecutionSpace().concurrency()},
               {"kokkos_version", fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100)},
               {"mpi_library", mpi_library()},
               {"hdf5_version", output::hdf5_version()},
               {"compiler", build.compiler},
               {"flags", build.flags}});
  if (auto devices = devices_of(comm); !devices.empty()) json["devices"] = std::move(devices);
  json["placement"] = std::move(places);
  json.update(of_options(options.comm));
  json.update({{"check", comm::to_string(options.comm.check)},
               {"backend_remark", comm.remark()},
               {"overlap", options.overlap}});
  return json;
}

void add_repeats(ordered_json& record, const std::vector<double>& repeats, const std::vector<double>& computing) {
  record["repeats"] = repeats;
  if (computing.empty() || repeats.empty()) return;
  const auto spread = [](const std::vector<double>& values) { // to either side
    const auto [least, most] = std::ranges::minmax(values);
    return (most - least) / 2;
  };
  const double alone = spread(computing); // a single repeat does not tell its own
  record.update({{"compute_alone_seconds", median(computing)},
                 {"exposed_seconds", median(repeats) - median(computing)},
                 {"exposed_error", alone + (repeats.size() > 1 ? spread(repeats) : alone)}});
}

void add_verdict(ordered_json& record, const Verification& verification, const std::vector<FigureOfMerit>& figures) {
  record["verification"] = of_verification(verification);
  record.erase("figure_of_merit");
  record.erase("figures_of_merit");
  if (verification.failed() || figures.empty()) return;
  record["figure_of_merit"] = of_figure(figures.front());
  for (const auto& figure : figures) record["figures_of_merit"][figure.name] = of_figure(figure);
}

ordered_json method_of(const comm::Communicator& comm, const comm::ExchangeBase& exchange) {
  auto method = of_options(exchange.chosen());
  const int packs = exchange.packing() == comm::Packing::none ? 0 : 1;
  if (comm::allreduce(comm, packs, comm::ReduceOp::max) == 0) method["packing"] = "none"; // on all ranks
  const auto& candidates = exchange.timed_methods();
  if (candidates.size() > 1)
    for (const auto& [options, seconds] : candidates) {
      auto& row = method["candidates"].emplace_back(of_options(options));
      row["seconds"] = seconds;
    }
  return method;
}

ordered_json traffic_of(int rank, const comm::ExchangeBase& exchange) {
  std::map<int, std::pair<int, std::int64_t>> of_peers; // messages and bytes
  for (const auto& [peer, bytes] : exchange.sent()) {
    ++of_peers[peer].first;
    of_peers[peer].second += bytes;
  }
  auto table = ordered_json::array();
  for (const auto& [peer, sent] : of_peers)
    table.push_back({{"rank", rank}, {"neighbour", peer}, {"messages", sent.first}, {"bytes", sent.second}});
  return table;
}

ordered_json record_of(const comm::Communicator& comm, const comm::ExchangeBase& exchange) {
  auto record = method_of(comm, exchange);
  record["traffic"] = traffic_of(comm.rank(), exchange);
  return record;
}

void add_app(ordered_json& record, const comm::Communicator& comm, ordered_json mine) {
  record["peak_memory"] = comm::reduce(comm, peak_memory(), comm::ReduceOp::sum, 0);
  mine["field_memory"] = comm::reduce(comm, mine.value("field_memory", std::int64_t{0}), comm::ReduceOp::sum, 0);
  mine["traffic"] = gather_rows(comm, mine.value("traffic", ordered_json::array()));
  if (mine["traffic"].empty()) mine.erase("traffic");
  const auto grid = mine.value("process_grid", std::vector<std::int64_t>());
  mine["process_grid"] = fmt::format("{}", fmt::join(grid, " x "));
  if (grid.empty()) mine.erase("process_grid");
  record["calibration"].update(mine.value("calibration", ordered_json::object()));
  mine.erase("calibration");
  record.update(mine);
}

std::string json_text(const ordered_json& record) {
  return record.dump(1, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

} // namespace kontor::miniapp
