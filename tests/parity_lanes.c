/*
 * The arithmetic of the tuned CUDA message kernels (gpu/lanes.h) on the CPU, thread by thread of a
 * group, against the min-convolution written out: so that a machine without a GPU tests it too.
 * usage: parity_lanes [--tap] [--seed N]
 * Prints TAP. SPDX-License-Identifier: MIT
 */
#include "gpu/lanes.h"
#include "tests/parity.h"

enum { THREADS_MOST = LABELS_MOST / LABEL_BLOCK, ROUNDS = 400 };

static uint32_t draw(uint64_t *state) { /* xorshift64* (Vigna 2016) */
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (uint32_t)(*state * 0x2545f4914f6cdd1du >> 32);
}

/* Bytes of three messages and the cost of one label set; cost16 stands in for cost8 when wide. */
struct input {
    int labels, padded, rho, most, wide;
    uint8_t message[3][LABELS_MOST], cost8[LABELS_MOST];
    uint16_t cost16[LABELS_MOST];
};

static void draw_input(struct input *in, uint64_t *random) {
    static const int rhos[] = {0, 1, 7, 19, 40, 120, 255}, mosts[] = {0, 1, 9, 100, 153, 254, 255};
    static const int counts[] = {2, 15, 16, 17, 48, 64, 100, 128, 200, 256, 512};
    in->labels = counts[draw(random) % 11];
    in->padded = (in->labels + LABEL_BLOCK - 1) / LABEL_BLOCK * LABEL_BLOCK;
    in->rho = rhos[draw(random) % 7];
    in->most = mosts[draw(random) % 7];
    in->wide = (int)(draw(random) & 1);
    int extreme = (int)(draw(random) % 4); /* 0: all zero, 1: all at their most */
    for (int d = 0; d < in->padded; d++) {
        for (int k = 0; k < 3; k++)
            in->message[k][d] =
                (uint8_t)(extreme == 0   ? 0
                          : extreme == 1 ? in->most
                                         : (int)draw(random) % 256 % (in->most + 1));
        in->cost8[d] = (uint8_t)(extreme == 0   ? 0
                                 : extreme == 1 ? COST_MOST
                                                : (int)(draw(random) % (COST_MOST + 1)));
        in->cost16[d] = (uint16_t)(extreme == 0   ? 0
                                   : extreme == 1 ? COST_SATURATION
                                                  : (int)(draw(random) % (COST_SATURATION + 1)));
    }
}

static void write_out(const struct input *in, uint8_t *out) {
    int h[LABELS_MOST], least = 1 << 20;
    for (int d = 0; d < in->labels; d++) {
        h[d] = in->message[0][d] + in->message[1][d] + in->message[2][d] +
               (in->wide ? in->cost16[d] : in->cost8[d]);
        least = stage_min(least, h[d]);
    }
    for (int d = 0; d < in->padded; d++) {
        int m = in->most;
        for (int e = 0; e < in->labels; e++)
            m = stage_min(m, h[e] - least + in->rho * stage_abs(d - e));
        out[d] = (uint8_t)m;
    }
}

static struct label_words words_of(const uint8_t *bytes) {
    struct label_words w;
    memcpy(w.w, bytes, sizeof(w.w)); /* little endian, as all that we run on */
    return w;
}

static void start_thread(const struct input *in, int thread, struct lanes *h) {
    int first = thread * LABEL_BLOCK;
    struct label_sums sums;
    struct label_words w = words_of(in->message[0] + first);
    sums_start(&sums, &w);
    for (int k = 1; k < 3; k++) {
        w = words_of(in->message[k] + first);
        sums_add(&sums, &w);
    }
    if (!in->wide) {
        w = words_of(in->cost8 + first);
        sums_add(&sums, &w);
    }
    sums_lanes(&sums, h);
    if (in->wide) {
        uint32_t pairs[8], back[8];
        struct lanes cost;
        memcpy(pairs, in->cost16 + first, sizeof(pairs));
        lanes_of_shorts(pairs, &cost);
        lanes_shorts(&cost, back);
        if (memcmp(pairs, back, sizeof(back)))
            memset(&cost, 0xff, sizeof(cost)); /* shows as a wrong message */
        lanes_add(h, &cost);
    }
    if (in->labels != in->padded)
        lanes_pad(h, first, in->labels);
}

/* As the threads of a group do it: each phase for all of them, then the exchange. */
static void by_lanes(const struct input *in, uint8_t *out) {
    struct lanes slanted[THREADS_MOST];
    struct block_ends ends[THREADS_MOST];
    uint32_t up[THREADS_MOST], down[THREADS_MOST], least = 0xffff,
                                                   rho = lanes_both((uint32_t)in->rho);
    int threads = in->padded / LABEL_BLOCK, carry = carry_blocks(in->rho, in->most, 2 * threads);
    for (int t = 0; t < threads; t++) {
        struct lanes h;
        start_thread(in, t, &h);
        uint32_t both = lanes_least(&h);
        least = (uint32_t)stage_min((int)least, stage_min((int)(both & 0xffff), (int)(both >> 16)));
        ends[t] = lanes_ends(&h, rho, &slanted[t]);
        up[t] = ends[t].up;
        down[t] = ends[t].down;
    }
    for (int n = 0; n < carry; n++) {
        uint32_t was_up[THREADS_MOST], was_down[THREADS_MOST];
        memcpy(was_up, up, sizeof(up));
        memcpy(was_down, down, sizeof(down));
        for (int t = 0; t < threads; t++) {
            uint32_t u = carry_up(was_up[t ? t - 1 : t], was_up[t], t ? ~0u : 0xffff0000u);
            uint32_t d = carry_down(was_down[t + 1 < threads ? t + 1 : t], was_down[t],
                                    t + 1 < threads ? ~0u : 0xffffu);
            up[t] = n ? lanes_add_min(u, 8 * rho, was_up[t]) : u;
            down[t] = n ? lanes_add_min(d, 8 * rho, was_down[t]) : d;
        }
    }
    for (int t = 0; t < threads; t++) {
        lanes_sweep(&slanted[t], up[t], down[t], rho, lanes_both(least + (uint32_t)in->most));
        struct label_words w = lanes_bytes(&slanted[t], lanes_both(least));
        memcpy(out + t * LABEL_BLOCK, w.w, sizeof(w.w));
    }
}

int main(int argc, char **argv) {
    struct parity t = parity_begin(argc, argv);
    uint64_t random = t.seed * 2 + 1;
    int bad = 0;
    for (int n = 0; n < ROUNDS && !bad; n++) {
        static struct input in;
        static uint8_t expected[LABELS_MOST], got[LABELS_MOST];
        draw_input(&in, &random);
        write_out(&in, expected);
        by_lanes(&in, got);
        bad = memcmp(expected, got, (size_t)in.padded) != 0;
        if (bad)
            printf("# round %d: %d labels, rho %d, T %d, wide %d\n", n, in.labels, in.rho, in.most,
                   in.wide);
    }
    parity_say_seed(&t);
    parity_ok(&t, !bad, "messages by lanes");
    return parity_end(&t);
}
