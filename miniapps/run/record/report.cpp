// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/simulation.hpp"
#include "run/record/record.hpp"

#include <Kokkos_Core.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kontor::miniapp {
namespace {

void print_timers(const std::vector<RegionSummary>& timers, double total) {
  fmt::print("\n  {:<12}{:>10}{:>12}{:>12}{:>12}{:>9}{:>9}\n", "region", "calls", "min s", "median s", "max s",
             "slowest", "share");
  const auto row = [&](const RegionSummary& t, const std::string& share) {
    fmt::print("  {:<12}{:>10}{:>12.4f}{:>12.4f}{:>12.4f}{:>9}{:>9}\n", t.region, t.calls, t.min, t.median, t.max,
               t.slowest_rank, share);
  };
  for (const auto& t : timers)
    if (!t.outside()) row(t, total > 0 ? fmt::format("{:.1f} %", 100 * t.median / total) : "-");
  for (const auto& t : timers)
    if (t.outside()) row(t, "apart");
}

/// What `auto` has tried for one exchange, the fastest first.
void print_candidates(const RunRecord& record) {
  if (!record.app.exchange || record.app.exchange->candidates.size() < 2) return;
  auto candidates = record.app.exchange->candidates;
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  const double fastest = candidates.front().seconds;
  fmt::print("\n  {:<10}{:<14}{:<10}{:<8}{:>12}{:>12}\n", "tried", "pattern", "packing", "path", "us", "of fastest");
  for (const auto& [options, seconds] : candidates)
    fmt::print("  {:<10}{:<14}{:<10}{:<8}{:>12.2f}{:>12.2f}\n", options.backend, comm::to_string(options.pattern),
               comm::to_string(options.packing), path_name(options.path), seconds * 1e6, seconds / fastest);
}

std::string words(const StreamRates& rates) {
  return fmt::format("read {:.1f}, copy {:.1f}, triad {:.1f} GB/s", rates.read / 1e9, rates.copy / 1e9,
                     rates.triad / 1e9);
}

void print_machine(const Calibration& machine) {
  if (simulated)
    fmt::print("simulated machine, {}", words_of_simulation());
  else if (machine.memory.read == 0)
    fmt::print("this machine: not measured (measure.calibrate)");
  else
    fmt::print("this machine{}, in vectors of {:.3g} MB a rank: {}", machine.huge_pages ? ", huge pages" : "",
               machine.vector_bytes / 1e6, words(machine.memory));
  if (machine.in_working_set.read > 0)
    fmt::print("; in a working set of {:.3g} MB a rank: {}", machine.working_set / 1e6, words(machine.in_working_set));
  if (machine.bandwidth > 0)
    fmt::print("; ping-pong {:.2f} us, {:.1f} GB/s", machine.latency * 1e6, machine.bandwidth / 1e9);
  if (machine.internode_bandwidth > 0)
    fmt::print("; between nodes {:.2f} us, {:.1f} GB/s", machine.internode_latency * 1e6,
               machine.internode_bandwidth / 1e9);
  if (machine.large_bandwidth > 0)
    fmt::print("; messages of {:.0f} MB {:.1f} GB/s", machine.large_message / 1e6, machine.large_bandwidth / 1e9);
  if (machine.gemm) fmt::print("; gemm {:.1f} GFLOP/s by {}", machine.gemm->rate / 1e9, machine.gemm->library);
  fmt::print("\n");
  if (machine.oversubscribed)
    fmt::print("there are more ranks and threads than cores: they take turns, so these are not what the machine "
               "can do, and no fraction of it is given\n");
}

/// "1 rank", "2 ranks".
std::string counted(int number, const char* word) {
  return fmt::format("{} {}{}", number, word, number == 1 ? "" : "s");
}

} // namespace

