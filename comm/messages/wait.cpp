// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/deadline.hpp"
#include "checks/checked.hpp"
#include "communicator/internals.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/messages/operation.hpp>

#include <fmt/format.h>

namespace kontor::comm::detail {

/// The MPI requests of all active operations one after the other, as MPI's calls for many want them.
class Pool::Gathered {
 public:
  explicit Gathered(std::span<Operation* const> operations)
      : operations_(operations), request_memory_(operations.size()), place_memory_(operations.size()),
        status_memory_(operations.size()) {
    for (std::size_t i = 0; i < operations.size(); ++i) {
      if (!operations[i]->active()) continue;
      requests()[size_] = operations[i]->request_;
      place_memory_.span()[size_++] = i;
    }
  }

  bool empty() const { return size_ == 0; }

  /// Asks MPI about all; whether they are complete.
  bool all(bool waits) {
    int done = 1;
    const int code =
        waits ? MPI_Waitall(size_, requests(), statuses()) : MPI_Testall(size_, requests(), &done, statuses());
    if (code != MPI_SUCCESS) [[unlikely]]
      fail(code, waits ? "MPI_Waitall" : "MPI_Testall", 0, size_);
    for (int k = 0; k < size_ && done; ++k) operation(k).complete(statuses()[k]);
    return done != 0;
  }

  /// Waits until one is complete; which operation that is.
  std::size_t any() {
    int which = MPI_UNDEFINED;
    MPI_Status status;
    const int code = MPI_Waitany(size_, requests(), &which, &status);
    if (which != MPI_UNDEFINED) statuses()[which] = status;
    if (code != MPI_SUCCESS) [[unlikely]]
      fail(code, "MPI_Waitany", which, which == MPI_UNDEFINED ? 0 : 1);
    operation(which).complete(status);
    return place_memory_.span()[which];
  }

 private:
  MPI_Request* requests() { return request_memory_.span().data(); }
  MPI_Status* statuses() { return status_memory_.span().data(); }
  Operation& operation(int k) { return *operations_[place_memory_.span()[k]]; }

  /// After an error, with `count` statuses set from `first` on: what is complete becomes finished, each that has failed
  /// keeps its error, and the first of these is thrown. MPI sets the errors of statuses if it says MPI_ERR_IN_STATUS.
  /// What it has freed without a status of success counts as failed: Open MPI frees what it does not report, too.
  [[noreturn]] void fail(int code, const char* mpi_function, int first, int count) {
    for (int k = first; k < first + count; ++k) {
      const int error = code == MPI_ERR_IN_STATUS ? statuses()[k].MPI_ERROR : code;
      if (error == MPI_SUCCESS)
        operation(k).complete(statuses()[k]);
      else if (error != MPI_ERR_PENDING && (code == MPI_ERR_IN_STATUS || count == 1))
        operation(k).fail(error, mpi_function);
    }
    const Operation* failed = nullptr;
    for (int k = 0; k < size_; ++k) {
      if (operation(k).active() && requests()[k] == MPI_REQUEST_NULL) operation(k).fail(code, mpi_function);
      if (!failed && operation(k).problem_) failed = &operation(k);
    }
    if (failed) failed->throw_problem();
    fail_message(code, mpi_function, operation(0).envelope_, operation(0).buffer()); // the call itself has failed
  }

  std::span<Operation* const> operations_;
  int size_ = 0;
  Scratch<MPI_Request> request_memory_;
  Scratch<std::size_t> place_memory_;
  Scratch<MPI_Status> status_memory_;
};

bool Pool::has_timeout() const {
  return std::ranges::any_of(operations_, [](Operation* o) { return o->active() && o->has_timeout(); });
}

std::optional<std::size_t> Pool::poll(bool first_only) {
  Checks* checks = nullptr;
  for (auto* operation : operations_) {
    if (!operation->active() || !operation->has_timeout()) continue;
    if (auto* const own = internals(*operation->comm_).checks(); own != checks) (checks = own)->progress();
  }
  for (std::size_t i = 0; i < operations_.size(); ++i)
    if (operations_[i]->active() && operations_[i]->poll() && first_only) return i;
  return std::nullopt;
}

template <class Done>
void Pool::wait(const Done& done) {
  const auto first_active = [&] { return *std::ranges::find_if(operations_, &Operation::active); };
  if (!mpi::Deadline(first_active()->comm_->options().timeout).wait(done)) first_active()->fail_timeout();
}

void Pool::wait_all() {
  if (!has_timeout()) {
    Gathered gathered(operations_);
    if (!gathered.empty()) gathered.all(true);
    return;
  }
  wait([&] {
    poll(false);
    return std::ranges::none_of(operations_, &Operation::active);
  });
}

bool Pool::test_all() {
  if (has_timeout()) {
    poll(false);
    return std::ranges::none_of(operations_, &Operation::active);
  }
  Gathered gathered(operations_);
  return gathered.empty() || gathered.all(false);
}

std::optional<std::size_t> Pool::wait_any() {
  std::optional<std::size_t> which;
  if (has_timeout()) {
    wait([&] { return (which = poll(true)).has_value(); });
  } else if (Gathered gathered(operations_); !gathered.empty()) {
    which = gathered.any();
  }
  return which;
}

} // namespace kontor::comm::detail
