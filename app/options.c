/*
 * The common options and the quit flag of app/commands.h. SPDX-License-Identifier: MIT
 */
#include "app/commands.h"

#include "config/feature_network.h"
#include "base/log.h"
#include "config/params_file.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The signal's handler runs in any thread, those of libraries too. */
static atomic_bool quit;
static const char *_Atomic announcement; /* what the signal handler writes; NULL: nothing */

/* The preset, or else the user's own settings, over the defaults. */
static int load_first(const struct common_options *options, struct params *params) {
    const char *preset = options->preset ? options->preset : options->first_preset;
    params_default(params);
    if ((preset ? preset_load(params, preset) : params_load_user(params)) == 0)
        return GO_ON;
    if (preset || !options->no_settings)
        return EXIT_USAGE;
    log_warning(NULL,
                "the defaults are taken for now; correct that file, other commands refuse it");
    return GO_ON;
}

/* auto begins with high. GO_ON or EXIT_USAGE. */
static int set_quality(const struct common_options *options, struct params *params) {
    struct qualities qualities;
    int quality = QUALITY_AUTO;
    if (option_choice("--quality", options->quality, quality_names, QUALITY_CUSTOM, &quality) !=
            GO_ON ||
        qualities_load(&qualities) != 0)
        return EXIT_USAGE;
    quality_apply(&qualities, quality == QUALITY_AUTO ? QUALITY_HIGH : (enum quality)quality,
                  params);
    return GO_ON;
}

/* --quality, --set and what has an option of its own, over the parameters. GO_ON or EXIT_USAGE. */
static int apply_options(const struct common_options *options, struct params *params) {
    if (options->quality && set_quality(options, params) != GO_ON)
        return EXIT_USAGE;
    for (char **set = options->set; set && *set; set++) {
        char why[512];
        int error = params_assign(params, *set, why, sizeof(why));
        if (error) {
            g_autofree char *name = g_strndup(*set, strcspn(*set, "=")),
                            *hint = NAME_HINT(name, param_table, param_count,
                                              "; see livestereo --help-params");
            return log_fail(EXIT_USAGE, "--set", "%s%s", why, error == -ENOENT ? hint : "");
        }
    }
    if (options->weights && params_load_network(params, options->network, options->weights) != 0)
        return EXIT_USAGE;
    char why[512];
    if (options->memory && params_set_memory(params, options->memory, why, sizeof(why)) != 0)
        return log_fail(EXIT_USAGE, "--memory", "%s", why);
    return GO_ON;
}

int options_params(const struct common_options *options, struct params *params) {
    if (load_first(options, params) != GO_ON)
        return EXIT_USAGE;
    if (options->config && params_load(params, options->config) != 0)
        return EXIT_USAGE;
    return apply_options(options, params);
}

bool options_take_recorded(const struct common_options *options, const struct source *source,
                           struct params *params) {
    struct params recorded, taken = *params;
    params_default(&recorded);
    if (!source->settings || options->preset || options->config)
        return false;
    if (params_load(&recorded, source->settings) != 0) {
        log_warning(source->name, "is played without the settings that it was recorded with");
        return false;
    }
    if (recorded.mode != params->mode)
        return false;
    params_copy(&taken, &recorded, PARAM_LIVE);
    if (apply_options(options, &taken) != GO_ON)
        return false;
    *params = taken;
    log_info(source->settings, "is taken, as the settings of the recording");
    return true;
}

void options_take_range(const struct common_options *options, const struct source *source,
                        double scale, struct params *params) {
    int needed = (int)ceil(source->disparities * (scale > 0 ? scale : 1));
    if (params->mode == MODE_MOTION || needed == 0 ||
        needed >= source->width * (scale > 0 ? scale : 1))
        return;
    if (options && (needed <= params->disparity_range || options_set(options, "disparity_range")))
        return;
    int error = param_put(params, param_find("disparity_range"), MAX(2, needed));
    if (options && !error)
        log_info(source->name, "%d disparities are searched, as the files beside it say", needed);
}

