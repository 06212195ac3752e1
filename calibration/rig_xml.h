/*
 * OpenCV's XML as YAML. SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_RIG_XML_H
#define LIVESTEREO_RIG_XML_H

#include <stddef.h>

/* Elements become keys, words in one a list. To free; NULL with why, of size bytes. */
char *rig_xml_to_yaml(const char *text, size_t length, char *why, size_t size);

#endif
