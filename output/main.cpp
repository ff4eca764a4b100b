// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kontor-record [--whole] FILE [NAME]: the JSON text /run of an HDF5 file, or another one. What HDF5 interprets is
// compared with the file's checksums before, --whole: all bytes. Exit code 2, and why on stderr, if there is none. Time
// and memory are limited: from a damaged file HDF5 may ask for all there is, or never return.
#include "src/seal.hpp"
#include "src/stored.hpp"

#include <kontor/output/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <sys/resource.h>

namespace {

using namespace kontor::output;

void limit(decltype(RLIMIT_CPU) what, rlim_t most) {
  rlimit now{};
  if (getrlimit(what, &now) != 0) return;
  now.rlim_cur = std::min(most, now.rlim_max);
  setrlimit(what, &now);
}

void limit_process(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  const rlim_t bytes = error ? 0 : size;
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, 10 + bytes / 10'000'000);
#ifndef __SANITIZE_ADDRESS__ // it reserves terabytes
  limit(RLIMIT_AS, (rlim_t{4} << 30) + 4 * bytes);
#endif
}

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
  limit_process(path);
  try {
    fmt::print("{}\n",
               record(path, argc > first + 1 ? argv[first + 1] : "/run", whole ? Compared::all : Compared::structure));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", path, kontor::errors::with_id(error.what(), "E-FILE-FORMAT"));
    return 2;
  }
}
