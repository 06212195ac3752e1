/*
 * The functions of tests/test.h, and the main() of test programs without one of their own.
 * SPDX-License-Identifier: MIT
 */
#include "tests/folder.h"
#include "tests/test.h"

static struct listed {
    char *path;
    GTestDataFunc test;
    gconstpointer row;
} listed[128];
static size_t count;
char *folder;

void tests_add(const char *path, const char *name, GTestDataFunc test, gconstpointer row) {
    g_assert(count < G_N_ELEMENTS(listed));
    listed[count++] = (struct listed){g_strconcat(path, name ? "/" : NULL, name, NULL), test, row};
}

static void run(gconstpointer data) {
    const struct listed *t = data;
    g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
    t->test(t->row);
    remove_tree(folder);
}

int tests_run(void) {
    folder = g_dir_make_tmp("livestereo-XXXXXX", NULL);
    g_assert_nonnull(folder);
    g_setenv("XDG_CONFIG_HOME", folder, TRUE);
    g_setenv("XDG_STATE_HOME", folder, TRUE);
    for (size_t i = 0; i < count; i++)
        g_test_add_data_func(listed[i].path, &listed[i], run);
    int status = g_test_run();
    remove_tree(folder);
    return status;
}

char *path_in(const char *name) {
    char *path = g_build_filename(folder, name, NULL);
    g_autofree char *parent = g_path_get_dirname(path);
    g_assert_cmpint(g_mkdir_with_parents(parent, 0700), ==, 0);
    return path;
}

void write_text(const char *name, const char *text) {
    g_autofree char *path = path_in(name);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
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
