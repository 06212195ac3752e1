/*
 * The server of app/live/output.h, on libwebsockets, whose thread calls `called` for everything
 * that happens to a connection. Clients may be hostile: what they send is bounded, and pages of
 * other sites are refused by the headers Host and Origin.
 * SPDX-License-Identifier: MIT
 */
#include "app/live/output.h"

#include "app/commands.h"
#include "app/live/foxglove_text.h"
#include "app/live/queue.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"

#include <arpa/inet.h>
#include <gio/gio.h>
#include <libwebsockets.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define PREFIX "foxglove:"

enum {
    CLIENTS = 64,            /* at a time; more are refused */
    CONNECTIONS = 128,       /* the same, with those that have not spoken yet or read the page */
    MESSAGE_BYTES = 1 << 16, /* of what a client may send */
    PIECE_BYTES = 1 << 16,   /* of what is sent at a time */
    HEAD_BYTES = 13,         /* of a message: opcode, subscription, time */
    AHEAD = 4,               /* messages that a client may not have read: more would grow old */
    SETTLE_MS = 1000         /* until frames have the parameters that a client has set */
};

extern const char page_index_html[], page_page_js[], page_page_css[];

struct client {
    struct lws *wsi;
    bool subscribed[FOXGLOVE_CHANNELS];
    bool watches, owed; /* is told when parameters change; has not been told of the last change */
    uint32_t subscription[FOXGLOVE_CHANNELS];
    bool due[FOXGLOVE_CHANNELS]; /* the newest frame's message of a channel has not been sent */
    int last;                    /* channel that was sent last */
    bool pings;                  /* a message has gone; a ping goes behind it */
    int unanswered;              /* pings, which are answered when what is before them was read */
    GQueue
        texts; /* answers to one request, JSON, char *; the next one is read when they are sent */
    GString *received;
    GBytes *sending; /* NULL: nothing is */
    uint8_t head[HEAD_BYTES];
    size_t head_bytes, sent; /* sent: of head and sending */
};

struct output {
    struct queue *queue; /* of one frame, the newest */
    atomic_long given, sent;
    struct lws_context *lws;
    pthread_t thread;
    atomic_bool ending;
    struct depth_geometry geometry;
    int mode;
    char *source;
    int64_t epoch_ns; /* what is added to capture times: 1970 for those of cameras */

    pthread_mutex_t lock; /* guards the next four */
    struct params wanted, in_force;
    bool has_wanted;
    char *refused; /* why wanted was refused, to be said; NULL: it was not */

    /* the thread's */
    struct params params;             /* of the newest frame, with what clients have set since */
    int64_t set_ns, last_ns, step_ns; /* step_ns: between the times of the last two frames */
    double frame_ms;                  /* mean time between frames */
    struct frame *newest;
    GBytes *made[FOXGLOVE_CHANNELS]; /* of the newest frame, as far as a client was ready for one */
    GPtrArray *clients;
    int connections;
    struct client *asked; /* that set parameters last, or NULL */
    bool has_said_refused;
    uint8_t piece[LWS_PRE + PIECE_BYTES];
};

/* ---- sending */

/* Takes the text. Until it has been sent nothing more is read of the client. */
static void send_text(struct client *client, char *text) {
    lws_rx_flow_control(client->wsi, 0);
    g_queue_push_tail(&client->texts, text);
    lws_callback_on_writable(client->wsi);
}

static void send_status(struct client *client, int level, const char *text) {
    send_text(client, foxglove_status(level, text));
}

static void put_little(uint8_t *to, uint64_t number, int bytes) {
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(number >> 8 * i);
}

/* The newest frame's message of a channel, or NULL (logged). */
static GBytes *make_message(struct output *server, int channel) {
    const struct frame *frame = server->newest;
    if (channel == FOXGLOVE_STATISTICS)
        return foxglove_statistics(frame, server->frame_ms, (int)server->clients->len);
    GByteArray *bytes = g_byte_array_new();
    int error = ros_frame_message((enum ros_topic)channel, frame, frame->left_ns + server->epoch_ns,
                                  &server->geometry, NULL, bytes);
    GBytes *message = g_byte_array_free_to_bytes(bytes);
    if (error)
        g_clear_pointer(&message, g_bytes_unref);
    return message;
}

/* Chooses what goes next: answers, then the channels in turn. A message is made no sooner than a
 * client is ready for it, so that slow ones cost few and get the newest. False: nothing waits. */
