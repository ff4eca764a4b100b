// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kontor-record [--whole] FILE [NAME]: the JSON text /run of an HDF5 file, or another one. What HDF5 interprets is
// compared with the file's checksums before, --whole: all bytes. Exit code 2, and why on stderr, if there is none.
#include "src/seal.hpp"
#include "src/stored.hpp"

#include <kontor/output/error.hpp>

#include <fmt/format.h>

#include <string_view>

namespace {

using namespace kontor::output;

std::string record(const std::string& path, const std::string& name, Compared compared) {
  check_seal(path, compared);
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "H5Fopen", "it");
  if (exists(file, name)) return stored_text(file, name);
  if (name == "/run" && exists(file, "/checkpoint"))
    throw Error(fmt::format("a checkpoint, which has no results; `kontor run {} --restart` resumes from it", path),
                "E-FILE-FORMAT");
  throw Error(fmt::format("not a Kontor file: it has no text {}", name), "E-FILE-FORMAT");
}

} // namespace

int main(int argc, char** argv) {
  const bool whole = argc > 1 && argv[1] == std::string_view("--whole");
  const int first = whole ? 2 : 1;
  if (argc <= first || argc > first + 2) {
    fmt::print(stderr, "kontor-record [--whole] FILE [NAME] [E-USAGE-OPTION]\n");
    return 2;
  }
  const std::string path = argv[first];
  try {
    fmt::print("{}\n",
               record(path, argc > first + 1 ? argv[first + 1] : "/run", whole ? Compared::all : Compared::structure));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", path, kontor::errors::with_id(error.what(), "E-FILE-FORMAT"));
    return 2;
  }
}
