# libopi_ranks.a, and libopi_ranks.link, a response file with the linker's options for programs.
find_package(Python3 3.10 COMPONENTS Interpreter)
set(generated ${CMAKE_CURRENT_BINARY_DIR}/ranks)
set(bindings ${CMAKE_CURRENT_SOURCE_DIR}/../opi_xform/bindings)
file(GLOB_RECURSE ranks_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/ranks/*.c)
set(why "")
if(NOT Python3_FOUND)
  set(why "no Python 3.10")
elseif(NOT CMAKE_OBJCOPY)
  set(why "no objcopy")
else()
  file(MAKE_DIRECTORY ${generated})
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env "PYTHONPATH=${CMAKE_CURRENT_SOURCE_DIR}/.."
      ${Python3_EXECUTABLE} -m opi_xform.bindings.ranks ${MPI_C_COMPILER} ${generated}
    RESULT_VARIABLE result ERROR_VARIABLE said OUTPUT_QUIET)
  if(result)
    string(REGEX REPLACE "^.*\n([^\n]+)\n*$" "\\1" why "${said}")
  endif()
endif()
# Written again when what it is made of has changed.
file(GLOB made_of CONFIGURE_DEPENDS ${bindings}/*.py ${bindings}/*.toml)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${made_of} ${ranks_sources})

if(why)
  if(NOT OPI_RANKS STREQUAL "AUTO")
    message(FATAL_ERROR "libopi_ranks cannot be built: ${why}")
  endif()
  message(STATUS "libopi_ranks is left out: ${why}")
  return()
endif()

set(ranks_built TRUE)
add_library(ranks STATIC ${ranks_sources} ${shared_sources} ${generated}/opir_names.c ${generated}/opir_weak.c)
set_target_properties(ranks PROPERTIES OUTPUT_NAME opi_ranks C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
  POSITION_INDEPENDENT_CODE ON)
target_include_directories(ranks PRIVATE include ${CMAKE_CURRENT_SOURCE_DIR} ${generated})
target_link_libraries(ranks PRIVATE MPI::MPI_C Threads::Threads)
# The sources say MPI_x and PMPI_x; who calls what is in opi_xform/bindings/ranks.py.
add_custom_command(TARGET ranks POST_BUILD VERBATIM
  COMMAND ${CMAKE_OBJCOPY} --redefine-syms=${generated}/opir_symbols $<TARGET_FILE:ranks>)

install(TARGETS ranks ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${generated}/libopi_ranks.link DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/opix.h include/opi_ranks.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
configure_file(cmake/libopi_ranks.pc.in libopi_ranks.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/libopi_ranks.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
