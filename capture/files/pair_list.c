/*
 * Which picture files make pairs: two files, two printf patterns, two folders, or a folder laid out
 * as users, KITTI and OpenCV do. Called once by a source's open on its thread; the caller owns the
 * list.
 * SPDX-License-Identifier: MIT
 */
#include "capture/files/number_pattern.h"
#include "capture/files/pair_list.h"
#include "capture/files/truth.h"
#include "capture/source.h"
#include "base/log.h"

#include <dirent.h>
#include <glib.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static const char *const endings[] = {".png", ".jpg",  ".jpeg", ".jps",
                                      ".tif", ".tiff", ".pgm",  ".ppm"};

static bool is_folder(const char *path) {
    return g_file_test(path, G_FILE_TEST_IS_DIR);
}

static bool is_there(const char *path) {
    return access(path, F_OK) == 0;
}

/* The next layout of folders, or of names beside each other, from *next on; NULL: no more. */
static const struct dataset_layout *next_layout(bool beside, int *next) {
    while (*next < DATASET_LAYOUTS) {
        const struct dataset_layout *layout = &dataset_layouts[(*next)++];
        if (layout->beside == beside && *layout->side[0])
            return layout;
    }
    return NULL;
}

bool source_is_picture_name(const char *name) {
    const char *folder = strrchr(name, '/'), *dot = strrchr(name, '.');
    if (!dot || (folder ? folder + 1 : name)[0] == '.' || g_str_has_suffix(name, ".disp.png"))
        return false; /* the last one is a truth (CREStereo) */
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++)
        if (g_ascii_strcasecmp(dot, endings[i]) == 0)
            return true;
    return false;
}

/* The eye of a name that begins as the layout says, where no digit follows a number of it. */
static enum eye eye_beside(const char *name, const struct dataset_layout *layout) {
    for (int side = 0; side < 2; side++) {
        const char *begin = layout->side[side], *rest = name + strlen(begin);
        if (g_str_has_prefix(name, begin) && !(g_ascii_isdigit(rest[-1]) && g_ascii_isdigit(*rest)))
            return (enum eye)side;
    }
    return EYE_UNKNOWN;
}

enum eye pair_list_eye(const char *path) {
    g_autofree char *name = g_path_get_basename(path), *folder = g_path_get_dirname(path);
    g_autofree char *below = g_strconcat("/", folder, NULL);
    const struct dataset_layout *layout;
    enum eye eye = eye_of_name(name);
    for (int next = 0; eye == EYE_UNKNOWN && (layout = next_layout(false, &next)) != NULL;)
        for (int side = 0; side < 2; side++) {
            g_autofree char *end = g_strconcat("/", layout->side[side], NULL);
            if (g_str_has_suffix(below, end))
                eye = (enum eye)side;
        }
    for (int next = 0; eye == EYE_UNKNOWN && (layout = next_layout(true, &next)) != NULL;)
        eye = eye_beside(name, layout);
    return eye;
}

/* As people count: runs of digits compare as numbers (2 before 10), the rest byte by byte. */
static int natural_order(const char *a, const char *b) {
    const char *p = a, *q = b;
    while (*p && *q) {
        if (g_ascii_isdigit(*p) && g_ascii_isdigit(*q)) {
            p += strspn(p, "0");
            q += strspn(q, "0");
            size_t n = strspn(p, "0123456789"), m = strspn(q, "0123456789");
            int order = n == m ? strncmp(p, q, n) : (n > m) - (n < m);
            if (order)
                return order;
            p += n;
            q += m;
        } else if (*p != *q) {
            return (unsigned char)*p < (unsigned char)*q ? -1 : 1;
        } else {
            p++;
            q++;
        }
    }
    if (*p || *q)
        return *p ? 1 : -1;
    return strcmp(a, b); /* 01 and 1 */
}

static int compare_names(const void *a, const void *b) {
    return natural_order(*(const char *const *)a, *(const char *const *)b);
}

/* Adds the names below folder of the pictures in it, and in up to levels of folders below it. 0 or
 * -errno. */
