# find_package(opi): the package of an opi_xform that pip installed. It gives opi::opi (and opi::static, the same archive here),
# opi::malloc for malloc from the shared heap, with COMPONENTS ranks also opi::ranks, and the function opi_transform.
#
#   cmake -B build -Dopi_DIR=$(opicc --cmake-dir)
#
# libopi is built by opicc where it is not there yet, for the MPI that the project has found, else for opicc's own.
cmake_minimum_required(VERSION 3.20)

# The commands beside this file's environment: any directory above it may have the bin/.
set(_opi_hints "")
set(_opi_above "${CMAKE_CURRENT_LIST_DIR}")
while(NOT _opi_above STREQUAL "/")
  list(APPEND _opi_hints "${_opi_above}/bin")
  get_filename_component(_opi_above "${_opi_above}" DIRECTORY)
endwhile()
find_program(OPI_OPICC opicc HINTS ${_opi_hints} DOC "The command opicc of opi_xform")
unset(_opi_hints)
unset(_opi_above)
if(NOT OPI_OPICC)
  set(opi_FOUND FALSE)
  set(opi_NOT_FOUND_MESSAGE "no opicc on PATH; pip install opi_xform, or -DOPI_OPICC=/path/to/opicc")
  return()
endif()

include(CMakeFindDependencyMacro)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_dependency(Threads)
find_dependency(MPI COMPONENTS C)

# The MPI's wrapper that libopi is built with: the project's. Where that is a plain compiler or opicc, opicc looks at the library.
set(_opi_mpi "")
get_filename_component(_opi_wrapper "${MPI_C_COMPILER}" NAME)
if(MPI_C_COMPILER AND NOT _opi_wrapper MATCHES "^(opicc|cc|gcc|clang)(-[0-9.]+)?$" AND NOT DEFINED ENV{OPI_MPICC})
  set(_opi_mpi "OPI_MPICC=${MPI_C_COMPILER}")
endif()

# What opicc prints, as a list; stops here with what it said where it fails.
macro(_opi_asked result)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env ${_opi_mpi} "${OPI_OPICC}" ${ARGN}
    RESULT_VARIABLE _opi_code OUTPUT_VARIABLE ${result} ERROR_VARIABLE _opi_said OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_STRIP_TRAILING_WHITESPACE)
  if(_opi_said)
    message(STATUS "${_opi_said}")
  endif()
  if(NOT _opi_code EQUAL 0)
    set(opi_FOUND FALSE)
    set(opi_NOT_FOUND_MESSAGE "${_opi_said}")
    return()
  endif()
  separate_arguments(${result} UNIX_COMMAND "${${result}}")
endmacro()

_opi_asked(_opi_cflags --cflags)
list(GET _opi_cflags -1 _opi_include)

# The archive among what opicc --libs prints, linked whole: it replaces functions that only libraries may call, and has code that
# runs before main. One word, so that CMake neither reorders it nor leaves out what it has seen before.
macro(_opi_target name archive)
  if(NOT TARGET ${name})
    add_library(${name} INTERFACE IMPORTED GLOBAL)
    set_target_properties(${name} PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${_opi_include}"
      INTERFACE_LINK_LIBRARIES
        "${ARGN};-Wl,--whole-archive,${archive},--no-whole-archive;Threads::Threads;MPI::MPI_C")
  endif()
endmacro()

_opi_asked(_opi_libs --libs)
list(FILTER _opi_libs INCLUDE REGEX "\\.a$")
_opi_target(opi::opi ${_opi_libs})
_opi_target(opi::static ${_opi_libs})
get_filename_component(_opi_folder "${_opi_libs}" DIRECTORY)
_opi_target(opi::malloc "${_opi_folder}/libopi_malloc.a")
set(opi_ranks_FOUND FALSE)
if("ranks" IN_LIST opi_FIND_COMPONENTS)
  _opi_asked(_opi_libs --ranks --libs)
  set(_opi_options "${_opi_libs}")
  list(FILTER _opi_options INCLUDE REGEX "^-Wl,@")
  list(FILTER _opi_libs INCLUDE REGEX "\\.a$")
  _opi_target(opi::ranks "${_opi_libs}" ${_opi_options})
  set(opi_ranks_FOUND TRUE)
endif()

include("${CMAKE_CURRENT_LIST_DIR}/opiTransform.cmake")

foreach(_opi_component IN LISTS opi_FIND_COMPONENTS)
  if(opi_FIND_REQUIRED_${_opi_component} AND NOT opi_${_opi_component}_FOUND)
    set(opi_FOUND FALSE)
    set(opi_NOT_FOUND_MESSAGE "opi has no component ${_opi_component}")
  endif()
endforeach()
