# shellcheck shell=bash
# shellcheck disable=SC2154 # build_dir, log and configure_options are those of setup.sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Kokkos from the source tree KONTOR_KOKKOS_SOURCE, for a distribution's Kokkos without threads or GPUs.

# build_kokkos: installs Kokkos, and Kokkos Kernels if its tree is beside that of Kokkos, into $build_dir/kokkos, and adds the
# options by which CMake finds them to configure_options. Does only what is still to do.
build_kokkos() {
  local source prefix=$build_dir/kokkos
  source=$(readlink -f "$KONTOR_KOKKOS_SOURCE")
  [[ -f $source/bin/nvcc_wrapper && -f $source/CMakeLists.txt ]] ||
    fail "KONTOR_KOKKOS_SOURCE is '$KONTOR_KOKKOS_SOURCE'; allowed is the folder of Kokkos' sources, such as a clone of github.com/kokkos/kokkos"
  if ! can_configure || ! links_blas; then install_missing || true; fi
  can_configure || fail "building Kokkos needs a C++20 compiler and CMake (3.22 or later) on PATH"

  local compiler=() kernels=${source%/*}/kokkos-kernels architecture common options kernels_options
  architecture=$(cuda_architecture "$source")
  common=(-DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=20 "-DCMAKE_INSTALL_PREFIX=$prefix" -DCMAKE_INSTALL_LIBDIR=lib)
  if have ninja; then common+=(-G Ninja); fi
  # Why each: docs/gpu.md.
  options=("${common[@]}" -DKokkos_ENABLE_SERIAL=ON -DKokkos_ENABLE_OPENMP=ON -DKokkos_ENABLE_IMPL_MDSPAN=OFF)
  kernels_options=("${common[@]}" "-DKokkos_DIR=$prefix/lib/cmake/Kokkos" -DKokkosKernels_ENABLE_ALL_COMPONENTS=OFF
    -DKokkosKernels_ENABLE_COMPONENT_BLAS=ON -DKokkosKernels_ENABLE_COMPONENT_SPARSE=ON -DKokkosKernels_ADD_DEFAULT_ETI=OFF)
  if links_blas; then
    kernels_options+=(-DKokkosKernels_ENABLE_TPL_BLAS=ON)
    # How names of a Fortran BLAS end, which Kokkos Kernels else asks a Fortran compiler.
    have "${FC:-gfortran}" || kernels_options+=("-DF77_BLAS_MANGLE=(name,NAME) name ## _")
  fi
  mkdir -p "$prefix"
  if [[ -n $architecture ]]; then
    sed "s/sm_70/sm_${architecture//[A-Z]/}/" "$source/bin/nvcc_wrapper" >"$prefix/nvcc_wrapper" # which CUDA 13 does not know
    chmod +x "$prefix/nvcc_wrapper"
    compiler=("-DCMAKE_CXX_COMPILER=$prefix/nvcc_wrapper")
    options+=("${compiler[@]}" -DKokkos_ENABLE_CUDA=ON "-DKokkos_ARCH_$architecture=ON" -DKokkos_ENABLE_IMPL_CUDA_MALLOC_ASYNC=OFF)
    kernels_options+=("${compiler[@]}" -DKokkosKernels_ENABLE_TPL_CUBLAS=ON -DKokkosKernels_ENABLE_TPL_CUSPARSE=ON
      -DKokkosKernels_ENABLE_TPL_CUSOLVER=OFF)
  fi

  local wanted="$source ${options[*]} ${kernels_options[*]}" done_file=$prefix/kontor-options
  if [[ ! -f $done_file || $(<"$done_file") != "$wanted" ]]; then
    say "building Kokkos with OpenMP${architecture:+ and CUDA for $architecture} (some minutes, once; output in $(shown_path "$log"))"
    install_from "$source" "$build_dir/kokkos-build" "${options[@]}"
    if [[ -f $kernels/CMakeLists.txt ]]; then
      install_from "$kernels" "$build_dir/kokkos-kernels-build" "${kernels_options[@]}"
    else
      say "no Kokkos Kernels in $kernels: no matmul, and cg without gauss_seidel"
    fi
    echo "$wanted" >"$done_file"
  elif configured; then
    return
  fi
  configure_options+=("-DKokkos_DIR=$prefix/lib/cmake/Kokkos" "-DKokkosKernels_DIR=$prefix/lib/cmake/KokkosKernels" "${compiler[@]}")
}

# install_from SOURCE FOLDER OPTIONS...
install_from() {
  local source=$1 folder=$2
  shift 2
  { cmake -S "$source" -B "$folder" "$@" &&
    cmake --build "$folder" --target install --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-$(processing_units)}"; } >>"$log" 2>&1 ||
    build_failed "$source could not be built"
}

# cuda_architecture SOURCE: what Kokkos calls the GPU to build for, such as HOPPER90; nothing where there is no nvcc, no GPU,
# or a preset that is for CPUs.
cuda_architecture() {
  local number=${KONTOR_CUDA_ARCH-} name
  have nvcc && [[ $preset != openmp && $number != off ]] || return 0
  if [[ -z $number ]]; then
    number=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sed -n '1s/\.//p') || true
    if [[ -z $number ]]; then
      say "nvcc is here, but no GPU: building Kokkos without CUDA; KONTOR_CUDA_ARCH=90, say, builds for one"
      return 0
    fi
  fi
  name=$(sed -nE "s/^ *kokkos_arch_option\(([A-Z]+$number) GPU \"NVIDIA.*/\1/Ip" "$1/cmake/kokkos_arch.cmake" 2>/dev/null)
  [[ -n $name ]] || fail "KONTOR_CUDA_ARCH is '$number', which these sources of Kokkos do not know; allowed are 80, 90 and others in cmake/kokkos_arch.cmake, and off"
  echo "$name"
}

links_blas() { "${CC:-cc}" -x c - -lblas -o /dev/null 2>/dev/null <<<'int main(void) { return 0; }'; }
