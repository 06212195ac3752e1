/*
 * The manual page lists every command and every option of each, and no other.
 * SPDX-License-Identifier: MIT
 */
#include <glib.h>
#include <stdbool.h>
#include <string.h>

static char *page;

static bool is_listed(const char *option) {
    static const char *const forms[] = {".It Fl -", " , Fl -", "\n.Fl -", "| -"};
    for (unsigned i = 0; i < G_N_ELEMENTS(forms); i++) {
        g_autofree char *text = g_strconcat(forms[i], option, NULL);
        for (const char *at = page; (at = strstr(at, text)); at++)
            if (!g_ascii_isalnum(at[strlen(text)]) && at[strlen(text)] != '-')
                return true;
    }
    return false;
}

/* The help that the program prints; free it with g_free. */
static char *help_of(const char *command, const char *option) {
    g_autofree char *line =
        g_strdup_printf("%s %s %s", g_getenv("LIVESTEREO_BIN"), command, option);
    char *out = NULL;
    g_assert_true(g_spawn_command_line_sync(line, &out, NULL, NULL, NULL));
    return out;
}

static void test_options(gconstpointer command) {
    g_autofree char *out = help_of(command, "--help-all");
    g_autoptr(GRegex) option = g_regex_new("(?<![\\w-])--([a-z0-9-]+)", 0, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL;
    for (g_regex_match(option, out, 0, &match); g_match_info_matches(match);
         g_match_info_next(match, NULL)) {
        g_autofree char *name = g_match_info_fetch(match, 1);
        if (!is_listed(name)) {
            g_test_message("--%s", name);
            g_test_fail();
        }
    }
}

/* The commands of the program's own help. */
static char **commands_of_help(void) {
    g_autofree char *out = help_of("", "--help");
    g_autoptr(GStrvBuilder) commands = g_strv_builder_new();
    char *at = strstr(out, "Commands:\n");
    g_assert_nonnull(at);
    while ((at = strchr(at, '\n') + 1) && g_str_has_prefix(at, "  ")) {
        g_autofree char *name = g_strndup(at + 2, strcspn(at + 2, " "));
        g_strv_builder_add(commands, name);
    }
    return g_strv_builder_end(commands);
}

static void test_command(gconstpointer command) {
    g_autofree char *row = g_strdup_printf("\n.It Cm %s\n", (const char *)command);
    g_autofree char *longer = g_strdup_printf("\n.It Cm %s ", (const char *)command);
    g_assert_true(strstr(page, row) || strstr(page, longer));
    test_options(command);
}

static void test_gone(gconstpointer commands) {
    g_autofree char *own = help_of("", "--help");
    g_autoptr(GString) helps = g_string_new(own);
    g_autoptr(GRegex) option = g_regex_new("\\bFl (-?[a-z][a-z0-9-]*)", 0, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL;
    for (char *const *name = commands; *name; name++) {
        g_autofree char *help = help_of(*name, "--help-all");
        g_string_append(helps, help);
    }
    for (g_regex_match(option, page, 0, &match); g_match_info_matches(match);
         g_match_info_next(match, NULL)) {
        g_autofree char *name = g_match_info_fetch(match, 1),
                        *form = g_strdup_printf("-%s(?![\\w-])", name);
        g_test_message("-%s", name);
        g_assert_true(g_regex_match_simple(form, helps->str, 0, 0));
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_assert_true(g_file_get_contents("docs/livestereo.1", &page, NULL, NULL));
    g_auto(GStrv) commands = commands_of_help();
    g_assert_cmpuint(g_strv_length(commands), >, 5);
    g_test_add_data_func("/manual/options", "", test_options);
    g_test_add_data_func("/manual/gone", commands, test_gone);
    for (char **name = commands; *name; name++) {
        g_autofree char *path = g_strdup_printf("/manual/command/%s", *name);
        g_test_add_data_func(path, *name, test_command);
    }
    int status = g_test_run();
    g_free(page);
    return status;
}
