// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/findings.hpp"

#include "common/timers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kontor::pingpong {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const Point& p) {
  return {{"curve", p.subject.curve}, {"series", p.series},
          {"size", p.subject.size},   {"elements", p.subject.elements},
          {"bytes", p.subject.bytes}, {"repetitions", p.time.repetitions},
          {"mean", p.time.mean},      {"standard_error", p.time.standard_error},
          {"median", p.time.median},  {"min", p.time.min},
          {"pack", p.phases.pack},    {"post", p.phases.post},
          {"wait", p.phases.wait},    {"unpack", p.phases.unpack},
          {"messages", p.messages}};
}

ordered_json to_json(const Comparison& c) {
  return {{"curve", c.subject.curve}, {"series", c.series},       {"baseline", c.baseline},
          {"size", c.subject.size},   {"bytes", c.subject.bytes}, {"ratio", c.ratio.median},
          {"low", c.ratio.low},       {"high", c.ratio.high}};
}

bool same(const Subject& a, const Subject& b) {
  return a.curve == b.curve && a.size == b.size;
}

std::string line(const Point& p, const std::vector<Comparison>& ratios) {
  constexpr double micro = 1e6;
  auto text =
      fmt::format("  {:<26}{:>8}{:>12}  {:<28}{:>12.3f}{:>10.3f}{:>9.3f}", p.subject.curve, p.subject.size,
                  p.subject.bytes, p.series, p.time.median * micro, p.time.standard_error * micro,
                  static_cast<double>(p.subject.bytes) / p.time.median / 1e9);
  for (const auto& c : ratios)
    if (same(c.subject, p.subject) && c.series == p.series)
      text += fmt::format("  {:.3f} of {} [{:.3f}, {:.3f}]", c.ratio.median, c.baseline, c.ratio.low,
                          c.ratio.high);
  return text + "\n";
}

/// The points of one subject, which are [begin, end).
template <class Iterator>
std::string lines(Iterator begin, Iterator end, const std::vector<Comparison>& ratios) {
  constexpr std::size_t most = 5;
  std::vector<Point> shown(begin, end);
  const auto count = shown.size();
  if (count > most) {
    std::sort(shown.begin(), shown.end(),
              [](const Point& a, const Point& b) { return a.time.median < b.time.median; });
    shown.resize(most - 1);
  }
  std::string text;
  for (const auto& point : shown) text += line(point, ratios);
  if (shown.size() < count) text += fmt::format("  {:<46}  ({} slower ones)\n", "", count - shown.size());
  return text;
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
  auto text = fmt::format("\n  {:<26}{:>8}{:>12}  {:<28}{:>12}{:>10}{:>9}  {}\n", "curve", "size", "bytes",
                          "series", "median us", "+- us", "GB/s", "ratio, 95 %");
  for (auto begin = findings.points.begin(); begin != findings.points.end();) {
    const auto end = std::find_if(begin, findings.points.end(),
                                  [&](const Point& p) { return !same(p.subject, begin->subject); });
    text += lines(begin, end, findings.ratios);
    begin = end;
  }
  for (const auto& note : findings.notes) text += fmt::format("  {}\n", note);
  return text;
}

std::vector<miniapp::FigureOfMerit> typed_over_raw(const Findings& findings) {
  std::vector<double> ratios;
  for (const auto& c : findings.ratios)
    if (c.baseline == "raw") ratios.push_back(c.ratio.median);
  return {{"typed_over_raw", miniapp::median(ratios), "1"},
          {"typed_over_raw_worst", *std::max_element(ratios.begin(), ratios.end()), "1"}};
}

} // namespace kontor::pingpong
