/*
 * What make builds for: `make found` beside an nvcc and an nvidia-smi that are scripts.
 * SPDX-License-Identifier: MIT
 */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

static char *folder;

/* A program of the folder that prints lines. */
static void write_tool(const char *name, const char *lines) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autofree char *text = g_strdup_printf("#!/bin/sh\nprintf '%s'\n", lines);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    g_assert_cmpint(g_chmod(path, 0755), ==, 0);
}

/* The GPUs that `make found argument` names, on a machine whose GPUs have these capabilities. */
static char *found(const char *capabilities, const char *argument) {
    g_autofree char *nvcc = g_build_filename(folder, "nvcc", NULL);
    g_autofree char *set = g_strdup_printf("NVCC=%s", nvcc);
    g_autofree char *path = g_strdup_printf("%s:%s", folder, g_getenv("PATH"));
    const char *argv[] = {"make", "-s", "found", "CUDA=1", set, argument, NULL};
    g_auto(GStrv) envp = g_environ_setenv(g_get_environ(), "PATH", path, TRUE);
    char *out, *at;
    for (int i = 0; i < 3; i++)
        envp = g_environ_unsetenv(envp, (const char *[]){"MAKEFLAGS", "MFLAGS", "CUDA_ARCH"}[i]);
    write_tool("nvidia-smi", capabilities);
    g_assert_true(g_spawn_sync(NULL, (char **)argv, envp,
                               G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &out,
                               NULL, NULL, NULL));
    at = strstr(out, " for ");
    g_assert_nonnull(at);
    char *gpus = g_strndup(at + 5, strcspn(at + 5, "\n"));
    g_free(out);
    return gpus;
}

static void test_architectures(void) {
    const struct {
        const char *capabilities, *argument, *want;
    } cases[] = {
        {"9.0\\n", NULL, "sm_90"},
        {"9.0\\n8.6\\n9.0\\n", NULL, "sm_86 sm_90"},
        {"9.0\\n", "CUDA_ARCH=all", "sm_75 sm_86 sm_90 sm_120"},
        {"9.0\\n", "CUDA_ARCH=sm_120", "sm_120"},
        {"15.0\\n", NULL, "sm_75 sm_86 sm_90 sm_120"}, /* newer than nvcc */
        {"NVIDIA-SMI has failed.\\n", NULL, "sm_75 sm_86 sm_90 sm_120"},
        {"", NULL, "sm_75 sm_86 sm_90 sm_120"},
    };
    write_tool("nvcc", "sm_70\\nsm_75\\nsm_86\\nsm_89\\nsm_90\\nsm_90a\\nsm_120\\n");
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *gpus = found(cases[i].capabilities, cases[i].argument);
        g_test_message("%s %s: %s", cases[i].capabilities, cases[i].argument, gpus);
        g_assert_cmpstr(gpus, ==, cases[i].want);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    folder = g_dir_make_tmp("livestereo-build-XXXXXX", NULL);
    g_test_add_func("/build/architectures", test_architectures);
    int code = g_test_run();
    for (int i = 0; i < 2; i++) {
        g_autofree char *path =
            g_build_filename(folder, (const char *[]){"nvcc", "nvidia-smi"}[i], NULL);
        g_unlink(path);
    }
    g_rmdir(folder);
    g_free(folder);
    return code;
}
