// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "src/checks/checked.hpp"
#include "src/checks/options.hpp"
#include "src/exchange/backend_set.hpp"
#include "support/agree.hpp"
#include "support/backend_context.hpp"
#include "support/handle_cache.hpp"

#include <kontor/comm/backend/mpi_check.hpp>
#include <kontor/comm/backend/mpi_datatype.hpp>
#include <kontor/comm/communicator.hpp>
#include <kontor/comm/detail/pinned_pool.hpp>
#include <kontor/comm/detail/timeout.hpp>
#include <kontor/comm/gpu_awareness.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <numeric>

namespace kontor::comm {

using mpi::check;

namespace {

/// An operation that goes on without its owner, and what must outlive it.
struct Adopted {
  MPI_Request request;
  std::shared_ptr<void> keep;
};

/// Never frees it: MPI may still read and write there. By its name the sanitizer knows that it is meant.
template <class T>
[[gnu::noinline]] void leave_to_mpi(T&& left) {
  static_cast<void>(new auto(std::forward<T>(left)));
}

} // namespace

struct Communicator::Group {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm exchanges = MPI_COMM_NULL; ///< of plans: a message must not land in one
  MPI_Comm checking = MPI_COMM_NULL;
  MPI_Comm checking_calls = MPI_COMM_NULL;
  std::int64_t calls = 0;
  bool abandoned = false;
  Options options;
  std::shared_ptr<bool> unsafe_to_free;
  std::vector<Method> methods;                    ///< whatever the memory, without their backends
  std::array<std::vector<Method>, 2> methods_for; ///< Views in host and in device memory
  std::optional<BackendSet> backends;
  std::shared_ptr<Backend> backend; ///< of the first method
  std::unique_ptr<detail::Checks> checks;
  detail::CachedProperties cached;
  int rank = 0;
  int size = 1;
  int tag_limit = 32767;
  int next_tag = 0;
  int sparse_exchanges = 0;
  std::vector<int> dims;
  std::vector<int> coordinates;
  std::vector<bool> periodic;
  std::mutex adopting;
  std::vector<Adopted> adopted;
  std::vector<std::unique_ptr<detail::InFlight>> kept;
  bool hands_device_memory_to_mpi = false;
  detail::PinnedPool pinned_pool;
  mpi::HandleCache handles;

