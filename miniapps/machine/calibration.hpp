// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

namespace kontor::miniapp {

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

/// What an app wants to know of the machine besides what calibrate() measures for all. What is not asked for
/// is not measured.
struct CalibrationRequest {
  /// Bytes of this rank that a repeat goes through again and again; 0: it is not limited by that.
  double working_set = 0;
  /// Bytes of the largest message that this rank sends in a step; 0: it is of no interest.
  double message = 0;
  /// Collective. Measures the product of blocks as large as the run's own; empty: not asked for. Made by
  /// gemm_request() (gemm.hpp), so that only apps that ask link a BLAS.
  std::function<GemmRate(const comm::Communicator&)> gemm = {};
};

/// What this machine does, measured in the same job on the same ranks.
struct Calibration {
  double triad_bandwidth = 0; ///< bytes/s, all ranks together; 0 on simulated ranks
  double copy_bandwidth = 0;  ///< bytes/s read and written, all devices together; 0 on the host

  double latency = 0;              ///< s, half a round trip of one element between two ranks; 0 on one rank
  double bandwidth = 0;            ///< bytes/s one way between them; 0 on one rank
  std::string link = {};           ///< which two: "ranks 0 and 1 of n0"; valid at rank 0
  double internode_latency = 0;    ///< the same between two nodes; 0 on one node
  double internode_bandwidth = 0;  ///< bytes/s one way; 0 on one node
  std::string internode_link = {}; ///< "rank 0 of n0 and rank 2 of n1"; valid at rank 0

  double large_message =
      0; ///< bytes of a message as the app sends them; 0: not asked for, or none is larger than 2 MiB
  double large_bandwidth = 0; ///< bytes/s one way with it, between two nodes if there are several; 0 as above

  /// Ranks shared cores: their rates, added up, are not the machine's, and nothing is set beside them.
  bool oversubscribed = false;

  double working_set = 0;            ///< bytes of the rank that has most; 0: the app has told none
  double working_set_bandwidth = 0;  ///< bytes/s within it, all ranks together; 0 where memory's applies
  std::optional<GemmRate> gemm = {}; ///< what the app has asked for

  /// What streaming through the working set can reach: bytes/s, all ranks together; NaN if it was not
  /// measured.
  double attainable_bandwidth() const {
    if (working_set_bandwidth > 0) return working_set_bandwidth;
    const double memory = std::max(triad_bandwidth, copy_bandwidth);
    return memory > 0 ? memory : std::numeric_limits<double>::quiet_NaN();
  }
};

} // namespace kontor::miniapp
