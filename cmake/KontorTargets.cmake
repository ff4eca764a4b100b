# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How Kontor's own targets are made: kontor_library(), kontor_backend(), kontor_miniapp(), kontor_mpi_test().

set(KONTOR_SANITIZE OFF CACHE STRING "Compile with AddressSanitizer and UndefinedBehaviorSanitizer (ON), with the latter alone (undefined), or with ThreadSanitizer (thread)")
option(KONTOR_MEMCHECK "Run the ranks of tests under valgrind's memcheck" OFF)

# Usage requirements of every Kontor target. No multiply-add contraction: a cell's value must not depend on
# which loop computed it, or fields would differ between decompositions in the last bit. A target whose
# property KONTOR_PORTABLE is ON has no kernels, and is left without the processor's own instructions.
add_library(kontor_flags INTERFACE)
target_compile_features(kontor_flags INTERFACE cxx_std_20)
target_compile_options(kontor_flags INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:-Wall -Wextra -ffp-contract=off>
  # Of HIP it would make OpenMP's calls in code for the device.
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>,$<NOT:$<BOOL:${KONTOR_KOKKOS_HIP}>>>:-fopenmp-simd>
  ${KONTOR_PRECOMPILE_FLAGS}
  # g++ collects garbage too early for what Kokkos' headers need: a seventh of the time; 0.4 GiB more memory in the largest
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<NOT:$<BOOL:${KONTOR_KOKKOS_CUDA}>>>:--param=ggc-min-heapsize=1048576>
  $<$<AND:$<BOOL:${KONTOR_NATIVE}>,$<NOT:$<BOOL:$<TARGET_PROPERTY:KONTOR_PORTABLE>>>,$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>>:-march=native>
)
# Where nvcc compiles: the same arithmetic on the device as on the host (no contraction); a call to the host
# from a kernel is an error, because nvcc only warns and the kernel then does nothing; and {fmt} 9 must not
# take nvcc for a compiler without constexpr.
target_compile_options(kontor_flags INTERFACE
  $<$<AND:$<BOOL:${KONTOR_KOKKOS_CUDA}>,$<COMPILE_LANGUAGE:CXX>>:--fmad=false --Werror=cross-execution-space-call>
  $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20> # CMake 3.25 does not know that nvcc can
)
target_compile_definitions(kontor_flags INTERFACE
  $<$<OR:$<BOOL:${KONTOR_KOKKOS_CUDA}>,$<COMPILE_LANGUAGE:CUDA>>:FMT_USE_CONSTEXPR=1>
)
if(KONTOR_SANITIZE)
  set(sanitizers address,undefined)
  if(KONTOR_SANITIZE MATCHES "^(undefined|thread)$")
    set(sanitizers ${KONTOR_SANITIZE})
  endif()
  target_compile_options(kontor_flags INTERFACE
    $<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${sanitizers} -fno-sanitize-recover=undefined -fno-omit-frame-pointer>
  )
  target_link_options(kontor_flags INTERFACE -fsanitize=${sanitizers})
endif()

