/*
 * Parity: every stage on every form of every backend gives the bytes of the plain CPU form, over
 * odd and smallest sizes, extreme fills and extreme parameters; shuffled pixels catch every race a
 * GPU could have.
 * usage: parity [--tap] [--backend cpu-shuffled|cpu-tuned|cuda-plain|cuda] [--seed N] [--small]
 * Prints TAP. SPDX-License-Identifier: MIT
 */
#include "tests/parity.h"
#include "tests/stage_cases.h"

enum { FORMS = 4 };
static const char *const form_names[FORMS] = {"cpu-shuffled", "cpu-tuned", "cuda-plain", "cuda"};

static struct backend *open_form(int form, uint64_t seed) {
    int error;
    switch (form) {
    case 0:
        return backend_cpu_open(1, CPU_SHUFFLED, seed, &error);
    case 1:
        return backend_cpu_open(3, CPU_TUNED, 0, &error);
    default:
        return backend_cuda_open(0, form == 2, 1, &error);
    }
}

static const int sizes[][2] = {{1, 1},  {2, 1},  {1, 5},  {3, 2},  {5, 7},
                               {16, 3}, {17, 5}, {33, 9}, {64, 4}, {71, 13}};
static const int label_counts[] = {2,  3,  15, 16,  17,  31,  32,  48,
                                   60, 64, 65, 100, 128, 200, 256, 512};
static const int rhos[] = {0, 1, 7, 40, 120, 255}, truncations[] = {0, 1, 9, 100, 254, 255};

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static int uses_labels(enum stage stage) {
    return (stage >= STAGE_cost && stage <= STAGE_check) || stage == STAGE_settle;
}

static struct stage_shape shape_of(enum stage stage, int n, uint64_t seed, int small) {
    struct stage_case c = {.random = seed * 31 + (uint64_t)n * 977 + 7, .fill = FILL_RANDOM};
    for (int i = 0; i < 4; i++)
        case_draw(&c);
    int size = n % COUNT(sizes), labels = n % (small ? 10 : COUNT(label_counts));
    struct stage_shape s = {
        .width = sizes[size][0],
        .height = sizes[size][1],
        .labels = uses_labels(stage) ? label_counts[labels] : 64,
        .channels = case_draw(&c) & 1 ? 3 : 1,
        .fill = n / 3 % FILL_COUNT,
        .rho = rhos[case_draw(&c) % COUNT(rhos)],
        .truncation = truncations[case_draw(&c) % COUNT(truncations)],
        .iteration = n % 4,
        .variant = (int)(case_draw(&c) % 30),
        .seed = seed * 1000003 + (uint64_t)n,
    };
    if (n % 5 == 4)
        s.fill = FILL_RANDOM;
    return s;
}

/* Runs one shape on both backends; 0 when the bytes are the same. */
static int differs(struct backend *plain, struct backend *other, enum stage stage,
                   const struct stage_shape *s) {
    struct stage_case a = {.backend = plain}, b = {.backend = other};
    case_run(&a, stage, s);
    case_run(&b, stage, s);
    int differ = plain->finish(plain) || other->finish(other) ? -1 : case_compare(&a, &b);
    case_free(&a);
    case_free(&b);
    return differ;
}

static int check_stage(struct backend *plain, struct backend *other, enum stage stage,
                       uint64_t seed, int small) {
    int shapes = small ? 30 : 160;
    for (int n = 0; n < shapes; n++) {
        struct stage_shape s = shape_of(stage, n, seed, small);
        int buffer = differs(plain, other, stage, &s);
        if (!buffer)
            continue;
        printf("# %s: buffer %d differs at %dx%d, %d labels, %d channels, fill %d, rho %d, T %d, "
               "iteration %d, "
               "variant %d; repeat with --seed %llu (case %d)\n",
               stage_names[stage], buffer - 1, s.width, s.height, s.labels, s.channels, s.fill,
               s.rho, s.truncation, s.iteration, s.variant, (unsigned long long)seed, n);
        return 1;
    }
    return 0;
}

/* half_steps against single half-steps of the plain form. */
static int check_half_steps(struct backend *plain, struct backend *other, uint64_t seed,
                            int small) {
    for (int n = 0; n < (small ? 20 : 80); n++) {
        struct stage_shape s = shape_of(STAGE_message, n, seed, small);
        s.iteration = n % 2;
        int count = 1 + n % 7, differ;
        struct stage_case a = {.backend = plain, .random = s.seed, .fill = s.fill};
        struct stage_case b = {.backend = other, .random = s.seed, .fill = s.fill};
        struct message_args one = case_message(&a, &s), all = case_message(&b, &s);
        one.flags = all.flags = NULL;
        one.heat = all.heat = NULL;
        other->half_steps(other, &all, count);
        for (int i = 0; i < count; i++, one.iteration++)
            plain->run(plain, STAGE_message, &one, one.grid.half, one.grid.height);
        differ = plain->finish(plain) || other->finish(other) || case_compare(&a, &b);
        case_free(&a);
        case_free(&b);
        if (differ) {
            printf("# half_steps differ at %dx%d, %d labels, fill %d, rho %d, T %d, %d from %d, "
                   "variant %d; repeat "
                   "with --seed %llu (case %d)\n",
                   s.width, s.height, s.labels, s.fill, s.rho, s.truncation, count, s.iteration,
                   s.variant, (unsigned long long)seed, n);
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    struct parity t = parity_begin(argc, argv);
    int error;
    parity_say_seed(&t);
    struct backend *plain = backend_cpu_open(1, CPU_PLAIN, 0, &error);
    assert(plain);
    for (int form = 0; form < FORMS; form++) {
        const char *name = form_names[form];
        if (!parity_wants(&t, name))
            continue;
        struct backend *other = open_form(form, t.seed);
        if (!other) {
            parity_skip(&t, name);
            continue;
        }
        for (int stage = 0; stage < STAGE_COUNT; stage++)
            parity_ok(&t, !check_stage(plain, other, (enum stage)stage, t.seed, t.small), "%s %s",
                      name, stage_names[stage]);
        if (other->half_steps)
            parity_ok(&t, !check_half_steps(plain, other, t.seed, t.small), "%s half_steps", name);
        other->close(&other);
    }
    plain->close(&plain);
    return parity_end(&t);
}
