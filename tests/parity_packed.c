/*
 * The packed arithmetic of the CUDA message kernels (gpu/cuda/packed_u16x2.h) on the CPU, thread by
 * thread of a group, against the min-convolution written out: so that a machine without a GPU tests
 * it too.
 * usage: parity_packed [--tap] [--seed N]
 * Prints TAP. SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/packed_u16x2.h"
#include "tests/parity.h"
#include "tests/pass_case.h"

enum { MAX_THREADS = MAX_LABELS / LABEL_BLOCK, ROUNDS = 400 };

/* Bytes of three messages and the cost of one label set; cost16 stands in for cost8 when wide. */
struct input {
    int labels, padded, rho, maximum, wide;
    uint8_t message[3][MAX_LABELS], cost8[MAX_LABELS];
    uint16_t cost16[MAX_LABELS];
};

static void draw_input(struct input *in, uint64_t *random) {
    static const int rhos[] = {0, 1, 7, 19, 40, 120, 255}, maxima[] = {0, 1, 9, 100, 153, 254, 255};
    static const int counts[] = {2, 15, 16, 17, 48, 64, 100, 128, 200, 256, 512};
    in->labels = counts[draw(random) % 11];
    in->padded = (in->labels + LABEL_BLOCK - 1) / LABEL_BLOCK * LABEL_BLOCK;
    in->rho = rhos[draw(random) % 7];
    in->maximum = maxima[draw(random) % 7];
    in->wide = (int)(draw(random) & 1);
    int extreme = (int)(draw(random) % 4); /* 0: all zero, 1: all at their maximum */
    for (int d = 0; d < in->padded; d++) {
        for (int k = 0; k < 3; k++)
            in->message[k][d] =
                (uint8_t)(extreme == 0   ? 0
                          : extreme == 1 ? in->maximum
                                         : (int)draw(random) % 256 % (in->maximum + 1));
        in->cost8[d] = (uint8_t)(extreme == 0   ? 0
                                 : extreme == 1 ? MAX_COST
                                                : (int)(draw(random) % (MAX_COST + 1)));
        in->cost16[d] = (uint16_t)(extreme == 0   ? 0
                                   : extreme == 1 ? COST_SATURATION
                                                  : (int)(draw(random) % (COST_SATURATION + 1)));
    }
}

static void write_out(const struct input *in, uint8_t *out) {
    int h[MAX_LABELS], minimum = 1 << 20;
    for (int d = 0; d < in->labels; d++) {
        h[d] = in->message[0][d] + in->message[1][d] + in->message[2][d] +
               (in->wide ? in->cost16[d] : in->cost8[d]);
        minimum = stage_min(minimum, h[d]);
    }
    for (int d = 0; d < in->padded; d++) {
        int m = in->maximum;
        for (int e = 0; e < in->labels; e++)
            m = stage_min(m, h[e] - minimum + in->rho * stage_abs(d - e));
        out[d] = (uint8_t)m;
    }
}

static struct label_words words_of(const uint8_t *bytes) {
    struct label_words w;
    memcpy(w.w, bytes, sizeof(w.w)); /* little endian, as all that we run on */
    return w;
}

static void start_thread(const struct input *in, int thread, struct packed_labels *h) {
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
    sums_to_packed(&sums, h);
    if (in->wide) {
        uint32_t pairs[8], back[8];
        struct packed_labels cost;
        memcpy(pairs, in->cost16 + first, sizeof(pairs));
        packed_from_u16(pairs, &cost);
        packed_to_u16(&cost, back);
        if (memcmp(pairs, back, sizeof(back)))
            memset(&cost, 0xff, sizeof(cost)); /* shows as a wrong message */
        packed_add(h, &cost);
    }
    if (in->labels != in->padded)
        packed_pad(h, first, in->labels);
}

/* As the threads of a group do it: each phase for all of them, then the exchange. */
static void by_threads(const struct input *in, uint8_t *out) {
    struct packed_labels slanted[MAX_THREADS];
    struct block_ends ends[MAX_THREADS];
    uint32_t up[MAX_THREADS], down[MAX_THREADS], minimum = 0xffff,
                                                 rho = u16x2_broadcast((uint32_t)in->rho);
    int threads = in->padded / LABEL_BLOCK, carry = carry_blocks(in->rho, in->maximum, 2 * threads);
    for (int t = 0; t < threads; t++) {
        struct packed_labels h;
        start_thread(in, t, &h);
        uint32_t both = packed_minimum(&h);
        minimum =
            (uint32_t)stage_min((int)minimum, stage_min((int)(both & 0xffff), (int)(both >> 16)));
        ends[t] = packed_ends(&h, rho, &slanted[t]);
        up[t] = ends[t].up;
        down[t] = ends[t].down;
    }
    for (int n = 0; n < carry; n++) {
        uint32_t was_up[MAX_THREADS], was_down[MAX_THREADS];
        memcpy(was_up, up, sizeof(up));
        memcpy(was_down, down, sizeof(down));
        for (int t = 0; t < threads; t++) {
            uint32_t u = carry_up(was_up[t ? t - 1 : t], was_up[t], t ? ~0u : 0xffff0000u);
            uint32_t d = carry_down(was_down[t + 1 < threads ? t + 1 : t], was_down[t],
                                    t + 1 < threads ? ~0u : 0xffffu);
            up[t] = n ? u16x2_add_min(u, 8 * rho, was_up[t]) : u;
            down[t] = n ? u16x2_add_min(d, 8 * rho, was_down[t]) : d;
        }
    }
    for (int t = 0; t < threads; t++) {
        packed_sweep(&slanted[t], up[t], down[t], rho,
                     u16x2_broadcast(minimum + (uint32_t)in->maximum));
        struct label_words w = packed_to_bytes(&slanted[t], u16x2_broadcast(minimum));
        memcpy(out + t * LABEL_BLOCK, w.w, sizeof(w.w));
    }
}

int main(int argc, char **argv) {
    struct parity t = parity_begin(argc, argv);
    uint64_t random = draw_start(t.seed);
    int bad = 0;
    for (int n = 0; n < ROUNDS && !bad; n++) {
        static struct input in;
        static uint8_t expected[MAX_LABELS], got[MAX_LABELS];
        draw_input(&in, &random);
        write_out(&in, expected);
        by_threads(&in, got);
        bad = memcmp(expected, got, (size_t)in.padded) != 0;
        if (bad)
            printf("# round %d: %d labels, rho %d, T %d, wide %d\n", n, in.labels, in.rho,
                   in.maximum, in.wide);
    }
    parity_ok(&t, !bad, "messages in packed pairs of 16 bits");
    return parity_end(&t);
}
