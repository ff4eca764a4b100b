// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <string>

namespace kontor::miniapp {

/// Bytes that kernels must move between memory and processor.
struct BytesMoved {
  double read = 0;
  double written = 0;
};

/// How fast all ranks together stream through vectors: bytes/s, read and written; 0: not measured.
struct StreamRates {
  double read = 0;  ///< of a sum, which writes nothing
  double copy = 0;  ///< of a copy, which writes as much as it reads
  double triad = 0; ///< of a += b + s c, which reads three words and writes one

  /// Seconds that a kernel needs at least. Every byte written goes, with one byte read, at the rate of the copy; the
  /// other bytes read go at the rate of reading:
  ///   (read - written) / read rate + 2 written / copy rate.
  /// Where more is written than read, all bytes go at the rate of the copy. NaN if nothing was measured.
  double seconds_for(const BytesMoved& bytes) const {
    if (!(read > 0) || !(copy > 0)) return std::numeric_limits<double>::quiet_NaN();
    if (bytes.written > bytes.read) return (bytes.read + bytes.written) / copy;
    return (bytes.read - bytes.written) / read + 2 * bytes.written / copy;
  }
};

/// The matrices of a product c += a b: a is m x k, b is k x n.
struct GemmBlock {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
};

/// How fast all ranks together multiply matrices, each its own.
struct GemmRate {
  GemmBlock block = {};
  std::string precision = {}; ///< float or double
  double rate = 0;            ///< flop/s, 2 m n k for each product, all ranks together
  std::string library = {};   ///< what multiplies
  bool optimised = false;     ///< false: loops that know nothing of caches, or a library of unknown make
};

/// What an app wants to know of the machine. What is not asked for is not measured.
struct CalibrationRequest {
  /// Bytes of this rank that a repeat goes through again and again, which sizes the vectors; 0: they are short.
  double working_set = 0;
  /// Collective. Measures the product of blocks as large as the run's own, by gemm_rate() (gemm.hpp), so that only apps
  /// that ask link a BLAS; empty: not asked for.
  std::function<GemmRate(const comm::Communicator&)> gemm = {};
  /// Collective. Measures how fast all ranks together multiply and add; empty: not asked for.
  std::function<double(const comm::Communicator&)> multiply_adds = {};
};

/// What this machine does, measured in the same job on the same ranks.
struct Calibration {
  StreamRates memory = {};           ///< of vectors as large as the working set, within limits; 0: not measured
  StreamRates in_working_set = {};   ///< of vectors as large as the app's; 0 where these are not smaller
  std::optional<GemmRate> gemm = {}; ///< what the app has asked for
  double multiply_adds = 0;          ///< flop/s of products that are added, rounded each; 0: not asked for

  /// Ranks shared cores: their rates, added up, are not the machine's, and nothing is set beside them.
  bool oversubscribed = false;

  nlohmann::ordered_json record = nlohmann::ordered_json::object(); ///< /run/calibration: what was measured
  nlohmann::ordered_json noise = {}; ///< the object /run/noise; valid at rank 0, null: not measured

  /// Seconds in which all ranks together can move so many bytes of the working set, at the larger rates of the two
  /// measurements: in the smallest working sets starts of kernels take most of the time. Not less than so many flops
  /// take. NaN if nothing was measured.
  double seconds_for(const BytesMoved& bytes, double flops = 0) const {
    const double seconds =
        StreamRates{std::max(memory.read, in_working_set.read), std::max(memory.copy, in_working_set.copy)}.seconds_for(
            bytes);
    return multiply_adds > 0 && flops > seconds * multiply_adds ? flops / multiply_adds : seconds;
  }
};

/// Collective, after the app has allocated its memory; takes some tenths of a second, and at most two seconds unless a
/// single sample takes long; valid on every rank. What is measured for every app: how fast all ranks stream at once
/// (stream.hpp), in huge pages if the app's own data are, and a message between two ranks of a node and of two nodes
/// (link.hpp). Besides, what the app asks for: all ranks ask for the same, but each for a working set of its own.
///
/// Vectors are as large as the rank's working set, so that what stays in a cache is compared with what the cache gives,
/// but not above streamed_bytes(). Nor are they below least_streamed_bytes(), where starts of kernels take most of the
/// time: smaller working sets are measured, too.
Calibration calibrate(const comm::Communicator&, bool huge_pages, const CalibrationRequest&);

} // namespace kontor::miniapp
