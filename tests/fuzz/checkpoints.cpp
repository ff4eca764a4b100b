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
#include <unistd.h>

namespace kontor::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t step = 40;

/// A folder of this process for one family of checkpoints.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / fmt::format("kontor-fuzz-{}", ::getpid())) {
    fs::create_directory(path_);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  fs::path family() const { return path_ / "run.h5"; }
  fs::path newest() const { return miniapp::checkpoint_name(family(), step); }

 private:
  fs::path path_;
};

void write(const Folder& folder) {
  output::File file(MPI_COMM_SELF, folder.family());
  const std::vector<double> u(24, 0.25);
  file.dataset("/state/u", {{4, 6}, {0, 0}, {4, 6}}, u.data());
  miniapp::write_values<double>(file, MPI_COMM_SELF, "/state/norms", {1, 0.5, 0.25});
  miniapp::CheckpointHeader header{
      .app = "heat", .version = "0.1.0", .step = step, .run = "0123456789abcdef", .output = "run.h5"};
  header.deck = "app: heat\nproblem: {cells: [6, 4]}\n";
  header.keys = {{"problem.cells", "[6,4]"}};
  file.record("/checkpoint", to_json(header));
  file.commit_sealed(folder.newest());
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
  const auto folder = std::make_shared<Folder>();
  Material material{.samples = {},
                    .words = {"checkpoint", "state", "OHDR", "SNOD", "TREE", "HEAP", "GCOL", "app: heat",
                              std::string(8, '\xff')},
                    .binary = true};
  write(*folder);
  material.samples.push_back(text_of(folder->newest()));
  return {"checkpoint", std::move(material), [folder](const std::string& input, const fs::path& file) {
            std::ofstream(folder->newest(), std::ios::binary) << input;
            for (const auto& found : miniapp::find_checkpoints(folder->family()))
              if (found.problem.empty() && found.header.number + 1 < 1)
                throw std::runtime_error("a number that cannot grow");
            read_state(file);
            try {
              const miniapp::Restart restart(MPI_COMM_SELF, folder->family().string());
              return true;
            } catch (const config::Error&) {
              return false;
            }
          }};
}

} // namespace kontor::fuzz
