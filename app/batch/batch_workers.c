/*
 * See batch_workers.h. SPDX-License-Identifier: MIT
 */
#include "app/batch/batch_workers.h"

#include "app/batch/batch_rows.h"
#include "app/commands.h"
#include "app/matcher.h"
#include "config/log.h"

#include <glib.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* In the new process: it ends with the one that started it. */
static void end_together(gpointer context) {
    (void)context;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
}

/* The worker's words: those of argv, and before a "--" what makes it a worker. Free them with
 * g_ptr_array_unref. */
static GPtrArray *words_of(char **argv, int number, int count, bool gpus) {
    GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
    int threads = MAX((int)g_get_num_processors() / count, 1);
    g_ptr_array_add(words, g_strdup("/proc/self/exe"));
    g_ptr_array_add(words, g_strdup("batch"));
    /* what the user sets comes later, and counts */
    g_ptr_array_add(words, gpus ? g_strdup_printf("--set=gpu=%d", number - 1)
                                : g_strdup_printf("--set=threads=%d", threads));
    for (argv++; *argv && strcmp(*argv, "--") != 0; argv++)
        g_ptr_array_add(words, g_strdup(*argv));
    g_ptr_array_add(words, g_strdup_printf("--part=%d/%d", number, count));
    g_ptr_array_add(words, g_strdup("--workers=0"));
    g_ptr_array_add(words, g_strdup("--gpus=0"));
    g_ptr_array_add(words, g_strdup("--quiet"));
    for (; *argv; argv++)
        g_ptr_array_add(words, g_strdup(*argv));
    g_ptr_array_add(words, NULL);
    return words;
}

/* Waits for one worker to end. GO_ON: it goes on; else its exit code. */
static int look_at(GPid *worker, bool *asked) {
    int status;
    if (quit_asked() && !*asked) {
        kill(*worker, SIGTERM);
        *asked = true;
    }
    if (waitpid(*worker, &status, WNOHANG) == 0)
        return GO_ON;
    *worker = 0;
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    bool stopped = WTERMSIG(status) == SIGTERM || WTERMSIG(status) == SIGINT;
    return *asked && stopped ? EXIT_INTERRUPTED : EXIT_RUN_FAILED; /* the signal, not caught yet */
}

int batch_workers_run(char **argv, int count, bool gpus, const char *folder) {
    g_autofree GPid *workers = g_new0(GPid, count);
    g_autofree bool *asked = g_new0(bool, count);
    int code = EXIT_DONE, left = 0;
    for (int i = 0; i < count && code == EXIT_DONE; i++) {
        g_autoptr(GPtrArray) words = words_of(argv, i + 1, count, gpus);
        g_autoptr(GError) error = NULL;
        if (g_spawn_async(NULL, (char **)words->pdata, NULL, G_SPAWN_DO_NOT_REAP_CHILD,
                          end_together, NULL, &workers[i], &error)) {
            left++;
        } else {
            log_error("--workers", "%s", error->message);
            code = EXIT_RUN_FAILED;
        }
    }
    for (; left > 0; g_usleep(20000))
        for (int i = 0; i < count; i++) {
            int ended = workers[i] ? look_at(&workers[i], &asked[i]) : GO_ON;
            if (ended != GO_ON) {
                code = exit_worse(code, ended);
                left--;
            }
        }
    if (count == 1 || (code != EXIT_DONE && code != EXIT_SOME_FAILED))
        return code; /* one worker writes frames.csv itself */
    return batch_rows_merge(folder) == 0 ? code : EXIT_RUN_FAILED;
}

int batch_workers_find_gpus(int max) {
    g_autofree char *why = NULL;
    struct params params;
    params_default(&params);
    while (params.gpu < max && matcher_has_gpu(&params, params.gpu == 0 ? &why : NULL))
        params.gpu++;
    if (why)
        log_error("--gpus", "%s", why);
    return params.gpu;
}
