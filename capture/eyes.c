/*
 * The functions of capture/eyes.h. SPDX-License-Identifier: MIT
 */
#include "capture/eyes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The most words of a name that are compared, and the ways in which they say an eye. */
enum { MAX_WORDS = 16, WAYS = 4 };

static const char *const sides[] = {"left", "right"};

/* The end of the word or number at a place: letters of which at most the first is a capital (or
 * only capitals), or digits. */
static const char *end_of(const char *at) {
    bool digits = g_ascii_isdigit(*at);
    const char *end = at + 1;
    while (digits ? g_ascii_isdigit(*end)
                  : g_ascii_islower(*end) || (g_ascii_isupper(*end) && g_ascii_isupper(end[-1])))
        end++;
    return end;
}

/* The eye that a word says: "left", "leftcam", "camleft", "l". */
static enum eye eye_of_word(const char *word, size_t length) {
    static const char *const others[] = {"bright", "upright", "copyright", "alright"};
    g_autofree char *low = g_ascii_strdown(word, (gssize)length);
    for (int side = 0; side < 2; side++) {
        if (length == 1 && low[0] == sides[side][0])
            return (enum eye)side;
        bool ends = g_str_has_suffix(low, sides[side]);
        for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
            ends = ends && strcmp(low, others[i]) != 0;
        if (ends || g_str_has_prefix(low, sides[side]))
            return (enum eye)side;
    }
    return EYE_UNKNOWN;
}

enum eye eye_of_name(const char *name) {
    enum eye eye = EYE_UNKNOWN;
    for (const char *at = name, *end; *at; at = end) {
        end = at + 1;
        if (!g_ascii_isalnum(*at))
            continue;
        end = end_of(at);
        enum eye word = g_ascii_isdigit(*at) ? EYE_UNKNOWN : eye_of_word(at, (size_t)(end - at));
        eye = word != EYE_UNKNOWN ? word : eye;
    }
    return eye;
}

/* The eye that the word or number from at to end says by a way: 0 by words, then by the numbers
 * from that way's on: 0 and 1, 1 and 2, 2 and 3. */
static enum eye eye_by_way(const char *at, const char *end, int way) {
    if (!g_ascii_isdigit(*at))
        return way == 0 ? eye_of_word(at, (size_t)(end - at)) : EYE_UNKNOWN;
    long number = strtol(at, NULL, 10);
    if (!way || (number != way - 1 && number != way))
        return EYE_UNKNOWN;
    return number == way ? EYE_RIGHT : EYE_LEFT;
}

void eye_pair_keys(const char *name,
                   void (*found)(void *context, const char *key, enum eye eye, int rank),
                   void *context) {
    for (int way = 0; way < WAYS; way++) {
        g_autoptr(GString) all = g_string_new(NULL); /* with all words exchanged that say an eye */
        enum eye said = EYE_UNKNOWN;
        int words = 0;
        g_string_printf(all, "%d ", way);
        for (const char *at = name, *end; *at && words < MAX_WORDS; at = end) {
            end = g_ascii_isalnum(*at) ? end_of(at) : at + 1;
            enum eye eye = g_ascii_isalnum(*at) ? eye_by_way(at, end, way) : EYE_UNKNOWN;
            if (eye == EYE_UNKNOWN) {
                g_string_append_len(all, at, end - at);
                continue;
            }
            /* what is left of the word tells leftcam from left */
            bool whole = way || end - at == 1;
            size_t rest = whole ? 0 : (size_t)(end - at) - strlen(sides[eye]);
            g_autofree char *key =
                g_strdup_printf("%d %.*s*%zu%s", way, (int)(at - name), name, rest, end);
            found(context, key, eye, way);
            g_string_append_printf(all, "*%zu", rest);
            said = words++ == 0 || said == eye ? eye : EYE_UNKNOWN;
        }
        if (words > 1 && said != EYE_UNKNOWN)
            found(context, all->str, said, way);
    }
}
