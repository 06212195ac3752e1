/*
 * The functions of capture/files/number_pattern.h. SPDX-License-Identifier: MIT
 */
#include "capture/files/number_pattern.h"

#include <errno.h>
#include <glib.h>
#include <string.h>

int number_pattern_parse(const char *text, struct number_pattern *pattern, const char **why) {
    GString *part = g_string_new(NULL);
    bool found = false;
    *pattern = (struct number_pattern){0};
    *why = NULL;
    if (strchr(text, '*'))
        *why = "a * is the shell's; write %03d for numbers of 3 digits, or name the folder";
    for (const char *p = text; *p && !*why; p++) {
        if (*p != '%' || p[1] == '%') {
            g_string_append_c(part, *p);
            p += *p == '%';
            continue;
        }
        const char *end = p + 1;
        pattern->zeros = *end == '0';
        while (*end == '0')
            end++;
        for (pattern->width = 0; g_ascii_isdigit(*end) && pattern->width < 100; end++)
            pattern->width = pattern->width * 10 + (*end - '0');
        if (!*end || !strchr("diu", *end) || pattern->width > 18)
            *why = "only a whole number such as %d, %03d or %06u can stand behind the % sign";
        else if (found)
            *why = "it has more than one number to count up; leave one";
        found = true;
        if (*why)
            break;
        if (!pattern->before) {
            pattern->before = g_string_free(part, FALSE);
            part = g_string_new(NULL);
        }
        p = end;
    }
    pattern->after = g_string_free(part, FALSE);
    if (!*why && found)
        return 1;
    number_pattern_free(pattern);
    return *why ? -EINVAL : 0;
}

char *number_pattern_name(const struct number_pattern *pattern, long number) {
    if (pattern->zeros)
        return g_strdup_printf("%s%0*ld%s", pattern->before, pattern->width, number,
                               pattern->after);
    return g_strdup_printf("%s%*ld%s", pattern->before, pattern->width, number, pattern->after);
}

void number_pattern_free(struct number_pattern *pattern) {
    g_free(pattern->before);
    g_free(pattern->after);
    *pattern = (struct number_pattern){0};
}