/* The option name of the command's entries, which is of kind OPTION_COUNT or OPTION_AMOUNT. */
static gboolean parse_positive(const char *name, const char *text, gpointer entries,
                               GError **error) {
    const GOptionEntry *e = entries;
    char *end;
    double v = g_ascii_strtod(text, &end);
    while (strcmp(e->long_name, name + strlen("--")) != 0)
        e++;
    bool valid = end > text && !*end && v > 0;
    if (e->arg == OPTION_COUNT ? valid && v <= INT_MAX && v == floor(v) : valid) {
        if (e->arg == OPTION_COUNT)
            *(int *)e->arg_data = (int)v;
        else
            *(double *)e->arg_data = v;
        return TRUE;
    }
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                "%s must be a%s number above 0 or left out, not '%s'", name,
                e->arg == OPTION_COUNT ? " whole" : "", text);
    return FALSE;
}

/* GLib's entries of the command and those that all have. */
static GArray *all_entries(const GOptionEntry *entries, struct common_options *options) {
    const GOptionEntry settings[] = {
        {"preset", 0, 0, G_OPTION_ARG_FILENAME, &options->preset,
         "Start from a preset: its name, or an .ini file", "NAME"},
        {"config", 0, 0, G_OPTION_ARG_FILENAME, &options->config,
         "Read parameters from a file, over the preset", "FILE"},
        {"quality", 0, 0, G_OPTION_ARG_STRING, &options->quality,
         "Of the maps: lower is faster; auto searches, in the window and of cameras",
         "auto|low|mid|high"},
        {"set", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options->set,
         "Set one parameter, over preset, file and quality (repeatable)", "NAME=VALUE"},
        {"weights", 0, 0, G_OPTION_ARG_FILENAME, &options->weights,
         "Weights of the learned descriptor and refinement in place of the built-in ones", "FILE"},
        {"memory", 0, 0, G_OPTION_ARG_STRING, &options->memory,
         "Most memory for frames on the device; larger pictures are computed in blocks",
         "SIZE[K|M|G]"},
        {"dump-config", 0, 0, G_OPTION_ARG_NONE, &options->dump_config,
         "Print the parameters in effect as a config file and exit", NULL},
    };
    const GOptionEntry messages[] = {
        {"help", 'h', 0, G_OPTION_ARG_NONE, &options->help, "Show the options that come first",
         NULL},
        {"help-all", 0, 0, G_OPTION_ARG_NONE, &options->help_all, "Show all options", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &options->quiet, "Errors only, no progress", NULL},
        {"verbose", 'v', 0, G_OPTION_ARG_NONE, &options->verbose, "Say more", NULL},
    };
    GArray *all = g_array_new(TRUE, TRUE, sizeof(GOptionEntry));
    for (const GOptionEntry *e = entries; e->long_name; e++) {
        GOptionEntry own = *e;
        if (own.arg == OPTION_COUNT || own.arg == OPTION_AMOUNT) {
            own.arg = G_OPTION_ARG_CALLBACK;
            own.arg_data = (gpointer)parse_positive;
        }
        g_array_append_val(all, own);
    }
    if (!options->no_settings)
        g_array_append_vals(all, settings, G_N_ELEMENTS(settings));
    return g_array_append_vals(all, messages, G_N_ELEMENTS(messages));
}

/* See name_hint. */
static char *option_hint(const GArray *entries, const GError *error, const char *otherwise) {
    const char *dashes = strstr(error->message, "--");
    if (!dashes || !g_error_matches(error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION))
        return g_strdup(otherwise);
    g_autofree char *typed = g_strndup(dashes, strcspn(dashes, "="));
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < entries->len; i++)
        g_ptr_array_add(names,
                        g_strconcat("--", g_array_index(entries, GOptionEntry, i).long_name, NULL));
    return NAME_HINT(typed, names->pdata, names->len, otherwise);
}

/* ---- help: first what is asked for most, then what belongs to a subject */

enum { HELP_COLUMNS = 80 };

static const struct {
    const char *title, *options;
} subjects[] = {
    {"Source", " swap pictures eye flip rotate180 size format bits sync-tolerance drop start "},
    {"Calibration:", " unit model rectified alpha roi scale "},
    {"Window:", " colormap theme range metres-per-pixel stats plain fullscreen window "
                "ui-scale screenshot ui-map "},
    {"Settings:", " config weights memory dump-config "}};

