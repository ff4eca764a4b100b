// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/record/result.hpp"
#include "timing/statistics.hpp"

#include <kontor/comm/phase_times.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <span>
#include <string>

/// What a run finds out: tables for people and for the file.
namespace kontor::timing {

/// What one or several ways are timed at.
struct Subject {
  std::string curve;
  std::int64_t size = 0; ///< elements along an edge
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  std::int64_t messages = 1; ///< that a rank sends in one execution; 0: none, so the time has no phases
};

/// One way at one size: a point of a curve. Seconds.
struct Point {
  Subject subject;
  std::string series;
  Summary time;
  comm::PhaseTimes phases{}; ///< of one execution; all 0 where it is not split
};

/// How one way compares with another, repetition by repetition.
struct Comparison {
  Subject subject;
  std::string series;
  std::string baseline;
  Interval ratio;
};

struct Findings {
  std::vector<Point> points;
  std::vector<Comparison> ratios;
  std::vector<miniapp::FigureOfMerit> figures;
  std::vector<std::string> notes;
  std::string text; ///< what people read after the table
  /// What a measure adds to /run.
  nlohmann::ordered_json record = nlohmann::ordered_json::object();
  /// What it has measured of the machine.
  nlohmann::ordered_json calibration = nlohmann::ordered_json::object();
  std::int64_t wrong = 0; ///< values on this rank
  bool verified = false;  ///< whether any were looked at
};

/// The points in runs of neighbours that have the same key(point).
template <class Key>
std::vector<std::span<const Point>> runs_of(std::span<const Point> points, const Key& key) {
  std::vector<std::span<const Point>> runs;
  while (!points.empty()) {
    const auto same = [&](const Point& p) { return key(p) == key(points.front()); };
    const auto end = std::find_if_not(points.begin(), points.end(), same);
    runs.push_back(points.first(static_cast<std::size_t>(end - points.begin())));
    points = points.subspan(runs.back().size());
  }
  return runs;
}

/// /run/curves and /run/ratios; see docs/reference/record.md.
nlohmann::ordered_json to_json(const Findings&);

/// A line for each subject, with the fastest of many ways and the first comparison; and the notes.
std::string to_text(const Findings&);

} // namespace kontor::timing
