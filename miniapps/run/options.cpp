// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/options.hpp"

#include <kontor/comm/registry.hpp>
#include <kontor/config/text.hpp>

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <regex>

namespace kontor::miniapp {
namespace {

using config::Named;

/// Names of the layer's as words of decks.
template <class E, std::size_t n>
constexpr std::array<Named<E>, n> words(const std::array<comm::NamedValue<E>, n>& names) {
  std::array<Named<E>, n> result{};
  for (std::size_t i = 0; i < n; ++i) result[i] = {names[i].name, names[i].value};
  return result;
}

constexpr auto patterns = words(comm::pattern_names);
constexpr auto packings = words(comm::packing_names);
constexpr auto paths = words(comm::path_names);
constexpr auto check_levels = words(comm::check_names);

constexpr std::array<Named<FieldSelection>, 2> field_selections{
    {{"final", FieldSelection::final}, {"none", FieldSelection::none}}};

/// Seconds of "SS", "MM:SS" or "HH:MM:SS", with minutes and seconds below 60 after a colon; 0: it is none of these.
double duration(const std::string& text) {
  static const std::regex form("([0-9]{1,8})(?::([0-5][0-9]))?(?::([0-5][0-9]))?");
  std::smatch parts;
  double sum = 0;
  if (std::regex_match(text, parts, form))
    for (std::size_t i = 1; i < parts.size() && parts[i].matched; ++i) sum = 60 * sum + std::stod(parts[i]);
  return sum;
}

} // namespace

std::vector<Named<std::string>> backend_names() {
  std::vector<Named<std::string>> names;
  for (const auto& entry : comm::backends()) names.push_back({entry.name, std::string(entry.name)});
  names.push_back({comm::automatic_backend, comm::automatic_backend});
  return names;
}

std::span<const Named<comm::Pattern>> pattern_names() { return patterns; }
std::span<const Named<comm::Packing>> packing_names() { return packings; }
std::span<const Named<comm::Path>> path_names() { return paths; }

void RunOptions::refuse_series(const config::Deck& deck, std::string_view what) const {
  if (snapshot_every > 0)
    deck.fail("output.every",
              fmt::format("is {}, but {} has no series of fields; leave it out, or give 0", snapshot_every, what));
}

void CheckpointOptions::describe(config::Visitor& v) {
  v.section("checkpoint", "Checkpoints: what is written when", [&](config::Visitor& c) {
    c.value("every", every, "Steps (sweeps, iterations) between checkpoints; 0: not by steps", {0});
    c.value("seconds", seconds, "Seconds between checkpoints; 0: not by time", {0, 1e9});
    c.value("walltime", walltime,
            "Time limit of the program: HH:MM:SS, MM:SS or seconds. The run writes a checkpoint and ends before "
            "it; empty: no limit");
    c.value("keep", keep, "How many finished checkpoints stay; older ones of the run are removed", {1, 1000});
  });
}

void CheckpointOptions::resolve(const config::Deck& deck) {
  if (walltime.empty()) return;
  walltime_seconds = duration(walltime);
  if (walltime_seconds <= 0)
    deck.fail("checkpoint.walltime",
              fmt::format("is '{}'; allowed are HH:MM:SS, MM:SS and whole seconds, above 0", config::shown(walltime)),
              "E-DECK-TYPE");
}

void RunOptions::describe(config::Visitor& v) {
  v.section("comm", "How Views travel between ranks", [&](config::Visitor& c) {
    c.choice<std::string>("backend", comm.backend, backend_names(),
                          "The communication backend; auto: the fastest, by trial");
    c.choice<comm::Pattern>("pattern", comm.pattern, patterns,
                            "When messages are posted and completed; auto: the fastest, by trial");
    c.choice<comm::Packing>("packing", comm.packing, packings,
                            "How data that do not lie in one piece travel: by one pack kernel, as MPI "
                            "datatypes, not at all (none), or the faster of the first two, by trial");
    c.choice<comm::Path>("path", comm.path, paths,
                         "How Views in a GPU's memory travel: handed over as they are (direct), through pinned "
                         "host memory (staged), or the faster, by trial");
    c.choice<comm::CheckLevel>("check", comm.check, check_levels,
                               "What is verified: nothing, what one rank sees, or that all ranks agree");
    c.value("timeout", comm.timeout,
            "Seconds that a wait may take at check level cross_rank, or after an error of this rank", {0, 1e6, true});
    c.value("trial", comm.trial, "Seconds, roughly, to try what is left to auto, for each exchange", {0, 1000});
    c.value("overlap", overlap, "Compute the interior while halos travel");
  });
  v.section("measure", "How often the work is timed", [&](config::Visitor& m) {
    m.value("repeats", repeats, "Timed repeats; the median counts", {1, 1000});
    m.value("calibrate", calibrate,
            "Measure the machine, some tenths of a second; without, figures have no attainable");
    m.value("trace", trace,
            "Steps, the first of the last repeat, of which the record has when each rank was in which region; "
            "0: none",
            {0, 10000});
    m.value("sample_seed", sample_seed,
            "Seed of the random places that are verified, as in the record of a run; auto: another in each run",
            {0, std::int64_t{1} << 53});
  });
  v.section("output", "What is written", [&](config::Visitor& o) {
    o.value("file", output_file, "The HDF5 file; empty: the deck's name with .h5 in the working directory");
    o.choice<FieldSelection>("fields", fields, field_selections, "The final fields, or the record only");
    o.value("every", snapshot_every, "Steps of the iteration between fields of a series; 0: no series", {0});
  });
  checkpoint.describe(v);
}

} // namespace kontor::miniapp
