/*
 * The functions of tests/test.h, and the main() of test programs without one of their own.
 * SPDX-License-Identifier: MIT
 */
#include "tests/test.h"

static struct {
    const char *path;
    void (*test)(void);
} listed[64];
static size_t count;

void tests_add(const char *path, void (*test)(void)) {
    g_assert(count < G_N_ELEMENTS(listed));
    listed[count].path = path;
    listed[count++].test = test;
}

int tests_run(void) {
    for (size_t i = 0; i < count; i++)
        g_test_add_func(listed[i].path, listed[i].test);
    return g_test_run();
}

char *data_path(const char *name) {
    const char *root = g_getenv("LIVESTEREO_DATA");
    g_autofree char *path = g_build_filename(root ? root : "../shared/data", name, NULL);
    if (g_file_test(path, G_FILE_TEST_EXISTS))
        return g_steal_pointer(&path);
    g_autofree char *why = g_strdup_printf("needs %s (set LIVESTEREO_DATA)", path);
    g_test_skip(why);
    return NULL;
}

__attribute__((weak)) int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    return tests_run();
}