void print_table(const RunRecord& record, const std::string& findings,
                 const std::vector<std::filesystem::path>& written) {
  const auto& [run, app, outcome] = record;
  const auto& chosen = record.chosen();
  const auto& repeats = outcome.repeats;
  const double seconds = repeats.empty() ? 0 : median(repeats);
  const auto grid = app.process_grid.empty() ? "" : fmt::format(" as {}", fmt::join(app.process_grid, " x "));
  const auto threads = counted(Kokkos::DefaultExecutionSpace().concurrency(), "thread");
  fmt::print("{} on {}{}{}, {}, {}\n", run.app, counted(run.ranks, "rank"),
             device::kernels_on_host ? " of " + threads : "", grid, app.precision.empty() ? "-" : app.precision,
             Kokkos::DefaultExecutionSpace::name());
  fmt::print("backend {}, {}, packing {}, path {}, overlap {}\n", chosen.backend, comm::to_string(chosen.pattern),
             record.packing(), path_name(chosen.path), run.overlap ? "on" : "off");
  print_machine(outcome.calibration);
  fmt::print("{}", findings);
  print_candidates(record);
  print_timers(outcome.timers, seconds);
  fmt::print("\n  time of {} repeats", repeats.size());
  if (!repeats.empty()) {
    const auto [min, max] = std::minmax_element(repeats.begin(), repeats.end());
    fmt::print(": median {:.4f} s, min {:.4f}, max {:.4f}", seconds, *min, *max);
  }
  fmt::print("\n");
  if (const auto exposed = record.exposed()) {
    const auto& [share, error] = *exposed;
    if (share > error)
      fmt::print("  exposed communication: {:.4f} s +- {:.4f}, {:.0f} %\n", share, error, 100 * share / seconds);
    else
      fmt::print("  exposed communication: not resolved, {:.4f} s +- {:.4f}\n", share, error);
  }
  for (const auto& figure : outcome.figures) {
    fmt::print("  {}: {:.4g} {}", figure.name, figure.value, figure.unit);
    if (figure.has_fraction()) fmt::print(", {:.2f} of the attainable {:.4g}", figure.fraction(), figure.attainable);
    const auto remark = figure.remark();
    fmt::print("{}{}\n", remark.empty() ? "" : "\n    ", remark);
  }
  const auto& v = outcome.verification;
  if (v.off)
    fmt::print("  verification: {}\n", v.measure);
  else
    fmt::print("  {}: {:.3e}, tolerance {:.3e}{}{}\n", v.measure, v.error, v.tolerance, v.remark.empty() ? "" : "\n  ",
               v.remark);
  for (const auto& what : v.judged) fmt::print("  judged: {}\n", what);
  if (!v.judged.empty()) fmt::print("  random places: measure.sample_seed {}\n", v.seed);
  std::string names;
  for (const auto& path : written) names += (names.empty() ? "" : ", ") + path.string();
  fmt::print("  written: {}\n\n", names);
}

namespace {

/// How a run that ended early can be continued.
std::string way_on(const Outcome& outcome) {
  if (!outcome.checkpoint || outcome.checkpoint->steps.empty()) return "";
  const auto& c = *outcome.checkpoint;
  return fmt::format("; it stands after step {} in {}: scripts/kontor run {} --restart", c.steps.back(), c.newest,
                     c.newest);
}

} // namespace

void print_verdict(const Outcome& outcome) {
  if (simulated) fmt::print("SIMULATED: {}\n", words_of_simulation());
  for (const auto& figure : outcome.figures) fmt::print("FOM {} = {:.6g} {}\n", figure.name, figure.value, figure.unit);
  const auto& v = outcome.verification;
  if (v.off)
    fmt::print("VERIFICATION OFF: {}\n", v.measure);
  else if (v.passed())
    fmt::print("VERIFICATION PASSED\n");
  else if (!v.conclusive)
    fmt::print("VERIFICATION INCONCLUSIVE: {} [E-VERIFY]\n", v.remark);
  else
    fmt::print("VERIFICATION FAILED: {} is {:.3e}, above the tolerance {:.3e}{}{} [E-VERIFY]\n", v.measure, v.error,
               v.tolerance, v.remark.empty() ? "" : "; ", v.remark);
  if (outcome.ended_early())
    fmt::print("ENDED EARLY: told to end by {} after {} of {} repeats{}\n",
               outcome.end_signal == "walltime" ? "checkpoint.walltime" : "signal " + outcome.end_signal,
               outcome.repeats.size(), outcome.repeats_wanted, way_on(outcome));
}

} // namespace kontor::miniapp