static int add_names(const char *folder, const char *below, int levels, GPtrArray *found) {
    g_autofree char *path = g_build_filename(folder, below, NULL);
    DIR *dir = opendir(path);
    if (!dir)
        return -errno;
    for (struct dirent *entry; (entry = readdir(dir));) {
        g_autofree char *name =
            *below ? g_build_filename(below, entry->d_name, NULL) : g_strdup(entry->d_name);
        if (source_is_picture_name(name))
            g_ptr_array_add(found, g_steal_pointer(&name));
        else if (levels > 0 && entry->d_name[0] != '.' && entry->d_type != DT_REG)
            add_names(folder, name, levels - 1, found);
    }
    closedir(dir);
    return 0;
}

enum { SCENE_LEVELS = 2 }; /* of folders below those of a layout: train/aachen (Cityscapes) */

/* The names (not paths) of the pictures in a folder, in order; *names by g_strfreev. 0, also where
 * there are none, or -errno without a log line. */
static int list_names(const char *folder, int levels, char ***names, long *count) {
    GPtrArray *found = g_ptr_array_new();
    int error = add_names(folder, "", levels, found);
    *count = 0;
    if (error) {
        g_ptr_array_free(found, TRUE);
        return error;
    }
    g_ptr_array_sort(found, compare_names);
    *count = (long)found->len;
    g_ptr_array_add(found, NULL);
    *names = (char **)g_ptr_array_free(found, FALSE);
    return 0;
}

static int cannot_list(const char *folder, int error) {
    return log_fail(error, folder, "cannot be read: %s", g_strerror(-error));
}

/* The same after a log line, where none is an error. */
static int list_folder(const char *folder, int levels, char ***names, long *count) {
    int error = list_names(folder, levels, names, count);
    if (error)
        return cannot_list(folder, error);
    if (*count > 0)
        return 0;
    g_strfreev(*names);
    *names = NULL;
    return log_fail(-ENOENT, folder, "holds no pictures (.png, .jpg, .tif, .pgm, .ppm)");
}

/* How many bytes all names begin with, 0 where there are none; a number is not cut. */
static size_t common_start(char **const names) {
    size_t length = names[0] ? strlen(names[0]) : 0;
    for (char **name = names; *name; name++)
        for (size_t i = 0; i < length; i++)
            if ((*name)[i] != names[0][i])
                length = i;
    while (length > 0 && g_ascii_isdigit(names[0][length - 1]))
        length--;
    return length;
}

/* A key for each picture of a side: its name without the beginning and end that all of them share,
 * numbers without leading zeros. g_strfreev. */
static char **picture_keys(char **const names, long count) {
    char **keys = g_new0(char *, count + 1), **reversed = g_new0(char *, count + 1);
    size_t start = common_start(names);
    for (long i = 0; i < count; i++)
        reversed[i] = g_strreverse(g_strdup(names[i] + start));
    size_t end = common_start(reversed);
    for (long i = 0; i < count; i++) {
        g_autofree char *middle = g_strreverse(g_strdup(reversed[i] + end));
        GString *key = g_string_new(NULL);
        for (const char *at = middle; *at; at++)
            if (*at != '0' || (key->len && g_ascii_isdigit(key->str[key->len - 1])) ||
                !g_ascii_isdigit(at[1]))
                g_string_append_c(key, *at);
        keys[i] = g_string_free(key, FALSE);
    }
    g_strfreev(reversed);
    return keys;
}

/* Leaves the pictures whose keys, of each side, have a partner, in their order. How many; 0, and
 * all of them, where none has. */