static bool choose_next(struct output *server, struct client *client) {
    char *text = g_queue_pop_head(&client->texts);
    client->sent = client->head_bytes = 0;
    if (!text && client->owed) {
        client->owed = false;
        text = foxglove_params(&server->params, NULL, NULL);
    }
    if (text) {
        client->sending = g_bytes_new_take(text, strlen(text));
        return true;
    }
    for (int i = 1; i <= FOXGLOVE_CHANNELS && client->unanswered < AHEAD; i++) {
        int channel = (client->last + i) % FOXGLOVE_CHANNELS;
        GBytes **made = &server->made[channel];
        if (!client->due[channel])
            continue;
        client->due[channel] = false;
        if (!*made)
            *made = make_message(server, channel);
        if (!*made)
            continue;
        client->last = channel;
        client->head[0] = 1; /* message data */
        put_little(client->head + 1, client->subscription[channel], 4);
        put_little(client->head + 5, (uint64_t)(server->newest->left_ns + server->epoch_ns), 8);
        client->head_bytes = HEAD_BYTES;
        client->sending = g_bytes_ref(*made);
        return true;
    }
    return false;
}

/* Sends a piece of the message at hand. 0, or -1 to close the connection. */
static int send_piece(struct output *server, struct client *client) {
    size_t length, put = 0;
    uint8_t *to = server->piece + LWS_PRE;
    if (client->pings) {
        client->pings = false;
        client->unanswered++;
        lws_callback_on_writable(client->wsi);
        return lws_write(client->wsi, to, 1, LWS_WRITE_PING) < 0 ? -1 : 0;
    }
    if (!client->sending && !choose_next(server, client))
        return 0;
    const uint8_t *data = g_bytes_get_data(client->sending, &length);
    size_t all = client->head_bytes + length, left = all - client->sent;
    size_t count = MIN(left, (size_t)PIECE_BYTES);
    if (client->sent < client->head_bytes)
        memcpy(to, client->head, put = client->head_bytes); /* first of all, in one piece */
    memcpy(to + put, data + client->sent + put - client->head_bytes, count - put);
    enum lws_write_protocol kind = client->head_bytes ? LWS_WRITE_BINARY : LWS_WRITE_TEXT;
    int how = lws_write_ws_flags(kind, client->sent == 0, count == left);
    if (lws_write(client->wsi, to, count, (enum lws_write_protocol)how) < (int)count)
        return -1;
    client->sent += count;
    if (client->sent == all) {
        g_clear_pointer(&client->sending, g_bytes_unref);
        client->pings = client->head_bytes > 0;
        if (g_queue_is_empty(&client->texts))
            lws_rx_flow_control(client->wsi, 1);
    }
    lws_callback_on_writable(client->wsi);
    return 0;
}

static void tell_watchers(struct output *server) {
    for (guint i = 0; i < server->clients->len; i++) {
        struct client *client = server->clients->pdata[i];
        client->owed = client->watches;
        lws_callback_on_writable(client->wsi);
    }
}

static void set_params(struct output *server, struct client *client, JsonObject *object) {
    JsonArray *list = foxglove_array(object, "parameters");
    struct params params = server->params;
    const char *id = foxglove_string(object, "id");
    char why[256] = "";
    for (guint i = 0; list && i < json_array_get_length(list); i++) {
        char wrong[256];
        if (foxglove_set_param(&params, foxglove_object(list, i), wrong, sizeof wrong) != 0 &&
            !*why)
            g_strlcpy(why, wrong, sizeof why);
    }
    if (*why)
        send_status(client, 2, why);
    const char *conflict = params_conflict(&params);
    if (conflict)
        send_status(client, 2, conflict);
    else if (!params_equal(&params, &server->params)) {
        server->params = params;
        server->asked = client;
        server->set_ns = clock_ns();
        LOCKED(&server->lock);
        server->wanted = params;
        server->has_wanted = true;
    }
    if (id)
        send_text(client, foxglove_params(&server->params, NULL, id));
    tell_watchers(server);
}

bool output_take_params(struct output *server, struct params *params) {
    if (!server)
        return false;
    LOCKED(&server->lock);
    bool has = server->has_wanted;
    if (has)
        *params = server->wanted;
    server->has_wanted = false;
    return has;
}

void output_refuse_params(struct output *server, const char *why, const struct params *in_force) {
    if (!server)
        return;
    LOCKED(&server->lock);
    g_free(server->refused);
    server->refused = g_strdup(why);
    server->in_force = *in_force;
    lws_cancel_service(server->lws);
}

