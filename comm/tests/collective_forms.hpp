// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "function_ref.hpp"
#include "views.hpp"

#include <kontor/comm/collectives.hpp>

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

/// What the tests of collective operations share: every form of a call, for Views of any type by functions
/// that are compiled once.
namespace kontor::comm::test {

struct Pair {
  double weight;
  std::int64_t index;
};

template <class View>
using ValueOf = typename View::non_const_value_type;

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

/// A Request of any Views.
class AnyRequest {
 public:
  template <class... Views>
  AnyRequest(Request<Views...>&& request)
      : request_(new Request<Views...>(std::move(request)),
                 [](void* r) { delete static_cast<Request<Views...>*>(r); }),
        wait_([](void* r) { (void)static_cast<Request<Views...>*>(r)->wait(); }),
        test_([](void* r) { return static_cast<Request<Views...>*>(r)->test().has_value(); }) {}
  void wait() { wait_(request_.get()); }
  bool test() { return test_(request_.get()); }

 private:
  std::unique_ptr<void, void (*)(void*)> request_;
  void (*wait_)(void*);
  bool (*test_)(void*);
};

using Blocking = FunctionRef<void()>;
using Nonblocking = FunctionRef<AnyRequest()>;
using Verify = FunctionRef<void(const char* form)>;

/// Calls `blocking`, then `nonblocking` and wait(), then `nonblocking` and test() until it is complete; each
/// between prepare() and verify().
inline void in_all_forms(FunctionRef<void()> prepare, Blocking blocking, Nonblocking nonblocking,
                         Verify verify) {
  prepare();
  blocking();
  verify("blocking");
  prepare();
  auto first = nonblocking();
  first.wait();
  verify("wait()");
  prepare();
  auto second = nonblocking();
  while (!second.test()) {
  }
  verify("test()");
}

} // namespace kontor::comm::test
