// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/checkpoint/restart.hpp"
#include "run/record/result.hpp"

#include <kontor/comm/communicator.hpp>

namespace kontor::miniapp {

class MiniApp;

/// Compares what an app has restored, before its first step, with the checkpoint: the state that it would write then is
/// that which it has read, bit for bit.
class RestartCheck {
 public:
  /// Local. None if the run does not resume. Both must outlive this.
  RestartCheck(const comm::Communicator& comm, const Restart* restart) : comm_(comm), restart_(restart) {}

  /// Collective, before each step; compares once.
  void before_step(const MiniApp&);

  /// Local. Passed if nothing was compared.
  const Verification& verdict() const { return verdict_; }

 private:
  const comm::Communicator& comm_;
  const Restart* restart_;
  Verification verdict_;
};

} // namespace kontor::miniapp