/* The options of a context, in groups where they are many. */
static void add_options(GOptionContext *context, const GArray *all, const GOptionEntry *entries) {
    enum { SUBJECTS = G_N_ELEMENTS(subjects), MANY = 30 };
    GOptionGroup *group[SUBJECTS + 1];
    for (int i = 0; i <= SUBJECTS; i++) {
        const char *title = i < SUBJECTS ? subjects[i].title : "";
        group[i] = g_option_group_new(title, title, title, (gpointer)entries, NULL);
    }
    for (guint i = 0; i < all->len; i++) {
        const GOptionEntry one[] = {g_array_index(all, GOptionEntry, i), {0}};
        g_autofree char *word = g_strdup_printf(" %s ", one->long_name);
        int k = 0;
        while (k < SUBJECTS && (all->len < MANY || !strstr(subjects[k].options, word)))
            k++;
        g_option_group_add_entries(group[k], one);
    }
    g_option_context_set_main_group(context, group[SUBJECTS]);
    for (int i = 0; i < SUBJECTS; i++)
        g_option_context_add_group(context, group[i]);
}

/* Lines are broken at blanks; what goes on stands below the beginning of an option's help. */
static void print_help(GOptionContext *context, bool all) {
    g_autofree char *help = g_option_context_get_help(context, !all, NULL);
    g_autoptr(GRegex) within = g_regex_new("(?m)^(\\S.*)\n(?=\\S)", 0, 0, NULL); /* a paragraph */
    g_autofree char *text = g_regex_replace(within, g_strchomp(help), -1, 0, "\\1 ", 0, NULL);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++) {
        const char *rest = *line, *gap = strstr(rest + strspn(rest, " "), "  ");
        int indent = (int)(gap ? gap - rest + (int)strspn(gap, " ") : (int)strspn(rest, " "));
        int least = indent;
        for (int width = HELP_COLUMNS; (int)strlen(rest) > width; width = HELP_COLUMNS - indent) {
            int cut = width;
            while (cut > least && rest[cut] != ' ')
                cut--;
            if (cut == least)
                break;
            printf("%.*s\n%*s", cut, rest, indent, "");
            rest += cut + 1;
            least = 0;
        }
        puts(rest);
    }
}

int options_parse(int *argc, char ***argv, const char *usage, const char *summary,
                  const char *examples, const GOptionEntry *entries, struct common_options *options,
                  struct params *params) {
    char *command = (*argv)[0];
    g_autofree char *name = g_strdup_printf("livestereo %s", command); /* what --help prints */
    g_set_prgname(name);
    g_autoptr(GOptionContext) context = g_option_context_new(usage);
    GArray *all = options->entries = all_entries(entries, options);
    g_autoptr(GError) error = NULL;
    add_options(context, all, entries);
    g_option_context_set_help_enabled(context, FALSE);
    g_option_context_set_summary(context, summary);
    g_option_context_set_description(context, examples);
    if (!g_option_context_parse(context, argc, argv, &error)) {
        g_autofree char *see = g_strdup_printf("; see %s --help", name),
                        *hint = option_hint(all, error, see);
        return log_fail(EXIT_USAGE, command, "%s%s", error->message, hint);
    }
    if (options->help || options->help_all) {
        print_help(context, options->help_all);
        exit(EXIT_SUCCESS);
    }
    if (options->quiet)
        log_set_level(LOG_ERROR);
    else if (options->verbose)
        log_set_level(LOG_DEBUG);
    /* "--" ends the options and is no word itself. */
    if (*argc > 1 && strcmp((*argv)[1], "--") == 0) {
        memmove(&(*argv)[1], &(*argv)[2], (size_t)(*argc - 1) * sizeof(**argv));
        (*argc)--;
    }

    options->network = g_new0(struct feature_network, 1);
    int code = options_params(options, params);
    if (code == GO_ON && options->dump_config)
        code = params_dump(params, stdout) == 0 ? EXIT_DONE : EXIT_RUN_FAILED;
    return code;
}

int option_check(const char *name, double value, double min, double max) {
    if (value == 0 || (value >= min && value <= max))
        return GO_ON;
    return log_fail(EXIT_USAGE, name, "%g is outside the range; give a number from %.10g to %.10g",
                    value, min, max);
}

int option_check_rate(double rate) {
    return option_check("--rate", rate, MIN_SOURCE_RATE, MAX_SOURCE_RATE);
}

