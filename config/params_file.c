/*
 * Parameters in GKeyFile files: reading, writing, presets and the reference page. Any thread; every
 * struct params belongs to the caller. A file is read whole into a copy and handed over only when
 * all of it is right; it is written beside its final name and renamed, so nobody sees half of one.
 * SPDX-License-Identifier: MIT
 */
#include "config/params_file.h"

#include "config/file.h"
#include "config/log.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef LIVESTEREO_PRESET_DIR
#ifdef LIVESTEREO_DATADIR
#define LIVESTEREO_PRESET_DIR LIVESTEREO_DATADIR "/presets"
#else
#define LIVESTEREO_PRESET_DIR "/usr/local/share/livestereo/presets"
#endif
#endif

#define GROUP "livestereo"
#define INCLUDE "include" /* the key that names a preset to read first */

enum {
    MAX_INCLUDES = 4,
    MAX_BYTES = 1 << 20,
    WHY_BYTES = 512,
    VALUE_BYTES = 64,
    PAGE_COLUMNS = 78
};

/* Reads every key of the group into *p, which is scratch on failure. */
static int read_keys(struct params *p, GKeyFile *file, const char *name) {
    char **keys = g_key_file_get_keys(file, GROUP, NULL, NULL);
    int rc = 0;
    for (char **key = keys; key && *key && rc == 0; key++) {
        char why[WHY_BYTES];
        if (strcmp(*key, INCLUDE) == 0)
            continue;
        char *value = g_key_file_get_value(file, GROUP, *key, NULL);
        rc = params_set(p, *key, value ? g_strchomp(value) : "", why, sizeof why);
        if (rc != 0)
            log_error(name, "%s", why);
        else if (why[0])
            log_warning(name, "%s", why);
        g_free(value);
    }
    g_strfreev(keys);
    return rc;
}

/* A file of ours has the one group and no other. */
static int check_groups(GKeyFile *file, const char *name) {
    char **groups = g_key_file_get_groups(file, NULL);
    int rc = 0;
    for (char **group = groups; *group && rc == 0; group++) {
        if (strcmp(*group, GROUP) != 0) {
            log_error(name, "no group [%.64s] is known; did you mean [" GROUP "]?", *group);
            rc = -EINVAL;
        }
    }
    if (rc == 0 && !groups[0]) {
        log_error(name, "not a settings file; the first line to write is [" GROUP "]");
        rc = -EINVAL;
    }
    g_strfreev(groups);
    return rc;
}

char *preset_user_folder(void) {
    return g_build_filename(g_get_user_config_dir(), "livestereo", "presets", NULL);
}

/* The folders presets are looked for in, first one first: the user's, the one installed, and those
 * beside the program, which may have been moved after its installation or still lie where it was
 * built (BUILD, or a folder in it). The caller frees them with g_strfreev. */
static char **preset_folders(void) {
    static const char *const beside[] = {"../share/livestereo/presets", "../config/presets",
                                         "../../config/presets"};
    GPtrArray *folders = g_ptr_array_new();
    g_ptr_array_add(folders, preset_user_folder());
    g_ptr_array_add(folders, g_strdup(LIVESTEREO_PRESET_DIR));
    char *program = g_file_read_link("/proc/self/exe", NULL);
    char *folder = program ? g_path_get_dirname(program) : NULL;
    for (size_t i = 0; folder && i < G_N_ELEMENTS(beside); i++)
        g_ptr_array_add(folders, g_build_filename(folder, beside[i], NULL));
    g_free(folder);
    g_free(program);
    g_ptr_array_add(folders, NULL);
    return (char **)g_ptr_array_free(folders, FALSE);
}

/* The file of a preset in the first of these folders that has it, or NULL. */
static char *find_preset(char **folders, const char *name) {
    for (char **folder = folders; *folder && name[0]; folder++) {
        char *path = g_strconcat(*folder, "/", name, ".ini", NULL);
        if (g_file_test(path, G_FILE_TEST_EXISTS))
            return path;
        g_free(path);
    }
    return NULL;
}

