/*
 * See number.h.
 * SPDX-License-Identifier: MIT
 */
#include "base/number.h"

#include <assert.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

/* The C locale for this thread until leave_c_locale. glibc keeps it ready: nothing is allocated. */
static locale_t enter_c_locale(void) {
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    assert(c_locale != (locale_t)0);
    return uselocale(c_locale);
}

static void leave_c_locale(locale_t before) {
    freelocale(uselocale(before));
}

double number_read(const char *text, char **end) {
    locale_t before = enter_c_locale();
    double value = strtod(text, end);
    leave_c_locale(before);
    return value;
}

void number_print(double value, char *buf, size_t size) {
    locale_t before = enter_c_locale();
    for (int precision = 9; precision <= 17; precision++) {
        snprintf(buf, size, "%.*g", precision, value);
        if (strtod(buf, NULL) == value)
            break;
    }
    leave_c_locale(before);
}
