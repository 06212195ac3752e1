/*
 * Fuzzer of the settings parsers: the bytes as a file (params_parse) and as one --set
 * (params_assign). What is accepted must lie in the table's ranges and survive being written and
 * read again; what is refused must change nothing and be explained in one line. Single thread.
 * SPDX-License-Identifier: MIT
 */
#include "config/params.h"
#include "config/params_file.h"
#include "tests/fuzz.h"

#include <stdarg.h>

/* Stand in for base/log.c, whose lines would fill the disk; the text is still put together. */
void log_at(enum log_level level, const char *object, const char *format, ...) {
    char text[4096];
    va_list arguments;
    assert(level <= LOG_DEBUG && object);
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    assert(length > 0);
}

void log_set_level(enum log_level level) {
    (void)level;
}

enum log_level log_get_level(void) {
    return LOG_DEBUG;
}

static int same(const struct params *a, const struct params *b) {
    for (int i = 0; i < param_count; i++)
        if (param_get(a, &param_table[i]) != param_get(b, &param_table[i]))
            return 0;
    return 1;
}

static void check_in_range(const struct params *p) {
    struct params copy = *p;
    for (int i = 0; i < param_count; i++)
        assert(param_put(&copy, &param_table[i], param_get(p, &param_table[i])) == 0);
    assert(same(&copy, p));
}

static void check_comes_back(const struct params *p) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert(out);
    assert(params_dump(p, out) == 0);
    fclose(out);
    struct params again;
    params_default(&again);
    assert(params_parse(&again, text, length, "dump") == 0);
    assert(same(&again, p));
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct params before; /* the defaults, once */
    if (!before.disparity_range)
        params_default(&before);
    struct params p = before;
    if (params_parse(&p, (const char *)data, size, "fuzz") == 0) {
        static unsigned valid; /* writing takes 100 times as long as reading */
        check_in_range(&p);
        if (valid++ % 64 == 0)
            check_comes_back(&p);
    } else {
        assert(same(&p, &before));
    }

    char why[256];
    char *assignment = fuzz_text(data, size, 0);
    p = before;
    memset(why, '\n', sizeof why);
    int rc = params_assign(&p, assignment, why, sizeof why);
    assert(memchr(why, '\0', sizeof why) && !strchr(why, '\n'));
    assert((rc == 0) == !why[0]);
    if (rc == 0)
        check_in_range(&p);
    else
        assert(same(&p, &before));
    free(assignment);
    return 0;
}