  /// Under the lock. Frees what MPI is done with.
  void sweep() {
    std::erase_if(adopted, [](Adopted& one) {
      int done = 0;
      return MPI_Test(&one.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done;
    });
    std::erase_if(kept, [](const auto& one) { return one->over(); });
  }

  /// After an error the other ranks may be gone: then nothing is waited for, and MPI keeps what is left.
  ~Group() {
    for (auto& list : methods_for) list.clear();
    backend.reset();
    if (backends) backends->clear();
    if (mpi::finalized()) return;
    const bool waits = !mpi::ends_alone(abandoned || (unsafe_to_free && *unsafe_to_free));
    for (auto& [request, keep] : adopted) {
      if (!waits) break;
      if (checks)
        mpi::wait_until_timeout(request, options.timeout);
      else
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    sweep();
    if (!adopted.empty()) leave_to_mpi(std::move(adopted));
    if (!kept.empty()) leave_to_mpi(std::move(kept));
    if (abandoned) return;
    handles.free();
    checks.reset();
    if (unsafe_to_free && *unsafe_to_free) return;
    for (auto* owned : {&checking, &checking_calls, &exchanges, &comm})
      if (*owned != MPI_COMM_NULL) MPI_Comm_free(owned);
  }
};

namespace {

MPI_Comm duplicate(MPI_Comm parent) {
  MPI_Comm comm = MPI_COMM_NULL;
  check(MPI_Comm_dup(parent, &comm), "MPI_Comm_dup");
  check(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return comm;
}

/// Before anything depends on the options.
MPI_Comm duplicate(MPI_Comm parent, const Options& options) {
  auto comm = duplicate(parent);
  try {
    require_equal(comm, options);
  } catch (...) {
    MPI_Comm_free(&comm);
    throw;
  }
  return comm;
}

MPI_Comm make_cartesian(const Communicator& parent, const std::vector<int>& dims,
                        const std::vector<bool>& periodic) {
  if (dims.empty() || dims.size() > 3 || periodic.size() != dims.size())
    throw UsageError(
        fmt::format("a process grid has 1 to 3 dimensions, each closed or periodic; {} dimensions "
                    "and {} ends were given",
                    dims.size(), periodic.size()));
  const auto ranks = std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
  if (ranks != parent.size() || std::any_of(dims.begin(), dims.end(), [](int n) { return n < 1; }))
    throw UsageError(fmt::format("a process grid of {} takes {} ranks, but there are {}",
                                 fmt::join(dims, " x "), ranks, parent.size()));
  const std::vector<int> periods(periodic.begin(), periodic.end());
  MPI_Comm comm = MPI_COMM_NULL;
  check(
      MPI_Cart_create(parent.native(), static_cast<int>(dims.size()), dims.data(), periods.data(), 0, &comm),
      "MPI_Cart_create");
  return comm;
}

} // namespace

Communicator::Group& Communicator::group() const {
  if (!group_) [[unlikely]]
    throw CallError("a Communicator is used that was moved from");
  return *group_;
}

Communicator::Communicator(MPI_Comm parent, const Options& options)
    : Communicator(Owned{duplicate(parent, options)}, options) {}

Communicator::Communicator(const Communicator& parent, const std::vector<int>& dims,
                           const std::vector<bool>& periodic)
    : Communicator(Owned{make_cartesian(parent, dims, periodic)}, parent.options()) {
  read_cartesian();
}

Communicator Communicator::split(int colour, int key) const {
  return *split(std::optional(colour), key);
}

std::optional<Communicator> Communicator::split(std::optional<int> colour, int key) const {
  std::optional<std::string> problem;
  if (colour && *colour < 0)
    problem =
        fmt::format("rank {} gives the colour {}; colours are 0 or more, and std::nullopt says that a rank "
                    "is to be in none of the parts",
                    rank(), *colour);
  agree(problem);
  MPI_Comm comm = MPI_COMM_NULL;
  check(MPI_Comm_split(native(), colour.value_or(MPI_UNDEFINED), key, &comm), "MPI_Comm_split");
  if (!colour) return std::nullopt;
  return Communicator(Owned{comm}, options());
}

Communicator Communicator::sub(const std::vector<bool>& keep) const {
  if (keep.size() != dims().size() || std::find(keep.begin(), keep.end(), true) == keep.end())
    throw UsageError(
        fmt::format("a part of a process grid keeps one dimension at least and says so for each of "
                    "its {} dimensions; {} were given",
                    dims().size(), keep.size()));
  const std::vector<int> remain(keep.begin(), keep.end());
  MPI_Comm comm = MPI_COMM_NULL;
  check(MPI_Cart_sub(native(), remain.data(), &comm), "MPI_Cart_sub");
  Communicator result(Owned{comm}, options());
  result.read_cartesian();
  return result;
}

void Communicator::read_cartesian() {
  int count = 0;
  check(MPI_Cartdim_get(native(), &count), "MPI_Cartdim_get");
  auto& g = group();
  std::vector<int> periods(count);
  g.dims.resize(count);
  g.coordinates.resize(count);
  check(MPI_Cart_get(native(), count, g.dims.data(), periods.data(), g.coordinates.data()), "MPI_Cart_get");
  g.periodic.assign(periods.begin(), periods.end());
}

Communicator::Communicator(Owned owned_comm, const Options& options) : group_(std::make_shared<Group>()) {
  const MPI_Comm owned = owned_comm.comm;
  group_->comm = owned;
  group_->options = options;
  check(MPI_Comm_set_errhandler(owned, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_rank(owned, &group_->rank), "MPI_Comm_rank");
  check(MPI_Comm_size(owned, &group_->size), "MPI_Comm_size");
  int* limit = nullptr;
  int found = 0;
  check(MPI_Comm_get_attr(owned, MPI_TAG_UB, &limit, &found), "MPI_Comm_get_attr");
  if (found) group_->tag_limit = *limit;
  group_->cached = {owned, options.check, group_->size, group_->tag_limit};
  if (options.check == CheckLevel::cross_rank) {
    group_->checking = duplicate(owned);
    group_->checking_calls = duplicate(owned);
    group_->checks = std::make_unique<detail::Checks>(owned, group_->checking, group_->rank, options.timeout);
  }
  group_->exchanges = duplicate(owned);
  const BackendContext context{group_->exchanges, options};
  group_->unsafe_to_free = context.unsafe_to_free;
  group_->backends.emplace(context);
  group_->methods = comm::methods(options);
  group_->backend = group_->backends->get(group_->methods.front().options.backend);
  const auto mpi_says = gpu_awareness();
  group_->hands_device_memory_to_mpi =
      options.path == Path::direct ? mpi_says.aware
                                   : options.path == Path::automatic && mpi_says.aware && !mpi_says.overruled;
  if (options.path != Path::automatic) static_cast<void>(methods(MemoryKind::device)); // refuses early
}

std::vector<int> balanced_dims(int ranks, std::vector<int> dims) {
  std::int64_t given = 1;
  for (const int n : dims) given *= n == 0 ? 1 : n;
  const bool open = std::find(dims.begin(), dims.end(), 0) != dims.end();
  if (given < 1 || ranks % given != 0 || (!open && given != ranks))
    throw UsageError(
        fmt::format("{} ranks cannot be arranged as {} (0: any number)", ranks, fmt::join(dims, " x ")));
  check(MPI_Dims_create(ranks, static_cast<int>(dims.size()), dims.data()), "MPI_Dims_create");
  return dims;
}

int Communicator::rank() const {
  return group().rank;
}
int Communicator::size() const {
  return group().size;
}
const Options& Communicator::options() const {
  return group().options;
}
Backend& Communicator::backend() const {
  return *group().backend;
}
const Capabilities& Communicator::capabilities() const {
  return group().methods.front().can;
}
std::string Communicator::remark() const {
  return group().backend->remark();
}
const std::vector<Method>& Communicator::methods(MemoryKind memory) const {
  auto& methods = group().methods_for[static_cast<std::size_t>(memory)];
  if (methods.empty()) methods = comm::methods(*group().backends, group().methods, memory);
  return methods;
}
MPI_Comm Communicator::native() const {
  return group().comm;
}
const std::vector<int>& Communicator::dims() const {
  return group().dims;
}
const std::vector<int>& Communicator::coordinates() const {
  return group().coordinates;
}
const std::vector<bool>& Communicator::periodic() const {
  return group().periodic;
}
int Communicator::tag_limit() const {
  return group().tag_limit;
}
MPI_Comm Communicator::checking() const {
  return group().checking;
}

MPI_Comm Communicator::checking_calls() const {
  return group().checking_calls;
}
std::int64_t Communicator::number_call() const {
  return ++group().calls;
}
void Communicator::abandon() const {
  group().abandoned = true;
  *group().unsafe_to_free = true;
}
const detail::CachedProperties& Communicator::cached() const {
  return group().cached;
}
bool Communicator::hands_device_memory_to_mpi() const {
  return group().hands_device_memory_to_mpi;
}
detail::PinnedPool& Communicator::pinned_pool() const {
  return group().pinned_pool;
}
detail::Checks* Communicator::checks() const {
  return group().checks.get();
}

int Communicator::neighbour(int dim, int displacement) const {
  const auto dimensions = static_cast<int>(dims().size());
  if (dim < 0 || dim >= dimensions)
    throw CallError(
        dimensions == 0
            ? fmt::format(
                  "neighbour along dimension {}: this communicator is no process grid; one is made by "
                  "Communicator(comm, dims, periodic)",
                  dim)
            : fmt::format("neighbour along dimension {}: this process grid has dimensions 0 to {}", dim,
                          dimensions - 1));
  int source = MPI_PROC_NULL;
  int destination = MPI_PROC_NULL;
  check(MPI_Cart_shift(group().comm, dim, displacement, &source, &destination), "MPI_Cart_shift");
  return destination == MPI_PROC_NULL ? no_rank : destination;
}

int Communicator::rank_at(std::vector<int> coordinates) const {
  const auto& extents = dims();
  if (extents.empty() || coordinates.size() != extents.size())
    throw CallError(
        fmt::format("rank_at({}) takes a coordinate for each dimension of the process grid, which "
                    "has {}",
                    fmt::join(coordinates, ", "), extents.size()));
  for (std::size_t d = 0; d < extents.size(); ++d) {
    auto& c = coordinates[d];
    if (periodic()[d]) c = (c % extents[d] + extents[d]) % extents[d];
    if (c < 0 || c >= extents[d]) return no_rank;
  }
  int rank = no_rank;
  check(MPI_Cart_rank(native(), coordinates.data(), &rank), "MPI_Cart_rank");
  return rank;
}

void Communicator::agree(const std::optional<std::string>& problem) const {
  if (const auto first = mpi::first_problem(native(), problem)) throw AgreedError(*first);
}

void Communicator::adopt(MPI_Request request, std::shared_ptr<void> keep) const {
  const std::lock_guard lock(group().adopting);
  group().sweep();
  group().adopted.push_back({request, std::move(keep)});
}

void Communicator::keep(std::unique_ptr<detail::InFlight> left) const {
  const std::lock_guard lock(group().adopting);
  group().sweep();
  group().kept.push_back(std::move(left));
}

bool Communicator::ends_together() const {
  return !mpi::ends_alone(group().abandoned || *group().unsafe_to_free);
}

MPI_Datatype Communicator::element_type(Scalar scalar) const {
  const auto [type, per_element] = mpi::element(scalar);
  return per_element == 1 && scalar.kind != ScalarKind::bytes ? type : group().handles.bytes(per_element);
}

MPI_Op Communicator::operation(MPI_User_function* function, bool commutative) const {
  return group().handles.operation(function, commutative);
}

namespace {
constexpr int sparse_tags = 2; ///< the highest ones
}

int Communicator::reserve_tags(int count) const {
  if (group().next_tag > group().tag_limit - sparse_tags - count) group().next_tag = 0;
  const int first = group().next_tag;
  group().next_tag += count;
  return first;
}

detail::Channel Communicator::next_sparse_channel() const {
  auto& turn = group().sparse_exchanges;
  turn = (turn + 1) % sparse_tags;
  return {group().exchanges, group().tag_limit - turn};
}

} // namespace kontor::comm
