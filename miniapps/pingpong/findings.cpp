// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/findings.hpp"

#include "run/record/timers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kontor::pingpong {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const Point& p) {
  return {{"curve", p.subject.curve},      {"series", p.series},
          {"size", p.subject.size},        {"elements", p.subject.elements},
          {"bytes", p.subject.bytes},      {"repetitions", p.time.repetitions},
          {"mean", p.time.mean},           {"standard_error", p.time.standard_error},
          {"median", p.time.median},       {"min", p.time.min},
          {"pack", p.phases.pack},         {"post", p.phases.post},
          {"wait", p.phases.wait},         {"unpack", p.phases.unpack},
          {"messages", p.subject.messages}};
}

ordered_json to_json(const Comparison& c) {
  return {{"curve", c.subject.curve}, {"series", c.series},       {"baseline", c.baseline},
          {"size", c.subject.size},   {"bytes", c.subject.bytes}, {"ratio", c.ratio.median},
          {"low", c.ratio.low},       {"high", c.ratio.high}};
}

bool same(const Subject& a, const Subject& b) {
  return a.curve == b.curve && a.size == b.size;
}

/// The points of one subject, which are [begin, end), on one line: the fastest ones where there are many.
template <class Iterator>
std::string line(Iterator begin, Iterator end, const std::vector<Comparison>& ratios) {
  constexpr std::size_t most = 4;
  std::vector<Point> shown(begin, end);
  const auto slower = shown.size() > most ? shown.size() - 3 : 0;
  if (slower > 0) {
    const auto faster = [](const Point& a, const Point& b) { return a.time.median < b.time.median; };
    std::sort(shown.begin(), shown.end(), faster);
    shown.resize(3);
  }
  const auto& subject = begin->subject;
  auto text = fmt::format("  {:<26}{:>8}{:>11} ", subject.curve, subject.size, subject.bytes);
  for (const auto& p : shown) text += fmt::format("  {} {:.3f}", p.series, p.time.median * 1e6);
  if (slower > 0) text += fmt::format("  ({} slower ones)", slower);
  const auto first = std::find_if(ratios.begin(), ratios.end(),
                                  [&](const Comparison& c) { return same(c.subject, subject); });
  if (first != ratios.end())
    text += fmt::format("   {}/{} {:.3f} [{:.3f}, {:.3f}]", first->series, first->baseline,
                        first->ratio.median, first->ratio.low, first->ratio.high);
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
  auto text =
      fmt::format("\n  {:<26}{:>8}{:>11}   {}\n", "curve", "size", "bytes", "median us; ratio [95 %]");
  for (auto begin = findings.points.begin(); begin != findings.points.end();) {
    const auto end = std::find_if(begin, findings.points.end(),
                                  [&](const Point& p) { return !same(p.subject, begin->subject); });
    text += line(begin, end, findings.ratios);
    begin = end;
  }
  for (const auto& note : findings.notes) text += fmt::format("  {}\n", note);
  return text + findings.text;
}

std::vector<miniapp::FigureOfMerit> typed_over_raw(const Findings& findings) {
  std::vector<double> ratios;
  for (const auto& c : findings.ratios)
    if (c.baseline == "raw") ratios.push_back(c.ratio.median);
  return {{"typed_over_raw", miniapp::median(ratios), "1"},
          {"typed_over_raw_worst", *std::max_element(ratios.begin(), ratios.end()), "1"}};
}

} // namespace kontor::pingpong