# For SimGrid's SMPI: ranks are threads of one process, each with its own copy of the program, which is a shared
# library. Symbols that are unique in a process would be the same in all copies.
option(KONTOR_SMPI "Build for SimGrid's SMPI (preset smpi): simulated ranks" OFF)
if(KONTOR_SMPI)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  target_compile_options(kontor_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
endif()

# kontor_simulated_program(<target>): an executable as smpirun wants it, where it is to be one.
function(kontor_simulated_program target)
  if(KONTOR_SMPI)
    target_compile_options(${target} PRIVATE -fPIC)
    target_link_options(${target} PRIVATE -shared)
  endif()
endfunction()

# For code that is neither measured nor compared bit by bit with other code: tests of what calls do.
add_library(kontor_not_optimized INTERFACE)
target_compile_options(kontor_not_optimized INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:-O0>)

# For code that runs once in a run, such as what reads decks: two thirds of the time to compile.
add_library(kontor_runs_once INTERFACE)
target_compile_options(kontor_runs_once INTERFACE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>>:-O1>)

# kontor_library(<name> FOLDERS ... [PUBLIC ...] [PRIVATE ...])
# A static library kontor::<name> of the sources in these folders; its headers are <folder>/include/kontor/<name>/.
function(kontor_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FOLDERS;PUBLIC;PRIVATE")
  list(TRANSFORM arg_FOLDERS APPEND /*.cpp)
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${arg_FOLDERS})
  add_library(kontor_${name} STATIC ${sources})
  add_library(kontor::${name} ALIAS kontor_${name})
  set_target_properties(kontor_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(kontor_${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>)
  target_link_libraries(kontor_${name}
    PUBLIC ${arg_PUBLIC}
    PRIVATE ${arg_PRIVATE} $<BUILD_INTERFACE:kontor_flags>
  )
  target_compile_features(kontor_${name} PUBLIC cxx_std_20)
endfunction()

# kontor_header_library(<name> [PUBLIC ...]): the same of headers only.
function(kontor_header_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PUBLIC")
  add_library(kontor_${name} INTERFACE)
  add_library(kontor::${name} ALIAS kontor_${name})
  set_target_properties(kontor_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(kontor_${name} INTERFACE $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>)
  target_link_libraries(kontor_${name} INTERFACE ${arg_PUBLIC})
  target_compile_features(kontor_${name} INTERFACE cxx_std_20)
endfunction()

# What tests that start MPI programs have in their environment: more ranks than there are cores must work.
set(KONTOR_MPI_ENVIRONMENT OMP_NUM_THREADS=1 OMP_PROC_BIND=false
  # for the loader: Open MPI's thread, which looks up a symbol while MPI_Init loads components, has crashed there
  LD_BIND_NOW=1
)
# The system's Python comes first: it is the one that has the packages.
find_program(KONTOR_TEST_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(KONTOR_TEST_PYTHON python3)
if(KONTOR_TEST_PYTHON)
  execute_process(COMMAND ${KONTOR_TEST_PYTHON} -c "import sys; sys.exit(sys.version_info < (3, 11))" RESULT_VARIABLE is_old)
  if(is_old)
    set(KONTOR_TEST_PYTHON "")
  endif()
endif()
if(KONTOR_TESTS AND KONTOR_TEST_PYTHON)
  set(mpi ${PROJECT_SOURCE_DIR}/tests/mpi_environment.py)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${mpi})
  execute_process(COMMAND ${KONTOR_TEST_PYTHON} ${mpi} ${MPIEXEC_EXECUTABLE}
    OUTPUT_VARIABLE environment OUTPUT_STRIP_TRAILING_WHITESPACE
  )
  string(REPLACE "\n" ";" environment "${environment}")
  list(APPEND KONTOR_MPI_ENVIRONMENT ${environment})
elseif(KONTOR_TESTS)
  message(STATUS "No python3 (3.11 or later, or KONTOR_TEST_PYTHON): tests of several ranks have no variables of ${MPIEXEC_EXECUTABLE}, and those in Python are left out")
endif()
if(KONTOR_MPI_IS_MPICH AND NOT KONTOR_SANITIZE) # a sanitizer wants to be the first library itself
  list(APPEND KONTOR_MPI_ENVIRONMENT LD_PRELOAD=$<TARGET_FILE:kontor_mpich_yield>)
endif()
set(KONTOR_SANITIZER_ENVIRONMENT "")
if(KONTOR_SANITIZE STREQUAL "thread") # MPI and HDF5 are not compiled for it
  set(KONTOR_SANITIZER_ENVIRONMENT TSAN_OPTIONS=ignore_noninstrumented_modules=1)
elseif(KONTOR_SANITIZE) # MPI's own leaks are not ours; only whole call stacks tell whose a leak is; tests ask for too much
  # The search for leaks guesses where libraries have thread-local data, and crashes where it is wrong (g++ 12, glibc 2.36).
  set(KONTOR_SANITIZER_ENVIRONMENT
    ASAN_OPTIONS=fast_unwind_on_malloc=0:allocator_may_return_null=1:intercept_tls_get_addr=0
    LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/lsan.supp:print_suppressions=0
  )
endif()
list(APPEND KONTOR_MPI_ENVIRONMENT ${KONTOR_SANITIZER_ENVIRONMENT})

# How many times longer tests may take where each access to memory is looked at.
set(KONTOR_TIME_FACTOR 1)
if(KONTOR_MEMCHECK OR KONTOR_SANITIZE)
  set(KONTOR_TIME_FACTOR 8)
endif()

# kontor_scale_timeouts(): for the tests of this folder so far that are not made by kontor_mpi_test_properties().
function(kontor_scale_timeouts)
  get_property(tests DIRECTORY PROPERTY TESTS)
  foreach(test IN LISTS tests)
    get_test_property(${test} TIMEOUT seconds)
    math(EXPR seconds "${KONTOR_TIME_FACTOR} * ${seconds}")
    set_tests_properties(${test} PROPERTIES TIMEOUT ${seconds})
  endforeach()
endfunction()

# kontor_mpi_test(<name> [OPTIMIZED] [BUSY] [THREADS] SOURCES ... RANKS 1 3 ... [MORE_RANKS 2 ...] [LINK ...]
#   [TIMEOUT <seconds>] [LABELS ...])
# One GoogleTest executable, and one CTest test for each rank count: <name>/<ranks>, of MORE_RANKS with
# KONTOR_ALL_TESTS alone. It is compiled with no
# optimization, which takes half the time, or a little (kontor_runs_once) with OPTIMIZED: for kernels and for much data. BUSY: its
# ranks compute, so CTest counts a core for each; those of others wait for their start and for each other. THREADS: it has
# kernels, so where Kokkos has threads there is a test on one rank of two, too: <name>/1x2.
function(kontor_mpi_test name)
  if(NOT KONTOR_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "OPTIMIZED;BUSY;THREADS" "TIMEOUT" "SOURCES;RANKS;MORE_RANKS;LINK;LABELS")
  if(KONTOR_ALL_TESTS)
    list(APPEND arg_RANKS ${arg_MORE_RANKS})
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK} kontor_test_main)
  kontor_test_compilation(${name} ${arg_OPTIMIZED})
  kontor_unity(${name})
  set(properties LABELS ${arg_LABELS})
  if(arg_TIMEOUT)
    list(APPEND properties TIMEOUT ${arg_TIMEOUT})
  endif()
  if(arg_BUSY)
    list(APPEND properties BUSY)
  endif()
  foreach(ranks IN LISTS arg_RANKS)
    kontor_add_mpi_run(${name}/${ranks} RANKS ${ranks} ${properties} COMMAND $<TARGET_FILE:${name}>)
  endforeach()
  if(arg_THREADS AND KONTOR_KOKKOS_THREADS)
    kontor_add_mpi_run(${name}/1x2 RANKS 1 THREADS 2 ${properties} COMMAND $<TARGET_FILE:${name}>)
  endif()
endfunction()

# kontor_test_compilation(<target> <optimized>): compiler flags, and precompiled headers, of tests.
function(kontor_test_compilation target optimized)
  target_link_libraries(${target} PRIVATE kontor_flags)
  if(optimized)
    target_link_libraries(${target} PRIVATE kontor_runs_once)
    kontor_precompile(${target} once)
  else()
    target_link_libraries(${target} PRIVATE GTest::gtest kontor_not_optimized)
    kontor_precompile(${target} test)
  endif()
endfunction()

# kontor_add_mpi_run(<test> RANKS <n> [THREADS <n>] COMMAND ... [TIMEOUT <seconds>] [BUSY] [LABELS ...])
# A CTest test that launches COMMAND on <n> ranks, more than there are cores included.
function(kontor_add_mpi_run test)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "RANKS" "COMMAND")
  kontor_mpi_launcher(launcher ${arg_RANKS})
  add_test(NAME ${test} COMMAND ${launcher} ${arg_COMMAND} ${MPIEXEC_POSTFLAGS})
  kontor_mpi_test_properties(${test} RANKS ${arg_RANKS} ${arg_UNPARSED_ARGUMENTS})
endfunction()

if(KONTOR_MEMCHECK)
  find_program(KONTOR_VALGRIND valgrind REQUIRED)
  find_file(KONTOR_OPENMPI_SUPPRESSIONS openmpi-valgrind.supp PATHS /usr/share/openmpi /usr/local/share/openmpi REQUIRED)
  set(KONTOR_MEMCHECK_COMMAND ${KONTOR_VALGRIND} --quiet --error-exitcode=99 --num-callers=30
    --suppressions=${KONTOR_OPENMPI_SUPPRESSIONS} --suppressions=${PROJECT_SOURCE_DIR}/tests/valgrind.supp
  )
endif()

# kontor_mpi_launcher(<variable> <n>): what stands before a command that is to run on <n> ranks.
function(kontor_mpi_launcher variable ranks)
  set(${variable} ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${MPIEXEC_PREFLAGS} ${KONTOR_MEMCHECK_COMMAND} PARENT_SCOPE)
endfunction()

# kontor_mpi_test_properties(<test> RANKS <n> [THREADS <n>] [TIMEOUT <seconds>] [BUSY] [LABELS ...])
# For a test that launches MPI programs on <n> ranks, of one thread unless it says so.
function(kontor_mpi_test_properties test)
  cmake_parse_arguments(PARSE_ARGV 1 arg "BUSY" "RANKS;THREADS;TIMEOUT" "LABELS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 150) # some seconds each on a quiet machine
  endif()
  math(EXPR arg_TIMEOUT "${KONTOR_TIME_FACTOR} * ${arg_TIMEOUT}")
  set(cores 1)
  if(arg_BUSY)
    set(cores ${arg_RANKS})
  endif()
  set(environment ${KONTOR_MPI_ENVIRONMENT})
  if(arg_THREADS)
    set(cores ${arg_THREADS})
    list(APPEND environment ${KONTOR_KOKKOS_THREADS}=${arg_THREADS}) # the last one counts
  endif()
  set_tests_properties(${test} PROPERTIES
    ENVIRONMENT "${environment}" TIMEOUT ${arg_TIMEOUT} PROCESSORS ${cores} LABELS "${arg_LABELS}"
  )
endfunction()
