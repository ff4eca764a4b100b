// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graph/algorithm/search.hpp"
#include "graph/apps.hpp"
#include "graph/check/tree_check.hpp"
#include "graph/choose_method.hpp"
#include "graph/problem/roots.hpp"

#include <kontor/comm/collectives.hpp>

#include <fmt/format.h>

namespace kontor::graph {
namespace {

class SearchApp final : public miniapp::MiniApp {
 public:
  SearchApp(const Options& options, const miniapp::RunContext& context)
      : options_(options), context_(context), rows_(build(options, context)),
        traffic_(context.comm, neighbour_ranks(rows_)), search_(context.comm, options, rows_, context.timers),
        check_(options, context.comm) {
    context.progress.describe({.step = "root"});
    roots_ = choose_roots(context.comm, options, rows_.blocks.vertices, [&](std::int64_t v) {
      return v >= rows_.begin && v < rows_.begin + rows_.size && rows_.degree(v - rows_.begin) > 0;
    });
    for (std::size_t r = 0; r < roots_.size(); ++r) trees_.emplace_back(rows_.size);
    samples_.resize(roots_.size());
  }

  void warm_up() override {
    const auto search = [&](Method method) {
      trees_[0].clear();
      traffic_.use(method);
      search_.run(roots_[0], trees_[0], traffic_);
    };
    chosen_ = choose_method(context_.comm, options_, static_cast<double>(roots_.size()), search);
    search(chosen_.method);
  }

  void reset() override {
    for (const auto& tree : trees_) tree.clear();
    made_ = 0;
  }

  void run() override {
    std::vector<double> seconds;
    for (std::size_t r = 0; r < roots_.size(); ++r) {
      if (context_.end && context_.end->agreed()) throw miniapp::EndedEarly();
      const double begin = device::seconds();
      search_.run(roots_[r], trees_[r], traffic_);
      seconds.push_back(device::seconds() - begin);
      context_.progress.update({++made_, static_cast<std::int64_t>(roots_.size())});
    }
    comm::max_over_ranks(context_.comm, seconds);
    for (std::size_t r = 0; r < roots_.size(); ++r) samples_[r].push_back(seconds[r]);
  }

  std::optional<miniapp::StepCounts> counts() const override {
    const auto due = static_cast<std::int64_t>(roots_.size());
    return miniapp::StepCounts{"searches", due, made_, due, made_};
  }

  miniapp::Verification verify() override {
    Findings all;
    found_.clear();
    for (std::size_t r = 0; r < roots_.size(); ++r) all += found_.emplace_back(check_.of(roots_[r], trees_[r]));
    for (auto& level : levels_ = search_.levels()) {
      std::array<std::int64_t, 3> sums{level.edges, level.sent.messages, level.sent.bytes};
      sums = comm::allreduce(context_.comm, sums, comm::ReduceOp::sum);
      level.edges = sums[0];
      level.sent = {sums[1], sums[2]};
    }
    if (all.reached == static_cast<std::int64_t>(roots_.size()) && all.component == 0)
      return miniapp::inconclusive("no root has an edge");
    auto result = miniapp::Verification{
        .measure = "vertices and edges that break a rule of Graph500",
        .error = static_cast<double>(all.cycles + all.levels + all.edges + all.no_edges + all.serial),
        .remark = fmt::format("{} of parents, {} of levels, {} of edges, {} no edges, {} unlike a serial search",
                              all.cycles, all.levels, all.edges, all.no_edges, all.serial),
        .judged = {fmt::format("{} trees, all vertices and edges", roots_.size())}};
    if (result.error == 0) result.remark.clear();
    if (check_.serial()) result.judged.push_back("levels by a serial search");
    return result;
  }

