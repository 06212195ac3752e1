/*
 * What make builds, for which GPUs and with which options: `make found` and `make --dry-run` beside
 * an nvcc and an nvidia-smi that are scripts.
 * SPDX-License-Identifier: MIT
 */
#include "tests/folder.h"
#include "tests/test.h"

/* A program of the folder that prints lines. */
static void write_tool(const char *name, const char *lines) {
    g_autofree char *path = path_in(name);
    g_autofree char *text = g_strdup_printf("#!/bin/sh\nprintf '%s'\n", lines);
    write_text(name, text);
    g_assert_cmpint(g_chmod(path, 0755), ==, 0);
}

/* What make prints for at most six words, which end with NULL, on a machine whose GPUs have these
 * capabilities; free. */
static char *make(const char *capabilities, const char *const *words) {
    g_autofree char *nvcc = g_strdup_printf("NVCC=%s/nvcc", folder);
    g_autofree char *build = g_strdup_printf("BUILD=%s/build", folder);
    g_autofree char *path = g_strdup_printf("%s:%s", folder, g_getenv("PATH"));
    const char *outer[] = {"MAKEFLAGS", "MFLAGS", "CUDA_ARCH", "CUDA_QUICK", "WERROR", "CPPFLAGS"};
    const char *argv[12] = {"make", "-s", "CUDA=1", nvcc, build};
    g_auto(GStrv) envp = g_environ_setenv(g_get_environ(), "PATH", path, TRUE);
    char *out;
    for (size_t i = 0; i < G_N_ELEMENTS(outer); i++)
        envp = g_environ_unsetenv(envp, outer[i]);
    for (int i = 0; words[i]; i++)
        argv[5 + i] = words[i];
    write_tool("nvidia-smi", capabilities);
    write_tool("nvcc", "sm_70\\nsm_75\\nsm_86\\nsm_89\\nsm_90\\nsm_90a\\nsm_120\\n");
    g_assert_true(g_spawn_sync(NULL, (char **)argv, envp,
                               G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &out,
                               NULL, NULL, NULL));
    return out;
}

/* What a line of text has behind the word start, up to a quotation mark; "" where there is no such
 * line; free. */
static char *behind(const char *text, const char *start) {
    const char *at = strstr(text, start);
    return at ? g_strndup(at + strlen(start), strcspn(at + strlen(start), "\"\n")) : g_strdup("");
}

TEST("/build/architectures", test_architectures) {
    const char *all = "sm_75 sm_86 sm_90 sm_120", *ends = "sm_75 sm_120";
    const struct {
        const char *capabilities, *argument, *want, *checked;
    } cases[] = {
        {"9.0\\n", NULL, "sm_90", "sm_90"},
        {"9.0\\n8.6\\n9.0\\n", NULL, "sm_86 sm_90", "sm_86 sm_90"},
        {"9.0\\n", "CUDA_ARCH=all", all, ends},
        {"9.0\\n", "CUDA_ARCH=sm_120", "sm_120", "sm_120"},
        {"15.0\\n", NULL, all, ends}, /* newer than nvcc */
        {"NVIDIA-SMI has failed.\\n", NULL, "", ends},
        {"", NULL, "", ends},
        {"", "CUDA_ARCH=all", all, ends},
        {"", "CUDA_ARCH=sm_120", "sm_120", "sm_120"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *out = make(
            cases[i].capabilities,
            (const char *[]){"found", "checked", "--eval=checked: ; @echo checked: $(CHECK_ARCH)",
                             cases[i].argument, NULL});
        g_autofree char *built = behind(out, " for "), *checked = behind(out, "checked: ");
        g_test_message("%s %s: %s", cases[i].capabilities, cases[i].argument, out);
        g_assert_cmpstr(checked, ==, cases[i].checked);
        if (cases[i].want[0])
            g_assert_cmpstr(built, ==, cases[i].want);
        else
            g_assert_nonnull(strstr(out, "no GPU answers nvidia-smi; CUDA_ARCH=all "));
    }
    /* Without nvidia-smi there may be a GPU, and gpu-test is about it. */
    g_autofree char *out = make("", (const char *[]){"--dry-run", "found", "gpu-test", NULL});
    g_autofree char *built = behind(out, " for ");
    g_assert_cmpstr(built, ==, all);
    /* What this nvcc has not is an error, not left out. */
    g_autofree char *unknown = make("", (const char *[]){"found", "CUDA_ARCH=sm_72 sm_86", NULL});
    g_assert_cmpstr(unknown, ==, "");
}

/* A packager's compiler may warn of what ours does not know: only tests stop at that. */
TEST("/build/options", test_options) {
    g_autofree char *object = g_strdup_printf("%s/build/base/log.c.o", folder);
    const char *words[] = {"--dry-run", "V=1", "CPPFLAGS=-DPACKAGED=1", object, NULL, NULL};
    g_autofree char *packaged = make("", words);
    words[4] = "lint-style";
    g_autofree char *checked = make("", words);
    g_test_message("%s", packaged);
    g_assert_nonnull(strstr(packaged, " -DPACKAGED=1 "));
    g_assert_null(strstr(packaged, "-Werror"));
    g_assert_nonnull(strstr(checked, " -Werror "));
}

/* The second one waits for the first. */
TEST("/build/two", test_two) {
    g_autofree char *log = g_build_filename(folder, "log", NULL);
    g_autofree char *line = g_strdup_printf(
        "unset MAKELEVEL MAKEFLAGS MFLAGS; two() { make -s CUDA=0 BUILD=%s/build "
        "--eval='two: ; @echo in >>%s; sleep 0.3; echo out >>%s' two; }; two & two; wait",
        folder, log, log);
    const char *argv[] = {"/bin/sh", "-c", line, NULL};
    g_autofree char *text = NULL;
    g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL,
                               NULL, NULL));
    g_assert_true(g_file_get_contents(log, &text, NULL, NULL));
    g_assert_cmpstr(text, ==, "in\nout\nin\nout\n");
}
