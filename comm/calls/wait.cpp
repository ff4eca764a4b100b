// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/deadline.hpp"
#include "checks/checked.hpp"

#include <kontor/comm/calls/operation.hpp>
#include <kontor/comm/error.hpp>

#include <fmt/format.h>

#include <numeric>

namespace kontor::comm::detail {

/// The MPI requests of all active operations one after the other, as MPI's calls for many want them.
class Pool::Gathered {
 public:
  explicit Gathered(std::span<Operation* const> operations)
      : operations_(operations), size_(count(operations)), request_memory_(size_), place_memory_(size_),
        status_memory_(size_), index_memory_(size_) {
    auto* request = requests();
    auto* place = place_memory_.span().data();
    for (std::size_t i = 0; i < operations.size(); ++i) {
      if (!operations[i]->active()) continue;
      for (auto& part : operations[i]->parts()) {
        *request++ = part.request;
        *place++ = {i, &part};
      }
    }
  }

  /// Asks MPI; how many requests are now known to be complete.
  int ask(Many many, Until until) {
    const int size = static_cast<int>(size_);
    auto* const indices = index_memory_.span().data();
    auto* const statuses = status_memory_.span().data();
    const bool waits = until == Until::complete;
    int done = 1;
    int count = 0;
    int code = MPI_SUCCESS;
    indices[0] = MPI_UNDEFINED;
    switch (many) {
    case Many::all:
      std::iota(indices, indices + size, 0);
      code = waits ? MPI_Waitall(size, requests(), statuses) : MPI_Testall(size, requests(), &done, statuses);
      if (code != MPI_SUCCESS) [[unlikely]]
        fail(code, waits ? "MPI_Waitall" : "MPI_Testall", size);
      return done ? size : 0;
    case Many::any:
      code = waits ? MPI_Waitany(size, requests(), indices, statuses)
                   : MPI_Testany(size, requests(), indices, &done, statuses);
      if (code != MPI_SUCCESS) [[unlikely]]
        fail(code, waits ? "MPI_Waitany" : "MPI_Testany", indices[0] == MPI_UNDEFINED ? 0 : 1);
      return done && indices[0] != MPI_UNDEFINED ? 1 : 0;
    default:
      code = waits ? MPI_Waitsome(size, requests(), &count, indices, statuses)
                   : MPI_Testsome(size, requests(), &count, indices, statuses);
      count = std::max(count, 0); // none is active: MPI_UNDEFINED
      if (code != MPI_SUCCESS) [[unlikely]]
        fail(code, waits ? "MPI_Waitsome" : "MPI_Testsome", count);
      return count;
    }
  }

  bool empty() const { return size_ == 0; }

  /// Tells its operation that the k-th of those requests is complete.
  void complete(int k) {
    const auto& [i, part] = place_memory_.span()[index_memory_.span()[k]];
    if (part->pending()) operations_[i]->complete(*part, status_memory_.span()[k]);
  }

 private:
  struct Place {
    std::size_t operation;
    Operation::Part* part;
  };

  MPI_Request* requests() { return request_memory_.span().data(); }

  /// After an error, with so many indices set: what is complete becomes finished, each that has failed keeps its error,
  /// and the first of these is thrown. MPI sets the errors of statuses if it says MPI_ERR_IN_STATUS. What it has freed
  /// without a status of success counts as failed: Open MPI frees what it does not report, too.
  [[noreturn]] void fail(int code, const char* mpi_function, int indices_set) {
    const auto places = place_memory_.span();
    const auto indices = index_memory_.span();
    const auto statuses = status_memory_.span();
    for (int k = 0; k < indices_set; ++k) {
      auto& [i, part] = places[indices[k]];
      if (!part->pending()) continue; // it had no request
      const int error = code == MPI_ERR_IN_STATUS ? statuses[k].MPI_ERROR : code;
      if (error == MPI_SUCCESS)
        operations_[i]->complete(*part, statuses[k]);
      else if (error != MPI_ERR_PENDING && (code == MPI_ERR_IN_STATUS || indices_set == 1))
        operations_[i]->fail(*part, error, mpi_function);
    }
    const Operation* failed = nullptr;
    for (std::size_t n = 0; n < size_; ++n) {
      auto& [i, part] = places[n];
      if (part->pending() && requests()[n] == MPI_REQUEST_NULL) operations_[i]->fail(*part, code, mpi_function);
      if (!failed && operations_[i]->problem_) failed = operations_[i];
    }
    for (auto* operation : operations_)
      if (operation->active()) operation->mark_complete();
    if (failed) failed->throw_problem();
    const auto& [i, part] = places[0]; // the call itself has failed, and all are pending
    fail_message(code, mpi_function, part->envelope, operations_[i]->buffer(part->view));
  }

  static std::size_t count(std::span<Operation* const> operations) {
    std::size_t sum = 0;
    for (auto* operation : operations) sum += operation->active() ? operation->parts().size() : 0;
    return sum;
  }

  std::span<Operation* const> operations_;
  std::size_t size_;
  Scratch<MPI_Request> request_memory_;
  Scratch<Place> place_memory_;
  Scratch<MPI_Status> status_memory_;
  Scratch<int> index_memory_; ///< of the requests that are complete
};

template <class Found>
void Pool::run(Many many, const Found& found) {
  if (std::ranges::any_of(operations_, [](Operation* o) { return o->active() && o->has_timeout(); }))
    return poll(many, found);
  Gathered gathered(operations_);
  for (bool enough = gathered.empty(); !enough;) { // one of two parts is not yet all
    const int count = gathered.ask(many, until_);
    for (int k = 0; k < count; ++k) gathered.complete(k);
    enough = count == 0;
    for (std::size_t i = 0; i < operations_.size() && count > 0; ++i) {
      if (!operations_[i]->active() || !operations_[i]->mark_complete()) continue;
      found(i);
      enough = true;
      if (many == Many::any) break;
    }
  }
}

template <class Found>
void Pool::poll(Many many, const Found& found) {
  const auto first_active = [&] { return std::ranges::find_if(operations_, &Operation::active); };
  const double timeout = (*first_active())->comm_->options().timeout;
  const auto done = [&] {
    Checks* checks = nullptr;
    for (auto* operation : operations_) {
      if (!operation->active() || !operation->has_timeout()) continue;
      if (auto* const own = internals(*operation->comm_).checks(); own != checks) (checks = own)->progress();
    }
    bool enough = until_ == Until::now;
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      if (!operations_[i]->active() || !operations_[i]->poll()) continue;
      found(i);
      if (many != Many::all) enough = true;
      if (many == Many::any) break;
    }
    return enough || first_active() == operations_.end();
  };
  if (mpi::Deadline(timeout).wait(done)) return;
  const auto& late = **first_active();
  late.fail_timeout(*std::ranges::find_if(late.parts_, &Operation::Part::pending));
}

bool Pool::all() {
  run(Many::all, [](std::size_t) {});
  return std::ranges::none_of(operations_, &Operation::active);
}

std::optional<std::size_t> Pool::any() {
  std::optional<std::size_t> which;
  run(Many::any, [&](std::size_t i) { which = i; });
  return which;
}

std::vector<std::size_t> Pool::some() {
  std::vector<std::size_t> which;
  run(Many::some, [&](std::size_t i) { which.push_back(i); });
  return which;
}

} // namespace kontor::comm::detail
