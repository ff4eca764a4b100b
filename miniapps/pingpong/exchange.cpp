// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/combinations.hpp"
#include "pingpong/measures.hpp"
#include "pingpong/payload.hpp"
#include "pingpong/peer_copy.hpp"

#include <kontor/comm/exchange.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>

namespace kontor::pingpong {
namespace {

/// A column of a plane so wide that a cache line of doubles holds one of its elements.
template <class T>
auto make_column(const char* label, std::int64_t size) {
  const KernelView<T, 2> plane(Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing), size,
                               width_of_plane);
  return Kokkos::View<T*, Kokkos::LayoutStride, typename KernelView<T, 2>::memory_space>(
      Kokkos::subview(plane, Kokkos::ALL, 0));
}

/// From the rank that begins into `in` of its partner, and back into its own.
template <class View>
struct RoundTrip {
  comm::Exchange<View> there;
  comm::Exchange<View> back;

  RoundTrip(const comm::Communicator& comm, const View& out, const View& in, int partner, bool first)
      : there(comm, "pingpong/there"), back(comm, "pingpong/back") {
    const int second = first ? comm::no_rank : partner;
    const int begins = first ? partner : comm::no_rank;
    there.add(out, begins, in, second);
    back.add(in, second, in, begins);
    there.commit();
    back.commit();
  }

  void operator()() {
    there.start();
    there.finish();
    back.start();
    back.finish();
  }
};

/// Times all ways at one size. What the device still has to do is waited for once a sample, not once a trip.
template <class Make>
void at_size(Bench& bench, const std::string& curve, std::int64_t size, const Make& make,
             const std::vector<TimedMethod>& all, Refusals& refusals) {
  const auto& comm = bench.comm();
  const int partner = partner_of(bench.options, comm);
  const bool plays = partner != comm::no_rank;
  const bool first = begins(comm, partner);
  const int sender = first ? comm.rank() : partner;
  const auto out = make("pingpong/out", first ? size : 0);
  const auto in = make("pingpong/in", plays ? size : 0);
  using View = std::decay_t<decltype(in)>;
  std::deque<RoundTrip<View>> trips;
  std::vector<Way> ways;
  for (const auto& candidate : all) {
    try_combination(candidate, refusals,
                    [&] { trips.emplace_back(candidate.comm, out, in, partner, first); });
    if (trips.size() == ways.size()) continue;
    auto& trip = trips.back();
    ways.push_back({candidate.name,
                    [&trip](int n) {
                      for (int i = 0; i < n; ++i) trip();
                      complete<View>();
                    },
                    {},
                    candidate.moves_data});
  }
  if (ways.empty()) refuse_all(bench.options, refusals);
  const auto bytes = size * static_cast<std::int64_t>(sizeof(typename View::value_type));
  bench.time({curve, size, size, bytes}, ways,
             {[&](int seed) {
                if (first) fill_view(out, out.data(), seed, sender);
              },
              [&](int seed) { return plays ? wrong_in_view(in, in.data(), 0, seed, sender) : 0; }},
             first);
}

double one_way(const Point& point) {
  return point.time.median / 2;
}

double bandwidth(const Point& point) {
  return static_cast<double>(point.subject.bytes) / one_way(point);
}

/// A table for each curve, a line for each size and a column for each way, in Markdown.
std::string to_text(const std::vector<Point>& points, double peer) {
  std::string text;
  for (auto begin = points.begin(); begin != points.end();) {
    const auto end = std::find_if(begin, points.end(),
                                  [&](const Point& p) { return p.subject.curve != begin->subject.curve; });
    std::vector<std::string> columns;
    for (auto p = begin; p != end; ++p)
      if (std::find(columns.begin(), columns.end(), p->series) == columns.end()) columns.push_back(p->series);
    text += fmt::format("\n{}, one way: us, GB/s{}\n\n| bytes |", begin->subject.curve,
                        peer > 0 ? ", part of the copy between two GPUs" : "");
    for (const auto& column : columns) text += fmt::format(" {} |", column);
    text += "\n|---:|";
    for (std::size_t i = 0; i < columns.size(); ++i) text += "---:|";
    for (auto p = begin; p != end;) {
      const auto next =
          std::find_if(p, end, [&](const Point& q) { return q.subject.size != p->subject.size; });
      text += fmt::format("\n| {} |", p->subject.bytes);
      for (const auto& column : columns) {
        const auto cell = std::find_if(p, next, [&](const Point& q) { return q.series == column; });
        if (cell == next)
          text += " |";
        else
          text += fmt::format(" {:.2f}, {:.2f}{} |", one_way(*cell) * 1e6, bandwidth(*cell) / 1e9,
                              peer > 0 ? fmt::format(", {:.2f}", bandwidth(*cell) / peer) : "");
      }
      p = next;
    }
    text += "\n";
    begin = end;
  }
  return text;
}

} // namespace

void measure_exchange(Bench& bench) {
  auto& findings = bench.findings;
  Refusals refusals;
  auto all = candidates(bench, refusals);
  if (bench.options.backends.empty()) std::erase_if(all, [](const TimedMethod& c) { return !c.moves_data; });
  if (all.empty()) refuse_all(bench.options, refusals);
  each_size(bench, [&](auto scalar, auto dimensions, std::int64_t size, const Case& c) {
    using T = decltype(scalar);
    if constexpr (dimensions == 1)
      at_size(
          bench, fmt::format("contiguous {}", name_of(c.scalar)), size,
          [](const char* label, std::int64_t n) { return make_cube<KernelView<T, 1>>(label, n); }, all,
          refusals);
    else if constexpr (dimensions == 2)
      at_size(
          bench, fmt::format("column {}", name_of(c.scalar)), size,
          [](const char* label, std::int64_t n) { return make_column<T>(label, n); }, all, refusals);
  });
  tell(refusals, findings);
  const double peer = peer_copy_bandwidth(bench.comm());
  if (peer > 0) {
    findings.calibration["peer_bandwidth"] = peer;
    findings.notes.push_back(
        fmt::format("copy from GPU 0 to GPU 1 of rank 0's node: {:.1f} GB/s", peer / 1e9));
  }
  double best = 0;
  for (const auto& point : findings.points)
    if (!point.subject.curve.starts_with("column")) best = std::max(best, bandwidth(point));
  findings.text = to_text(findings.points, peer);
  findings.figures = {
      {"one_way_bandwidth", best, "B/s", peer > 0 ? peer : std::numeric_limits<double>::quiet_NaN()}};
}

} // namespace kontor::pingpong
