# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The registry of communication backends. Each kontor_backend() line gives one entry of the table that
# kontor_write_registry() generates; no static initialisers, which linkers drop from static libraries.

# kontor_backend(<name> SUMMARY <text> [SOURCES ...] [LINK ...])
# The backend's folder is <name>/, its sources default to <name>/<name>.cpp, and it defines
#   namespace kontor::comm::<name> { std::unique_ptr<Backend> make(const MpiHandle&); }
# -DKONTOR_BACKEND_<NAME>=OFF leaves it out of the build.
function(kontor_backend name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SUMMARY" "SOURCES;LINK")
  string(TOUPPER ${name} upper)
  option(KONTOR_BACKEND_${upper} "Build the communication backend '${name}'" ON)
  if(NOT arg_SOURCES)
    set(arg_SOURCES ${name}/${name}.cpp)
  endif()
  set(make nullptr)
  if(KONTOR_BACKEND_${upper})
    target_sources(kontor_comm PRIVATE ${arg_SOURCES})
    target_link_libraries(kontor_comm PRIVATE ${arg_LINK})
    set(make ${name}::make)
    set_property(TARGET kontor_comm APPEND_STRING PROPERTY KONTOR_BACKEND_DECLARATIONS
      "namespace ${name} {\nstd::unique_ptr<Backend> make(const MpiHandle&);\n}\n"
    )
  endif()
  set_property(TARGET kontor_comm APPEND_STRING PROPERTY KONTOR_BACKEND_ENTRIES
    "    {\"${name}\", \"${arg_SUMMARY}\", \"configure with -DKONTOR_BACKEND_${upper}=ON\", ${make}},\n"
  )
endfunction()

function(kontor_write_registry)
  get_target_property(declarations kontor_comm KONTOR_BACKEND_DECLARATIONS)
  get_target_property(entries kontor_comm KONTOR_BACKEND_ENTRIES)
  configure_file(src/registry_table.cpp.in registry_table.cpp @ONLY)
  target_sources(kontor_comm PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/registry_table.cpp)
endfunction()
