// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "advection/options.hpp"
#include "cg/options.hpp"
#include "cg/problem/matrix_market_reader.hpp"
#include "dynamics/options.hpp"
#include "heat/options.hpp"
#if defined(KONTOR_HAS_MATMUL)
#include "matmul/options.hpp"
#endif
#include "kernels/options.hpp"
#include "partition/row_order.hpp"
#include "pingpong/options.hpp"
#include "run/app.hpp"
#include "run/options.hpp"
#include "target.hpp"

#include <kontor/config/deck.hpp>
#include <kontor/config/function.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace kontor::fuzz {
namespace {

namespace fs = std::filesystem;

/// Nothing is made of the options.
template <class Options>
miniapp::App with(const std::string& name) {
  return miniapp::app_of<Options>(
      name, "", [](const Options&, const miniapp::RunContext&) { return std::unique_ptr<miniapp::MiniApp>(); });
}

miniapp::App app_named(const std::string& name) {
  if (name == "heat") return with<heat::Options>(name);
  if (name == "cg") return with<cg::Options>(name);
#if defined(KONTOR_HAS_MATMUL)
  if (name == "matmul") return with<matmul::Options>(name);
#endif
  if (name == "pingpong") return with<pingpong::Options>(name);
  if (name == "kernels") return with<kernels::Options>(name);
  if (name == "advection") return with<advection::Options>(name);
  if (name == "dynamics") return with<dynamics::Options>(name);
  throw config::Error({"unknown app"}, "E-DECK-APP");
}

/// What --print-deck prints.
std::string resolved(const config::Deck& deck, int ranks) {
  const auto app = app_named(deck.app());
  miniapp::RunOptions run;
  const auto describe = [&](config::Visitor& v) {
    app.describe(v);
    run.describe(v);
  };
  deck.read(describe);
  app.resolve(deck, ranks, run);
  return config::print(app.name, describe);
}

std::string read(const std::string& text, const fs::path& file, const std::vector<std::string>& overrides) {
  const int ranks = 1 + static_cast<int>(text.size() % 7);
  std::string printed;
  try {
    printed = resolved(config::Deck::parse(text, file.string(), overrides), ranks);
  } catch (const config::Error& error) {
    return error.what();
  }
  try {
    if (resolved(config::Deck::parse(printed, "printed.yaml"), ranks) == printed) return "";
  } catch (const config::Error& error) {
    throw std::runtime_error(std::string("what --print-deck prints is refused: ") + error.what());
  }
  throw std::runtime_error("what --print-deck prints is printed otherwise when it is read");
}

const std::vector<std::string> deck_words{"[",          "]",           "{",           "}",          "{a: ",
                                          "- ",         "? ",          ": ",          "\n",         "\n  ",
                                          "&a ",        "*a",          "<<: *a",      "!!binary ",  "!<x> ",
                                          "|\n",        ">\n  ",       "---\n",       "...\n",      "%YAML 1.1\n",
                                          "\"",         "'",           "#",           "\t",         "\xef\xbb\xbf",
                                          "\xff\xfe",   "null",        "~",           "true",       "no",
                                          "auto",       "none",        "\"\\u0000\"", "\"\\e[2J\"", "../../etc/passwd",
                                          "/dev/zero",  "app: heat\n", "app: cg\n",   "x",          "y",
                                          "t",          "pi",          "sin(",        "max(",       "(",
                                          ")",          "==",          "=",           "?",          ":",
                                          ",",          "^",           "**",          "1e308*",     "x_min: ",
                                          "dirichlet: "};

const std::vector<std::string> matrix_words{
    "\n",       "\r\n", "\r",      " ",       "\t",      "%",       "%%MatrixMarket",    "matrix",         "coordinate",
    "array",    "real", "integer", "complex", "pattern", "general", "symmetric",         "skew-symmetric", "hermitian",
    "\x1f\x8b", "+",    "-",       "1 1 1\n", "1.5D+3",  "nan",     std::string(3, '\0')};

} // namespace

