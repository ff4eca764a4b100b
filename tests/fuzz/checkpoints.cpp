// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/checkpoint_files.hpp"
#include "run/restart.hpp"
#include "run/state.hpp"
#include "target.hpp"

#include <kontor/config/error.hpp>

#include <fmt/format.h>

#include <fstream>
#include <memory>
#include <stdexcept>

namespace kontor::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t step = 40;

/// One family of checkpoints.
struct Family {
  TemporaryFolder folder;
  fs::path name = folder.path() / "run.h5";
  fs::path newest = miniapp::checkpoint_name(name, step);
};

void write(const Family& family) {
  output::File file(MPI_COMM_SELF, family.name);
  const std::vector<double> u(24, 0.25);
  file.dataset("/state/u", {{4, 6}, {0, 0}, {4, 6}}, u.data());
  miniapp::write_values<double>(file, MPI_COMM_SELF, "/state/norms", {1, 0.5, 0.25});
  miniapp::CheckpointHeader header;
  header.app = "heat";
  header.version = "0.1.0";
  header.step = step;
  header.run = "0123456789abcdef";
  header.output = "run.h5";
  header.deck = "app: heat\nproblem: {cells: [6, 4]}\n";
  header.keys = {{"problem.cells", "[6,4]"}};
  file.record("/checkpoint", to_json(header));
  file.commit_sealed(family.newest);
}

/// What an app reads of its state. Half of the inputs keep their checksums wrong, so this is tried without
/// them.
void read_state(const fs::path& file) {
  try {
    const output::Reader reader(MPI_COMM_SELF, file);
    std::vector<double> u(24);
    static_cast<void>(miniapp::read_values<double>(reader, "/state/norms"));
    reader.read("/state/u", {{4, 6}, {0, 0}, {4, 6}}, u.data());
  } catch (const output::Error&) {
    return;
  }
}

} // namespace

Target checkpoints() {
  const auto family = std::make_shared<Family>();
  Material material{.samples = {},
                    .words = {"checkpoint", "state", "OHDR", "SNOD", "TREE", "HEAP", "GCOL", "app: heat",
                              std::string(8, '\xff')},
                    .binary = true};
  write(*family);
  material.samples.push_back(text_of(family->newest));
  return {"checkpoint", std::move(material), [family](const std::string& input, const fs::path& file) {
            std::ofstream(family->newest, std::ios::binary) << input;
            for (const auto& found : miniapp::find_checkpoints(family->name))
              if (found.problem.empty() && found.header.number + 1 < 1)
                throw std::runtime_error("a number that cannot grow");
            read_state(file);
            try {
              const miniapp::Restart restart(MPI_COMM_SELF, family->name.string());
              return std::string();
            } catch (const config::Error& error) {
              return std::string(error.what());
            }
          }};
}

} // namespace kontor::fuzz
