/*
 * What C++ does when memory runs out, in the libraries as well. SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_NEW_HANDLER_H
#define LIVESTEREO_NEW_HANDLER_H

/* handler is called in the thread whose allocation failed, and must not return. */
void new_handler_set(void (*handler)(void));

#endif
