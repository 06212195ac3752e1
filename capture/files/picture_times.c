/*
 * The function of capture/files/picture_times.h. SPDX-License-Identifier: MIT
 */
#include "capture/files/picture_times.h"

#include "capture/source_private.h"
#include "base/file.h"
#include "base/log.h"
#include "base/quantile.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1000000000LL
#define MAX_TIME_NS (INT64_MAX / 2) /* in 2116: times are added to others */
#define MAX_TIMES (16 << 20)        /* bytes of a list of times */

/* A number as it is written: whole and billionths, so that no digit of a time is lost. */
struct number {
    int64_t whole, billionths;
    bool is_whole; /* without a point */
};

struct line {
    struct number column[2];
    int columns;   /* how many of them are there */
    bool is_date;  /* then column[0] is in seconds since 1970 */
    char *picture; /* the name of a file that it says, or NULL */
};

struct list {
    const char *path;
    GArray *lines;      /* struct line */
    int column;         /* which one is the time; the other is the picture's number */
    int64_t unit_ns;    /* of the times */
    const char *header; /* the line above them, or NULL */
    bool doubtful;      /* "10,25": number and time, or a decimal comma */
};

static bool parse_number(const char *text, struct number *number) {
    char *end;
    *number = (struct number){0};
    if (!g_ascii_isdigit(text[*text == '.']))
        return false;
    number->whole = g_ascii_strtoll(text, &end, 10);
    number->is_whole = *end == '\0';
    if (*end == '.') {
        int64_t unit = NS_PER_S / 10;
        for (end++; g_ascii_isdigit(*end); end++, unit /= 10)
            number->billionths += (*end - '0') * unit;
    }
    if (*end == '\0')
        return true;
    double value = g_ascii_strtod(text, &end); /* 1.036224e+00 */
    if (*end != '\0' || !(value < 1e18))
        return false;
    number->whole = (int64_t)value;
    number->billionths = llround((value - (double)number->whole) * NS_PER_S);
    return true;
}

/* "2011-09-26 13:02:25.964389445", as KITTI has it, or with a T between its parts. */
static bool parse_date(const char *text, struct number *seconds) {
    g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
    g_autoptr(GDateTime) date = g_date_time_new_from_iso8601(text, utc);
    const char *point = strchr(text, '.');
    if (!date)
        return false;
    g_autofree char *fraction = g_strdup(point ? point : ".0");
    fraction[1 + strspn(fraction + 1, "0123456789")] = '\0'; /* before a zone */
    parse_number(fraction, seconds);
    seconds->whole = g_date_time_to_unix(date);
    return true;
}

/* False where a line holds no time. */
static bool parse_line(const char *text, struct line *line) {
    g_auto(GStrv) words = g_strsplit_set(text, " \t,;", -1);
    *line = (struct line){0};
    for (char **word = words; *word; word++) {
        struct number number;
        g_autofree char *both = word[1] ? g_strconcat(word[0], " ", word[1], NULL) : NULL;
        if (!line->is_date && (parse_date(*word, &number) || (both && parse_date(both, &number)))) {
            line->column[0] = number;
            line->columns = 1;
            line->is_date = true;
        } else if (!line->is_date && line->columns < 2 && parse_number(*word, &number)) {
            line->column[line->columns++] = number;
        } else if (!line->picture && source_is_picture_name(*word)) {
            line->picture = g_path_get_basename(*word);
        }
    }
    return line->columns > 0;
}

static const struct line *line_at(const struct list *list, guint i) {
    return &g_array_index(list->lines, struct line, i);
}

static double value_of(const struct number *number) {
    return (double)number->whole + (double)number->billionths / NS_PER_S;
}

/* Whether the first column counts the pictures: whole numbers that grow, as those behind them do
 * (DSO: number, time, exposure). */
static bool is_numbered(const struct list *list) {
    for (guint i = 0; i < list->lines->len; i++) {
        const struct line *line = line_at(list, i), *last = i ? line - 1 : NULL;
        if (line->columns < 2 || !line->column[0].is_whole ||
            (last && (line->column[0].whole <= last->column[0].whole ||
                      value_of(&line->column[1]) <= value_of(&last->column[1]))))
            return false;
    }
    return list->lines->len > 1;
}

/* The median of the steps that are more than 0; 0 where there are none. */
static double median_step(const double *times, long count) {
    g_autofree double *steps = g_new(double, count);
    int found = 0;
    for (long i = 1; i < count; i++)
        if (times[i] > times[i - 1])
            steps[found++] = times[i] - times[i - 1];
    return found ? quantile_of(steps, found, 0.5) : 0;
}

/* The unit of times in ns: the one that the header says (EuRoC: "#timestamp [ns]"); else the unit
 * in which the first one is 2001 to 2286, if pictures are then at most an hour apart; else, for
 * whole numbers, that in which they are 3 ms to 3 s apart, as a camera's are; else seconds. */
