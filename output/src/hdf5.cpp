// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hdf5.hpp"

#include <kontor/output/error.hpp>
#include <kontor/output/file.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <sys/mman.h>

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
    if (found.entries++ < 3 && entry->desc)
      found.text += fmt::format("{}{}: {}", found.text.empty() ? "" : "; ", entry->func_name, entry->desc);
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, append, &found);
  return found.text.empty() ? "HDF5 gives no reason" : found.text;
}

} // namespace

void check(std::int64_t result, const char* operation, const std::string& object) {
  if (result < 0) throw Error(fmt::format("{} of {} failed: {}", operation, object, error_text()));
}

Handle::Handle(hid_t id, Close close, const char* operation, const std::string& object) : id_(id), close_(close) {
  check(id, operation, object);
}

void start_hdf5() {
  constexpr std::size_t enough = std::size_t{4} << 20; // some 130 KiB are taken
  void* const place = ::mmap(nullptr, enough, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED)
    throw Error(fmt::format("out of memory: HDF5 cannot start without {} bytes: {}", enough, std::strerror(errno)));
  ::munmap(place, enough);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
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