static void tell_refused(struct output *server) {
    pthread_mutex_lock(&server->lock);
    g_autofree char *why = g_steal_pointer(&server->refused);
    if (why)
        server->params = server->in_force;
    pthread_mutex_unlock(&server->lock);
    if (why && server->asked)
        send_status(server->asked, 2, why);
    if (why)
        tell_watchers(server);
}

/* ---- frames */

void output_give(struct output *server, struct frame *frame) {
    if (!server)
        return;
    frame_ref(frame);
    atomic_fetch_add(&server->given, 1);
    queue_give(server->queue, &frame);
    lws_cancel_service(server->lws);
}

void output_get_status(struct output *server, struct output_status *status) {
    *status = (struct output_status){atomic_load(&server->given), atomic_load(&server->sent)};
}

void output_print(struct output *server) {
    struct output_status status;
    if (!server)
        return;
    output_get_status(server, &status);
    printf("out       %ld frames, %ld overtaken\n", status.sent, status.given - status.sent);
}

static void drop_newest(struct output *server) {
    frame_drop(&server->newest);
    for (int channel = 0; channel < FOXGLOVE_CHANNELS; channel++)
        g_clear_pointer(&server->made[channel], g_bytes_unref);
}

static void take_frame(struct output *server) {
    struct frame *frame;
    if (queue_take(server->queue, 0, &frame) != 0)
        return;
    const struct frame *before = server->newest;
    int64_t step_ns = before ? frame->left_ns - before->left_ns : 0;
    if (step_ns < 0) /* the source has begun again: its clients' time goes on */
        server->epoch_ns += server->step_ns - step_ns;
    else
        server->step_ns = step_ns;
    drop_newest(server);
    server->newest = frame;
    int64_t now = clock_ns();
    double ms = (double)(now - server->last_ns) / 1e6;
    if (server->last_ns)
        server->frame_ms = server->frame_ms > 0 ? 0.9 * server->frame_ms + 0.1 * ms : ms;
    server->last_ns = now;
    if (now - server->set_ns > SETTLE_MS * INT64_C(1000000) &&
        !params_equal(frame->params, &server->params)) {
        server->params = *frame->params;
        tell_watchers(server);
    }
    for (guint i = 0; i < server->clients->len; i++) {
        struct client *client = server->clients->pdata[i];
        memcpy(client->due, client->subscribed, sizeof client->due);
        lws_callback_on_writable(client->wsi);
    }
    atomic_fetch_add(&server->sent, 1);
}

/* ---- what clients ask for */

static void subscribe(struct output *server, struct client *client, JsonObject *object) {
    JsonArray *list = foxglove_array(object, "subscriptions");
    bool wrong = false;
    for (guint i = 0; list && i < json_array_get_length(list); i++) {
        JsonObject *one = foxglove_object(list, i);
        uint32_t id, channel;
        if (!one || !foxglove_whole(json_object_get_member(one, "id"), &id) ||
            !foxglove_whole(json_object_get_member(one, "channelId"), &channel) || channel < 1 ||
            channel > FOXGLOVE_CHANNELS ||
            !foxglove_has_channel((int)channel - 1, server->mode, server->geometry.metric)) {
            wrong = true;
            continue;
        }
        client->subscribed[channel - 1] = true;
        client->subscription[channel - 1] = id;
        client->due[channel - 1] = server->newest != NULL;
        lws_callback_on_writable(client->wsi);
    }
    if (wrong)
        send_status(client, 2, "subscribe: there is no such channel");
}

static void unsubscribe(struct client *client, JsonObject *object) {
    JsonArray *list = foxglove_array(object, "subscriptionIds");
    for (guint i = 0; list && i < json_array_get_length(list); i++) {
        uint32_t id;
        bool is_id = foxglove_whole(json_array_get_element(list, i), &id);
        for (int channel = 0; is_id && channel < FOXGLOVE_CHANNELS; channel++)
            if (client->subscribed[channel] && client->subscription[channel] == id) {
                client->subscribed[channel] = false;
                client->due[channel] = false;
            }
    }
}