  /// Harmonic mean over roots; Graph500's edges of a component, of which double ones and loops count.
  std::vector<miniapp::FigureOfMerit> figures(double /*seconds*/, const miniapp::Calibration&) const override {
    double seconds_of_edge = 0, count = 0;
    for (std::size_t r = 0; r < found_.size(); ++r) {
      if (found_[r].component == 0) continue;
      seconds_of_edge += miniapp::median(samples_[r]) / static_cast<double>(found_[r].component);
      ++count;
    }
    if (count == 0) return {};
    return {{"traversed_edges", count / seconds_of_edge, "1/s"}};
  }

  nlohmann::ordered_json record() const override {
    auto record = chosen_.record();
    record.update(
        {{"algorithm", "search"},
         {"graph", name_of(options_.graph)},
         {"vertices", rows_.blocks.vertices},
         {"direction", options_.direction == Direction::top_down ? "top_down" : "optimising"},
         {"unique", options_.unique},
         {"field_memory", static_cast<std::int64_t>(8 * (rows_.offsets.size() + rows_.targets.size()) +
                                                    12 * roots_.size() * static_cast<std::size_t>(rows_.size))}});
    std::uint64_t checksum = 0;
    auto searches = nlohmann::ordered_json::array(), levels = nlohmann::ordered_json::array();
    for (std::size_t r = 0; r < found_.size(); ++r) {
      checksum += found_[r].checksum;
      searches.push_back({{"root", roots_[r]},
                          {"seconds", miniapp::median(samples_[r])},
                          {"vertices", found_[r].reached},
                          {"edges", found_[r].component}});
    }
    for (std::size_t l = 0; l < levels_.size(); ++l)
      levels.push_back({{"level", static_cast<std::int64_t>(l)},
                        {"direction", levels_[l].bottom_up ? "up" : "down"},
                        {"frontier", levels_[l].frontier},
                        {"edges", levels_[l].edges},
                        {"messages", levels_[l].sent.messages},
                        {"bytes", levels_[l].sent.bytes}});
    if (!searches.empty())
      record.update({{"checksum", fmt::format("{:016x}", checksum)}, {"searches", searches}, {"levels", levels}});
    return record;
  }

  std::string table() const override {
    auto text = fmt::format("{} vertices, {} graph, traffic {}\n\n  {:<7}{:<11}{:>14}{:>14}{:>12}{:>14}\n",
                            rows_.blocks.vertices, name_of(options_.graph), name_of(chosen_.method), "level",
                            "direction", "frontier", "edges", "messages", "bytes");
    for (std::size_t l = 0; l < levels_.size(); ++l)
      text += fmt::format("  {:<7}{:<11}{:>14}{:>14}{:>12}{:>14}\n", l, levels_[l].bottom_up ? "up" : "down",
                          levels_[l].frontier, levels_[l].edges, levels_[l].sent.messages, levels_[l].sent.bytes);
    return text;
  }

  std::optional<miniapp::FieldOutput> write_fields(output::File&, const std::string&) const override { return {}; }

 private:
  static Rows build(const Options& o, const miniapp::RunContext& context) {
    require_host_memory(context.comm, o);
    const miniapp::ScopedTimer timed(context.timers.once("build"));
    return build_rows(context.comm, Edges(o, context.comm));
  }

  Options options_;
  miniapp::RunContext context_;
  Rows rows_;
  Traffic<Reached> traffic_;
  Search search_;
  TreeCheck check_;
  std::vector<std::int64_t> roots_;
  std::vector<Tree> trees_;                  ///< one a root
  std::vector<std::vector<double>> samples_; ///< seconds by root and repeat, of the slowest rank
  ChosenMethod chosen_;
  std::vector<Findings> found_;
  std::vector<Level> levels_; ///< of the last search, of all ranks
  std::int64_t made_ = 0;
};

} // namespace

std::unique_ptr<miniapp::MiniApp> make_search(const Options& options, const miniapp::RunContext& context) {
  return std::make_unique<SearchApp>(options, context);
}

} // namespace kontor::graph
