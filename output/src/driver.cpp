// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver.hpp"

#include "shared_file.hpp"

#include <fmt/format.h>
#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h> // from HDF5 1.14 on
#endif

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

namespace kontor::output {

namespace {

/// An open file. HDF5 knows the first member only.
struct OpenFile {
  H5FD_t base;
  int descriptor;
  haddr_t allocated, size;
  Driver::Beyond beyond;
  std::string* failure;
};

OpenFile& self(H5FD_t* file) { return *reinterpret_cast<OpenFile*>(file); }
const OpenFile& self(const H5FD_t* file) { return *reinterpret_cast<const OpenFile*>(file); }

void fail(OpenFile& file, const char* operation) {
  *file.failure = fmt::format("{} failed: {}", operation, std::strerror(errno));
}

H5FD_t* open_file(const char*, unsigned, hid_t access, haddr_t) {
  // HDF5 follows links to other files by this driver, but without its state; they are not opened.
  const auto* const info = static_cast<Driver::State* const*>(H5Pget_driver_info(access));
  if (!info) return nullptr;
  auto* const state = *info;
  const int descriptor = ::fcntl(state->descriptor, F_DUPFD_CLOEXEC, 0);
  struct stat status {};
  if (descriptor < 0) return nullptr;
  ::fstat(descriptor, &status);
  return &(new OpenFile{{}, descriptor, 0, static_cast<haddr_t>(status.st_size), state->beyond, &state->failure})->base;
}

herr_t close_file(H5FD_t* file) {
  if (::close(self(file).descriptor) != 0 && self(file).failure->empty()) fail(self(file), "close");
  delete &self(file);
  return 0;
}

herr_t query(const H5FD_t*, unsigned long* features) {
  *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
              H5FD_FEAT_AGGREGATE_SMALLDATA;
  return 0;
}

haddr_t get_allocated(const H5FD_t* file, H5FD_mem_t) { return self(file).allocated; }

herr_t set_allocated(H5FD_t* file, H5FD_mem_t, haddr_t end) {
  self(file).allocated = end;
  return 0;
}

haddr_t get_size(const H5FD_t* file, H5FD_mem_t) { return self(file).size; }

herr_t read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t from, std::size_t bytes, void* data) {
  auto* to = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = ::pread(self(file).descriptor, to, bytes, static_cast<off_t>(from));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) { // beyond the end
      if (self(file).beyond == Driver::Beyond::error) return -1;
      std::memset(to, 0, bytes);
      break;
    }
    to += got;
    from += got;
    bytes -= got;
  }
  return 0;
}

herr_t write(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t to, std::size_t bytes, const void* data) {
  self(file).size = std::max(self(file).size, to + bytes);
  if (!self(file).failure->empty()) return 0;
  try {
    write_at(self(file).descriptor, to, data, bytes);
  } catch (const Error& error) {
    *self(file).failure = error.what();
  }
  return 0;
}

herr_t truncate(H5FD_t* file, hid_t, hbool_t) {
  if (self(file).size == self(file).allocated || !self(file).failure->empty()) return 0;
  if (::ftruncate(self(file).descriptor, static_cast<off_t>(self(file).allocated)) != 0) fail(self(file), "truncate");
  self(file).size = self(file).allocated;
  return 0;
}

} // namespace

void Driver::use_in(hid_t access, int descriptor, Beyond beyond) {
  H5FD_class_t driver{};
#ifdef H5FD_CLASS_VERSION // from HDF5 1.14 on
  driver.version = H5FD_CLASS_VERSION;
  driver.value = 600; // of the range for private use
#endif
  driver.name = "kontor";
  driver.maxaddr = (haddr_t{1} << 62) - 1;
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(void*); // of a State*
  driver.open = open_file;
  driver.close = close_file;
  driver.query = query;
  driver.get_eoa = get_allocated;
  driver.set_eoa = set_allocated;
  driver.get_eof = get_size;
  driver.read = read;
  driver.write = write;
  driver.truncate = truncate;
  constexpr H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(map), std::end(map), driver.fl_map);
  id_ = Handle(H5FDregister(&driver), H5FDunregister, "H5FDregister", "the file");
  state_.descriptor = descriptor;
  state_.beyond = beyond;
  const State* state = &state_;
  output::check(H5Pset_driver(access, id_, &state), "H5Pset_driver", "the file");
}

} // namespace kontor::output
