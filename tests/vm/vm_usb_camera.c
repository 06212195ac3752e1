/*
 * usage: vm_usb_camera PORT NAME WxH FILE.mjpg|i420 OFFSET_US PPM
 * A USB webcam for the kernel's own uvcvideo driver, made in user space: answers USB requests that
 * the virtual host controller vhci_hcd hands over a socket (the USB/IP protocol). UVC 1.0, one bulk
 * stream of JPEG frames out of a file, at 30, 15 or 10 frames a second on the monotonic clock plus
 * an offset, its rate off by so many ppm; a brightness control.
 * Signals: USR1 marks the next frame as damaged, HUP cuts it in half, USR2 stops for two seconds,
 * TERM unplugs. For the tests in the virtual machine. SPDX-License-Identifier: MIT
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PAYLOAD 16384 /* bytes of a bulk transfer, its header included */
#define MAX_FRAMES 512
#define MAX_URBS 64
#define STALL_US 2000000
#define HIGH_SPEED 3

enum { USBIP_SUBMIT = 1, USBIP_UNLINK, USBIP_SUBMITTED, USBIP_UNLINKED };

static const char i420[] = "i420"; /* in place of a file: frames of one colour, uncompressed */
static const uint8_t i420_yuv[3] = {120, 100, 180};

static const uint32_t intervals[] = {333333, 666666, 1000000}; /* 100 ns */
enum { INTERVALS = sizeof intervals / sizeof intervals[0] };

static volatile sig_atomic_t damage, cut, stall, unplug;

struct camera {
    int socket, port, width, height;
    const char *name;
    uint8_t *clip;
    size_t start[MAX_FRAMES + 1];
    int frames, raw;
    long offset_us, ppm;
    uint8_t config[512];
    int config_length;
    uint8_t probe[26], commit[26];
    int brightness, streaming;
    long number;    /* of the next frame */
    int64_t due_us; /* when it is */
    const uint8_t *sending;
    size_t left;
    uint8_t toggle, flags;
    struct {
        uint32_t number, length;
    } urb[MAX_URBS];
    int urbs;
};

static int64_t now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void on_signal(int number) {
    damage |= number == SIGUSR1;
    cut |= number == SIGHUP;
    stall |= number == SIGUSR2;
    unplug |= number == SIGTERM;
}

