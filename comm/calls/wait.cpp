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

  /// The n-th request is complete; whose it is.
  std::size_t complete(int n, const MPI_Status& status) {
    const auto& [i, part] = place_memory_.span()[n];
    if (part->pending()) operations_[i]->complete(*part, status);
    return i;
  }

  /// After an error: what is complete becomes finished, and of so many statuses the first that has failed is
  /// said to have. MPI sets them if it says MPI_ERR_IN_STATUS.
  [[noreturn]] void fail(int code, const char* mpi_function, int statuses_set, const int* indices = nullptr) {
    int failed = indices && code != MPI_ERR_IN_STATUS && *indices != MPI_UNDEFINED ? *indices : 0;
    for (int n = statuses_set; code == MPI_ERR_IN_STATUS && n-- > 0;) {
      const int error = statuses()[n].MPI_ERROR;
      if (error != MPI_SUCCESS && error != MPI_ERR_PENDING) failed = n;
    }
    if (code == MPI_ERR_IN_STATUS && statuses_set > 0) {
      code = statuses()[failed].MPI_ERROR;
      if (indices) failed = indices[failed];
    }
    for (std::size_t n = 0; n < size_; ++n) place_memory_.span()[n].part->request = requests()[n];
    auto& [i, part] = place_memory_.span()[failed];
    part->request = MPI_REQUEST_NULL;
    for (std::size_t k = 0; k < operations_.size(); ++k)
      if (k != i && operations_[k]->active()) operations_[k]->mark_complete();
    operations_[i]->fail(*part, code, mpi_function);
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
void Pool::poll(Until until, const Turn& turn) {
  const auto first_active = [&] { return std::ranges::find_if(operations_, &Operation::active); };
  const double timeout = (*first_active())->comm_->options().timeout;
  const auto completes = [](Operation& operation) {
    if (!operation.active()) return false;
    for (auto& part : operation.parts()) operation.poll(part);
    return operation.mark_complete();
  };
  const auto done = [&] {
    Checks* checks = nullptr;
    for (auto* operation : operations_) {
      if (!operation->active() || !operation->has_timeout()) continue;
      if (auto* const own = internals(*operation->comm_).checks(); own != checks) (checks = own)->progress();
    }
    return turn(completes) || first_active() == operations_.end() || until == Until::now;
  };
  if (mpi::Deadline(timeout).wait(done)) return;
  const auto& late = **first_active();
  late.fail_timeout(*std::ranges::find_if(late.parts_, &Operation::Part::pending));
}

bool Pool::all(Until until) {
  if (has_timeout()) {
    poll(until, [&](auto completes) {
      for (auto* operation : operations_) completes(*operation);
      return false;
    });
    return std::ranges::none_of(operations_, &Operation::active);
  }
  Gathered gathered(operations_);
  if (gathered.size() == 0) return true;
  int done = 1;
  const int code = until == Until::complete
                       ? MPI_Waitall(gathered.size(), gathered.requests(), gathered.statuses())
                       : MPI_Testall(gathered.size(), gathered.requests(), &done, gathered.statuses());
  if (code != MPI_SUCCESS) [[unlikely]]
    gathered.fail(code, until == Until::complete ? "MPI_Waitall" : "MPI_Testall", gathered.size());
  if (!done) return false;
  for (int n = 0; n < gathered.size(); ++n) gathered.complete(n, gathered.statuses()[n]);
  for (auto* operation : operations_)
    if (operation->active()) operation->mark_complete();
  return true;
}

std::optional<std::size_t> Pool::any(Until until) {
  std::optional<std::size_t> which;
  if (has_timeout()) {
    poll(until, [&](auto completes) {
      for (std::size_t i = 0; i < operations_.size() && !which; ++i)
        if (completes(*operations_[i])) which = i;
      return which.has_value();
    });
    return which;
  }
  Gathered gathered(operations_);
  while (!which && gathered.size() > 0) {
    int n = MPI_UNDEFINED;
    int done = 1;
    MPI_Status status;
    const int code = until == Until::complete
                         ? MPI_Waitany(gathered.size(), gathered.requests(), &n, &status)
                         : MPI_Testany(gathered.size(), gathered.requests(), &n, &done, &status);
    if (code != MPI_SUCCESS) [[unlikely]]
      gathered.fail(code, until == Until::complete ? "MPI_Waitany" : "MPI_Testany", 0, &n);
    if (!done || n == MPI_UNDEFINED) break;
    const auto i = gathered.complete(n, status);
    if (operations_[i]->mark_complete()) which = i;
  }
  return which;
}

std::vector<std::size_t> Pool::some() {
  std::vector<std::size_t> which;
  if (has_timeout()) {
    poll(Until::complete, [&](auto completes) {
      for (std::size_t i = 0; i < operations_.size(); ++i)
        if (completes(*operations_[i])) which.push_back(i);
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
    for (int k = 0; k < count; ++k) gathered.complete(indices.span()[k], gathered.statuses()[k]);
    for (std::size_t i = 0; i < operations_.size(); ++i)
      if (operations_[i]->active() && operations_[i]->mark_complete()) which.push_back(i);
  }
  return which;
}

} // namespace kontor::comm::detail
