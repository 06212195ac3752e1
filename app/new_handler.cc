/*
 * The handler of operator new. SPDX-License-Identifier: MIT
 */
extern "C" {
#include "app/new_handler.h"
}

#include <new>

void new_handler_set(void (*handler)(void)) {
    std::set_new_handler(handler);
}
