# What the Makefiles of accelerators in C++ have in common. Before it is included they set
#
#   NAME      of the folder and the library: lib$(NAME).so
#   PARTS     of the folders of the SDK, which are compiled besides it: operators
#   SOURCES   files of the folder besides *.cc: models/*.cc
#   SHARED_SOURCES  files of MXNet that link to nothing of it, by their path below src/
#   FILE      of the library, where that is another than lib$(NAME).so
#   MORE_OBJECTS  that their own rules make
#   LIBS      what is linked
#   INCLUDES  further flags of the preprocessor
#   EXPORTS   another version script than the SDK's, which exports the entry of plugins alone
#   MISSING   what is not there to build it, and how to get it; empty where all is
OUT ?= .
CXXFLAGS ?= -O2 -Wall -Wextra
ifeq ($(origin CXX),default)
CXX := c++
endif

SDK := ../sdk
OBJECTS := $(patsubst %.cc,$(OUT)/$(NAME)/%.o,$(wildcard *.cc) $(SOURCES))
OBJECTS += $(SHARED_SOURCES:%.cc=$(OUT)/$(NAME)/src/%.o)
SHARED := $(wildcard $(SDK)/*.cc $(PARTS:%=$(SDK)/%/*.cc))
OBJECTS += $(SHARED:$(SDK)/%.cc=$(OUT)/$(NAME)/sdk/%.o)
OBJECTS += $(MORE_OBJECTS)
FILE ?= lib$(NAME).so
LIBRARY := $(OUT)/$(FILE)
LINK = $(CXX) $(CXXFLAGS) -shared
EXPORTS ?= $(SDK)/exports.map
LINK_FLAGS = -Wl,--version-script=$(EXPORTS) -Wl,-z,defs -pthread
COMPILE = $(CXX) -std=c++17 $(CXXFLAGS) -fPIC -fvisibility=hidden -pthread -I../../include $(INCLUDES)

.PHONY: missing
ifeq ($(strip $(MISSING)),)
$(LIBRARY): $(OBJECTS) $(EXPORTS)
	$(LINK) $(OBJECTS) $(LINK_FLAGS) $(LIBS) -o $@
else
.PHONY: $(LIBRARY)
$(LIBRARY):
	@echo "$@ cannot be built: $(MISSING)" >&2; exit 1
endif

$(OUT)/$(NAME)/%.o: %.cc Makefile $(SDK)/plugin.mk
	@mkdir -p $(@D)
	$(COMPILE) -MMD -MP -MT $@ -c $< -o $@

$(OUT)/$(NAME)/sdk/%.o: $(SDK)/%.cc Makefile $(SDK)/plugin.mk
	@mkdir -p $(@D)
	$(COMPILE) -MMD -MP -MT $@ -c $< -o $@

$(OUT)/$(NAME)/src/%.o: ../../src/%.cc Makefile $(SDK)/plugin.mk
	@mkdir -p $(@D)
	$(COMPILE) -MMD -MP -MT $@ -c $< -o $@

-include $(OBJECTS:.o=.d)

missing:
	@echo "$(MISSING)"