int option_choice(const char *name, const char *word, const char *const *words, int count,
                  int *choice) {
    g_autoptr(GString) known = g_string_new(NULL);
    for (int i = 0; word && i < count; i++) {
        if (strcmp(word, words[i]) == 0) {
            *choice = i;
            return GO_ON;
        }
        g_string_append_printf(known, "%s%s", i ? ", " : "", words[i]);
    }
    if (word)
        log_error(name, "\"%s\" is not one of %s", word, known->str);
    return word ? EXIT_USAGE : GO_ON;
}

int option_size(const char *name, const char *text, int least, int *width, int *height) {
    char rest;
    if (!text || (sscanf(text, "%dx%d%c", width, height, &rest) == 2 && *width >= least &&
                  *height >= least && *width <= MAX_FRAME_SIDE && *height <= MAX_FRAME_SIDE))
        return GO_ON;
    return log_fail(EXIT_USAGE, name, "'%s' is no size; write it as 640x480, %d to %d px a side",
                    text, least, MAX_FRAME_SIDE);
}

bool options_quality_auto(const struct common_options *options, const struct qualities *qualities,
                          struct params *params) {
    if (params->mode == MODE_MOTION)
        return false;
    if (options->quality ? strcmp(options->quality, quality_names[QUALITY_AUTO]) != 0
                         : options->preset || options->config)
        return false;
    bool high = quality_of(qualities, params) == QUALITY_HIGH;
    for (int i = 0; i < param_count; i++) {
        const struct param_info *info = &param_table[i];
        bool chosen =
            options_set(options, info->name) || (!high && param_get(params, info) != info->def);
        if (quality_covers(qualities, info) && chosen)
            return false;
    }
    quality_apply(qualities, QUALITY_HIGH, params);
    return true;
}

bool options_set(const struct common_options *options, const char *name) {
    size_t length = strlen(name);
    for (char **set = options->set; set && *set; set++)
        if (strncmp(*set, name, length) == 0 && (*set)[length] == '=')
            return true;
    return false;
}

void options_free(struct common_options *options) {
    for (guint i = 0; i < options->entries->len; i++) {
        const GOptionEntry *e = &g_array_index(options->entries, GOptionEntry, i);
        if (e->arg == G_OPTION_ARG_STRING || e->arg == G_OPTION_ARG_FILENAME)
            g_clear_pointer((char **)e->arg_data, g_free);
        if (e->arg == G_OPTION_ARG_FILENAME_ARRAY)
            g_clear_pointer((char ***)e->arg_data, g_strfreev);
    }
    g_array_unref(options->entries);
    if (options->network)
        feature_network_drop(options->network);
    g_free(options->network);
}

/* No log in a signal handler; write may be called there. */
static void on_signal(int number) {
    const char *text = announcement;
    int before = errno;
    (void)number;
    if (text && !quit && write(STDERR_FILENO, text, strlen(text)) < 0)
        errno = before; /* no standard error: nobody reads it */
    quit = true;
}

void quit_catch(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void quit_announce(const char *text) {
    announcement = log_get_level() >= LOG_INFO ? text : NULL;
}

bool quit_asked(void) {
    return quit;
}

bool progress_wanted(const struct common_options *options) {
    return !options->quiet && isatty(STDERR_FILENO);
}

char **command_words(const char *name, const char *const options[][2], char *const *words,
                     int count) {
    g_autoptr(GStrvBuilder) all = g_strv_builder_new();
    g_strv_builder_add(all, name);
    for (; (*options)[0]; options++)
        if ((*options)[1])
            g_strv_builder_add_many(all, (*options)[0], *(*options)[1] ? (*options)[1] : NULL,
                                    NULL);
    g_strv_builder_add(all, "--");
    for (int i = 0; i < count; i++)
        g_strv_builder_add(all, words[i]);
    return g_strv_builder_end(all);
}

int command_run(next_command *run, char **words, const char *folder) {
    int count = (int)g_strv_length(words);
    char **argv = g_memdup2(words, ((size_t)count + 1) * sizeof(*words)); /* parsing moves them */
    int code = run(count, argv, folder);
    g_free(argv);
    g_strfreev(words);
    return code;
}