static void obey(struct output *server, struct client *client, JsonObject *object) {
    const char *op = foxglove_string(object, "op");
    if (!op)
        send_status(client, 2, "a message needs its op");
    else if (strcmp(op, "subscribe") == 0)
        subscribe(server, client, object);
    else if (strcmp(op, "unsubscribe") == 0)
        unsubscribe(client, object);
    else if (strcmp(op, "getParameters") == 0)
        send_text(client, foxglove_params(&server->params, foxglove_array(object, "parameterNames"),
                                          foxglove_string(object, "id")));
    else if (strcmp(op, "setParameters") == 0)
        set_params(server, client, object);
    else if (strcmp(op, "subscribeParameterUpdates") == 0)
        client->watches = true;
    else if (strcmp(op, "unsubscribeParameterUpdates") == 0)
        client->watches = false;
    else
        send_status(client, 1, "this op is not served here");
}

static void read_text(struct output *server, struct client *client, const char *text) {
    g_autoptr(JsonParser) parser = json_parser_new();
    JsonObject *object = foxglove_parse(parser, text);
    if (object)
        obey(server, client, object);
    else
        send_status(client, 2, "not an object in JSON");
}

/* Puts the pieces of a message together. 0, or -1 to close the connection. */
static int receive(struct output *server, struct client *client, const void *data, size_t length) {
    if (lws_frame_is_binary(client->wsi) || client->received->len + length > MESSAGE_BYTES) {
        lws_close_reason(client->wsi, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE, NULL, 0);
        return -1;
    }
    g_string_append_len(client->received, data, (gssize)length);
    if (lws_is_final_fragment(client->wsi) && lws_remaining_packet_payload(client->wsi) == 0) {
        read_text(server, client, client->received->str);
        g_string_truncate(client->received, 0);
    }
    return 0;
}

/* ---- connections */

static bool is_address(const char *text) {
    struct in6_addr room;
    return inet_pton(AF_INET, text, &room) == 1 || inet_pton(AF_INET6, text, &room) == 1;
}

/* The host of "HOST", "HOST:PORT" or "[ADDRESS]:PORT", and the port or 0; NULL: another form. */
static char *split_place(const char *text, int *port) {
    g_autoptr(GSocketConnectable) place = g_network_address_parse(text, 0, NULL);
    if (!place)
        return NULL;
    *port = g_network_address_get_port(G_NETWORK_ADDRESS(place));
    return g_strdup(g_network_address_get_hostname(G_NETWORK_ADDRESS(place)));
}

/* Whether the browser was led here by this machine's own name or address: another name may be one
 * that a foreign page has had resolved to it. */
static bool is_own_host(const char *host) {
    int port;
    g_autofree char *bare = split_place(host, &port);
    g_autofree char *local = g_strconcat(g_get_host_name(), ".local", NULL);
    return bare && (is_address(bare) || g_ascii_strcasecmp(bare, "localhost") == 0 ||
                    g_ascii_strcasecmp(bare, g_get_host_name()) == 0 ||
                    g_ascii_strcasecmp(bare, local) == 0);
}

/* Programs send no origin, or, where they are made of pages as Foxglove's is, that of a file; of a
 * browser's pages ours and Foxglove's may connect. */
static bool is_known_origin(const char *origin, const char *host) {
    g_autofree char *own = g_strconcat("http://", host, NULL);
    return origin[0] == '\0' || g_ascii_strcasecmp(origin, own) == 0 ||
           strcmp(origin, "https://app.foxglove.dev") == 0 || strcmp(origin, "file://") == 0;
}

/* Whether the request comes from a program or a page that may see the pictures. */
static bool may_enter(struct output *server, struct lws *wsi) {
    char host[256] = "", origin[256] = "";
    bool whole = lws_hdr_copy(wsi, host, sizeof host, WSI_TOKEN_HOST) >= 0 &&
                 lws_hdr_copy(wsi, origin, sizeof origin, WSI_TOKEN_ORIGIN) >= 0;
    if (whole && is_own_host(host) && is_known_origin(origin, host))
        return true;
    if (!server->has_said_refused)
        log_warning("--out", "refused a page of \"%s\" that asked for \"%s\"", origin, host);
    server->has_said_refused = true;
    return false;
}

static void open_client(struct output *server, struct client *client, struct lws *wsi) {
    client->wsi = wsi;
    client->received = g_string_new(NULL);
    g_queue_init(&client->texts);
    g_ptr_array_add(server->clients, client);
    send_text(client, foxglove_welcome());
    send_text(client, foxglove_channels(server->mode, server->geometry.metric));
}