static int64_t find_unit(const struct list *list) {
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    guint count = list->lines->len;
    g_autofree double *times = g_new(double, count);
    g_auto(GStrv) header = g_strsplit_set(list->header ? list->header : "", "[]()_, \t#", -1);
    bool whole = true;
    for (guint i = 0; i < count; i++) {
        times[i] = value_of(&line_at(list, i)->column[list->column]);
        whole &= line_at(list, i)->column[list->column].is_whole;
    }
    double step = median_step(times, count);
    for (size_t i = 0; i < G_N_ELEMENTS(units); i++) {
        double first = times[0] * units[i].ns;
        if (g_strv_contains((const char *const *)header, units[i].name) ||
            (first >= 1e18 && first < 1e19 && step * units[i].ns <= 3.6e12))
            return (int64_t)units[i].ns;
    }
    for (size_t i = 0; whole && i < G_N_ELEMENTS(units); i++)
        if (step * units[i].ns > 3.3e6 && step * units[i].ns <= 3.3e9)
            return (int64_t)units[i].ns;
    return NS_PER_S;
}

/* MAX_TIME_NS for those outside 1970 to 2116, which no list may have. */
static int64_t time_of(const struct list *list, guint i) {
    const struct number *number = &line_at(list, i)->column[list->column];
    int64_t ns;
    if (__builtin_mul_overflow(number->whole, list->unit_ns, &ns) || ns < 0 || ns >= MAX_TIME_NS)
        return MAX_TIME_NS;
    return ns + number->billionths / (NS_PER_S / list->unit_ns);
}

/* The last number in the name of a picture; -1: none. */
static int64_t number_of(const char *picture) {
    g_autofree char *name = g_path_get_basename(picture);
    const char *at = name + strlen(name);
    while (at > name && !g_ascii_isdigit(at[-1]))
        at--;
    while (at > name && g_ascii_isdigit(at[-1]))
        at--;
    return g_ascii_isdigit(*at) ? g_ascii_strtoll(at, NULL, 10) : -1;
}

/* Lines by what they say of their picture: its name, its number (as the first column, or counted
 * from 0). False where a picture has none. */
static bool find_lines(const struct list *list, const char *const *pictures, long count,
                       bool by_name, int64_t *times) {
    g_autoptr(GHashTable) line_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < list->lines->len; i++) {
        const struct line *line = line_at(list, i);
        int64_t number = list->column == 1 ? line->column[0].whole : (int64_t)i;
        if (!by_name || line->picture)
            g_hash_table_insert(line_of,
                                by_name ? g_strdup(line->picture)
                                        : g_strdup_printf("%" G_GINT64_FORMAT, number),
                                GUINT_TO_POINTER(i + 1));
    }
    for (long k = 0; k < count; k++) {
        g_autofree char *key = by_name
                                   ? g_path_get_basename(pictures[k])
                                   : g_strdup_printf("%" G_GINT64_FORMAT, number_of(pictures[k]));
        guint found = GPOINTER_TO_UINT(g_hash_table_lookup(line_of, key));
        if (!found)
            return false;
        times[k] = time_of(list, found - 1);
    }
    return true;
}

/* The time of each picture. False after a log line. */
static bool match(const struct list *list, const char *const *pictures, long count,
                  int64_t *times) {
    if (find_lines(list, pictures, count, true, times))
        return true;
    bool numbered = list->column == 1;
    if ((numbered || list->lines->len != count) && find_lines(list, pictures, count, false, times))
        return true;
    if (numbered && list->doubtful) {
        log_warning(list->path, "has lines such as 10,25, which do not begin with the pictures' "
                                "numbers: it is not used; write decimals with a point");
        return false;
    }
    for (long k = 0; k < count && list->lines->len == count; k++)
        times[k] = time_of(list, (guint)k);
    if (list->lines->len != count)
        log_warning(list->path, "has %u times for %ld pictures: it is not used", list->lines->len,
                    count);
    return list->lines->len == count;
}

static char *replace_commas(const char *pattern, const char *text) {
    g_autoptr(GRegex) commas = g_regex_new(pattern, G_REGEX_MULTILINE | G_REGEX_RAW, 0, NULL);
    return g_regex_replace_literal(commas, text, -1, 0, ".", 0, NULL);
}

/* The text with points for decimal commas: those of seconds (12:30:01,250), of columns parted by
 * semicolons or blanks, and of a list of "10,25" alone whose decimals have one length, unless the
 * numbers before the comma count on. That is doubtful where no decimals begin with a 0. g_free. */
static char *use_points(struct list *list, const char *text) {
    g_autofree char *dates = replace_commas("(?<=:\\d\\d),(?=\\d{3,9}\\s*$)", text);
    g_auto(GStrv) lines = g_strsplit(g_strstrip(dates), "\n", -1);
    bool parted = strchr(text, ';') || g_regex_match_simple("^\\d\\S*[ \\t]+\\S", dates,
                                                            G_REGEX_MULTILINE | G_REGEX_RAW, 0);
    bool pairs = !parted, counts = true, zero = false;
    int length = 0;
    long last = 0;
    for (char **line = lines; *line && pairs; line++) {
        long whole;
        int at = 0, end = 0;
        if (!g_ascii_isdigit(**line))
            continue; /* a header, a comment */
        pairs = sscanf(*line, "%ld,%n%*[0-9]%n", &whole, &at, &end) == 1 && end > at &&
                !(*line)[end + strspn(*line + end, " \t\r")] && (length == 0 || end - at == length);
        counts &= length == 0 || whole == last + 1;
        length = end - at;
        zero |= length > 1 && length < 10 && (*line)[at] == '0';
        last = whole;
    }
    list->doubtful = pairs && counts && !zero;
    bool decimal = parted || (pairs && length < 10 && !list->doubtful);
    return decimal ? replace_commas("(?<=\\d),(?=\\d+(\\s|;|$))", dates) : g_steal_pointer(&dates);
}

