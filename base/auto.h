/*
 * AUTO(frame_drop) struct frame *f = ...; is dropped at the end of its block. What is declared last
 * goes first. SPDX-License-Identifier: MIT
 */
#pragma once

#define AUTO(release) __attribute__((cleanup(release), unused))
