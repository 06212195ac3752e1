/*
 * Stands in for a graphics driver that was reset, which a software renderer never is: preloaded, it
 * answers in libepoxy's place the question whether the context is lost, with yes from the fourth
 * time on. SPDX-License-Identifier: MIT
 */
#define NO_ERROR 0
#define UNKNOWN_CONTEXT_RESET 0x8255
#define GOOD_ANSWERS 3

typedef unsigned (*reset_status)(void);

static unsigned answer(void) {
    static int asked;
    return ++asked > GOOD_ANSWERS ? UNKNOWN_CONTEXT_RESET : NO_ERROR;
}

extern reset_status epoxy_glGetGraphicsResetStatus, epoxy_glGetGraphicsResetStatusARB;
reset_status epoxy_glGetGraphicsResetStatus = answer, epoxy_glGetGraphicsResetStatusARB = answer;