/* Of the presets that come with the program. */
static char *built_in_path(const char *name) {
    char **folders = preset_folders(), *path = find_preset(folders + 1, name);
    g_strfreev(folders);
    return path;
}

static int load(struct params *p, const char *path, int includes);

/* Reads the preset that the file includes, one that comes with the program. includes: how many
 * files deep it may go. */
static int read_include(struct params *p, GKeyFile *file, const char *name, int includes) {
    char *base = g_key_file_get_value(file, GROUP, INCLUDE, NULL);
    if (!base)
        return 0;
    bool valid = includes > 0 && !strchr(base, '/');
    char *path = valid ? built_in_path(g_strchomp(base)) : NULL;
    int rc = path ? load(p, path, includes - 1) : -EINVAL;
    if (includes == 0)
        log_error(name, INCLUDE ": over %d files include each other", MAX_INCLUDES);
    else if (!path)
        log_error(name, INCLUDE ": no preset \"%.64s\" comes with the program", base);
    g_free(path);
    g_free(base);
    return rc;
}

static int parse(struct params *p, const char *text, size_t length, const char *name,
                 int includes) {
    if (length > MAX_BYTES) {
        log_error(name, "over 1 MiB long; not a settings file");
        return -EFBIG;
    }
    if (length == 0 || memchr(text, '\0', length)) {
        log_error(name, "%s; not a settings file", length == 0 ? "empty" : "holds binary data");
        return -EINVAL;
    }
    /* Without KEEP_TRANSLATIONS a key like bp_levels[de] would be dropped or kept by the locale. */
    GKeyFile *file = g_key_file_new();
    GError *error = NULL;
    int rc = 0;
    if (!g_key_file_load_from_data(file, text, length, G_KEY_FILE_KEEP_TRANSLATIONS, &error)) {
        log_error(name, "%s", error->message);
        g_error_free(error);
        rc = -EINVAL;
    }
    struct params read = *p;
    if (rc == 0)
        rc = check_groups(file, name);
    if (rc == 0)
        rc = read_include(&read, file, name, includes);
    if (rc == 0)
        rc = read_keys(&read, file, name);
    if (rc == 0)
        *p = read;
    g_key_file_free(file);
    return rc;
}

/* The number that is all of a line, or NAN. */
static double number_of(const char *line) {
    char *end;
    double value = g_ascii_strtod(line, &end);
    return end == line || *end || !isfinite(value) ? NAN : value;
}

static int read_table(struct smoothness_table *table, char **lines, const char *path) {
    double before = 0;
    for (; lines[table->count] && *g_strstrip(lines[table->count]); table->count++) {
        double value = number_of(lines[table->count]);
        const char *wrong = isnan(value)                        ? "not a number"
                            : table->count == SMOOTHNESS_VALUES ? "one number too many"
                            : table->count == 0 && value != 0   ? "equal labels cost 0"
                            : value < before                    ? "below the number before"
                                                                : NULL;
        if (wrong) {
            log_error(path, "line %d, \"%.32s\": %s", table->count + 1, lines[table->count], wrong);
            return -EINVAL;
        }
        table->value[table->count] = before = value;
    }
    for (char **rest = lines + table->count; *rest; rest++)
        if (*g_strstrip(*rest)) {
            log_error(path, "line %d is empty, but not the last", table->count + 1);
            return -EINVAL;
        }
    if (table->count < 2 || before <= 0) {
        log_error(path, "no table of smoothness: two numbers or more, one a line, 0 first");
        return -EINVAL;
    }
    return 0;
}

int params_load_table(struct params *p, const char *path) {
    struct smoothness_table table = {0};
    char *text;
    size_t length;
    int rc = file_load(path, MAX_BYTES, &text, &length);
    if (rc != 0)
        return rc;
    char **lines = g_strsplit(text, "\n", -1);
    rc = strlen(text) == length ? read_table(&table, lines, path) : -EINVAL;
    if (strlen(text) != length)
        log_error(path, "holds binary data; not a table of smoothness");
    if (rc == 0) {
        p->table = table;
        p->smoothness = SMOOTHNESS_TABLE;
    }
    g_strfreev(lines);
    free(text);
    return rc;
}