static long match_keys(const char *const folder[2], char **const names[2], long count[2],
                       char **const keys[2]) {
    g_autoptr(GHashTable) partner = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) paired = g_hash_table_new(NULL, NULL);
    g_autoptr(GPtrArray) left_kept = g_ptr_array_new();
    g_autoptr(GPtrArray) right_kept = g_ptr_array_new();
    GPtrArray *const kept[2] = {left_kept, right_kept};
    const char *alone = NULL;
    for (long i = 0; i < count[1]; i++)
        g_hash_table_insert(partner, keys[1][i], names[1][i]);
    for (long i = 0; i < count[0]; i++) {
        char *other = g_hash_table_lookup(partner, keys[0][i]);
        g_hash_table_remove(partner, keys[0][i]);
        if (other) {
            g_ptr_array_add(kept[0], names[0][i]);
            g_ptr_array_add(kept[1], other);
            g_hash_table_add(paired, names[0][i]);
            g_hash_table_add(paired, other);
        }
    }
    long pairs = (long)kept[0]->len, left_out = count[0] + count[1] - 2 * pairs;
    if (pairs == 0)
        return 0;
    for (int side = 0; side < 2; side++)
        for (char **name = names[side]; *name && !alone; name++)
            alone = g_hash_table_contains(paired, *name) ? NULL : *name;
    if (left_out)
        log_warning(folder[0],
                    "%ld pictures here and in %s have no partner and are left out, the first is %s",
                    left_out, folder[1], alone);
    for (int side = 0; side < 2; side++) {
        for (char **name = names[side]; *name; name++)
            if (!g_hash_table_contains(paired, *name))
                g_free(*name);
        memcpy(names[side], kept[side]->pdata, (size_t)pairs * sizeof(char *));
        names[side][pairs] = NULL;
        count[side] = pairs;
    }
    return pairs;
}

/* By what is not the same in all names of a side (000001_left.png, 000001_right.png). */
static long match_numbers(const char *const folder[2], char **const names[2], long count[2]) {
    g_auto(GStrv) left = picture_keys(names[0], count[0]);
    g_auto(GStrv) right = picture_keys(names[1], count[1]);
    long pairs = match_keys(folder, names, count, (char **const[]){left, right});
    if (pairs > 0)
        log_info(folder[0], "names of left and right differ; pairing by numbers, %s with %s first",
                 names[0][0], names[1][0]);
    return pairs;
}

/* Pairs pictures by their names; where no two are equal, by numbers; where none has a partner then
 * and the counts agree, by order. 0 or -ENOENT. */
static int match_names(const char *const folder[2], char **const names[2], long count[2]) {
    if (match_keys(folder, names, count, names) > 0 || match_numbers(folder, names, count) > 0)
        return 0;
    if (count[0] == count[1]) {
        log_warning(folder[0],
                    "its names differ from those in %s; pairing by order, %s with %s first",
                    folder[1], names[0][0], names[1][0]);
        return 0;
    }
    return log_fail(
        -ENOENT, folder[0],
        "holds %ld pictures and %s holds %ld, with other names; give both the same names", count[0],
        folder[1], count[1]);
}

static void prepend_folder(char **names, const char *folder) {
    for (char **name = names; *name; name++) {
        char *path = g_build_filename(folder, *name, NULL);
        g_free(*name);
        *name = path;
    }
}

static int pair_folders(const char *left, const char *right, int levels, struct pair_list *pairs) {
    const char *const folder[2] = {left, right};
    char **names[2] = {NULL, NULL};
    long count[2];
    int error = list_folder(left, levels, &names[0], &count[0])
                    ?: list_folder(right, levels, &names[1], &count[1]);
    if (!error)
        error = match_names(folder, names, count);
    if (error) {
        g_strfreev(names[0]);
        g_strfreev(names[1]);
        return error;
    }
    prepend_folder(names[0], left);
    prepend_folder(names[1], right);
    *pairs = (struct pair_list){names[0], names[1], count[0]};
    return 0;
}

static void copy_pairs(const char *const *left, const char *const *right, long count,
                       struct pair_list *pairs) {
    *pairs = (struct pair_list){g_new0(char *, count + 1), g_new0(char *, count + 1), count};
    for (long i = 0; i < count; i++) {
        pairs->left[i] = g_strdup(left[i]);
        pairs->right[i] = g_strdup(right[i]);
    }
}

/* Takes the paths over. */
static void take_pairs(GPtrArray *const side[2], struct pair_list *pairs) {
    pairs->count = (long)side[0]->len;
    for (int i = 0; i < 2; i++)
        g_ptr_array_add(side[i], NULL);
    pairs->left = (char **)g_ptr_array_free(side[0], FALSE);
    pairs->right = (char **)g_ptr_array_free(side[1], FALSE);
}

/* 1 where both files are there, 0 where neither is, or -ENOENT after a log line. */
static int is_pair(const char *left, const char *right) {
    bool has_left = is_there(left), has_right = is_there(right);
    if (has_left == has_right)
        return has_left;
    return log_fail(-ENOENT, has_left ? right : left, "is missing, the partner of %s",
                    has_left ? left : right);
}