static void close_client(struct output *server, struct client *client) {
    g_ptr_array_remove_fast(server->clients, client);
    if (server->asked == client)
        server->asked = NULL;
    g_queue_clear_full(&client->texts, g_free);
    g_string_free(client->received, TRUE);
    g_clear_pointer(&client->sending, g_bytes_unref);
}

/* Headers and, where they are wanted, text. 0, or what ends the connection, as after a request
 * that may have a body. */
static int answer(struct lws *wsi, unsigned status, const char *type, const char *text,
                  bool with_text) {
    static const char methods[] = "GET, HEAD";
    size_t length = strlen(text);
    g_autofree uint8_t *room = g_malloc(LWS_PRE + 2048 + length);
    uint8_t *begin = room + LWS_PRE, *at = begin, *end = begin + 2048;
    bool refused = status == HTTP_STATUS_METHOD_NOT_ALLOWED;
    if (lws_add_http_common_headers(wsi, status, type, length, &at, end) ||
        (refused &&
         lws_add_http_header_by_token(wsi, WSI_TOKEN_HTTP_ALLOW, (const uint8_t *)methods,
                                      sizeof methods - 1, &at, end)) ||
        lws_finalize_write_http_header(wsi, begin, &at, end))
        return 1;
    memcpy(begin, text, length); /* NOLINT(bugprone-not-null-terminated-result): no text */
    if (with_text && lws_write(wsi, begin, length, LWS_WRITE_HTTP_FINAL) < (int)length)
        return 1;
    return refused || lws_http_transaction_completed(wsi);
}

/* Answers a request for a page. 0, or what ends the connection. */
static int serve_page(struct output *server, struct lws *wsi, const char *path) {
    static const struct {
        const char *path, *type, *text;
    } pages[] = {{"/", "text/html; charset=utf-8", page_index_html},
                 {"/page.js", "text/javascript; charset=utf-8", page_page_js},
                 {"/page.css", "text/css; charset=utf-8", page_page_css},
                 {"/about.json", "application/json", NULL}};
    size_t i = 0;
    while (i < G_N_ELEMENTS(pages) && strcmp(path, pages[i].path) != 0)
        i++;
    bool is_head = lws_hdr_total_length(wsi, WSI_TOKEN_HEAD_URI) > 0;
    if (!is_head && lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) == 0)
        return answer(wsi, HTTP_STATUS_METHOD_NOT_ALLOWED, "text/plain", "GET and HEAD alone\n",
                      true);
    if (i == G_N_ELEMENTS(pages))
        return answer(wsi, HTTP_STATUS_NOT_FOUND, "text/plain", "there is no such page\n",
                      !is_head);
    g_autofree char *text =
        pages[i].text ? g_strdup(pages[i].text)
                      : foxglove_about(&server->params, &server->geometry, server->source);
    return answer(wsi, HTTP_STATUS_OK, pages[i].type, text, !is_head);
}

static int called(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                  size_t length) {
    struct output *server = lws_context_user(lws_get_context(wsi));
    struct client *client = user;
    switch (reason) {
    case LWS_CALLBACK_FILTER_NETWORK_CONNECTION:
        return server->clients->len >= CLIENTS || server->connections >= CONNECTIONS;
    case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED:
        lws_set_opaque_user_data(wsi, server);
        server->connections++;
        return 0;
    case LWS_CALLBACK_WSI_DESTROY:
        server->connections -= lws_get_opaque_user_data(wsi) == server;
        return 0;
    case LWS_CALLBACK_FILTER_HTTP_CONNECTION:
        return !may_enter(server, wsi);
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return !client || !may_enter(server, wsi); /* no client: it names no protocol of ours */
    case LWS_CALLBACK_HTTP:
        return serve_page(server, wsi, in);
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
        if (strcmp(lws_get_protocol(wsi)->name, "http") == 0) {
            tell_refused(server);
            take_frame(server);
        }
        return 0;
    case LWS_CALLBACK_ESTABLISHED:
        open_client(server, client, wsi);
        return 0;
    case LWS_CALLBACK_RECEIVE:
        return receive(server, client, in, length);
    case LWS_CALLBACK_RECEIVE_PONG:
        client->unanswered = MAX(0, client->unanswered - 1);
        lws_callback_on_writable(wsi);
        return 0;
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return send_piece(server, client);
    case LWS_CALLBACK_CLOSED:
        if (client && client->wsi) /* one that was refused has not been opened */
            close_client(server, client);
        return 0;
    default:
        return 0;
    }
}

