// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "leaf.hpp"
#include "names.hpp"

#include <kontor/config/deck.hpp>
#include <kontor/config/study.hpp>
#include <kontor/config/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace kontor::config {
namespace {

constexpr std::int64_t most_ranks = 10'000'000;

template <std::size_t N>
using Words = std::array<Named<std::string>, N>;

const Words<4> kinds{{{"strong", "strong"}, {"weak", "weak"}, {"compare", "compare"}, {"sweep", "sweep"}}};
const Words<3> schedulers{{{"auto", "auto"}, {"slurm", "slurm"}, {"flux", "flux"}}};
const Words<3> sharing{{{"size", "size"}, {"point", "point"}, {"study", "study"}}};

struct Study {
  std::string name, kind = "strong";
  std::vector<std::string> decks;
  std::vector<std::int64_t> ranks, threads{1};
  std::optional<std::int64_t> ranks_per_node, seed;
  std::int64_t gpus_per_rank = 0, repeats = 3, timeout = 3600;
  DeckKeys set, vary, zip, baseline;
  bool reduced = false;
  struct {
    std::string scheduler = "auto", jobs = "size";
    std::int64_t minutes = 60, warn = 60;
    bool exclusive = true;
    std::vector<std::string> options, setup;
  } launch;

  void describe(Visitor& v) {
    v.required().value("study", name, "The study's name, such as heat-strong");
    v.required().value("deck", decks, "The deck, or a list of decks, which is then varied");
    v.required().choice<std::string>(
        "kind", kind, kinds,
        "Report: strong, one problem on more ranks; weak, a problem that grows with them; compare, methods; "
        "sweep, anything else");
    v.required().value("ranks", ranks, "Numbers of MPI ranks", {.min = 1, .max = most_ranks},
                       {.min = 1, .single = true});
    v.value("ranks_per_node", ranks_per_node, "Ranks on each node; auto: as the launcher does it",
            {.min = 1, .max = 100'000});
    v.value("threads", threads, "Threads of a rank (OMP_NUM_THREADS)", {.min = 1, .max = 100'000},
            {.min = 1, .single = true});
    v.value("gpus_per_rank", gpus_per_rank, "GPUs that each rank needs", {.min = 0, .max = 1000});
    v.value("set", set, "Keys of the deck that are the same in all points", false);
    v.value("vary", vary, "Keys of the deck, and the values that each takes: every combination is a point", true);
    v.value("zip", zip, "Keys of the deck whose lists go together, the first with the first and so on", true);
    v.value("reduced", reduced, "Decks are made small by their own line `# test:`");
    v.value("baseline", baseline, "Factors of the point to which others are compared", false);
    v.value("repeats", repeats, "Whole runs of each point; a report needs 4 to call a difference significant",
            {.min = 1, .max = 1000});
    v.value("seed", seed, "Seed of the random order of runs; auto: a random seed, which is recorded",
            {.min = 0, .max = (std::int64_t{1} << 31) - 1});
    v.value("timeout", timeout, "Time limit of a run in seconds; a longer run is killed and counts as failed",
            {.min = 1, .max = 10'000'000});
    v.section("launch", "Options of job scripts", [&](Visitor& s) {
      s.choice<std::string>("scheduler", launch.scheduler, schedulers,
                            "Scheduler of the job scripts that --submit writes; auto: the one whose command is found");
      s.value("minutes", launch.minutes, "Time limit of a job", {.min = 1, .max = 1'000'000});
      s.value("exclusive", launch.exclusive, "Whole nodes, shared with no other job");
      s.choice<std::string>("jobs", launch.jobs, sharing,
                            "What shares a job: size, the points of the same ranks and threads, which are then timed "
                            "on the same nodes; point, nothing; study, all");
      s.value("warn", launch.warn, "Seconds before the time limit at which a job gets SIGTERM",
              {.min = 10, .max = 86'400});
      s.value("options", launch.options,
              "Further options for the scheduler, one a line, such as --partition=debug or --account=us");
      s.value("setup", launch.setup, "Shell lines before the runs, such as module load openmpi");
    });
  }

  /// The sections that give keys of decks, with their names.
  std::vector<std::pair<std::string, DeckKeys*>> sections() { return {{"set", &set}, {"vary", &vary}, {"zip", &zip}}; }
};

/// Collects what contradicts something else in a study.
class Check {
 public:
  Check(Study& study, const Deck& file) : s_(study), file_(file) {}

  /// Throws Error if there is anything.
  void all(bool overridden) {
    constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    if (s_.name.empty() || s_.name.size() > 100 || s_.name.find_first_not_of(allowed) != std::string::npos ||
        std::string_view("_.-").find(s_.name[0]) != std::string_view::npos)
      wrong("study", fmt::format("found {}; allowed: a name of letters, digits, _ . and -", in_quotes(s_.name)));
    if (s_.decks.empty()) wrong("deck", "is an empty list; give at least one deck");
    for (const auto ranks : s_.ranks)
      if (s_.ranks_per_node && ranks > *s_.ranks_per_node && ranks % *s_.ranks_per_node != 0)
        wrong("ranks", fmt::format("has {}, which is no multiple of ranks_per_node {}", ranks, *s_.ranks_per_node));
    const bool varies = !s_.vary.values.empty() || !s_.zip.values.empty() || s_.decks.size() > 1;
    if ((s_.kind == "compare" || s_.kind == "sweep") && !varies)
      wrong("kind", fmt::format("{} needs vary, zip or several decks: there is nothing to compare", s_.kind));
    keys();
    zipped();
    baseline(overridden);
    if (!messages_.empty()) throw Error(std::move(messages_), "E-DECK-CONFLICT");
  }

 private:
  void wrong(std::string_view key, const std::string& message, const std::string& place = "") {
    messages_.push_back(fmt::format("{}: {}: {}", place.empty() ? file_.locate(key) : place, key, message));
  }

  /// Each key once, and such as a study may give.
  void keys() {
    std::map<std::string, std::string> homes;
    for (const auto& [section, given] : s_.sections())
      for (const auto& [key, place] : given->places) {
        if (key.find('.') == std::string::npos || key == "output.file")
          wrong(section,
                fmt::format("{} is no key that a study may give; allowed: those in sections of decks, such as "
                            "comm.backend",
                            shown(key)),
                place);
        if (const auto [home, is_new] = homes.try_emplace(key, section); !is_new)
          wrong(section, fmt::format("{} is given by {}, too; give it once", shown(key), home->second), place);
      }
  }

  void zipped() {
    std::set<std::size_t> lengths;
    std::string told;
    for (const auto& [key, list] : s_.zip.values.items()) {
      lengths.insert(list.size());
      told += fmt::format(" {} has {}", shown(key), list.size());
    }
    if (lengths.size() > 1) wrong("zip", fmt::format("the lists go together, so they are equally long:{}", told));
  }

  /// Its keys are factors, and have these values; if the factors are `overridden`, what they have not is left out.
  void baseline(bool overridden) {
    Json factors{{"ranks", s_.ranks}, {"threads", s_.threads}};
    factors.update(s_.vary.values);
    factors.update(s_.zip.values);
    std::vector<std::string> known;
    for (const auto& [key, values] : factors.items()) known.push_back(key);
    const auto given = s_.baseline.values;
    for (const auto& [key, value] : given.items()) {
      const auto found = factors.find(key);
      if (found != factors.end() && std::ranges::count(*found, value) > 0) continue;
      const auto& place = s_.baseline.places[key];
      const auto near = nearest(key, known);
      if (overridden)
        s_.baseline.values.erase(key);
      else if (found == factors.end())
        wrong("baseline", fmt::format("{} is not varied{}", shown(key), near ? "; did you mean " + *near + "?" : ""),
              place);
      else
        wrong("baseline", fmt::format("{} is never {}; allowed: {}", shown(key), value.dump(), found->dump()), place);
    }
  }

  Study& s_;
  const Deck& file_;
  std::vector<std::string> messages_;
};

} // namespace

nlohmann::ordered_json read_study(std::string text, std::string file, const std::vector<std::string>& overrides) {
  const auto given = Deck::parse(std::move(text), std::move(file), overrides, Document::study);
  Study study;
  const auto describe = [&](Visitor& v) { study.describe(v); };
  given.read(describe);
  Check(study, given).all(std::ranges::any_of(overrides, [](const std::string& override) {
    return std::ranges::any_of(std::array{"ranks", "threads", "vary", "zip"},
                               [&](const char* key) { return override.starts_with(key); });
  }));
  Json places{{"deck", given.locate("deck")}, {"kind", given.locate("kind")}};
  for (const auto& [section, keys] : study.sections())
    for (const auto& [key, place] : keys->places) places[join_path(section, key)] = place;
  return {{"values", values(describe)}, {"places", places}, {"text", print("", describe)}};
}

nlohmann::ordered_json study_schema() {
  Study study;
  return json_schema("", [&](Visitor& v) { study.describe(v); });
}

} // namespace kontor::config
