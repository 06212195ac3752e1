/*
 * Settings: the parameters of parts METHOD and DEVICE, by name and text.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/settings.h"

#include "config/presets.h"
#include "gpu/mistakes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(x) #x
#define VERSION_TEXT(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

const char *livestereo_version(void) {
    return VERSION_TEXT(LIVESTEREO_VERSION_MAJOR, LIVESTEREO_VERSION_MINOR,
                        LIVESTEREO_VERSION_PATCH);
}

const char *livestereo_preset(int index) {
    for (int i = 0; index >= 0 && preset_table[i].name; i++)
        if (i == index)
            return preset_table[i].name;
    return NULL;
}

/* The sentence of a call without a handle. */
#define explain(...) snprintf(library_no_handle.error, LOG_MESSAGE, __VA_ARGS__)

int livestereo_settings_open(struct livestereo_settings **settings, const char *preset) {
    if (!settings) {
        explain("settings: NULL is no place to put them");
        return -EINVAL;
    }
    *settings = NULL;
    const struct preset *found = preset_find(preset ? preset : "default");
    if (!found) {
        explain("\"%.64s\" is no preset", preset);
        log_clean(library_no_handle.error);
        return -ENOENT;
    }
    struct livestereo_settings *s = calloc(1, sizeof(*s));
    if (!s) {
        explain("not enough memory for settings");
        return -ENOMEM;
    }
    params_default(&s->params);
    preset_apply(found, &s->params);
    *settings = s;
    return 0;
}

/* Parameters of sources and of the display are not the library's. */
static const struct param_info *find(const char *name) {
    const struct param_info *info = name ? param_find(name) : NULL;
    return info && info->part <= PARAM_DEVICE ? info : NULL;
}

int livestereo_settings_set(struct livestereo_settings *s, const char *name, const char *text) {
    if (!s)
        return -EINVAL;
    if (!name || !text) {
        snprintf(s->error, sizeof(s->error), "a parameter needs a name and a value");
        return -EINVAL;
    }
    if (param_find(name) && !find(name)) {
        snprintf(s->error, sizeof(s->error), "%s is a parameter of the program alone", name);
        return -ENOENT;
    }
    char why[LOG_MESSAGE];
    int error = params_set(&s->params, name, text, why, sizeof(why));
    if (error)
        memcpy(s->error, why, sizeof(why));
    return error;
}

int livestereo_settings_get(struct livestereo_settings *s, const char *name, char *text,
                            size_t size) {
    char value[64];
    const struct param_info *info = find(name);
    if (!s)
        return -EINVAL;
    if (!name || !text) {
        snprintf(s->error, sizeof(s->error), "a value needs a name and a place to put it");
        return -EINVAL;
    }
    if (!info) {
        snprintf(s->error, sizeof(s->error), "\"%.64s\" is no parameter of the library", name);
        log_clean(s->error);
        return -ENOENT;
    }
    param_print(&s->params, info, value, sizeof(value));
    if (strlen(value) >= size) {
        snprintf(s->error, sizeof(s->error), "%s: \"%s\" does not fit %zu bytes", name, value,
                 size);
        return -ENOSPC;
    }
    memcpy(text, value, strlen(value) + 1);
    return 0;
}

int library_copy_network(struct feature_network *network, const void *file, size_t size, char *why,
                         size_t why_size) {
    void *copy = malloc(size);
    int error = -ENOMEM;
    if (copy) {
        memcpy(copy, file, size);
        error = feature_network_parse(network, copy, size, why, why_size);
    } else {
        snprintf(why, why_size, "not enough memory for the weights");
    }
    if (error) {
        free(copy);
        network->file = NULL;
    }
    return error;
}

int livestereo_settings_set_weights(struct livestereo_settings *s, const void *file, size_t size) {
    struct feature_network network = {0};
    if (!s)
        return -EINVAL;
    if ((size && !file) || size > FEATURE_FILE_BYTES) {
        snprintf(s->error, sizeof(s->error), "weights need a file of at most %d bytes",
                 FEATURE_FILE_BYTES);
        return -EINVAL;
    }
    int error = size ? library_copy_network(&network, file, size, s->error, sizeof(s->error)) : 0;
    if (error)
        return error;
    feature_network_drop(&s->network);
    s->network = network;
    s->params.network = size ? &s->network : NULL;
    return 0;
}

int livestereo_parameters(int (*each)(void *context, const struct livestereo_parameter *parameter),
                          void *context) {
    static const enum livestereo_type types[] = {
        [PARAM_TYPE_INT] = LIVESTEREO_INT,
        [PARAM_TYPE_REAL] = LIVESTEREO_REAL,
        [PARAM_TYPE_BOOL] = LIVESTEREO_BOOL,
        [PARAM_TYPE_ENUM] = LIVESTEREO_CHOICE,
    };
    int result = each ? 0 : -EINVAL;
    if (!each)
        explain("parameters: there is no function to call");
    for (int i = 0; i < param_count && result == 0; i++) {
        const struct param_info *info = &param_table[i];
        if (info->part > PARAM_DEVICE)
            continue;
        result = each(context, &(struct livestereo_parameter){.name = info->name,
                                                              .unit = info->unit,
                                                              .group = info->group,
                                                              .help = info->help,
                                                              .choices = info->choices,
                                                              .type = types[info->type],
                                                              .at_open = info->when == PARAM_START,
                                                              .min = info->min,
                                                              .max = info->max,
                                                              .step = info->step,
                                                              .def = info->def});
    }
    return result;
}

const char *livestereo_settings_error(const struct livestereo_settings *s) {
    return s ? s->error : "there are no settings";
}

void livestereo_settings_close(struct livestereo_settings **s) {
    if (!s)
        return;
    if (*s)
        feature_network_drop(&(*s)->network);
    free(*s);
    *s = NULL;
}