/* left.png and right.png, or im0.png and im1.png (Middlebury, ETH3D), in a folder. 0, 1 when they
 * are not there, or -errno. */
static int pair_in_folder(const char *folder, struct pair_list *pairs) {
    const struct dataset_layout *layout;
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++)
        for (int next = 0; (layout = next_layout(true, &next)) != NULL;) {
            g_autofree char *left = g_strconcat(folder, "/", layout->side[0], endings[i], NULL);
            g_autofree char *right = g_strconcat(folder, "/", layout->side[1], endings[i], NULL);
            int is = is_pair(left, right);
            if (is > 0)
                copy_pairs((const char *const *)&left, (const char *const *)&right, 1, pairs);
            if (is)
                return MIN(is, 0);
        }
    return 1;
}

/* left01.jpg and right01.jpg, and so on, beside each other in a folder, as OpenCV has its
 * chessboards. 0, 1 when no name begins as the layout says, or -errno. */
static int pairs_beside(const char *folder, const struct dataset_layout *layout,
                        struct pair_list *pairs) {
    const char *const *sides = layout->side;
    g_auto(GStrv) names = NULL;
    long count;
    int error = list_names(folder, 0, &names, &count);
    if (error)
        return error;
    GPtrArray *found[2] = {g_ptr_array_new(), g_ptr_array_new()};
    for (char **name = names; *name && !error; name++) {
        enum eye side = eye_beside(*name, layout);
        if (side == EYE_UNKNOWN)
            continue;
        g_autofree char *path = g_build_filename(folder, *name, NULL);
        g_autofree char *other =
            g_strconcat(folder, "/", sides[!side], *name + strlen(sides[side]), NULL);
        int is = is_pair(path, other);
        error = MIN(is, 0);
        if (!error && !side) {
            g_ptr_array_add(found[0], g_steal_pointer(&path));
            g_ptr_array_add(found[1], g_steal_pointer(&other));
        }
    }
    take_pairs(found, pairs);
    if (!error && pairs->count > 0)
        return 0;
    pair_list_free(pairs);
    return error ? error : 1;
}

/* Names by the eye that each says, as new lists of any lengths. False where one says none, or all
 * say one. */
static bool split_by_eye(char **names, struct pair_list *sides) {
    GPtrArray *found[2] = {g_ptr_array_new(), g_ptr_array_new()};
    bool said = *names != NULL;
    for (char **name = names; *name; name++) {
        enum eye eye = eye_of_name(*name);
        said = said && eye != EYE_UNKNOWN;
        g_ptr_array_add(found[eye == EYE_RIGHT], g_strdup(*name));
    }
    said = said && found[0]->len > 0 && found[1]->len > 0;
    take_pairs(found, sides);
    return said;
}

/* 000001_left.png and 000001_right.png, and so on, in a folder. 0, 1 where names do not say so, or
 * -errno. */
static int pairs_by_eye(const char *folder, struct pair_list *pairs) {
    const char *const folders[2] = {folder, folder};
    g_auto(GStrv) names = NULL;
    long all;
    int error = list_names(folder, 0, &names, &all);
    if (error)
        return cannot_list(folder, error);
    bool said = split_by_eye(names, pairs);
    char **const sides[2] = {pairs->left, pairs->right};
    long count[2] = {pairs->count, all - pairs->count};
    pairs->count = said ? match_numbers(folders, sides, count) : 0;
    prepend_folder(pairs->left, folder);
    prepend_folder(pairs->right, folder);
    if (pairs->count > 0)
        return 0;
    pair_list_free(pairs);
    return 1;
}