Target decks() {
  Material material{.samples = {}, .words = deck_words};
  for (const auto& entry : fs::recursive_directory_iterator(KONTOR_INPUTS))
    if (entry.path().extension() == ".yaml")
      if (auto text = text_of(entry.path()); text.find("\napp:") != std::string::npos)
        material.samples.push_back(std::move(text));
  std::sort(material.samples.begin(), material.samples.end()); // whatever the order in the folder
  return {"deck", std::move(material), [](const auto& input, const auto& file) { return read(input, file, {}); }};
}

Target overrides() {
  const std::string deck = "app: heat\nproblem:\n  cells: [32, 16]\n  boundary: {y_max: {dirichlet: \"sin(pi*x)\"}}\n";
  Material material{.samples = {"problem.cells=[64,64]", "problem.boundary.x_min={dirichlet: \"y*x\"}",
                                "comm.backend=raw", "solver.tolerance=1e-9", "output.file=\"a b.h5\"",
                                "problem.boundary={x_min: insulated, x_max: {dirichlet: 1}}", "measure.repeats=3",
                                "problem.initial=sin(pi*x)*cos(pi*y)"},
                    .words = deck_words};
  return {"override", std::move(material),
          [deck](const auto& input, const auto&) { return read(deck, "deck.yaml", {input}); }};
}

Target formulas() {
  Material material{.samples = {"sin(pi*x)*sinh(pi*y)/sinh(pi)", "x > 0.5 && y < 0.25 ? 1 : -x^2",
                                "exp(-t)*max(x, y, z)", "sqrt(x^2+y^2)-abs(1-z)", "(((x+1)*2)-3)/4",
                                "rint(x*10)+sign(y)", "1.5e-3*x==0 || !(y<=2)"},
                    .words = deck_words};
  return {"formula", std::move(material), [](const std::string& input, const auto&) {
            return refusal_of<config::Error>([&] {
              const config::Function function(config::Expression(input), {}, {"x", "y", "z", "t"});
              const double far = std::numeric_limits<double>::infinity();
              for (const double x : {0.0, -1.0, 1e308, far, far - far}) static_cast<void>(function(x, 1, -x, 0.5));
            });
          }};
}

Target matrices() {
  Material material{
      .samples = {"%%MatrixMarket matrix coordinate real symmetric\n% a comment\n3 3 5\n1 1 2\n2 2 2\n3 3 "
                  "2\n2 1 -1\n3 2 -1\n",
                  "%%MatrixMarket matrix coordinate integer general\n2 2 4\n1 1 3\n1 2 -1\n2 1 -1\n2 2 3\n",
                  "%%matrixmarket MATRIX Coordinate Real General\r\n\r\n1 1 1\r\n1 1 1.5D+3\r\n"},
      .words = matrix_words};
  return {"matrix", std::move(material), [](const std::string& input, const auto& file) {
            return refusal_of<config::Error>([&] {
              std::istringstream in(input);
              auto matrix = cg::read_matrix(in, file.string(), 1e9);
              if (matrix.entries.capacity() > input.size() + (1 << 16))
                throw std::runtime_error("room for more entries than the file can hold");
              sort_entries(matrix);
              require_symmetric_with_positive_diagonal(matrix);
            });
          }};
}

Target vectors() {
  Material material{.samples = {"%%MatrixMarket matrix array real general\n3 1\n1\n2.5\n-3e-4\n",
                                "%%MatrixMarket matrix array integer general\n3 1\n1\n2\n3\n"},
                    .words = matrix_words};
  return {"vector", std::move(material), [](const std::string& input, const auto& file) {
            std::istringstream in(input);
            return refusal_of<config::Error>([&] { static_cast<void>(cg::read_vector(in, file.string(), 3)); });
          }};
}

} // namespace kontor::fuzz
