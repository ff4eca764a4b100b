// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace kontor::miniapp {
namespace {

constexpr std::string_view outside_of_repeats[] = {"calibrate", "io", "setup", "verify"};

bool is_outside(const std::string& region) {
  return std::find(std::begin(outside_of_repeats), std::end(outside_of_repeats), region) !=
         std::end(outside_of_repeats);
}

std::string text(const nlohmann::ordered_json& record, const char* key) {
  return record.value(key, std::string("-"));
}

void print_timers(const std::vector<RegionSummary>& timers, double total) {
  fmt::print("\n  {:<12}{:>10}{:>12}{:>12}{:>12}{:>9}{:>9}\n", "region", "calls", "min s", "median s",
             "max s", "slowest", "share");
  const auto row = [&](const RegionSummary& t, const std::string& share) {
    fmt::print("  {:<12}{:>10}{:>12.4f}{:>12.4f}{:>12.4f}{:>9}{:>9}\n", t.region, t.calls, t.min, t.median,
               t.max, t.slowest_rank, share);
  };
  for (const auto& t : timers)
    if (!is_outside(t.region)) row(t, fmt::format("{:.1f} %", 100 * t.median / total));
  for (const auto& t : timers)
    if (is_outside(t.region)) row(t, "apart");
}

/// What `auto` has tried for one exchange, the fastest first.
void print_candidates(const nlohmann::ordered_json& record) {
  if (!record.contains("candidates")) return;
  auto candidates = record["candidates"];
  const auto faster = [](const auto& a, const auto& b) { return a["seconds"] < b["seconds"]; };
  std::stable_sort(candidates.begin(), candidates.end(), faster);
  const double fastest = candidates.front()["seconds"];
  fmt::print("\n  {:<10}{:<14}{:<10}{:<8}{:>12}{:>12}\n", "tried", "pattern", "packing", "path", "us",
             "of fastest");
  for (const auto& c : candidates)
    fmt::print("  {:<10}{:<14}{:<10}{:<8}{:>12.2f}{:>12.2f}\n", text(c, "backend"), text(c, "pattern"),
               text(c, "packing"), text(c, "path"), c["seconds"].template get<double>() * 1e6,
               c["seconds"].template get<double>() / fastest);
}

} // namespace

void print_table(const nlohmann::ordered_json& record, const Outcome& outcome, const std::string& findings,
                 const std::vector<std::filesystem::path>& written) {
  const double seconds = median(outcome.repeats);
  const auto grid = record.contains("process_grid") ? " as " + text(record, "process_grid") : "";
  fmt::print("{} on {} ranks{}, {}, {}\n", text(record, "app"), record.value("ranks", 0), grid,
             text(record, "precision"), text(record, "execution_space"));
  fmt::print("backend {}, {}, packing {}, path {}, overlap {}\n", text(record, "backend"),
             text(record, "pattern"), text(record, "packing"), text(record, "path"),
             record.value("overlap", false) ? "on" : "off");
  fmt::print("this machine: triad {:.1f} GB/s", outcome.calibration.triad_bandwidth / 1e9);
  if (outcome.calibration.copy_bandwidth > 0)
    fmt::print(", copy {:.1f} GB/s", outcome.calibration.copy_bandwidth / 1e9);
  if (outcome.calibration.working_set_bandwidth > 0)
    fmt::print(", in a working set of {:.3g} MB a rank {:.1f} GB/s", outcome.calibration.working_set / 1e6,
               outcome.calibration.working_set_bandwidth / 1e9);
  if (outcome.calibration.bandwidth > 0)
    fmt::print("; ping-pong {:.2f} us, {:.1f} GB/s", outcome.calibration.latency * 1e6,
               outcome.calibration.bandwidth / 1e9);
  fmt::print("\n");
  fmt::print("{}", findings);
  print_candidates(record);
  print_timers(outcome.timers, seconds);
  const auto [min, max] = std::minmax_element(outcome.repeats.begin(), outcome.repeats.end());
  fmt::print("\n  {} of {} repeats: median {:.4f} s, min {:.4f}, max {:.4f}\n", "time",
             outcome.repeats.size(), seconds, *min, *max);
  for (const auto& figure : outcome.figures) {
    fmt::print("  {}: {:.4g} {}", figure.name, figure.value, figure.unit);
    if (std::isfinite(figure.attainable))
      fmt::print(", {:.2f} of the attainable {:.4g}", figure.fraction(), figure.attainable);
    fmt::print("\n");
  }
  const auto& v = outcome.verification;
  if (v.off)
    fmt::print("  verification: {}\n", v.measure);
  else
    fmt::print("  {}: {:.3e}, tolerance {:.3e}{}{}\n", v.measure, v.error, v.tolerance,
               v.remark.empty() ? "" : "\n  ", v.remark);
  std::string names;
  for (const auto& path : written) names += (names.empty() ? "" : ", ") + path.string();
  fmt::print("  written: {}\n\n", names);
}

void print_verdict(const Outcome& outcome) {
  for (const auto& figure : outcome.figures)
    fmt::print("FOM {} = {:.6g} {}\n", figure.name, figure.value, figure.unit);
  const auto& v = outcome.verification;
  if (v.off)
    fmt::print("VERIFICATION OFF: {}\n", v.measure);
  else if (v.passed())
    fmt::print("VERIFICATION PASSED\n");
  else if (!v.conclusive)
    fmt::print("VERIFICATION FAILED: {}\n", v.remark);
  else
    fmt::print("VERIFICATION FAILED: {} is {:.3e}, above the tolerance {:.3e}{}{}\n", v.measure, v.error,
               v.tolerance, v.remark.empty() ? "" : "; ", v.remark);
}

} // namespace kontor::miniapp
