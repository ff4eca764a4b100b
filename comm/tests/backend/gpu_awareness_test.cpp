// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is said where MPI is asked to take device memory and does not.
#include "comm_test.hpp"

#include <kontor/comm/backend/gpu_awareness.hpp>
#include <kontor/device/compat.hpp>

#include <cstdlib>

namespace kontor::comm::test {
namespace {

/// The environment as it was, afterwards.
class Overruled {
 public:
  explicit Overruled(const char* value) { setenv(name, value, 1); }
  ~Overruled() { unsetenv(name); }
  Overruled(const Overruled&) = delete;
  Overruled& operator=(const Overruled&) = delete;

 private:
  static constexpr const char* name = "KONTOR_GPU_AWARE_MPI";
};

std::string direct_refused(Options options) {
  options.path = Path::direct;
  return text_of<UsageError>([&] { Communicator(MPI_COMM_WORLD, options); });
}

TEST(GpuAwareness, TheEnvironmentOverrulesMpi) {
  {
    const Overruled no("0");
    EXPECT_FALSE(gpu_awareness().aware);
    EXPECT_EQ(gpu_awareness().header, "KONTOR_GPU_AWARE_MPI in the environment says that it does not take it");
  }
  const Overruled yes("1");
  EXPECT_TRUE(gpu_awareness().aware);
}

TEST(GpuAwareness, DirectIsRefusedWithoutIt) {
  const Overruled no("0");
  for (const auto* backend : {"raw", "view"}) {
    const auto text = direct_refused(method(backend));
    EXPECT_EQ(text.substr(0, text.find(";")),
              "path 'direct' hands device memory to MPI, and KONTOR_GPU_AWARE_MPI in the environment says that it "
              "does not take it");
    expect_facts(text, {"choose path 'staged'"});
  }
}

/// A transport may take device memory whose MPI does not; but packing is MPI's, and it would crash.
TEST(GpuAwareness, DatatypesNeedAnMpiThatKnows) {
  const Overruled yes("1");
  const auto text = direct_refused(method("view", Packing::datatype));
  EXPECT_EQ(text.substr(0, text.find(",")), "packing 'datatype' with path 'direct' has MPI pack device memory");
  expect_facts(text, {"choose packing 'kernel'"});
  if (device::on_host<Kokkos::DefaultExecutionSpace>) { // else it is tried, and may crash
    EXPECT_EQ(direct_refused(method("view", Packing::kernel)), "no error");
  }
}

/// Also with an MPI that takes device memory: windows lie in host memory all the same.
TEST(GpuAwareness, OwnHostMemoryIsRefused) {
  for (const auto* aware : {"0", "1"}) {
    const Overruled header(aware);
    const auto pattern = direct_refused(method("view", Packing::kernel, Pattern::rma));
    EXPECT_EQ(pattern.substr(0, pattern.find(";")),
              "pattern 'rma' keeps messages in host memory of its own, which kernels on a device do not reach");
    const auto backend = direct_refused(method("shm"));
    EXPECT_EQ(backend.substr(0, backend.find(";")),
              "backend 'shm' keeps messages in host memory of its own, which kernels on a device do not reach");
  }
}

} // namespace
} // namespace kontor::comm::test
