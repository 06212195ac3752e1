/*
 * livestereo: finds the subcommand and runs it. SPDX-License-Identifier: MIT
 */
#include "app/commands.h"
#include "base/file.h"
#include "base/log.h"
#include "config/params_file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name, *words, *help;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"view", "[SOURCE...]", "open the window; the word view may be left out", cmd_view},
    {"motion", "[SOURCE...]", "the window with the motion from each picture to the next", cmd_view},
    {"run", "SOURCE", "compute pairs as they come, then print statistics", cmd_run},
    {"list", "", "the cameras of this machine", cmd_list},
    {"record", "SOURCE -o FILE", "keep the raw pairs of a source", cmd_record},
    {"batch", "SOURCE -o DIR", "compute every pair and write the disparities", cmd_batch},
    {"eval", "DIR...", "compare with the known truth of test pictures", cmd_eval},
    {"calibrate", "SOURCE", "find a rig from views of a chessboard", cmd_calibrate},
    {"calib", "check|convert|refine ..", "look at calibrations, change their form, renew one",
     cmd_calib},
};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void print_help(FILE *out) {
    fprintf(out,
            "Usage: livestereo [OPTIONS] [SOURCE [SOURCE]]\n"
            "       livestereo COMMAND [OPTIONS] ...\n\n"
            "Dense stereo depth by belief propagation: pairs of pictures in, disparity out.\n\n"
            "Commands:\n");
    for (int i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-9s %-16s %s\n", commands[i].name, commands[i].words, commands[i].help);
    fprintf(out, "\n"
                 "Options:\n"
                 "  --help-params    the parameters that --set, presets and config files know\n"
                 "  --list-presets   the presets that --preset knows\n"
                 "  --dump-config    the parameters in effect (with --preset, --config, --set)\n"
                 "  --version\n"
                 "  -h, --help       this page; livestereo COMMAND --help for a command's own\n\n"
                 "Examples:\n"
                 "  livestereo drive.mkv\n"
                 "  livestereo run synth: --frames 100\n"
                 "  livestereo batch recording/ -o out/ --save disp16,color\n"
                 "  livestereo eval --preset yang2006 tsukuba/ venus/\n");
}

static void print_presets(void) {
    g_auto(GStrv) names = preset_names();
    for (char **name = names; *name; name++)
        puts(*name);
}

/* Whether a first word that is no command may be a source, rather than a misspelt command. */
static bool may_be_source(const char *word) {
    return strpbrk(word, "./:%") || access(word, F_OK) == 0;
}

/* The command line has no command: all of it is view's. */
static int run_view(int argc, char **argv) {
    static char name[] = "view";
    argv[0] = name;
    return cmd_view(argc, argv);
}

static int dispatch(int argc, char **argv) {
    if (argc < 2)
        return run_view(argc, argv);
    const char *word = argv[1];
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(word, commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        print_help(stdout);
    else if (strcmp(word, "--version") == 0)
        printf("livestereo %s\n", LIVESTEREO_VERSION);
    else if (strcmp(word, "--help-params") == 0)
        params_help(stdout);
    else if (strcmp(word, "--list-presets") == 0)
        print_presets();
    else if (word[0] == '-' || may_be_source(word))
        return run_view(argc, argv);
    else {
        g_autofree char *hint = NAME_HINT(word, commands, COMMANDS, "; see livestereo --help");
        return log_fail(EXIT_USAGE, NULL, "there is no command and no file \"%s\"%s", word, hint);
    }
    return EXIT_DONE;
}

/* A standard stream that the caller closed would give its number to the next file that is opened,
 * and messages would be written there. The stream is opened for the wrong direction instead, so
 * that using it still fails. */
static void hold_standard_streams(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        int held = fd;
        if (fcntl(fd, F_GETFD) < 0)
            held = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        if (held != fd)
            _exit(EXIT_RUN_FAILED);
    }
}

/* Whether the reader of standard output is gone. The program then ends without a message. */
static bool reader_gone(void) {
    struct pollfd out = {.fd = STDOUT_FILENO};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

/* GStreamer warns of what it also reports as an error, which the program logs itself; but it waits
 * for ever for a thread that could not be made. */
static GLogWriterOutput write_glib_log(GLogLevelFlags level, const GLogField *fields, gsize count,
                                       gpointer context) {
    if (!(level & (G_LOG_LEVEL_WARNING | G_LOG_LEVEL_MESSAGE | G_LOG_LEVEL_INFO)))
        return g_log_writer_default(level, fields, count, context);
    g_autofree char *line = g_log_writer_format_fields(level, fields, count, FALSE);
    if (strstr(line, "failed to create thread")) {
        log_error("GStreamer", "%s", line);
        _exit(EXIT_RUN_FAILED);
    }
    log_debug("GLib", "%s", line);
    return G_LOG_WRITER_HANDLED;
}

int main(int argc, char **argv) {
    hold_standard_streams();
    file_remember_inputs();
    setlocale(LC_CTYPE, "");
    g_log_set_writer_func(write_glib_log, NULL, NULL);
    /* A file that grows too large and a pipe without a reader are errors of write, like a full
     * disk. */
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    int code = dispatch(argc, argv);
    bool unwritten = fflush(stdout) != 0 || ferror(stdout);
    if (unwritten && reader_gone()) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    if (unwritten && code == EXIT_DONE) { /* other exit codes have their own message */
        code = log_fail(EXIT_RUN_FAILED, "standard output", "%s", strerror(errno));
    }
    return code;
}