int params_parse(struct params *p, const char *text, size_t length, const char *name) {
    return parse(p, text, length, name, MAX_INCLUDES);
}

static int load(struct params *p, const char *path, int includes) {
    char *text;
    size_t length;
    int rc = file_load(path, MAX_BYTES, &text, &length);
    if (rc == 0)
        rc = parse(p, text, length, path, includes);
    free(text);
    return rc;
}

int params_load(struct params *p, const char *path) {
    return load(p, path, MAX_INCLUDES);
}

/* "1 to 10", "0 to 4 px", "off|warp|bp", "true|false". */
static char *range_text(const struct param_info *info) {
    if (info->type == PARAM_TYPE_ENUM)
        return g_strdup(info->choices);
    if (info->type == PARAM_TYPE_BOOL)
        return g_strdup("true|false");
    struct params ends;
    char min[VALUE_BYTES], max[VALUE_BYTES];
    param_put(&ends, info, info->min);
    param_print(&ends, info, min, sizeof min);
    param_put(&ends, info, info->max);
    param_print(&ends, info, max, sizeof max);
    return g_strdup_printf("%s to %s%s%s", min, max, info->unit[0] ? " " : "", info->unit);
}

/* The whole file as text; the caller frees it with g_free. */
static char *file_text(const struct params *p, const char *without, size_t *length) {
    GKeyFile *file = g_key_file_new();
    for (int i = 0; i < param_count; i++) {
        const struct param_info *info = &param_table[i];
        char value[VALUE_BYTES];
        if (without && strcmp(info->group, without) == 0)
            continue;
        char *range = range_text(info);
        char *comment = g_strdup_printf(" %s (%s)", info->help, range);
        g_key_file_set_value(file, GROUP, info->name, param_print(p, info, value, sizeof value));
        g_key_file_set_comment(file, GROUP, info->name, comment, NULL);
        g_free(comment);
        g_free(range);
    }
    g_key_file_set_comment(file, NULL, NULL, " Settings of livestereo", NULL);
    char *text = g_key_file_to_data(file, length, NULL);
    g_key_file_free(file);
    return text;
}

int params_dump(const struct params *p, FILE *out) {
    size_t length;
    char *text = file_text(p, NULL, &length);
    errno = 0;
    int rc = 0;
    if (fwrite(text, 1, length, out) != length || fflush(out) != 0) {
        rc = errno ? -errno : -EIO;
        log_error(NULL, "cannot write the settings: %s", g_strerror(-rc));
    }
    g_free(text);
    return rc;
}

/* Writes all of text and brings it to the disk. 0 or -errno; fd is closed either way. */
static int write_through(int fd, const char *text, size_t length) {
    int rc = 0;
    while (length > 0 && rc == 0) {
        ssize_t written = write(fd, text, length);
        if (written >= 0) {
            text += written;
            length -= (size_t)written;
        } else if (errno != EINTR) {
            rc = -errno;
        }
    }
    if (rc == 0 && fsync(fd) != 0)
        rc = -errno;
    if (close(fd) != 0 && rc == 0)
        rc = -errno;
    return rc;
}