static void put32(uint8_t *to, uint32_t value) {
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

static void put16(uint8_t *to, unsigned value) {
    to[0] = (uint8_t)value;
    to[1] = (uint8_t)(value >> 8);
}

static uint32_t get32(const uint8_t *from) {
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
           (uint32_t)from[3] << 24;
}

/* ---- descriptors (USB 2.0 chapter 9, UVC 1.0 chapter 3) */

static uint8_t *add(struct camera *c, const uint8_t *bytes, int length) {
    uint8_t *at = c->config + c->config_length;
    memcpy(at, bytes, (size_t)length);
    c->config_length += length;
    return at;
}

#define ADD(c, ...) \
    add(c, (const uint8_t[]){__VA_ARGS__}, (int)sizeof((const uint8_t[]){__VA_ARGS__}))

/* The largest a frame can be. */
static uint32_t frame_bytes(const struct camera *c) {
    return (uint32_t)(c->width * c->height * (c->raw ? 3 : 4) / 2);
}

static void make_config(struct camera *c) {
    ADD(c, 9, 2, 0, 0, 2, 1, 0, 0x80, 250); /* configuration of two interfaces */
    ADD(c, 8, 11, 0, 2, 0x0e, 3, 0, 2);     /* which belong together */
    ADD(c, 9, 4, 0, 0, 0, 0x0e, 1, 0, 2);   /* video control */
    int control = c->config_length;
    ADD(c, 13, 0x24, 1, 0, 1, 0, 0, 0x00, 0x6c, 0xdc, 0x02, 1, 1);
    ADD(c, 18, 0x24, 2, 1, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0); /* camera terminal */
    ADD(c, 11, 0x24, 5, 2, 1, 0, 0, 2, 1, 0, 0);                      /* with brightness */
    ADD(c, 9, 0x24, 3, 3, 1, 1, 0, 2, 0);                             /* output terminal */
    put16(c->config + control + 5, (unsigned)(c->config_length - control));
    ADD(c, 9, 4, 1, 0, 1, 0x0e, 2, 0, 0); /* video streaming */
    int stream = c->config_length;
    ADD(c, 14, 0x24, 1, 1, 0, 0, 0x81, 0, 3, 0, 0, 0, 1, 0);
    if (c->raw) /* the format: I420 by its GUID, one frame size */
        ADD(c, 27, 0x24, 4, 1, 1, 'I', '4', '2', '0', 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38,
            0x9b, 0x71, 12, 1, 0, 0, 0, 0);
    else /* MJPEG, one frame size */
        ADD(c, 11, 0x24, 6, 1, 1, 1, 1, 0, 0, 0, 0);
    uint32_t bytes = frame_bytes(c);
    uint8_t size[26] = {26 + 4 * INTERVALS, 0x24, c->raw ? 5 : 7, 1};
    size[25] = INTERVALS;
    uint8_t *frame = add(c, size, sizeof size);
    put16(frame + 5, (unsigned)c->width);
    put16(frame + 7, (unsigned)c->height);
    put32(frame + 9, bytes * 8 * 10);
    put32(frame + 13, bytes * 8 * 30);
    put32(frame + 17, bytes);
    put32(frame + 21, intervals[0]);
    for (int i = 0; i < INTERVALS; i++)
        put32(frame + 26 + 4 * i, intervals[i]);
    c->config_length += 4 * INTERVALS;
    ADD(c, 6, 0x24, 0x0d, 1, 1, 4);
    put16(c->config + stream + 4, (unsigned)(c->config_length - stream));
    ADD(c, 7, 5, 0x81, 2, 0, 2, 0); /* bulk in, 512 bytes a packet */
    put16(c->config + 2, (unsigned)c->config_length);
}

static int describe(struct camera *c, int kind, int number, uint8_t *out) {
    static const uint8_t device[] = {18, 1, 0, 2, 0xef, 2, 1, 64, 9, 0x12, 1, 0, 0, 1, 1, 2, 3, 1};
    static const uint8_t qualifier[] = {10, 6, 0, 2, 0xef, 2, 1, 64, 1, 0};
    char serial[16];
    snprintf(serial, sizeof serial, "SERIAL%d", c->port);
    const char *texts[] = {NULL, "livestereo", c->name, serial};
    if (kind == 1) {
        memcpy(out, device, sizeof device);
        return sizeof device;
    }
    if (kind == 6) {
        memcpy(out, qualifier, sizeof qualifier);
        return sizeof qualifier;
    }
    if (kind == 2) {
        memcpy(out, c->config, (size_t)c->config_length);
        return c->config_length;
    }
    if (kind != 3 || number > 3)
        return -1;
    int length = 2;
    if (number == 0) { /* languages: English */
        out[length++] = 9;
        out[length++] = 4;
    } else {
        for (const char *t = texts[number]; *t; t++) {
            out[length++] = (uint8_t)*t;
            out[length++] = 0;
        }
    }
    out[0] = (uint8_t)length;
    out[1] = 3;
    return length;
}

/* ---- control requests (UVC 1.0 chapter 4) */

enum { SET_CUR = 1, GET_CUR = 0x81, GET_MIN, GET_MAX, GET_RES, GET_LEN, GET_INFO, GET_DEF };

static void settle(struct camera *c, uint8_t *probe) { /* what the camera makes of a wish */
    uint32_t wish = get32(probe + 4), best = intervals[0];
    for (int i = 0; i < INTERVALS; i++)
        if (llabs((long long)intervals[i] - wish) < llabs((long long)best - wish))
            best = intervals[i];
    probe[2] = probe[3] = 1;
    put32(probe + 4, wish ? best : intervals[0]);
    put32(probe + 18, frame_bytes(c));
    put32(probe + 22, PAYLOAD);
}

static double interval_us(const struct camera *c) {
    return get32(c->commit + 4) / 10.0 * (1 + (double)c->ppm * 1e-6);
}

static void next_frame(struct camera *c, long number) {
    c->number = number;
    c->due_us = (int64_t)((double)number * interval_us(c)) + c->offset_us;
}

static int stream_control(struct camera *c, int request, int selector, uint8_t *data, int length) {
    uint8_t *held = selector == 1 ? c->probe : c->commit;
    if (request == SET_CUR) {
        memcpy(held, data, length < 26 ? (size_t)length : 26);
        settle(c, held);
        if (selector == 2) {
            c->streaming = 1;
            next_frame(c, (long)((double)(now_us() - c->offset_us) / interval_us(c)) + 2);
        }
        return length;
    }
    if (request == GET_INFO) {
        data[0] = 3;
        return 1;
    }
    if (request == GET_LEN) {
        put16(data, 26);
        return 2;
    }
    memcpy(data, held, 26);
    if (request != GET_CUR) {
        put32(data + 4, intervals[request == GET_MAX ? INTERVALS - 1 : 0]);
        settle(c, data);
    }
    return 26;
}

static int brightness_control(struct camera *c, int request, uint8_t *data, int length) {
    if (request == SET_CUR) {
        c->brightness = data[0] | data[1] << 8;
        return length;
    }
    if (request == GET_INFO) {
        data[0] = 3;
        return 1;
    }
    put16(data, request == GET_CUR   ? (unsigned)c->brightness
                : request == GET_LEN ? 2
                : request == GET_MAX ? 255
                : request == GET_RES ? 1
                : request == GET_DEF ? 128
                                     : 0);
    return 2;
}

/* The length of the answer in data, or -1 to refuse. */
static int control(struct camera *c, const uint8_t *setup, uint8_t *data) {
    int type = setup[0], request = setup[1], low = setup[2], high = setup[3];
    int interface = setup[4], unit = setup[5], length = setup[6] | setup[7] << 8;
    int answer;
    if (type == 0x80 && request == 6)
        answer = describe(c, high, low, data);
    else if (type == 0x80 && (request == 0 || request == 8)) {
        put16(data, request == 8);
        answer = request == 8 ? 1 : 2;
    } else if (type == 0x81 && request == 10) {
        data[0] = 0;
        answer = 1;
    } else if (type == 0 || type == 1 || (type == 2 && request == 1)) {
        if (type == 2) /* the halted pipe is cleared: so uvcvideo ends a bulk stream */
            c->streaming = 0;
        answer = 0;
    } else if ((type & 0x7f) == 0x21 && interface == 1 && (high == 1 || high == 2))
        answer = stream_control(c, request, high, data, length);
    else if ((type & 0x7f) == 0x21 && interface == 0 && unit == 2 && high == 2)
        answer = brightness_control(c, request, data, length);
    else
        answer = -1;
    return answer > length ? length : answer;
}

/* ---- USB/IP: 48 bytes of header in network order, then data */

static int pass_all(struct camera *c, void *data, size_t bytes, bool sends) {
    for (char *at = data; bytes > 0;) {
        ssize_t done =
            sends ? send(c->socket, at, bytes, MSG_NOSIGNAL) : read(c->socket, at, bytes);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return -1;
        at += done;
        bytes -= (size_t)done;
    }
    return 0;
}

static int reply(struct camera *c, uint32_t command, uint32_t number, int status, uint8_t *data,
                 int length, int actual) {
    uint32_t header[12] = {htonl(command), htonl(number)};
    header[5] = htonl((uint32_t)status);
    header[6] = htonl((uint32_t)actual);
    if (pass_all(c, header, sizeof header, true))
        return -1;
    return length > 0 ? pass_all(c, data, (size_t)length, true) : 0;
}

/* Fills the transfers that wait with the frame under way. */
static int pump(struct camera *c) {
    uint8_t packet[PAYLOAD];
    while (c->urbs > 0 && c->sending) {
        size_t room = (c->urb[0].length < PAYLOAD ? c->urb[0].length : PAYLOAD) - 2;
        size_t length = c->left < room ? c->left : room;
        int last = length == c->left;
        packet[0] = 2;
        packet[1] = (uint8_t)(0x80 | c->toggle | c->flags | (last ? 2 : 0));
        memcpy(packet + 2, c->sending, length);
        c->sending += length;
        c->left -= length;
        uint32_t number = c->urb[0].number;
        memmove(&c->urb[0], &c->urb[1], (size_t)--c->urbs * sizeof c->urb[0]);
        if (last) {
            c->sending = NULL;
            c->toggle ^= 1;
            c->flags = 0;
        }
        if (reply(c, USBIP_SUBMITTED, number, 0, packet, (int)length + 2, (int)length + 2))
            return -1;
    }
    return 0;
}

static void begin_frame(struct camera *c, int64_t now) {
    if (stall) {
        stall = 0;
        next_frame(c, c->number + (long)(STALL_US / interval_us(c)));
        return;
    }
    if (!c->sending) {
        int i = (int)(c->number % c->frames);
        c->sending = c->clip + c->start[i];
        c->left = c->start[i + 1] - c->start[i];
        if (cut)
            c->left /= 2;
        c->flags = damage ? 0x40 : 0;
        cut = damage = 0;
    }
    do
        next_frame(c, c->number + 1);
    while (c->due_us < now - 200000);
}

static int unlink_urb(struct camera *c, uint32_t number, uint32_t victim) {
    for (int i = 0; i < c->urbs; i++)
        if (c->urb[i].number == victim) {
            memmove(&c->urb[i], &c->urb[i + 1], (size_t)(--c->urbs - i) * sizeof c->urb[0]);
            return reply(c, USBIP_UNLINKED, number, -ECONNRESET, NULL, 0, 0);
        }
    return reply(c, USBIP_UNLINKED, number, 0, NULL, 0, 0);
}

static int request(struct camera *c) {
    static uint8_t data[65536];
    uint32_t header[12];
    if (pass_all(c, header, sizeof header, false))
        return -1;
    uint32_t command = ntohl(header[0]), number = ntohl(header[1]);
    uint32_t in = ntohl(header[3]), endpoint = ntohl(header[4]), length = ntohl(header[6]);
    if (command == USBIP_UNLINK)
        return unlink_urb(c, number, ntohl(header[5]));
    if (!in && length && (length > sizeof data || pass_all(c, data, length, false)))
        return -1;
    if (endpoint != 0) {
        if (c->urbs == MAX_URBS)
            return reply(c, USBIP_SUBMITTED, number, -EPIPE, NULL, 0, 0);
        c->urb[c->urbs].number = number;
        c->urb[c->urbs++].length = length;
        return 0;
    }
    int answer = control(c, (const uint8_t *)&header[10], data);
    if (answer < 0)
        return reply(c, USBIP_SUBMITTED, number, -EPIPE, NULL, 0, 0);
    return reply(c, USBIP_SUBMITTED, number, 0, data, in ? answer : 0, answer);
}

static void serve(struct camera *c) {
    while (!unplug) {
        int64_t now = now_us(), wait = 1000000;
        if (!c->streaming)
            c->sending = NULL;
        else if (now >= c->due_us)
            begin_frame(c, now);
        if (pump(c))
            return;
        if (c->streaming)
            wait = c->due_us > now ? c->due_us - now : 0;
        struct pollfd polled = {c->socket, POLLIN, 0};
        struct timespec time = {wait / 1000000, wait % 1000000 * 1000};
        if (ppoll(&polled, 1, &time, NULL) > 0 && request(c))
            return;
    }
}

/* Two frames of one colour. */
static int load_i420(struct camera *c) {
    size_t frame = frame_bytes(c), luma = (size_t)c->width * (size_t)c->height, colour = luma / 4;
    c->clip = malloc(2 * frame);
    for (size_t i = 0; i < 2 && c->clip; i++) {
        uint8_t *at = c->clip + i * frame;
        memset(at, i420_yuv[0], luma);
        memset(at + luma, i420_yuv[1], colour);
        memset(at + luma + colour, i420_yuv[2], colour);
        c->start[i + 1] = (i + 1) * frame;
    }
    c->frames = 2;
    return c->clip ? 0 : -1;
}

static int load(struct camera *c, const char *path) {
    c->raw = strcmp(path, i420) == 0;
    if (c->raw)
        return load_i420(c);
    FILE *file = fopen(path, "rb");
    if (!file)
        return -1;
    c->clip = malloc(64 << 20);
    size_t length = c->clip ? fread(c->clip, 1, 64 << 20, file) : 0;
    fclose(file);
    for (size_t i = 0; i + 2 < length && c->frames < MAX_FRAMES; i++)
        if (c->clip[i] == 0xff && c->clip[i + 1] == 0xd8 && c->clip[i + 2] == 0xff)
            c->start[c->frames++] = i;
    c->start[c->frames] = length;
    return c->frames > 0 ? 0 : -1;
}

static int attach(struct camera *c) {
    int pair[2], size = 1 << 20;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return -1;
    setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    FILE *file = fopen("/sys/devices/platform/vhci_hcd.0/attach", "w");
    if (!file)
        return -1;
    fprintf(file, "%d %d %d %d", c->port, pair[1], 0x10000 + c->port, HIGH_SPEED);
    int failed = fclose(file);
    close(pair[1]);
    c->socket = pair[0];
    return failed ? -1 : 0;
}

int main(int argc, char **argv) {
    static struct camera camera;
    struct camera *c = &camera;
    if (argc != 7 || sscanf(argv[3], "%dx%d", &c->width, &c->height) != 2)
        return 2;
    c->port = atoi(argv[1]);
    c->name = argv[2];
    c->offset_us = atol(argv[5]);
    c->ppm = atol(argv[6]);
    c->brightness = 128;
    if (load(c, argv[4]) ||
        (make_config(c), settle(c, c->probe), settle(c, c->commit), attach(c))) {
        perror(argv[4]);
        return 1;
    }
    const struct sigaction action = {.sa_handler = on_signal};
    const int signals[] = {SIGUSR1, SIGUSR2, SIGHUP, SIGTERM};
    for (int i = 0; i < 4; i++)
        sigaction(signals[i], &action, NULL);
    serve(c);
    return 0;
}