static const struct lws_protocols protocols[] = {
    {"http", called, 0, 4096, 0, NULL, 0},
    {"foxglove.websocket.v1", called, sizeof(struct client), 4096, 0, NULL, 0},
    {"foxglove.sdk.v1", called, sizeof(struct client), 4096, 0, NULL, 0},
    {0}};

/* ---- opening and closing */

static void *serve(void *context) {
    struct output *server = context;
    while (!atomic_load(&server->ending) && lws_service(server->lws, 0) >= 0)
        ;
    return NULL;
}

/* "PORT", "ADDRESS:PORT" or "[ADDRESS]:PORT". */
static int parse_place(const char *place, char **address, int *port) {
    g_autofree char *text = g_strconcat(strchr(place, ':') ? "" : "127.0.0.1:", place, NULL);
    *address = split_place(text, port);
    return *address && is_address(*address) && *port > 0 ? 0 : -EINVAL;
}

static void release(struct output *server) {
    if (server->lws)
        lws_context_destroy(server->lws);
    drop_newest(server);
    g_free(server->refused);
    g_free(server->source);
    queue_close(&server->queue);
    g_ptr_array_unref(server->clients);
    pthread_mutex_destroy(&server->lock);
    g_free(server);
}

static void note_library(int level, const char *line) {
    (void)level;
    log_debug("--out", "%s", line);
}

/* Listens and starts the thread. EXIT_DONE or the exit code after a log line. */
static int start(struct output *server, const char *address, int port) {
    bool everywhere = strcmp(address, "0.0.0.0") == 0 || strcmp(address, "::") == 0;
    struct lws_context_creation_info info = {
        .port = port,
        .iface = everywhere ? NULL : address,
        .protocols = protocols,
        .user = server,
        .options = LWS_SERVER_OPTION_HTTP_HEADERS_SECURITY_BEST_PRACTICES_ENFORCE |
                   LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND,
        .timeout_secs = 10,
        .keepalive_timeout = 5,
        .gid = (gid_t)-1,
        .uid = (uid_t)-1,
    };
    if (!strchr(address, ':'))
        info.options |= LWS_SERVER_OPTION_DISABLE_IPV6;
    lws_set_log_level(LLL_ERR | LLL_WARN, note_library);
    server->lws = lws_create_context(&info);
    if (!server->lws)
        return log_fail(EXIT_RUN_FAILED, "--out",
                        "port %d at %s cannot be listened at; is another program using it?", port,
                        address);
    int error = pthread_create(&server->thread, NULL, serve, server);
    if (error)
        return log_fail(EXIT_RUN_FAILED, "--out", "cannot be started: %s", strerror(error));
    g_autofree char *place =
        g_strdup_printf(strchr(address, ':') ? "[%s]:%d" : "%s:%d", address, port);
    log_info("--out", "http://%s/ in a browser, ws://%s in Foxglove", place, place);
    return EXIT_DONE;
}

struct output *output_open(const struct output_options *options, const struct output_about *about,
                           int *code) {
    g_autofree char *address = NULL;
    const char *place = options->place;
    int port;
    *code = EXIT_DONE;
    if (!place)
        return NULL;
    *code = EXIT_USAGE;
    if (!g_str_has_prefix(place, PREFIX) ||
        parse_place(place + strlen(PREFIX), &address, &port) != 0)
        return log_fail(NULL, "--out",
                        "\"%s\": write foxglove:8765, for this machine alone, or "
                        "foxglove:ADDRESS:8765 with an address of this machine, 0.0.0.0 for all; "
                        "GStreamer's element livestereo sends elsewhere (docs/GSTREAMER.md)",
                        place);
    struct output *server = g_new0(struct output, 1);
    pthread_mutex_init(&server->lock, NULL);
    server->clients = g_ptr_array_new();
    server->mode = about->params->mode;
    server->source = g_strdup(about->source);
    server->params = *about->params;
    if (about->geometry)
        server->geometry = *about->geometry;
    if (about->live)
        server->epoch_ns = g_get_real_time() * 1000 - clock_ns();
    server->queue = queue_open(1, QUEUE_DROP_OLDEST);
    *code = start(server, address, port);
    if (*code == EXIT_DONE)
        return server;
    release(server);
    return NULL;
}

void output_close(struct output **pointer) {
    struct output *server = g_steal_pointer(pointer);
    if (!server)
        return;
    atomic_store(&server->ending, true);
    lws_cancel_service(server->lws);
    pthread_join(server->thread, NULL);
    release(server);
}
