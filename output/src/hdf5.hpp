// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <hdf5.h>

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

namespace kontor::output {

/// Owns an HDF5 identifier.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);

  Handle() = default;
  /// Throws Error if `id` says that `operation` on `object` failed.
  Handle(hid_t id, Close close, const char* operation, const std::string& object);
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() { close(); }

  operator hid_t() const { return id_; }

  /// Closes now; negative if HDF5 could not. Either way there is nothing left to close.
  herr_t close() noexcept { return id_ < 0 ? 0 : close_(std::exchange(id_, H5I_INVALID_HID)); }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

/// While this lives, a crash ends the program with exit code 3 and this text: HDF5 crashes on some damaged files, and,
/// with assertions, on a full disk.
class CrashTold {
 public:
  explicit CrashTold(std::string text);
  CrashTold(const CrashTold&) = delete;
  ~CrashTold();

 private:
  static constexpr int signals = 4;
  std::string text_;
  const char* outer_; ///< the text of the guard around this one
  void (*before_[signals])(int);
};

/// Throws Error with HDF5's own text if `result` is negative.
void check(std::int64_t result, const char* operation, const std::string& object);

/// The HDF5 type of a number in memory; files hold the same.
template <class T>
hid_t native_type() {
  if constexpr (std::same_as<T, double>)
    return H5T_NATIVE_DOUBLE;
  else if constexpr (std::same_as<T, float>)
    return H5T_NATIVE_FLOAT;
  else if constexpr (std::same_as<T, std::int32_t>)
    return H5T_NATIVE_INT32;
  else if constexpr (std::same_as<T, std::int64_t>)
    return H5T_NATIVE_INT64;
  else if constexpr (std::same_as<T, std::uint64_t>)
    return H5T_NATIVE_UINT64;
  else {
    static_assert(std::same_as<T, std::uint8_t>);
    return H5T_NATIVE_UINT8;
  }
}

} // namespace kontor::output
