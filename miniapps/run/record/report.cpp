// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/record/record.hpp"
#include "run/record/timers.hpp"

#include <Kokkos_Core.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace kontor::miniapp {
namespace {

using nlohmann::ordered_json;

/// A member; 0, or an empty text, if there is none.
double number(const ordered_json& json, const std::string& key) { return json.value(key, 0.0); }
std::string text(const ordered_json& json, const char* key) { return json.value(key, ""); }
ordered_json table(const ordered_json& json, const char* key) { return json.value(key, ordered_json::array()); }
bool flag(const ordered_json& json, const char* key) { return json.at(key).get<bool>(); }

void print_timers(const ordered_json& timers, double total) {
  constexpr std::string_view row = "  {:<12}{:>10}{:>12}{:>12}{:>12}{:>9}{:>9}\n";
  fmt::print("\n");
  fmt::print(row, "region", "calls", "min s", "median s", "max s", "slowest", "share");
  for (const bool apart : {false, true})
    for (const auto& t : timers) {
      if ((flag(t, "once") || text(t, "kind") == "io") != apart) continue;
      const auto share = total > 0 ? fmt::format("{:.1f} %", 100 * number(t, "median") / total) : "-";
      fmt::print("  {:<12}{:>10}{:>12.4f}{:>12.4f}{:>12.4f}{:>9}{:>9}\n", text(t, "region"), number(t, "calls"),
                 number(t, "min"), number(t, "median"), number(t, "max"), number(t, "slowest_rank"),
                 apart ? "apart" : share);
    }
}

/// What `auto` has tried for one exchange, the fastest first.
void print_candidates(const ordered_json& record) {
  auto candidates = table(record, "candidates");
  if (candidates.empty()) return;
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return number(a, "seconds") < number(b, "seconds"); });
  const double fastest = number(candidates.front(), "seconds");
  fmt::print("\n  {:<10}{:<14}{:<10}{:<8}{:>12}{:>12}\n", "tried", "pattern", "packing", "path", "us", "of fastest");
  for (const auto& c : candidates)
    fmt::print("  {:<10}{:<14}{:<10}{:<8}{:>12.2f}{:>12.2f}\n", text(c, "backend"), text(c, "pattern"),
               text(c, "packing"), text(c, "path"), number(c, "seconds") * 1e6, number(c, "seconds") / fastest);
}

/// "1 rank", "2 ranks".
std::string counted(const ordered_json& record, const std::string& key) {
  const auto number = record.at(key).get<int>();
  return fmt::format("{} {}", number, number == 1 ? key.substr(0, key.size() - 1) : key);
}

} // namespace

void print_table(const ordered_json& record, const std::string& findings,
                 const std::vector<std::filesystem::path>& written) {
  const auto repeats = record.at("repeats").get<std::vector<double>>();
  const double seconds = repeats.empty() ? 0 : median(repeats);
  const auto grid = text(record, "process_grid");
  fmt::print("{} on {}{}{}, {}, {}\n", text(record, "app"), counted(record, "ranks"),
             device::kernels_on_host ? " of " + counted(record, "threads") : "", grid.empty() ? "" : " as " + grid,
             record.value("precision", "-"), text(record, "execution_space"));
  fmt::print("backend {}, {}, packing {}, path {}, overlap {}\n", text(record, "backend"), text(record, "pattern"),
             text(record, "packing"), text(record, "path"), flag(record, "overlap") ? "on" : "off");
  if (record.at("calibration").value("oversubscribed", false))
    fmt::print("there are more ranks and threads than cores: they take turns, so no fraction of what the machine can "
               "do is given\n");
  fmt::print("{}", findings);
  print_candidates(record);
  print_timers(record.at("timers"), seconds);
  fmt::print("\n  time of {} {}", repeats.size(), repeats.size() == 1 ? "repeat" : "repeats");
  if (!repeats.empty()) {
    const auto [min, max] = std::ranges::minmax(repeats);
    fmt::print(": median {:.4f} s, min {:.4f}, max {:.4f}", seconds, min, max);
  }
  fmt::print("\n");
  if (record.contains("exposed_error")) {
    const double share = number(record, "exposed_seconds"), error = number(record, "exposed_error");
    if (share > error)
      fmt::print("  exposed communication: {:.4f} s +- {:.4f}, {:.0f} %\n", share, error, 100 * share / seconds);
    else
      fmt::print("  exposed communication: not resolved, {:.4f} s +- {:.4f}\n", share, error);
  }
  for (const auto& figure : table(record, "figures_of_merit")) {
    fmt::print("  {}: {:.4g} {}", text(figure, "name"), number(figure, "value"), text(figure, "unit"));
    if (figure.contains("fraction"))
      fmt::print(", {:.2f} of the attainable {:.4g}", number(figure, "fraction"), number(figure, "attainable"));
    fmt::print("{}{}\n", figure.contains("remark") ? "\n    " : "", text(figure, "remark"));
  }
  const auto& v = record.at("verification");
  if (!v.contains("passed"))
    fmt::print("  verification: {}\n", text(v, "measure"));
  else
    fmt::print("  {}: {:.3e}, tolerance {:.3e}{}{}\n", text(v, "measure"), number(v, "error"), number(v, "tolerance"),
               v.contains("remark") ? "\n  " : "", text(v, "remark"));
  for (const auto& what : table(v, "judged")) fmt::print("  judged: {}\n", what.get<std::string>());
  if (v.contains("seed")) fmt::print("  random places: measure.sample_seed {}\n", v.at("seed").get<std::uint64_t>());
  std::string names;
  for (const auto& path : written) names += (names.empty() ? "" : ", ") + path.string();
  fmt::print("  written: {}\n\n", names);
}

void print_verdict(const ordered_json& record, std::int64_t repeats) {
  if (record.contains("simulated")) fmt::print("SIMULATED: {}\n", text(record, "simulated"));
  for (const auto& figure : table(record, "figures_of_merit"))
    fmt::print("FOM {} = {:.6g} {}\n", text(figure, "name"), number(figure, "value"), text(figure, "unit"));
  const auto& v = record.at("verification");
  const auto measure = text(v, "measure"), remark = text(v, "remark");
  if (!v.contains("passed"))
    fmt::print("VERIFICATION OFF: {}\n", measure);
  else if (flag(v, "passed"))
    fmt::print("VERIFICATION PASSED\n");
  else if (!flag(v, "conclusive"))
    fmt::print("VERIFICATION INCONCLUSIVE: {} [E-VERIFY]\n", remark);
  else
    fmt::print("VERIFICATION FAILED: {} is {:.3e}, above the tolerance {:.3e}{}{} [E-VERIFY]\n", measure,
               number(v, "error"), number(v, "tolerance"), remark.empty() ? "" : "; ", remark);
  const auto signal = text(record, "end_signal");
  if (signal.empty()) return;
  fmt::print("ENDED EARLY: {} after {} of {} {}", signal == "walltime" ? "checkpoint.walltime" : "signal " + signal,
             record.at("repeats").size(), repeats, repeats == 1 ? "repeat" : "repeats");
  const auto checkpoint = record.value("checkpoint", ordered_json::object());
  if (const auto newest = text(checkpoint, "newest"); !newest.empty()) // how it can be continued
    fmt::print("; it stands after step {} in {}: scripts/kontor run {} --restart",
               checkpoint.at("steps").back().get<std::int64_t>(), newest, newest);
  fmt::print("\n");
}

} // namespace kontor::miniapp
