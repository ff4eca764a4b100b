// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/comm/backend/mpi_check.hpp>
#include <kontor/comm/error.hpp>
#include <kontor/comm/threads.hpp>

#include <fmt/format.h>

namespace kontor::comm {
namespace {

const char* name(ThreadLevel level) {
  switch (level) {
  case ThreadLevel::single: return "MPI_THREAD_SINGLE";
  case ThreadLevel::funneled: return "MPI_THREAD_FUNNELED";
  case ThreadLevel::serialized: return "MPI_THREAD_SERIALIZED";
  case ThreadLevel::multiple: break;
  }
  return "MPI_THREAD_MULTIPLE";
}

} // namespace

ThreadLevel thread_level() {
  int level = MPI_THREAD_SINGLE;
  mpi::check(MPI_Query_thread(&level), "MPI_Query_thread");
  if (level >= MPI_THREAD_MULTIPLE) return ThreadLevel::multiple;
  if (level >= MPI_THREAD_SERIALIZED) return ThreadLevel::serialized;
  return level >= MPI_THREAD_FUNNELED ? ThreadLevel::funneled : ThreadLevel::single;
}

void require_threads(ThreadLevel needed) {
  const auto granted = thread_level();
  if (granted >= needed) return;
  throw CallError(fmt::format("{} is needed, but MPI grants {}; start MPI with MPI_Init_thread(&argc, &argv, "
                              "{}, &granted), and use an MPI library that was built for it",
                              name(needed), name(granted), name(needed)));
}

} // namespace kontor::comm
