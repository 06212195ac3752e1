/*
 * Tests of the log's lines: one a message, whatever is in it. Single thread.
 * SPDX-License-Identifier: MIT
 */
#include "base/log.h"
#include "tests/test.h"

TEST("/log/lines", test_log) {
    enum log_level before = log_get_level();
    struct stderr_of caught = stderr_begin();
    errno = EPERM;
    log_set_level(LOG_WARNING);
    log_info("camera", "not shown");
    log_error("left\n\033[1m.png", "line\none %d", 1);
    g_assert_cmpint(errno, ==, EPERM);
    log_warning(NULL, "two");
    log_warning("synth:", "three");
    log_set_level(before);
    char *text = stderr_end(caught);
    g_assert_cmpstr(text, ==,
                    "livestereo: error: left??[1m.png: line?one 1\nlivestereo: warning: two\n"
                    "livestereo: warning: synth: three\n");
    g_free(text);

    g_autofree char *large = g_strnfill(10000, 'a');
    for (int k = 0; k < 3; k++) {
        /* Two-byte characters, moved by one each time: a cut falls on either half. */
        for (int i = k; i + 1 < 9999; i += 2)
            large[i] = '\xc3', large[i + 1] = '\xa4';
        caught = stderr_begin();
        log_error("large", "%s", large);
        text = stderr_end(caught);
        g_assert_true(g_str_has_suffix(text, "...\n"));
        g_assert_true(g_utf8_validate(text, -1, NULL));
        g_assert_cmpuint(strlen(text), <=, 2048);
        g_free(text);
        memset(large, 'a', 10000);
    }
}

/* What a terminal may take for a command is replaced, all other characters stay. */
TEST("/log/clean", test_clean) {
    static const char *const words[][2] = {
        {"a\033[31mb\n\t\x7f", "a?[31mb???"},
        {"C1 \xc2\x9b"
         "2J \xc2\x80 \xc2\x9f.",
         "C1 ??2J ?? ??."},
        {"\x9b"
         "2J \xe0\x82\x9b \xf0\x80\x82\x9b",
         "?2J ??? ????"},
        {"cut \xe2\x82", "cut ??"},
        {"\xff.\xc3.", "?.?."},
        {"Gr\xc3\xbc\xc3\x9f"
         "e \xc2\xa0 \xe2\x82\xac \xe6\xb7\xb1 \xf0\x9f\x98\x80",
         "Gr\xc3\xbc\xc3\x9f"
         "e \xc2\xa0 \xe2\x82\xac \xe6\xb7\xb1 \xf0\x9f\x98\x80"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        struct stderr_of caught = stderr_begin();
        log_error("name", "%s", words[i][0]);
        g_autofree char *text = stderr_end(caught);
        g_autofree char *line = g_strdup_printf("livestereo: error: name: %s\n", words[i][1]);
        g_assert_cmpstr(text, ==, line);
    }
}

static char seen[256];

static void see(enum log_level level, const char *line, size_t said) {
    g_snprintf(seen, sizeof(seen), "%d %s, %s", (int)level, line, line + said);
}

/* Whoever observes gets what is not shown, too, but nothing of debugging. */
TEST("/log/observe", test_observe) {
    enum log_level before = log_get_level();
    struct stderr_of caught = stderr_begin();
    log_set_level(LOG_ERROR);
    log_observe(see);
    log_info("camera", "quiet");
    g_assert_cmpstr(seen, ==, "2 info: camera: quiet, quiet");
    log_debug("camera", "noise");
    g_assert_cmpstr(seen, ==, "2 info: camera: quiet, quiet");
    log_observe(NULL);
    log_error("camera", "nobody");
    g_assert_cmpstr(seen, ==, "2 info: camera: quiet, quiet");
    log_set_level(before);
    g_autofree char *text = stderr_end(caught);
    g_assert_cmpstr(text, ==, "livestereo: error: camera: nobody\n");
}
