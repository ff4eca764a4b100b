// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpirun -n RANKS fftw_mpi N c2c|r2c estimate|measure REPEATS STEPS: seconds of a transform of N^3 doubles forward and
// back by FFTW's own MPI transforms, in place, the spectrum left transposed (its fastest form). A line a repeat: the
// mean of its steps, the slowest rank's.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fftw3-mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  fftw_mpi_init();
  if (argc != 6) MPI_Abort(MPI_COMM_WORLD, 2);
  const std::ptrdiff_t n = std::atol(argv[1]);
  const bool real = std::strcmp(argv[2], "r2c") == 0;
  const unsigned flags = std::strcmp(argv[3], "measure") == 0 ? FFTW_MEASURE : FFTW_ESTIMATE;
  const int repeats = std::atoi(argv[4]), steps = std::atoi(argv[5]);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  std::ptrdiff_t n0 = 0, begin0 = 0, n1 = 0, begin1 = 0;
  const auto size =
      fftw_mpi_local_size_3d_transposed(n, n, real ? n / 2 + 1 : n, MPI_COMM_WORLD, &n0, &begin0, &n1, &begin1);
  auto* const values = fftw_alloc_complex(size);
  auto* const scalars = reinterpret_cast<double*>(values);
  const auto out = flags | FFTW_MPI_TRANSPOSED_OUT, in = flags | FFTW_MPI_TRANSPOSED_IN;
  const auto forward = real ? fftw_mpi_plan_dft_r2c_3d(n, n, n, scalars, values, MPI_COMM_WORLD, out)
                            : fftw_mpi_plan_dft_3d(n, n, n, values, values, MPI_COMM_WORLD, FFTW_FORWARD, out);
  const auto backward = real ? fftw_mpi_plan_dft_c2r_3d(n, n, n, values, scalars, MPI_COMM_WORLD, in)
                             : fftw_mpi_plan_dft_3d(n, n, n, values, values, MPI_COMM_WORLD, FFTW_BACKWARD, in);
  const double scale = 1.0 / (static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n));
  for (std::ptrdiff_t i = 0; i < 2 * size; ++i) scalars[i] = static_cast<double>(i % 17) - 8;
  for (int repeat = -1; repeat < repeats; ++repeat) {
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = -MPI_Wtime();
    for (int step = 0; step < steps; ++step) {
      fftw_execute(forward);
      for (std::ptrdiff_t i = 0; i < 2 * size; ++i) scalars[i] *= scale; // as a spectral step does
      fftw_execute(backward);
    }
    seconds += MPI_Wtime();
    double slowest = 0;
    MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0 && repeat >= 0) std::printf("%.6g\n", slowest / steps);
  }
  MPI_Finalize();
}
