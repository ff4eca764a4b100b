// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs of every kind, mutated, in one process: kontor-fuzz --help.
//
// Each input is written to a file of its own before it is read, and removed afterwards. So whatever ends the process,
// the input that did it is left, and its name says by which seed and number it can be made again.
#include "target.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sys/resource.h>
#include <unistd.h>

namespace kontor::fuzz {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path.string() + " cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (fs::temp_directory_path() / "kontor-fuzz-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw std::runtime_error("no folder can be made in " + fs::temp_directory_path().string());
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

namespace {

struct Request {
  std::string target, replay, folder = ".";
  std::vector<std::string> samples;
  bool write = false, binary = false;
  std::uint64_t seed = 1, first = 0, cases = 1000;
  unsigned seconds = 20;
  long mebibytes = 1024;
};

long peak_mebibytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss >> 10;
}

/// Throws what is a finding.
std::string take(const Target& target, const std::string& input, const fs::path& file, const Request& request) {
  ::alarm(request.seconds); // ends the process
  const auto refusal = target.take(input, file);
  ::alarm(0);
  if (peak_mebibytes() > request.mebibytes) throw std::runtime_error(fmt::format("{} MiB of memory", peak_mebibytes()));
  return refusal;
}

/// Returns how many inputs were findings: 0 or 1, after which it stops.
int run(const Target& target, const Request& request) {
  std::uint64_t accepted = 0;
  for (auto number = request.first; number < request.first + request.cases; ++number) {
    const auto input = mutated(target.material, request.seed, number);
    const auto file = fs::path(request.folder) / fmt::format("{}-{}-{}", target.name, request.seed, number);
    std::ofstream(file, std::ios::binary) << input;
    if (request.write) continue;
    try {
      accepted += take(target, input, file, request).empty() ? 1 : 0;
    } catch (const std::exception& error) {
      fmt::print(stderr, "kontor-fuzz: {}: {}\n", file.string(), error.what());
      return 1;
    }
    fs::remove(file);
  }
  if (!request.write)
    fmt::print("{}: {} inputs from {} on, seed {}: {} accepted, {} refused, {} MiB of memory\n", target.name,
               request.cases, request.first, request.seed, accepted, request.cases - accepted, peak_mebibytes());
  return 0;
}

/// Only of what --sample names, for what other programs read.
int write_inputs(const Request& request) {
  Target target{request.target, {.samples = {}, .words = {}, .binary = request.binary}, {}};
  for (const auto& sample : request.samples) target.material.samples.push_back(text_of(sample));
  if (request.samples.empty()) throw std::runtime_error("--write needs --sample");
  return run(target, request);
}

int run_one(const Request& request) {
  if (request.write) return write_inputs(request);
  for (auto make : {decks, overrides, formulas, matrices, vectors, results, checkpoints, checkpoint_headers}) {
    auto target = make();
    if (request.target != target.name) continue;
    for (const auto& sample : request.samples) target.material.samples.push_back(text_of(sample));
    if (request.replay.empty()) return run(target, request);
    const auto refusal = take(target, text_of(request.replay), request.replay, request);
    fmt::print("{}: {}\n", request.replay, refusal.empty() ? "accepted" : "refused: " + refusal);
    return 0;
  }
  throw std::runtime_error("there is no target " + request.target);
}

} // namespace
} // namespace kontor::fuzz

int main(int argc, char** argv) {
  kontor::fuzz::Request request;
  CLI::App cli{"Mutated inputs for what reads decks, matrices and results. Exit codes: 0 every input was "
               "accepted or refused, 1 one was neither; "
               "its file is left, as it is when the process does not survive."};
  cli.add_option("target", request.target, "deck, override, formula, matrix, vector, result, checkpoint or header")
      ->required();
  cli.add_option("--seed", request.seed, "of the mutations");
  cli.add_option("--first", request.first, "number of the first input");
  cli.add_option("--cases", request.cases, "inputs for each target");
  cli.add_option("--folder", request.folder, "where inputs are written");
  cli.add_option("--sample", request.samples, "a valid input more, to be mutated");
  cli.add_flag("--write", request.write, "read nothing: leave inputs made of the samples alone, under any name");
  cli.add_flag("--binary", request.binary, "with --write: numbers in the samples are bytes, not digits");
  cli.add_option("--replay", request.replay, "read this file once, as it is");
  cli.add_option("--seconds", request.seconds, "that one input may take");
  cli.add_option("--mebibytes", request.mebibytes, "of memory that the process may have");
  CLI11_PARSE(cli, argc, argv);
  MPI_Init(&argc, &argv);
  int code = 1;
  try {
    code = kontor::fuzz::run_one(request);
  } catch (const std::exception& error) {
    fmt::print(stderr, "kontor-fuzz: {}\n", error.what());
  }
  MPI_Finalize();
  return code;
}
