# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The registry of communication backends. Each kontor_backend() line gives one entry of the table that
# kontor_write_registry() generates; no static initialisers, which linkers drop from static libraries.

# kontor_backend(<name> SUMMARY <text> [SOURCES ...] [GPU] [NEEDS <package> ...] [LINK ...])
# The backend's folder is backend/<name>/, where its sources lie, <name>.cpp if none is given; it defines
#   namespace kontor::comm::<name> {
#   Capabilities capabilities();
#   std::unique_ptr<Backend> make(const BackendContext&);
#   }
# It is in the build if there is what it needs: the packages, and with GPU a Kokkos that has HIP, or one that has CUDA
# and the toolkit. Where only that Kokkos is missing, CUDA compiles its sources all the same, so that they stay in order.
# -DKONTOR_BACKEND_<NAME>=OFF leaves it out.
function(kontor_backend name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "GPU" "SUMMARY" "SOURCES;NEEDS;LINK")
  string(TOUPPER ${name} upper)
  option(KONTOR_BACKEND_${upper} "Build the communication backend '${name}'" ON)
  if(NOT arg_SOURCES)
    set(arg_SOURCES ${name}.cpp)
  endif()
  list(TRANSFORM arg_SOURCES PREPEND backend/${name}/)
  kontor_backend_lacks(compiles "${arg_GPU}" "${arg_SOURCES}" "${arg_NEEDS}")
  set(runs ${compiles})
  if(arg_GPU AND NOT KONTOR_KOKKOS_CUDA AND NOT KONTOR_KOKKOS_HIP)
    list(APPEND runs "a Kokkos that has CUDA (-DKokkos_ROOT=<prefix>)")
  endif()

  set(functions "nullptr, nullptr")
  set(enable "configure with -DKONTOR_BACKEND_${upper}=ON")
  if(NOT KONTOR_BACKEND_${upper})
    # nothing of it
  elseif(NOT runs)
    target_sources(kontor_comm PRIVATE ${arg_SOURCES})
    if(KONTOR_KOKKOS_HIP)
      set(kernels ${arg_SOURCES})
      list(FILTER kernels INCLUDE REGEX "[.]cu$")
      set_source_files_properties(${kernels} PROPERTIES LANGUAGE CXX)
    endif()
    target_link_libraries(kontor_comm PRIVATE ${arg_LINK})
    set(functions "${name}::make, ${name}::capabilities")
    set_property(TARGET kontor_comm APPEND PROPERTY KONTOR_BACKEND_PACKAGES ${arg_NEEDS})
    set_property(TARGET kontor_comm APPEND_STRING PROPERTY KONTOR_BACKEND_DECLARATIONS
      "namespace ${name} {\nCapabilities capabilities();\nstd::unique_ptr<Backend> make(const BackendContext&);\n}\n"
    )
  else()
    list(JOIN runs ", " missing)
    set(enable "build with ${missing}; docs/gpu.md has the steps")
    if(NOT compiles AND PROJECT_IS_TOP_LEVEL)
      set(kernels ${arg_SOURCES}) # nvcc takes most of its time for headers
      list(FILTER kernels INCLUDE REGEX "[.]cu$")
      list(FILTER arg_SOURCES EXCLUDE REGEX "[.]cu$")
      list(TRANSFORM kernels REPLACE "(.+)" "#include \"\\1\"")
      list(JOIN kernels "\n" kernels)
      file(CONFIGURE OUTPUT ${name}.cu CONTENT "${kernels}\n")
      add_library(kontor_comm_${name} OBJECT ${arg_SOURCES})
      if(kernels)
        target_sources(kontor_comm_${name} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${name}.cu)
      endif()
      target_include_directories(kontor_comm_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
      target_link_libraries(kontor_comm_${name} PRIVATE kontor_comm kontor::mpi kontor_flags kontor_not_optimized CUDA::cudart ${arg_LINK})
      if(TARGET GTest::gtest)
        kontor_precompile(kontor_comm_${name} test)
      endif()
      kontor_unity(kontor_comm_${name})
    endif()
  endif()
  set_property(TARGET kontor_comm APPEND_STRING PROPERTY KONTOR_BACKEND_ENTRIES
    "    {\"${name}\", \"${arg_SUMMARY}\", \"${enable}\", ${functions}},\n"
  )
endfunction()

# What a backend cannot be compiled without and is not there, in words, with the variables to set.
function(kontor_backend_lacks variable gpu sources packages)
  set(lacks "")
  if(NOT gpu OR KONTOR_KOKKOS_HIP)
    # no CUDA
  elseif(NOT CUDAToolkit_FOUND)
    list(APPEND lacks "the CUDA toolkit (-DCUDAToolkit_ROOT=<prefix>)")
  elseif(sources MATCHES "[.]cu(;|$)" AND NOT KONTOR_NVCC)
    list(APPEND lacks "a CUDA compiler that works (-DCMAKE_CUDA_COMPILER=<nvcc>)")
  endif()
  foreach(package IN LISTS packages)
    find_package(${package} QUIET)
    if(NOT ${package}_FOUND)
      list(APPEND lacks "${package} (-D${package}_ROOT=<prefix>)")
    endif()
  endforeach()
  set(${variable} ${lacks} PARENT_SCOPE)
endfunction()

function(kontor_write_registry)
  get_target_property(declarations kontor_comm KONTOR_BACKEND_DECLARATIONS)
  get_target_property(entries kontor_comm KONTOR_BACKEND_ENTRIES)
  configure_file(backend/registry_table.cpp.in registry_table.cpp @ONLY)
  target_sources(kontor_comm PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/registry_table.cpp)
endfunction()
