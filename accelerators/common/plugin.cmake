# add_accelerator(name libraries...): the accelerator of the calling folder, as common/plugin.mk
# builds it. PARTS has the folders in common that are compiled besides it.
set(ACCELERATORS_COMMON ${CMAKE_CURRENT_LIST_DIR})

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

function(add_accelerator name)
  find_package(Threads REQUIRED)
  set(common ${ACCELERATORS_COMMON})
  set(exports ${common}/exports.map)
  set(patterns ${CMAKE_CURRENT_SOURCE_DIR}/*.cc ${common}/*.cc)
  foreach(part ${PARTS})
    list(APPEND patterns ${common}/${part}/*.cc)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  add_library(${name} MODULE ${sources})
  target_include_directories(${name} PRIVATE ${common}/../../include)
  target_link_libraries(${name} PRIVATE Threads::Threads ${ARGN})
  target_link_options(${name} PRIVATE -Wl,--version-script=${exports} -Wl,-z,defs)
  set_target_properties(${name} PROPERTIES
    CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden
    LINK_DEPENDS ${exports})
  install(TARGETS ${name} DESTINATION .)
endfunction()