int params_save(const struct params *p, const char *path, const char *without) {
    size_t length;
    char *text = file_text(p, without, &length);
    char *beside = g_strconcat(path, ".XXXXXX", NULL);
    int rc = 0;
    int fd = g_mkstemp_full(beside, O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0) {
        rc = -errno;
    } else {
        rc = write_through(fd, text, length);
        if (rc == 0 && g_rename(beside, path) != 0)
            rc = -errno;
        if (rc != 0)
            g_unlink(beside);
    }
    if (rc != 0)
        log_error(path, "cannot write the settings: %s%s", g_strerror(-rc),
                  rc == -ENOENT ? "; make the folder first" : "");
    g_free(beside);
    g_free(text);
    return rc;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **preset_names(void) {
    GPtrArray *names = g_ptr_array_new();
    char **folders = preset_folders();
    for (char **folder = folders; *folder; folder++) {
        GDir *dir = g_dir_open(*folder, 0, NULL);
        const char *entry;
        while (dir && (entry = g_dir_read_name(dir))) {
            size_t length = strlen(entry), ending = strlen(".ini");
            if (!g_str_has_suffix(entry, ".ini") || length == ending)
                continue;
            char *name = g_strndup(entry, length - ending);
            if (g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
                g_free(name);
            else
                g_ptr_array_add(names, name);
        }
        if (dir)
            g_dir_close(dir);
    }
    g_strfreev(folders);
    g_ptr_array_sort(names, by_name);
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(names, FALSE);
}

bool preset_is_built_in(const char *name) {
    char *path = built_in_path(name);
    g_free(path);
    return path != NULL;
}

/* The file of a preset, or NULL after a message. The caller frees it with g_free. */
static char *preset_path(const char *name) {
    if (strchr(name, '/') || g_str_has_suffix(name, ".ini"))
        return g_strdup(name);
    char **folders = preset_folders(), *path = find_preset(folders, name);
    if (!path) {
        char **names = preset_names(), *known = g_strjoinv(", ", names);
        log_error(NULL, "no preset \"%.64s\"; %s%s", name,
                  known[0] ? "there are " : "none is installed, so give the path of a file", known);
        g_free(known);
        g_strfreev(names);
    }
    g_strfreev(folders);
    return path;
}

int preset_load_over(struct params *p, const char *name_or_path) {
    char *path = preset_path(name_or_path);
    if (!path)
        return -ENOENT;
    int rc = params_load(p, path);
    g_free(path);
    return rc;
}

int preset_load(struct params *p, const char *name_or_path) {
    struct params read;
    params_default(&read);
    int rc = preset_load_over(&read, name_or_path);
    if (rc == 0)
        *p = read;
    return rc;
}

char *params_user_path(void) {
    return g_build_filename(g_get_user_config_dir(), "livestereo", "livestereo.ini", NULL);
}

int params_load_user(struct params *p) {
    char *path = params_user_path();
    int rc = access(path, F_OK) == 0 ? params_load(p, path) : 0;
    g_free(path);
    return rc;
}

/* Prints text in lines of at most PAGE_COLUMNS, indented; words are never cut. */
static void print_wrapped(FILE *out, const char *text) {
    const int indent = 6;
    int column = 0;
    while (*text) {
        int word = (int)strcspn(text, " ");
        if (column > 0 && column + 1 + word > PAGE_COLUMNS) {
            fputc('\n', out);
            column = 0;
        }
        fprintf(out, "%*s%.*s", column == 0 ? indent : 1, "", word, text);
        column += (column == 0 ? indent : 1) + word;
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

static void print_row(FILE *out, const struct param_info *info) {
    struct params defaults;
    params_default(&defaults);
    char value[VALUE_BYTES];
    char *range = range_text(info);
    fprintf(out, "  %s  %s, default %s, %s\n", info->name, range,
            param_print(&defaults, info, value, sizeof value),
            info->when == PARAM_LIVE ? "LIVE" : "START");
    print_wrapped(out, info->help);
    g_free(range);
}

void params_help(FILE *out) {
    fputs("Parameters, for --set NAME=VALUE and in the group [" GROUP "] of settings files.\n"
          "LIVE ones act on the next frame, START ones when the pipeline is opened.\n",
          out);
    for (int i = 0; i < param_count; i++) {
        const char *group = param_table[i].group;
        int first = 0;
        while (strcmp(param_table[first].group, group) != 0)
            first++;
        if (first < i)
            continue;
        fprintf(out, "\n%s\n", group);
        for (int k = i; k < param_count; k++)
            if (strcmp(param_table[k].group, group) == 0)
                print_row(out, &param_table[k]);
    }
}