static int pairs_below(const char *folder, struct pair_list *pairs) {
    const struct dataset_layout *layout;
    for (int next = 0; (layout = next_layout(false, &next)) != NULL;) {
        g_autofree char *left = g_build_filename(folder, layout->side[0], NULL);
        g_autofree char *right = g_build_filename(folder, layout->side[1], NULL);
        bool has_left = is_folder(left), has_right = is_folder(right);
        if (has_left && has_right)
            return pair_folders(left, right, SCENE_LEVELS, pairs);
        if (has_left || has_right)
            return log_fail(-ENOENT, folder, "holds %s/ but no %s/ beside it",
                            layout->side[has_right], layout->side[has_left]);
    }
    int error = pair_in_folder(folder, pairs);
    for (int next = 0; error == 1 && (layout = next_layout(true, &next)) != NULL;)
        error = pairs_beside(folder, layout, pairs);
    if (error == 1)
        error = pairs_by_eye(folder, pairs);
    if (error == 1)
        error = log_fail(
            -ENOENT, folder,
            "holds no pairs: neither left/ and right/, nor image_0/ and image_1/ (or "
            "the like), nor left.png and right.png, left01.png and right01.png ... (or im0 "
            "and im1, cam0 and cam1)");
    return error;
}

bool pair_list_is_side(const char *folder) {
    g_auto(GStrv) names = NULL;
    long count;
    if (!is_folder(folder) || list_names(folder, 0, &names, &count) != 0 || count == 0)
        return false;
    bool numbered = true, third = false; /* im0, im1, im2 alone: one camera's (Booster) */
    for (char **name = names; *name; name++) {
        numbered = numbered && g_str_has_prefix(*name, "im") && g_ascii_isdigit((*name)[2]);
        third |= g_str_has_prefix(*name, "im2.");
    }
    if (numbered && third)
        return true;
    struct log_target silent = {0}, *before = log_redirect(&silent);
    struct pair_list pairs;
    int error = pairs_below(folder, &pairs);
    log_redirect(before);
    if (!error)
        pair_list_free(&pairs);
    return error != 0;
}

enum { MAX_GAP = 1000, MAX_FIRST = 10000 }; /* numbers that are looked for */

/* Says so where the sequence goes on behind a number that has no files. */
static void warn_of_gap(const struct number_pattern *pattern, long missing) {
    g_autofree char *gap = number_pattern_name(pattern, missing);
    for (long number = missing + 1; number <= missing + MAX_GAP; number++) {
        g_autofree char *later = number_pattern_name(pattern, number);
        if (!is_there(later))
            continue;
        log_warning(gap,
                    "is missing, so the sequence ends before it, although %s is there; number the "
                    "files without gaps, or name folders",
                    later);
        return;
    }
}

/* Adds the pairs from first on until a number has neither file. */
static int count_up(const struct number_pattern pattern[2], long first, struct pair_list *pairs) {
    GPtrArray *side[2] = {g_ptr_array_new(), g_ptr_array_new()};
    int is = 1;
    long number = first;
    for (; is > 0; number++) {
        g_autofree char *left = number_pattern_name(&pattern[0], number);
        g_autofree char *right = number_pattern_name(&pattern[1], number);
        is = is_pair(left, right);
        if (is > 0) {
            g_ptr_array_add(side[0], g_steal_pointer(&left));
            g_ptr_array_add(side[1], g_steal_pointer(&right));
        }
    }
    if (is == 0 && side[0]->len > 0)
        warn_of_gap(&pattern[0], number - 1);
    take_pairs(side, pairs);
    if (is < 0)
        pair_list_free(pairs);
    return is;
}

static int pair_patterns(const struct number_pattern pattern[2], struct pair_list *pairs) {
    for (long first = 0; first <= MAX_FIRST; first++) {
        g_autofree char *left = number_pattern_name(&pattern[0], first);
        g_autofree char *right = number_pattern_name(&pattern[1], first);
        if (is_there(left) || is_there(right))
            return count_up(pattern, first, pairs);
    }
    g_autofree char *name = number_pattern_name(&pattern[0], 0);
    g_autofree char *last = number_pattern_name(&pattern[0], MAX_FIRST);
    return log_fail(-ENOENT, name, "is missing, and so are all others up to %s", last);
}

