// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "timing/findings.hpp"

#include <fmt/format.h>

#include <string_view>

namespace kontor::timing {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const Point& p) {
  ordered_json json{{"curve", p.subject.curve}, {"series", p.series},
                    {"size", p.subject.size},   {"elements", p.subject.elements},
                    {"bytes", p.subject.bytes}, {"repetitions", p.time.repetitions},
                    {"mean", p.time.mean},      {"standard_error", p.time.standard_error},
                    {"median", p.time.median},  {"min", p.time.min}};
  if (p.subject.messages > 0)
    json.update({{"pack", p.phases.pack},
                 {"post", p.phases.post},
                 {"wait", p.phases.wait},
                 {"unpack", p.phases.unpack},
                 {"messages", p.subject.messages}});
  return json;
}

ordered_json to_json(const Comparison& c) {
  return {{"curve", c.subject.curve}, {"series", c.series},      {"baseline", c.baseline}, {"size", c.subject.size},
          {"bytes", c.subject.bytes}, {"ratio", c.ratio.median}, {"low", c.ratio.low},     {"high", c.ratio.high}};
}

std::pair<std::string_view, std::int64_t> key_of(const Subject& subject) { return {subject.curve, subject.size}; }

/// The points of one subject on one line: the fastest ones where there are many.
std::string line(std::span<const Point> points, const std::vector<Comparison>& ratios) {
  constexpr std::size_t most = 4;
  std::vector<Point> shown(points.begin(), points.end());
  const auto slower = shown.size() > most ? shown.size() - 3 : 0;
  if (slower > 0) {
    std::ranges::sort(shown, {}, [](const Point& p) { return p.time.median; });
    shown.resize(3);
  }
  const auto& subject = points.front().subject;
  auto text = fmt::format("  {:<26}{:>8}{:>11} ", subject.curve, subject.size, subject.bytes);
  for (const auto& p : shown) text += fmt::format("  {} {:.3f}", p.series, p.time.median * 1e6);
  if (slower > 0) text += fmt::format("  ({} slower ones)", slower);
  const auto first = std::ranges::find(ratios, key_of(subject), [](const Comparison& c) { return key_of(c.subject); });
  if (first != ratios.end())
    text += fmt::format("   {}/{} {:.3f} [{:.3f}, {:.3f}]", first->series, first->baseline, first->ratio.median,
                        first->ratio.low, first->ratio.high);
  return text + "\n";
}

} // namespace

ordered_json to_json(const Findings& findings) {
  auto json = findings.record;
  json["curves"] = ordered_json::array();
  for (const auto& point : findings.points) json["curves"].push_back(to_json(point));
  if (!findings.ratios.empty()) json["ratios"] = ordered_json::array();
  for (const auto& comparison : findings.ratios) json["ratios"].push_back(to_json(comparison));
  if (!findings.notes.empty()) json["notes"] = findings.notes;
  return json;
}

std::string to_text(const Findings& findings) {
  auto text = fmt::format("\n  {:<26}{:>8}{:>11}   {}\n", "curve", "size", "bytes", "median us; ratio [95 %]");
  for (const auto points : runs_of(findings.points, [](const Point& p) { return key_of(p.subject); }))
    text += line(points, findings.ratios);
  for (const auto& note : findings.notes) text += fmt::format("  {}\n", note);
  return text + findings.text;
}

} // namespace kontor::timing
