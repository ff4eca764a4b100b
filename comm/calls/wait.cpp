// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/deadline.hpp"
#include "checks/checked.hpp"

#include <kontor/comm/wait.hpp>

namespace kontor::comm::detail {

/// The MPI requests of all active operations one after the other, as MPI's calls for many want them.
class Pool::Gathered {
 public:
  explicit Gathered(std::span<Operation* const> operations)
      : operations_(operations), size_(count(operations)), request_memory_(size_), place_memory_(size_),
        status_memory_(size_) {
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

  int size() const { return static_cast<int>(size_); }
  MPI_Request* requests() { return request_memory_.span().data(); }
  MPI_Status* statuses() { return status_memory_.span().data(); }
  std::size_t operation(int n) { return place_memory_.span()[n].operation; }

  /// MPI has set the requests that are complete to null.
  void put_back() {
    for (std::size_t n = 0; n < size_; ++n) place_memory_.span()[n].part->request = requests()[n];
  }

  /// After an error: what is complete becomes finished, and the n-th request is said to have failed.
  [[noreturn]] void fail(int n, int code, const char* mpi_function) {
    put_back();
    auto& [i, part] = place_memory_.span()[n];
    part->request = MPI_REQUEST_NULL;
    for (std::size_t k = 0; k < operations_.size(); ++k)
      if (k != i && operations_[k]->active()) operations_[k]->mark_complete();
    operations_[i]->fail(*part, code, mpi_function);
  }

  /// The first of so many statuses that has failed; MPI sets them if it says MPI_ERR_IN_STATUS.
  [[noreturn]] void fail(int code, const char* mpi_function, int statuses_set, const int* indices) {
    for (int n = 0; code == MPI_ERR_IN_STATUS && n < statuses_set; ++n) {
      const int error = statuses()[n].MPI_ERROR;
      if (error != MPI_SUCCESS && error != MPI_ERR_PENDING)
        fail(indices ? indices[n] : n, error, mpi_function);
    }
    fail(0, code, mpi_function);
  }

 private:
  struct Place {
    std::size_t operation;
    Operation::Part* part;
  };

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
};

bool Pool::has_timeout() const {
  return std::ranges::any_of(operations_, [](Operation* o) { return o->active() && o->has_timeout(); });
}

template <class Turn>
void Pool::wait_with_timeout(Turn turn) {
  const auto first_active = [&] { return std::ranges::find_if(operations_, &Operation::active); };
  const double timeout = (*first_active())->comm_->options().timeout;
  const auto completes = [](Operation& operation) {
    for (auto& part : operation.parts()) operation.poll(part);
    return operation.mark_complete();
  };
  const auto done = [&] {
    Checks* checks = nullptr;
    for (auto* operation : operations_) {
      if (!operation->active() || !operation->has_timeout()) continue;
      if (auto* const own = internals(*operation->comm_).checks(); own != checks) (checks = own)->progress();
    }
    return turn(completes) || first_active() == operations_.end();
  };
  if (mpi::Deadline(timeout).wait(done)) return;
  const auto& late = **first_active();
  late.fail_timeout(*std::ranges::find_if(late.parts_, &Operation::Part::pending));
}

void Pool::wait_all() {
  if (has_timeout()) {
    return wait_with_timeout([&](auto completes) {
      bool all = true;
      for (auto* operation : operations_)
        if (operation->active()) all &= completes(*operation);
      return all;
    });
  }
  Gathered gathered(operations_);
  if (gathered.size() == 1) {
    const int code = MPI_Wait(gathered.requests(), MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) [[unlikely]]
      gathered.fail(0, code, "MPI_Wait");
  } else if (gathered.size() > 1) {
    const int code = MPI_Waitall(gathered.size(), gathered.requests(), gathered.statuses());
    if (code != MPI_SUCCESS) [[unlikely]]
      gathered.fail(code, "MPI_Waitall", gathered.size(), nullptr);
  }
  gathered.put_back();
  for (auto* operation : operations_)
    if (operation->active()) operation->mark_complete();
}

std::optional<std::size_t> Pool::wait_any() {
  if (has_timeout()) {
    std::optional<std::size_t> which;
    wait_with_timeout([&](auto completes) {
      for (std::size_t i = 0; i < operations_.size() && !which; ++i)
        if (operations_[i]->active() && completes(*operations_[i])) which = i;
      return which.has_value();
    });
    return which;
  }
  Gathered gathered(operations_);
  if (gathered.size() == 0) return std::nullopt;
  for (;;) {
    int n = MPI_UNDEFINED;
    const int code = MPI_Waitany(gathered.size(), gathered.requests(), &n, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) [[unlikely]]
      gathered.fail(n == MPI_UNDEFINED ? 0 : n, code, "MPI_Waitany");
    gathered.put_back();
    const auto i = gathered.operation(n);
    if (operations_[i]->mark_complete()) return i;
  }
}

std::vector<std::size_t> Pool::wait_some() {
  std::vector<std::size_t> which;
  if (has_timeout()) {
    wait_with_timeout([&](auto completes) {
      for (std::size_t i = 0; i < operations_.size(); ++i)
        if (operations_[i]->active() && completes(*operations_[i])) which.push_back(i);
      return !which.empty();
    });
    return which;
  }
  Gathered gathered(operations_);
  Scratch<int> indices(gathered.size());
  while (which.empty() && gathered.size() > 0) {
    int count = 0;
    const int code = MPI_Waitsome(gathered.size(), gathered.requests(), &count, indices.span().data(),
                                  gathered.statuses());
    if (code != MPI_SUCCESS) [[unlikely]]
      gathered.fail(code, "MPI_Waitsome", std::max(count, 0), indices.span().data());
    gathered.put_back();
    for (std::size_t i = 0; i < operations_.size(); ++i)
      if (operations_[i]->active() && operations_[i]->mark_complete()) which.push_back(i);
  }
  return which;
}

} // namespace kontor::comm::detail