/* Takes the text apart. False after a log line. */
static bool parse_list(char *text, struct list *list) {
    for (char *word; (word = strsep(&text, "\n")) != NULL;) {
        struct line line;
        if (parse_line(g_strstrip(word), &line)) {
            g_array_append_val(list->lines, line);
            continue;
        }
        if (list->lines->len == 0 && *word)
            list->header = word;
        else if (*word && *word != '#') {
            log_warning(list->path, "has no time in line \"%.40s\": it is not used", word);
            return false;
        }
    }
    if (list->lines->len == 0) {
        log_warning(list->path, "holds no times: it is not used");
        return false;
    }
    list->column = is_numbered(list);
    list->unit_ns = line_at(list, 0)->is_date ? NS_PER_S : find_unit(list);
    return true;
}

static void clear_line(void *line) {
    g_free(((struct line *)line)->picture);
}

static bool read_list(const char *path, const char *const *pictures, long count, int64_t *times) {
    struct list list = {.path = path};
    char *bytes;
    size_t length;
    if (file_load(path, MAX_TIMES, &bytes, &length) != 0)
        return false;
    g_autofree char *text = use_points(&list, bytes);
    free(bytes);
    list.lines = g_array_new(FALSE, FALSE, sizeof(struct line));
    g_array_set_clear_func(list.lines, clear_line);
    bool known = parse_list(text, &list) && match(&list, pictures, count, times);
    if (known && list.unit_ns != NS_PER_S)
        log_info(path, "is taken as times in %s",
                 list.unit_ns == 1      ? "ns"
                 : list.unit_ns == 1000 ? "us"
                                        : "ms");
    g_array_free(list.lines, TRUE);
    return known;
}

/* Names such as 1403636579763555584.png (ns) or 1305031102.175304.png (s): numbers that are times
 * since 1970. */
static bool read_names(const char *const *pictures, long count, int64_t *times) {
    for (long k = 0; k < count; k++) {
        struct line line = {.columns = 1};
        g_autofree char *name = g_path_get_basename(pictures[k]);
        if (strrchr(name, '.'))
            *strrchr(name, '.') = '\0';
        if (!parse_number(name, &line.column[0]) || line.column[0].whole < NS_PER_S ||
            (line.column[0].is_whole && line.column[0].whole < NS_PER_S * 100000))
            return false;
        struct list list = {.lines = g_array_new(FALSE, FALSE, sizeof line)};
        g_array_append_val(list.lines, line);
        list.unit_ns = find_unit(&list);
        times[k] = time_of(&list, 0);
        g_array_free(list.lines, TRUE);
    }
    return true;
}

/* The list of times of pictures in this folder, or NULL; g_free. */
static char *find_list(const char *folder) {
    static const char *const names[] = {"times.txt", "timestamps.txt", "timestamp.txt",
                                        "times.csv", "timestamps.csv", "data.csv",
                                        "rgb.txt"};
    g_autofree char *last = g_path_get_basename(folder);
    int levels = strcmp(last, "data") == 0 ? 3 : 2; /* image_00/data, cam0/data */
    g_autofree char *at = g_strdup(folder);
    for (int level = 0; level < levels; level++) {
        for (size_t k = 0; k < G_N_ELEMENTS(names); k++) {
            char *path = g_build_filename(at, names[k], NULL);
            if (g_file_test(path, G_FILE_TEST_IS_REGULAR))
                return path;
            g_free(path);
        }
        char *above = g_path_get_dirname(at);
        g_free(at);
        at = above;
    }
    return NULL;
}

int64_t *picture_times_read(const char *const *pictures, long count, double *rate) {
    g_autofree char *folder = g_path_get_dirname(pictures[0]);
    g_autofree char *path = find_list(folder);
    g_autofree int64_t *times = g_new(int64_t, count);
    g_autofree double *seconds = g_new(double, count);
    *rate = 0;
    if (!(path && read_list(path, pictures, count, times)) && !read_names(pictures, count, times))
        return NULL;
    for (long i = 0; i < count; i++) {
        if (times[i] == MAX_TIME_NS) {
            log_warning(pictures[i], "has a time outside of 1970 to 2116: no times are used");
            return NULL;
        }
        seconds[i] = (double)(times[i] - times[0]) / NS_PER_S;
    }
    *rate = rate_of_fraction(1, median_step(seconds, count));
    return g_steal_pointer(&times);
}
