// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hdf5.hpp"

#include <kontor/output/error.hpp>
#include <kontor/output/file.hpp>

#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace kontor::output {

namespace {

/// The descriptions on HDF5's error stack, from where it went wrong outwards; the outermost say nothing new.
std::string error_text() {
  struct Text {
    std::string text;
    int entries = 0;
  } found;
  const auto append = [](unsigned, const H5E_error2_t* entry, void* data) -> herr_t {
    auto& found = *static_cast<Text*>(data);
    if (found.entries++ >= 3 || !entry->desc) return 0;
    std::string text = entry->desc;
    constexpr std::string_view words = "error message = '"; // the system's, among lines of other facts
    if (const auto begin = text.find(words); begin != std::string::npos)
      text = text.substr(begin + words.size(), text.find('\'', begin + words.size()) - begin - words.size());
    found.text += fmt::format("{}{}: {}", found.text.empty() ? "" : "; ", entry->func_name, text);
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, append, &found);
  return found.text.empty() ? "HDF5 gives no reason" : found.text;
}

// The library starts before MPI, and is never ended: it ends (1.10.8) in MPI_Finalize() or at the program's end, with a
// crash if a file could not be written. It prints no errors, which travel in Error instead, and asks for no locks,
// which not all file systems have.
[[maybe_unused]] const bool started = [] {
  ::setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
  H5dont_atexit();
  return H5open() >= 0 && H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0;
}();

constexpr int of_crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT};

const char* of_crash = ""; // the text of the innermost guard

extern "C" void tell_crash(int /*signal*/) {
  for (const char* text : {of_crash, "\n"})
    if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
  ::_exit(3);
}

} // namespace

CrashTold::CrashTold(std::string text) : text_(std::move(text)), outer_(of_crash) {
  static_assert(std::size(of_crashes) == signals);
  of_crash = text_.c_str();
  for (int n = 0; n < signals; ++n) before_[n] = std::signal(of_crashes[n], tell_crash);
}
CrashTold::~CrashTold() {
  for (int n = 0; n < signals; ++n) std::signal(of_crashes[n], before_[n]);
  of_crash = outer_;
}

void check(std::int64_t result, const char* operation, const std::string& object) {
  if (result < 0) throw Error(fmt::format("{} of {} failed: {}", operation, object, error_text()));
}

Handle::Handle(hid_t id, Close close, const char* operation, const std::string& object) : id_(id), close_(close) {
  check(id, operation, object);
}

std::string_view name_of(Scalar scalar) {
  switch (scalar) {
  case Scalar::float64: return "float64";
  case Scalar::float32: return "float32";
  case Scalar::int32: return "int32";
  case Scalar::int64: break;
  }
  return "int64";
}

std::string hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

} // namespace kontor::output
