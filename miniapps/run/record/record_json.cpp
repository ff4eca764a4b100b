// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/simulation.hpp"
#include "run/record/build_info.hpp"
#include "run/record/record.hpp"

#include <kontor/comm/mpi_check.hpp>
#include <kontor/output/file.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

namespace kontor::miniapp {
namespace {

using comm::mpi::check;
using nlohmann::ordered_json;

/// Names of files may have any bytes; what is not UTF-8 in them becomes U+FFFD.
std::string dumped(const ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}
std::string utf8(const std::string& text) { return ordered_json::parse(dumped(text, -1)).get<std::string>(); }

/// An object has a line for each member, a table one for each row.
std::string lines_of(const ordered_json& value, const std::string& indent) {
  const bool is_table = value.is_array() && !value.empty() && value.front().is_object();
  if (!value.is_object() && !is_table) return dumped(value, -1);
  std::string lines;
  for (const auto& [key, member] : value.items()) {
    lines += fmt::format("{}\n{}  ", lines.empty() ? "" : ",", indent);
    lines += is_table ? dumped(member, -1) : dumped(key, -1) + ": " + lines_of(member, indent + "  ");
  }
  return fmt::format("{}{}\n{}{}", is_table ? "[" : "{", lines, indent, is_table ? "]" : "}");
}

std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  check(MPI_Get_library_version(text, &length), "MPI_Get_library_version");
  std::string version(text);
  return version.substr(0, version.find_first_of(",\n"));
}

/// An array with to_json() of each.
template <class Range, class ToJson>
ordered_json table(const Range& range, const ToJson& to_json) {
  auto rows = ordered_json::array();
  for (const auto& row : range) rows.push_back(to_json(row));
  return rows;
}

ordered_json of_device(const Device& d) {
  return {{"rank", d.rank}, {"host", d.host}, {"name", d.name}, {"uuid", d.uuid}, {"memory", d.memory}};
}

ordered_json of_place(const RankPinning& p) {
  return {{"rank", p.rank}, {"host", p.host}, {"cores", p.cores}, {"threads", p.threads}};
}

ordered_json of_candidate(const comm::TimedMethod& candidate) {
  const auto& [options, seconds] = candidate;
  return {{"backend", options.backend},
          {"pattern", comm::to_string(options.pattern)},
          {"packing", comm::to_string(options.packing)},
          {"path", path_name(options.path)},
          {"seconds", seconds}};
}

ordered_json of_figure(const FigureOfMerit& figure) {
  ordered_json json{{"name", figure.name}, {"value", figure.value}, {"unit", figure.unit}};
  if (figure.moved.read > 0) {
    json["bytes_read"] = figure.moved.read;
    json["bytes_written"] = figure.moved.written;
  }
  if (figure.has_fraction()) {
    json["attainable"] = figure.attainable;
    json["fraction"] = figure.fraction();
  }
  if (const auto remark = figure.remark(); !remark.empty()) json["remark"] = remark;
  return json;
}

ordered_json of_region(const RegionSummary& t) {
  return {{"region", t.region}, {"calls", t.calls}, {"min", t.min},
          {"median", t.median}, {"max", t.max},     {"slowest_rank", t.slowest_rank},
          {"mean", t.mean},     {"once", t.once},   {"kind", name_of(t.kind)}};
}

ordered_json of_distribution(const std::pair<const std::string, Quantiles>& entry) {
  const auto& [name, q] = entry;
  return {{"name", name},
          {"count", q.count},
          {"p50", q.p50},
          {"p95", q.p95},
          {"p99", q.p99},
          {"max", q.max},
          {"slowest_rank", q.slowest_rank}};
}

ordered_json of_noise(const Noise& n) {
  return {{"quantum", n.quantum}, {"samples", n.samples}, {"p50", n.p50},
          {"p99", n.p99},         {"max", n.max},         {"slowest_rank", n.slowest_rank}};
}

ordered_json of_energy(const Energy& energy) {
  ordered_json json;
  for (const auto& [name, of] : {std::pair("gpu", &energy.gpu), {"package", &energy.package}})
    if (of->remark.empty())
      json[name] = of->joules;
    else
      json[fmt::format("{}_remark", name)] = "not readable: " + of->remark;
  return json;
}

ordered_json of_traffic(const Traffic& t) {
  return {{"rank", t.rank}, {"neighbour", t.neighbour}, {"messages", t.messages}, {"bytes", t.bytes}};
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

ordered_json of_checkpoint(const CheckpointSummary& c, double stepping) {
  ordered_json json{{"written", c.steps.size()}};
  if (!c.steps.empty())
    json.update({{"steps", c.steps},
                 {"bytes", static_cast<std::int64_t>(c.bytes)},
                 {"seconds", c.seconds},
                 {"bandwidth", c.bytes / c.seconds},
                 {"overhead", c.seconds / stepping},
                 {"newest", utf8(c.newest)}});
  if (!c.restarted_from.empty())
    json.update({{"restarted_from", utf8(c.restarted_from)}, {"at_step", c.at_step}, {"at_repeat", c.at_repeat}});
  return json;
}

ordered_json of_gemm(const GemmRate& gemm) {
  return {{"m", gemm.block.m},           {"n", gemm.block.n},       {"k", gemm.block.k},          {"rate", gemm.rate},
          {"precision", gemm.precision}, {"library", gemm.library}, {"optimised", gemm.optimised}};
}

void add_rates(ordered_json& json, const std::string& of, const StreamRates& rates) {
  json[of + "read_bandwidth"] = rates.read;
  json[of + "copy_bandwidth"] = rates.copy;
  json[of + "triad_bandwidth"] = rates.triad;
}

/// `of_app` is what the app has measured besides.
ordered_json of_calibration(const Calibration& machine, const ordered_json& of_app) {
  auto json = of_app;
  add_rates(json, "", machine.memory);
  json["vector_bytes"] = static_cast<std::int64_t>(machine.vector_bytes);
  json["huge_pages"] = machine.huge_pages;
  json["latency"] = machine.latency;
  json["bandwidth"] = machine.bandwidth;
  json["oversubscribed"] = machine.oversubscribed;
  if (!machine.link.empty()) json["link"] = machine.link;
  if (!machine.internode_link.empty()) json["internode_link"] = machine.internode_link;
  if (machine.internode_bandwidth > 0) {
    json["internode_latency"] = machine.internode_latency;
    json["internode_bandwidth"] = machine.internode_bandwidth;
  }
  if (machine.working_set > 0) json["working_set"] = static_cast<std::int64_t>(machine.working_set);
  if (machine.in_working_set.read > 0) add_rates(json, "working_set_", machine.in_working_set);
  if (machine.large_bandwidth > 0) {
    json["large_message"] = static_cast<std::int64_t>(machine.large_message);
    json["large_bandwidth"] = machine.large_bandwidth;
  }
  if (machine.gemm) json["gemm"] = of_gemm(*machine.gemm);
  if (machine.multiply_adds > 0) json["multiply_adds"] = machine.multiply_adds;
  return json;
}

/// What it ran on and how it was made.
void add_provenance(ordered_json& json, const Provenance& run) {
  const auto& build = build_info();
  json["app"] = run.app;
  json["version"] = build.version;
  json["git_revision"] = build.git_revision;
  json["started"] = run.started;
  json["command"] = utf8(run.command);
  json["deck"] = utf8(run.resolved_deck);
  if (simulated) json["simulated"] = words_of_simulation();
  json["hosts"] = run.hosts;
  json["ranks"] = run.ranks;
  json["execution_space"] = Kokkos::DefaultExecutionSpace::name();
  json["threads"] = Kokkos::DefaultExecutionSpace().concurrency();
  json["kokkos_version"] =
      fmt::format("{}.{}.{}", KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100, KOKKOS_VERSION % 100);
  json["mpi_library"] = mpi_library();
  json["hdf5_version"] = output::hdf5_version();
  json["compiler"] = build.compiler;
  json["flags"] = build.flags;
  if (!run.devices.empty()) json["devices"] = table(run.devices, of_device);
  if (!run.places.empty()) json["placement"] = table(run.places, of_place);
}

/// How data travelled.
void add_communication(ordered_json& json, const RunRecord& record) {
  const auto& chosen = record.chosen();
  json["backend"] = chosen.backend;
  json["pattern"] = comm::to_string(chosen.pattern);
  json["packing"] = record.packing();
  json["check"] = comm::to_string(record.provenance.comm.check);
  json["backend_remark"] = record.provenance.backend_remark;
  json["path"] = path_name(chosen.path);
  json["overlap"] = record.provenance.overlap;
  const auto& exchange = record.app.exchange;
  if (exchange && exchange->candidates.size() > 1) json["candidates"] = table(exchange->candidates, of_candidate);
  if (!record.app.traffic.empty()) json["traffic"] = table(record.app.traffic, of_traffic);
}

void add_app(ordered_json& json, const AppRecord& app) {
  if (!app.process_grid.empty()) json["process_grid"] = fmt::format("{}", fmt::join(app.process_grid, " x "));
  if (!app.precision.empty()) json["precision"] = app.precision;
  json["field_memory"] = app.field_memory;
  if (!app.history.values.empty())
    json["history"] = {{"iteration", app.history.iterations}, {app.history.name, app.history.values}};
}

void add_outcome(ordered_json& json, const RunRecord& record) {
  const auto& outcome = record.outcome;
  json["ended_early"] = outcome.ended_early();
  if (outcome.ended_early()) json["end_signal"] = outcome.end_signal;
  json["peak_memory"] = outcome.peak_memory;
  json["start_to_first_step"] = outcome.start_to_first_step;
  json["verification"] = of_verification(outcome.verification);
  if (!outcome.figures.empty()) {
    json["figure_of_merit"] = of_figure(outcome.figures.front());
    auto& all = json["figures_of_merit"] = ordered_json::object();
    for (const auto& figure : outcome.figures) all[figure.name] = of_figure(figure);
  }
  json["repeats"] = outcome.repeats;
  if (const auto exposed = record.exposed()) {
    json["compute_alone_seconds"] = median(record.app.computing);
    json["exposed_seconds"] = exposed->seconds;
    json["exposed_error"] = exposed->error;
  }
  if (outcome.checkpoint) json["checkpoint"] = of_checkpoint(*outcome.checkpoint, outcome.stepping);
  json["timers"] = table(outcome.timers, of_region);
  if (outcome.per_rank.repeats > 0) json["per_rank"] = to_json(outcome.per_rank);
  std::map<std::string, Quantiles> sampled;
  for (const auto& [name, quantiles] : outcome.distributions)
    if (quantiles.count > 0) sampled.emplace(name, quantiles);
  if (!sampled.empty()) json["distributions"] = table(sampled, of_distribution);
  if (!device::kernels_on_host)
    json["distributions_remark"] = "kernels run on a device, so the host does not see how long a step takes";
  const auto& [regions, rows] = outcome.trace;
  const auto of_row = [&regions = regions](const TraceRow& row) -> ordered_json {
    return {{"rank", row.rank},
            {"region", regions.at(static_cast<std::size_t>(row.region))},
            {"begin", row.begin},
            {"end", row.end}};
  };
  if (!rows.empty()) json["trace"] = table(rows, of_row);
  if (outcome.calibration.noise.samples > 0) json["noise"] = of_noise(outcome.calibration.noise);
  if (outcome.energy) json["energy"] = of_energy(*outcome.energy);
}

} // namespace

ordered_json to_json(const RunRecord& record) {
  auto json = ordered_json::object();
  add_provenance(json, record.provenance);
  add_communication(json, record);
  add_app(json, record.app);
  add_outcome(json, record);
  json["calibration"] = of_calibration(record.outcome.calibration, record.app.calibration);
  for (const auto& [key, value] : record.app.extras.items()) {
    if (json.contains(key))
      throw std::logic_error(fmt::format("record: the app's extras have '{}', which every run has", key));
    json[key] = value;
  }
  return json;
}

std::string json_text(const ordered_json& tree) { return lines_of(tree, "") + '\n'; }

} // namespace kontor::miniapp
