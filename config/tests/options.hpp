// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/config/deck.hpp>

#include <gtest/gtest.h>

#include <array>
#include <regex>

/// The options of a made-up mini-app, with one key of every kind.
namespace made_up {

using namespace kontor::config;

enum class Transport { raw, view, null };
enum class Side { dirichlet, neumann, periodic };

inline constexpr std::array<Named<Transport>, 3> transports{
    {{"raw", Transport::raw}, {"view", Transport::view}, {"null", Transport::null}}};
inline constexpr std::array<Tagged<Side>, 3> sides{
    {{"dirichlet", Side::dirichlet}, {"neumann", Side::neumann}, {"periodic", Side::periodic, false}}};
inline constexpr std::array<std::string_view, 2> xy{"x", "y"};

struct Boundary {
  Side kind = Side::dirichlet;
  Expression value{"0"};
  bool operator==(const Boundary&) const = default;
};

struct Options {
  std::vector<std::int64_t> cells{64, 64};
  std::vector<double> lengths{1, 1};
  Expression initial{"0"};
  std::optional<Expression> exact;
  Boundary x_min, x_max;

  std::int64_t depth = 1;
  double tolerance = 1e-10;
  double safety = 0.5;
  std::optional<double> time_step;
  std::optional<std::int64_t> seed;
  std::optional<std::vector<std::int64_t>> grid;

  Transport backend = Transport::view;
  bool overlap = true;
  std::string file = "result.h5";
  InputFile data;

  void describe(Visitor& v) {
    v.section("problem", "What is solved", [&](Visitor& s) {
      s.required().value("cells", cells, "Cells in each direction", {.min = 1}, {2, 3});
      s.value("lengths", lengths, "Edges of the domain", {.min = 0, .exclusive_min = true});
      s.value("initial", initial, xy, "Values at the start");
      s.value("exact", exact, xy, "The solution, if known");
      s.section("boundary", "What holds on each face", [&](Visitor& b) {
        b.tagged("x_min", x_min.kind, x_min.value, sides, xy, "The left face");
        b.tagged("x_max", x_max.kind, x_max.value, sides, xy, "The right face");
      });
    });
    v.section("solver", "How it is solved", [&](Visitor& s) {
      s.value("depth", depth, "Ghost cells", {1, 8});
      s.value("tolerance", tolerance, "Stop below this residual", {.min = 0, .exclusive_min = true});
      s.value("safety", safety, "Fraction of the stable step", {.min = 0, .max = 1, .exclusive_min = true});
      s.value("time_step", time_step, "Seconds", {.min = 0});
      s.value("seed", seed, "Of the random numbers");
      s.value("grid", grid, "Ranks in each direction", {.min = 1}, {2, 2});
    });
    v.section("comm", "How it is communicated", [&](Visitor& s) {
      s.choice("backend", backend, transports, "Who moves the halos");
      s.value("overlap", overlap, "Compute while halos travel");
    });
    v.value("file", file, "Where the result goes");
    v.value("data", data, "What is read");
  }
};

inline auto describer(Options& options) {
  return [&options](Visitor& v) { options.describe(v); };
}

inline Options read(const std::string& text, const std::vector<std::string>& overrides = {}) {
  Options options;
  Deck::parse(text, "d.yaml", overrides).read(describer(options));
  return options;
}

/// The messages of a refusal, joined by newlines; "" if there is none.
template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline std::string messages(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return error_of([&] { read(text, overrides); });
}

/// Place, key, what was found, and the end of an id of decks, as in `d.yaml:2:5: file: "x" [WORD]`.
inline std::string in_short(const std::string& said) {
  const auto found = std::regex_replace(said, std::regex("; allowed: [^\n]*( \\[E-)"), "$1");
  return std::regex_replace(std::regex_replace(found, std::regex(": found "), ": "), std::regex("\\[E-DECK-"), "[");
}

inline std::string mistakes(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return in_short(messages(text, overrides));
}

/// What the first message says is allowed.
inline std::string allowed(const std::string& text) {
  std::smatch found;
  const auto said = messages(text);
  return std::regex_search(said, found, std::regex("; allowed: ([^\n]*) \\[E-")) ? found[1].str() : said;
}

/// A deck that is complete, in one line, with `rest` from line 2.
inline std::string deck(const std::string& rest) { return "{app: made_up, problem: {cells: [8, 8]}" + rest + "}\n"; }

} // namespace made_up
