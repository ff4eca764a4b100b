// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "comm_test.hpp"

#include <cstdlib>

namespace kontor::comm::test {

std::string text_of(const std::type_info& expected, bool has_id, const Action& action) {
  try {
    action();
  } catch (const std::exception& error) {
    std::string text = error.what();
    EXPECT_STREQ(typeid(error).name(), expected.name()) << text;
    const auto id = text.find(" [E-");
    EXPECT_TRUE(id != std::string::npos || !has_id) << "no id in: " << text;
    if (id != std::string::npos) text.erase(id, text.find(']', id) + 1 - id);
    return text.substr(0, text.find(", error stack:"));
  }
  return "no error";
}

void expect_facts(const std::string& text, std::initializer_list<std::string> facts) {
  for (const auto& fact : facts)
    EXPECT_TRUE(text.find(fact) != std::string::npos) << "'" << fact << "' is not in: " << text;
}

std::string mpi_text(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {text, static_cast<std::size_t>(length)};
}

Options method(std::string backend, Packing packing, Pattern pattern) {
  // Without time for trials a choice left to `auto` is made, but not well.
  return {.backend = std::move(backend), .pattern = pattern, .packing = packing, .trial = 0};
}

namespace {

/// Whether the build has this method, and data arrive by it.
bool is_available(const Options& options) {
  if (refusal(options)) return false;
  const auto can = find_backend(options.backend).capabilities();
  return can.moves_data && can.host_buffers;
}

/// Every backend with every pattern and packing, possible or not; packing `auto`, which is another's, with one pattern.
std::vector<Options> combinations(Contiguity contiguity) {
  std::vector<Packing> packings{Packing::kernel, Packing::datatype};
  if (contiguity == Contiguity::yes) packings.push_back(Packing::none);
  std::vector<Options> result;
  for (const auto& entry : backends()) {
    const std::string backend(entry.name);
    result.push_back(method(backend, Packing::automatic));
    for (const auto pattern : {Pattern::blocking, Pattern::nonblocking, Pattern::persistent, Pattern::neighborhood,
                               Pattern::alltoall, Pattern::two_hop, Pattern::rma})
      for (const auto packing : packings) result.push_back(method(backend, packing, pattern));
  }
  return result;
}

using DeviceInts = Kokkos::View<int*, Kokkos::DefaultExecutionSpace>;

/// Collective. Whether an exchange between devices can use this method, and data arrive by it.
bool is_available_on_device(const Options& options) {
  try {
    const auto& comm = cached_communicator(options);
    (void)ring_exchange(comm, "trial", DeviceInts("out", 1), DeviceInts("in", 1));
    return comm.capabilities().moves_data;
  } catch (const UsageError&) {
    return false;
  }
}

} // namespace

const Communicator& cached_communicator(const Options& method) {
  static std::map<std::string, Communicator> communicators;
  if (communicators.empty()) Kokkos::push_finalize_hook([] { communicators.clear(); });
  const auto key = to_string(method) + ", check " + to_string(method.check);
  return communicators.try_emplace(key, MPI_COMM_WORLD, method).first->second;
}

std::vector<Options> device_methods(Contiguity contiguity) {
  // Found once: to ask costs a communicator of every library.
  static const auto possible = [] {
    std::vector<Options> result;
    if (device::on_host<Kokkos::DefaultExecutionSpace>) return result;
    for (auto choice : combinations(Contiguity::yes)) {
      if (choice.packing == Packing::automatic) continue;
      for (const auto path : {Path::direct, Path::staged}) {
        choice.path = path;
        if (is_available_on_device(choice)) result.push_back(choice);
      }
    }
    result.push_back(method(automatic_backend, Packing::automatic, Pattern::automatic));
    return result;
  }();
  auto result = possible;
  if (contiguity == Contiguity::no)
    std::erase_if(result, [](const Options& choice) { return choice.packing == Packing::none; });
  return result;
}

std::vector<Options> methods(Contiguity contiguity) {
  auto result = combinations(contiguity);
  std::erase_if(result, [](const Options& choice) { return !is_available(choice); });
  result.push_back(method(automatic_backend, Packing::automatic, Pattern::automatic));
  return result;
}

std::pair<int, int> ring_of(const Communicator& comm, bool periodic) {
  const int last = comm.size() - 1;
  const int end = periodic ? 0 : no_rank;
  const int begin = periodic ? last : no_rank;
  return {comm.rank() > 0 ? comm.rank() - 1 : begin, comm.rank() < last ? comm.rank() + 1 : end};
}

void expect_usable(const Communicator& comm) {
  EXPECT_EQ(allreduce(comm, 1, ReduceOp::sum), comm.size());
  if (!comm.capabilities().host_buffers) return;
  const int previous = ring_of(comm).first;
  const Ints out("out", 2), in("in", 2);
  Kokkos::deep_copy(out, comm.rank());
  auto exchange = ring_exchange(comm, "usable", out, in);
  run_step(exchange);
  EXPECT_EQ(in(0), previous);
  EXPECT_EQ(in(1), previous);
}

} // namespace kontor::comm::test

/// In a run of a test with KONTOR_TEST_RANKS_PER_NODE, so many consecutive ranks are a node. Tests that stand between
/// all MPI functions and their callers have one of their own.
extern "C" [[gnu::weak]] int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* node) {
  const char* const ranks = std::getenv("KONTOR_TEST_RANKS_PER_NODE");
  if (!ranks) return PMPI_Comm_split_type(comm, type, key, info, node);
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return PMPI_Comm_split(comm, rank / std::atoi(ranks), key, node);
}
