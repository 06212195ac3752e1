/*
 * Parameters in GKeyFile files: reading, writing, presets and the reference page. Any thread; every
 * struct params belongs to the caller. A file is read whole into a copy and handed over only when
 * all of it is right; it is written beside its final name and renamed, so nobody sees half of one.
 * SPDX-License-Identifier: MIT
 */
#include "config/params_file.h"

#include "config/feature_network.h"
#include "base/file.h"
#include "base/log.h"
#include "config/presets.h"

#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GROUP "livestereo"
#define INCLUDE "include" /* the key that names a preset to read first */

enum { MAX_BYTES = 1 << 20, WHY_BYTES = 512, VALUE_BYTES = 64, PAGE_COLUMNS = 78 };

/* Letters to add, drop or change on the way from a to b; most + 1 where it takes more than most. */
static int count_edits(const char *a, const char *b, int most) {
    for (; *a && *a == *b; a++)
        b++;
    if (most == 0 || (!*a && !*b))
        return *a || *b;
    int least = most;
    for (int drop = 1; drop <= 3; drop++) /* of a, of b, or of both */
        if ((*a || drop == 2) && (*b || drop == 1))
            least = MIN(least, count_edits(a + (drop & 1), b + (drop >> 1), most - 1));
    return 1 + least;
}

char *name_hint(const char *typed, const void *table, size_t count, size_t stride,
                const char *otherwise) {
    const char *nearest = NULL;
    int most = MIN(2, (int)strlen(typed) / 2);
    for (size_t i = 0; i < count && most > 0; i++) {
        const char *name = *(const char *const *)(const void *)((const char *)table + i * stride);
        int edits = count_edits(typed, name, most);
        nearest = edits <= most ? name : nearest;
        most = MIN(most, edits - 1);
    }
    return nearest ? g_strdup_printf("; did you mean %s?", nearest) : g_strdup(otherwise);
}

/* Reads every key of the group into *p, which is scratch on failure. ours: the program wrote the
 * file, perhaps an earlier version; what is not known today is left out, which is said once. */
static int read_keys(struct params *p, GKeyFile *file, const char *name, bool ours) {
    g_auto(GStrv) keys = g_key_file_get_keys(file, GROUP, NULL, NULL);
    int rc = 0;
    for (char **key = keys; key && *key && rc == 0; key++) {
        char why[WHY_BYTES];
        if (strcmp(*key, INCLUDE) == 0)
            continue;
        g_autofree char *value = g_key_file_get_value(file, GROUP, *key, NULL);
        rc = params_set(p, *key, value ? g_strchomp(value) : "", why, sizeof why);
        if (rc == 0)
            continue;
        g_autofree char *said = g_strconcat(name, ": ", why, NULL),
                        *hint = rc == -ENOENT ? NAME_HINT(*key, param_table, param_count, "")
                                              : g_strdup("");
        if (!ours)
            log_error(name, "%s%s", why, hint);
        else if (!g_quark_try_string(said) && g_quark_from_string(said))
            log_warning(name, "%s; it is left out", why);
        rc = ours ? 0 : rc;
    }
    return rc;
}

/* A file of ours has the one group and no other. */
static int check_groups(GKeyFile *file, const char *name) {
    g_auto(GStrv) groups = g_key_file_get_groups(file, NULL);
    int rc = 0;
    for (char **group = groups; *group && rc == 0; group++) {
        if (strcmp(*group, GROUP) != 0)
            rc = log_fail(-EINVAL, name, "no group [%.64s] is known; did you mean [" GROUP "]?",
                          *group);
    }
    if (rc == 0 && !groups[0])
        rc = log_fail(-EINVAL, name, "not a settings file; the first line to write is [" GROUP "]");
    return rc;
}

char *preset_user_folder(void) {
    return g_build_filename(g_get_user_config_dir(), "livestereo", "presets", NULL);
}

/* Sets what the preset does that the file includes. Files include presets of the program alone. */
static int read_include(struct params *p, GKeyFile *file, const char *name) {
    g_autofree char *base = g_key_file_get_value(file, GROUP, INCLUDE, NULL);
    const struct preset *preset = base ? preset_find(g_strchomp(base)) : NULL;
    if (preset)
        preset_apply(preset, p);
    if (preset || !base)
        return 0;
    return log_fail(-EINVAL, name, INCLUDE ": no preset \"%.64s\" comes with the program", base);
}

static int parse(struct params *p, const char *text, size_t length, const char *name, bool ours) {
    if (length > MAX_BYTES)
        return log_fail(-EFBIG, name, "over 1 MiB long; not a settings file");
    if (length == 0 || memchr(text, '\0', length))
        return log_fail(-EINVAL, name, "%s; not a settings file",
                        length == 0 ? "empty" : "holds binary data");
    /* Without KEEP_TRANSLATIONS a key like bp_levels[de] would be dropped or kept by the locale. */
    g_autoptr(GKeyFile) file = g_key_file_new();
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
        rc = read_include(&read, file, name);
    if (rc == 0)
        rc = read_keys(&read, file, name, ours);
    if (rc == 0)
        *p = read;
    return rc;
}

