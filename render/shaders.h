/*
 * The texts of the files in shaders/, which the Makefile turns into C. SPDX-License-Identifier: MIT
 */
#pragma once

extern const char shader_image_vert[], shader_image_frag[];
extern const char shader_points_vert[], shader_points_frag[], shader_lines_vert[];
