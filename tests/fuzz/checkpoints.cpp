// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/checkpoint/checkpoint_files.hpp"
#include "run/checkpoint/restart.hpp"
#include "run/checkpoint/state.hpp"
#include "target.hpp"

#include <kontor/config/deck.hpp>
#include <kontor/config/error.hpp>

#include <fmt/format.h>

#include <fstream>
#include <memory>
#include <stdexcept>

namespace kontor::fuzz {
namespace {

namespace fs = std::filesystem;

using nlohmann::ordered_json;

constexpr std::int64_t step = 40;

/// One family of checkpoints.
struct Family {
  TemporaryFolder folder;
  fs::path name = folder.path() / "run.h5";
  fs::path newest = miniapp::checkpoint_name(name, step);
};

ordered_json sample_header() {
  miniapp::CheckpointHeader header;
  header.app = "heat";
  header.version = "0.1.0";
  header.step = step;
  header.run = "0123456789abcdef";
  header.output = "run.h5";
  header.deck = "app: heat\nproblem: {cells: [6, 4]}\n";
  header.keys = {{"problem.cells", "[6,4]"}, {"problem.precision", "double"}};
  return to_json(header);
}

void write(const Family& family, const ordered_json& header) {
  output::File file(MPI_COMM_SELF, family.name);
  const std::vector<double> u(24, 0.25);
  file.dataset("/state/u", {{4, 6}, {0, 0}, {4, 6}}, u.data());
  miniapp::write_values<double>(file, MPI_COMM_SELF, "/state/norms", {1, 0.5, 0.25});
  file.record("/checkpoint", header);
  file.commit_sealed(family.newest);
}

/// What an app reads of its state. Of mutated files the checksums are wrong, so this is tried without them.
void read_state(const fs::path& file) {
  static_cast<void>(refusal_of<output::Error>([&] {
    const output::Reader reader(MPI_COMM_SELF, file);
    std::vector<double> u(24);
    static_cast<void>(miniapp::read_values<double>(reader, "/state/norms"));
    reader.read("/state/u", {{4, 6}, {0, 0}, {4, 6}}, u.data());
  }));
}

/// The next checkpoint gets a number of its own.
void require_countable(const Family& family) {
  for (const auto& found : miniapp::find_checkpoints(family.name))
    if (found.problem.empty() && found.header.number + 1 < 1) throw std::runtime_error("a number that cannot grow");
}

/// What a program does with a checkpoint before it makes its app. Returns why it is refused.
std::string restart_from(const Family& family) {
  return refusal_of<config::Error>([&] {
    const miniapp::Restart restart(MPI_COMM_SELF, family.name.string());
    const auto deck = config::Deck::parse(restart.header().deck, restart.path(), {});
    restart.require_same("heat", deck, {{"problem.cells", "[6,4]"}}, {"comm."});
  });
}

} // namespace

Target checkpoints() {
  const auto family = std::make_shared<Family>();
  Material material{
      .samples = {},
      .words = {"checkpoint", "state", "OHDR", "SNOD", "TREE", "HEAP", "GCOL", "app: heat", std::string(8, '\xff')},
      .binary = true};
  write(*family, sample_header());
  material.samples.push_back(text_of(family->newest));
  return {"checkpoint", std::move(material), [family](const std::string& input, const fs::path& file) {
            std::ofstream(family->newest, std::ios::binary) << input;
            require_countable(*family);
            read_state(file);
            return restart_from(*family);
          }};
}

Target checkpoint_headers() {
  const auto family = std::make_shared<Family>();
  auto numbered = sample_header();
  numbered["keys"] = {4, 6.5};
  Material material{.samples = {sample_header().dump(1), numbered.dump()},
                    .words = {": 9007199254740992,", ": -1,", ":null,", ":[],", ":{},", "\"\"", ": 1e300,",
                              ": [1, \"a\"],", "app: cg", "keys", "step", "format", "\\u0000", "\\n"},
                    .binary = false};
  return {"header", std::move(material), [family](const std::string& input, const fs::path&) {
            const auto header = ordered_json::parse(input, nullptr, false);
            if (header.is_discarded()) return std::string("it is no JSON");
            std::error_code ignored;
            fs::remove(family->newest, ignored);
            const auto why = refusal_of<output::Error>([&] { write(*family, header); }); // a value that no record has
            if (!why.empty()) return why;
            require_countable(*family);
            return restart_from(*family);
          }};
}

} // namespace kontor::fuzz