int params_parse(struct params *p, const char *text, size_t length, const char *name) {
    return parse(p, text, length, name, false);
}

int params_load_network(struct params *p, struct feature_network *network, const char *path) {
    struct feature_network read;
    char why[WHY_BYTES], *file;
    size_t size;
    int rc = file_load_bytes(path, FEATURE_FILE_BYTES, &file, &size);
    if (rc != 0)
        return rc;
    rc = feature_network_parse(&read, file, size, why, sizeof why);
    if (rc != 0) {
        log_error(path, "%s", why);
        free(file);
        return rc;
    }
    feature_network_drop(network);
    *network = read;
    p->network = network;
    return 0;
}

static int load(struct params *p, const char *path, bool ours) {
    char *text;
    size_t length;
    int rc = file_load(path, MAX_BYTES, &text, &length) ?: parse(p, text, length, path, ours);
    free(text);
    return rc;
}

int params_load(struct params *p, const char *path) {
    return load(p, path, false);
}

int params_load_known(struct params *p, const char *path) {
    return load(p, path, true);
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
    g_autoptr(GKeyFile) file = g_key_file_new();
    for (int i = 0; i < param_count; i++) {
        const struct param_info *info = &param_table[i];
        char value[VALUE_BYTES];
        if (without && strcmp(info->group, without) == 0)
            continue;
        g_autofree char *range = range_text(info);
        g_autofree char *comment = g_strdup_printf(" %s (%s)", info->help, range);
        g_key_file_set_value(file, GROUP, info->name, param_print(p, info, value, sizeof value));
        g_key_file_set_comment(file, GROUP, info->name, comment, NULL);
    }
    g_key_file_set_comment(file, NULL, NULL, " Settings of livestereo", NULL);
    return g_key_file_to_data(file, length, NULL);
}

int params_dump(const struct params *p, FILE *out) {
    size_t length;
    g_autofree char *text = file_text(p, NULL, &length);
    errno = 0;
    int rc = 0;
    if (fwrite(text, 1, length, out) != length || fflush(out) != 0) {
        rc = errno ? -errno : -EIO;
        log_error(NULL, "cannot write the settings: %s", g_strerror(-rc));
    }
    return rc;
}

int params_save(const struct params *p, const char *path, const char *without) {
    size_t length;
    g_autofree char *text = file_text(p, without, &length);
    g_autoptr(GError) error = NULL;
    if (g_file_set_contents_full(path, text, (gssize)length, G_FILE_SET_CONTENTS_CONSISTENT, 0666,
                                 &error))
        return 0;
    bool no_folder = g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT);
    log_error(path, "cannot write the settings: %s%s", error->message,
              no_folder ? "; make the folder first" : "");
    return no_folder ? -ENOENT : -EIO;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **preset_names(void) {
    GPtrArray *names = g_ptr_array_new();
    for (const struct preset *preset = preset_table; preset->name; preset++)
        g_ptr_array_add(names, g_strdup(preset->name));
    g_autofree char *folder = preset_user_folder();
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *entry;
    while (dir && (entry = g_dir_read_name(dir))) {
        size_t length = strlen(entry), ending = strlen(".ini");
        if (!g_str_has_suffix(entry, ".ini") || length == ending)
            continue;
        char *name = g_strndup(entry, length - ending);
        if (preset_find(name))
            g_free(name);
        else
            g_ptr_array_add(names, name);
    }
    g_ptr_array_sort(names, by_name);
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(names, FALSE);
}

int preset_load_over(struct params *p, const char *name_or_path) {
    if (strchr(name_or_path, '/') || g_str_has_suffix(name_or_path, ".ini"))
        return params_load(p, name_or_path);
    g_autofree char *folder = preset_user_folder();
    g_autofree char *own = g_strconcat(folder, "/", name_or_path, ".ini", NULL);
    if (*name_or_path && access(own, F_OK) == 0)
        return params_load_known(p, own);
    const struct preset *preset = preset_find(name_or_path);
    if (preset) {
        preset_apply(preset, p);
        return 0;
    }
    if (strcmp(name_or_path, "balanced") == 0)
        return log_fail(-ENOENT, NULL, "no preset \"balanced\"; default is its successor");
    g_auto(GStrv) names = preset_names();
    g_autofree char *known = g_strjoinv(", ", names),
                    *others = g_strconcat("; there are ", known, NULL),
                    *hint = NAME_HINT(name_or_path, names, g_strv_length(names), others);
    return log_fail(-ENOENT, NULL, "no preset \"%.64s\"%s", name_or_path, hint);
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
    g_autofree char *path = params_user_path();
    return access(path, F_OK) == 0 ? params_load(p, path) : 0;
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
    g_autofree char *range = range_text(info);
    fprintf(out, "  %s  %s, default %s, %s\n", info->name, range,
            param_print(&defaults, info, value, sizeof value),
            info->when == PARAM_LIVE ? "LIVE" : "START");
    print_wrapped(out, info->help);
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