static int pair_words(const char *const *words, struct pair_list *pairs) {
    struct number_pattern pattern[2] = {{0}, {0}};
    const char *why = NULL;
    int is_pattern[2] = {0, 0}, error = 0; /* or -errno */
    for (int i = 0; i < 2 && !error; i++) {
        if (is_there(words[i])) /* a file may have a % in its name */
            continue;
        is_pattern[i] = number_pattern_parse(words[i], &pattern[i], &why);
        if (is_pattern[i] < 0)
            error = log_fail(-EINVAL, words[i], "%s", why);
    }
    if (!error && is_pattern[0] != is_pattern[1])
        error =
            log_fail(-EINVAL, words[is_pattern[0]],
                     "is one file but %s is a pattern; give two of a kind", words[is_pattern[1]]);
    if (!error && is_pattern[0])
        error = pair_patterns(pattern, pairs);
    else if (!error && is_folder(words[0]) && is_folder(words[1]))
        error = pair_folders(words[0], words[1], 0, pairs);
    else if (!error)
        copy_pairs(words, words + 1, 1, pairs);
    for (int i = 0; i < 2; i++)
        number_pattern_free(&pattern[i]);
    return error;
}

static int pair_halves(const char *const *words, int count, struct pair_list *pairs) {
    if (count % 2)
        return log_fail(
            -EINVAL, words[count - 1],
            "%d pictures cannot be pairs; give as many right ones as left ones, first all "
            "left ones, then all right ones",
            count);
    copy_pairs(words, words + count / 2, count / 2, pairs);
    return 0;
}

int pair_list_find(const char *const *words, int count, bool lists, struct pair_list *pairs) {
    *pairs = (struct pair_list){0};
    if (count == 2)
        return pair_words(words, pairs);
    if (lists && count > 2)
        return pair_halves(words, count, pairs);
    if (count != 1)
        return log_fail(-EINVAL, words[2],
                        "is one word too many; name a folder, the left and the right file, or two "
                        "patterns in quotes ('left_%%06d.png' 'right_%%06d.png')");
    if (is_folder(words[0]))
        return pairs_below(words[0], pairs);
    if (is_there(words[0]))
        return log_fail(-EINVAL, words[0],
                        "is one file; name the left and the right one, or a folder of pairs");
    return log_fail(-errno, words[0], "cannot be opened: %s", g_strerror(errno));
}

/* ---- one stream of pictures */

/* Each and the one step later; 0: itself. */
static int pair_stream(const char *word, const char *const *names, long count, int step,
                       struct pair_list *pairs) {
    if (count <= step)
        return log_fail(
            -EINVAL, word,
            "%ld picture%s cannot be motion, which leads to the one %d later; give more", count,
            count == 1 ? "" : "s", step);
    copy_pairs(names, names + step, count - step, pairs);
    return 0;
}

static int stream_of_pattern(const char *word, int step, struct pair_list *pairs) {
    struct number_pattern pattern = {0};
    struct pair_list all = {0};
    const char *why = NULL;
    if (number_pattern_parse(word, &pattern, &why) <= 0)
        return log_fail(-ENOENT, word, "%s",
                        why ? why : "cannot be opened: there is no such file or folder");
    int error = pair_patterns((const struct number_pattern[]){pattern, pattern}, &all)
                    ?: pair_stream(word, (const char *const *)all.left, all.count, step, pairs);
    number_pattern_free(&pattern);
    pair_list_free(&all);
    return error;
}

/* The folder whose pictures the stream is: that of the left ones where there are pairs. */
static char *stream_folder(const char *folder) {
    const struct dataset_layout *layout;
    for (int next = 0; (layout = next_layout(false, &next)) != NULL;) {
        char *left = g_build_filename(folder, layout->side[0], NULL);
        if (is_folder(left))
            return left;
        g_free(left);
    }
    return g_strdup(folder);
}

int pair_list_find_stream(const char *const *words, int count, int step, struct pair_list *pairs) {
    g_auto(GStrv) names = NULL;
    long found;
    *pairs = (struct pair_list){0};
    if (count == 1 && !is_there(words[0]))
        return stream_of_pattern(words[0], step, pairs);
    if (count > 1 || !is_folder(words[0]))
        return pair_stream(words[0], words, count, step, pairs);
    g_autofree char *folder = stream_folder(words[0]);
    if (list_folder(folder, 0, &names, &found) != 0)
        return -ENOENT;
    prepend_folder(names, folder);
    return pair_stream(folder, (const char *const *)names, found, step, pairs);
}

void pair_list_free(struct pair_list *pairs) {
    g_strfreev(pairs->left);
    g_strfreev(pairs->right);
    *pairs = (struct pair_list){0};
}
