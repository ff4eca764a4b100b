// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/backend_context.hpp"

#include <kontor/comm/registry.hpp>

#include <map>

namespace kontor::comm {

/// The backends of a communicator, each made when it is first used.
class BackendSet {
 public:
  explicit BackendSet(BackendContext context) : context_(std::move(context)) {}

  const BackendContext& context() const { return context_; }

  /// Collective where it is the first call for this name. Throws UsageError on every rank if the build or the machine
  /// has not what the backend needs.
  const std::shared_ptr<Backend>& get(const std::string& name) {
    auto& backend = backends_[name];
    if (!backend) backend = find_backend(name).make(context_);
    return backend;
  }

  /// Collective, unless this rank ends alone.
  void clear() { backends_.clear(); }

 private:
  BackendContext context_;
  std::map<std::string, std::shared_ptr<Backend>> backends_;
};

} // namespace kontor::comm
