/*
 * Pairing: chosen cases, and properties over random cameras (rates, phases, jitter, drops,
 * drift, delivery, clock steps) against a largest matching found apart: never fewer pairs than
 * that, minus the frames passed over for a nearer one, minus those that expired, minus one that
 * may wait. The seed of a failing case is printed.
 * SPDX-License-Identifier: MIT
 */
#include "capture/source_status.h"
#include "tests/shots.h"
#include "tests/test.h"

#define MS 1000000LL

struct pairs {
    int count;
    int number[2][2 * MOST];
    int64_t gap_ns[2 * MOST]; /* of the true times */
    int expired;              /* frames for which there was no room any longer */
    enum pairing_mode mode[2 * MOST];
};

/* Offers the shots in this order and takes what comes out. Slots carry the shots' numbers, so a
 * slot that was handed out twice shows as a frame used twice. */
static struct pairs run(struct pairing *pairing, const struct shot *shots, int count) {
    struct pairs pairs = {0};
    const struct shot *in_slot[2][PAIRING_SLOTS] = {{0}};
    for (int i = 0; i < count; i++) {
        const struct shot *shot = &shots[i];
        int slot = pairing_slot(pairing, shot->side);
        g_assert_cmpint(slot, >=, 0);
        g_assert_cmpint(slot, <, PAIRING_SLOTS);
        g_assert_cmpint(pairing_slot(pairing, shot->side), ==, slot);
        in_slot[shot->side][slot] = shot;
        pairs.expired += pairing->side[shot->side].count == PAIRING_KEPT;
        struct pair_of_slots pair;
        if (pairing_offer(pairing, shot->side, &shot->stamp, &pair)) {
            const struct shot *left = in_slot[0][pair.slot[0]], *right = in_slot[1][pair.slot[1]];
            g_assert_cmpint(left->stamp.capture_ns, ==, pair.stamp[0].capture_ns);
            g_assert_cmpint(right->stamp.capture_ns, ==, pair.stamp[1].capture_ns);
            pairs.number[0][pairs.count] = left->number;
            pairs.number[1][pairs.count] = right->number;
            pairs.mode[pairs.count] = pairing->mode;
            pairs.gap_ns[pairs.count++] = right->true_ns - left->true_ns;
        }
    }
    return pairs;
}

/* ---- properties */

static void check_once_in_order(const struct pairs *pairs) {
    for (int i = 1; i < pairs->count; i++)
        for (int side = 0; side < 2; side++)
            g_assert_cmpint(pairs->number[side][i], >, pairs->number[side][i - 1]);
}

static void check_sums(const struct pairing *pairing, int lefts, int rights) {
    for (int i = 0; i < 2; i++) {
        const struct pairing_side *side = &pairing->side[i];
        g_assert_cmpint(i ? rights : lefts, ==, pairing->pairs + side->unpaired + side->count);
    }
}

/* Frames of a side before one that got a partner which was in their reach, too. */
static int passed_over(const struct pairs *pairs, int side, const struct shot *own,
                       const struct shot *others, int64_t tolerance) {
    int passed = 0;
    for (int i = 0, k = 0; k < pairs->count; i++)
        if (i == pairs->number[side][k])
            k++;
        else
            passed += llabs(own[i].true_ns - others[pairs->number[!side][k]].true_ns) <= tolerance;
    return passed;
}

/* 1 when the times were good enough to the end. */
static int random_case(guint32 seed) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    double interval = 1e9 / uniform(rand, 5, 120);
    struct camera cameras[2] = {random_camera(rand, interval), random_camera(rand, interval)};
    if (g_rand_int_range(rand, 0, 4) == 0) /* two unlike cameras */
        cameras[1] = random_camera(rand, 1e9 / uniform(rand, 5, 120));
    struct shot shots[2 * MOST], left[MOST], right[MOST];
    int lefts = shoot(rand, &cameras[0], 0, left), rights = shoot(rand, &cameras[1], 1, right);
    memcpy(shots, left, (size_t)lefts * sizeof *left);
    memcpy(shots + lefts, right, (size_t)rights * sizeof *right);
    qsort(shots, (size_t)(lefts + rights), sizeof *shots, by_arrival);

    int64_t nominal[2] = {(int64_t)cameras[0].interval_ns, (int64_t)cameras[1].interval_ns};
    int64_t tolerance = (int64_t)(uniform(rand, 0.02, 1.2) * (double)MIN(nominal[0], nominal[1]));
    struct pairing pairing;
    pairing_init(&pairing, tolerance, nominal);
    struct pairs pairs = run(&pairing, shots, lefts + rights);
    check_once_in_order(&pairs);
    check_sums(&pairing, lefts, rights);
    /* Jitter of delivery as wild as here may look like a moving clock; what holds of times
     * holds before. */
    int by_capture = 0;
    while (by_capture < pairs.count && pairs.mode[by_capture] == PAIR_BY_CAPTURE)
        g_assert_cmpint(llabs(pairs.gap_ns[by_capture++]), <=, tolerance);
    if (pairing.mode == PAIR_BY_CAPTURE) {
        int lost = pairs.expired;
        if (2 * tolerance > MIN(shortest_interval(left, lefts), shortest_interval(right, rights)))
            lost += passed_over(&pairs, 0, left, right, tolerance) +
                    passed_over(&pairs, 1, right, left, tolerance);
        /* one pair may still wait for what comes next */
        int waiting = pairing.side[0].count && pairing.side[1].count;
        int best = largest_matching(left, lefts, right, rights, tolerance);
        g_assert_cmpint(pairs.count, <=, best);
        g_assert_cmpint(pairs.count, >=, best - lost - waiting);
    }
    return pairing.mode == PAIR_BY_CAPTURE;
}

TEST("/pairing/random", test_random) {
    guint32 first = g_test_rand_int();
    g_test_message("seeds from %u", first);
    int by_capture = 0;
    for (guint32 i = 0; i < 2000; i++)
        by_capture += random_case(first + i);
    g_test_message("%d of 2000 by capture time to the end", by_capture);
    g_assert_cmpint(by_capture, >, 500);
}

/* In the order of their arrival. */
static int shoot_both(GRand *rand, const struct camera cameras[2], struct shot *shots) {
    int count = shoot(rand, &cameras[0], 0, shots);
    count += shoot(rand, &cameras[1], 1, shots + count);
    qsort(shots, (size_t)count, sizeof *shots, by_arrival);
    return count;
}

/* The pairs of two cameras of that interval, with the usual tolerance. */
static struct pairs run_both(GRand *rand, const struct camera cameras[2], double interval,
                             struct pairing *pairing) {
    struct shot shots[2 * MOST];
    int count = shoot_both(rand, cameras, shots);
    pairing_init(pairing, 0, (const int64_t[]){(int64_t)interval, (int64_t)interval});
    struct pairs pairs = run(pairing, shots, count);
    check_once_in_order(&pairs);
    check_sums(pairing, cameras[0].frames, cameras[1].frames);
    return pairs;
}

/* Like cameras, calm delivery, one clock that steps: at most two periods of pairs are wrong,
 * none once the step was noticed, and it is noticed when the step is a frame or more. */
static void step_case(guint32 seed) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    double interval = 1e9 / uniform(rand, 10, 60);
    struct camera cameras[2];
    for (int i = 0; i < 2; i++)
        cameras[i] = (struct camera){.interval_ns = interval * (1 + uniform(rand, -1e-3, 1e-3)),
                                     .phase_ns = uniform(rand, 0, 0.1) * interval,
                                     .jitter = uniform(rand, 0, 0.05),
                                     .delay_ns = uniform(rand, 0.1, 0.3) * interval,
                                     .frames = 300,
                                     .step_at = -1};
    int side = g_rand_int_range(rand, 0, 2);
    double frames = uniform(rand, 1.05, 40) * (g_rand_boolean(rand) ? 1 : -1);
    cameras[side].step_at = g_rand_int_range(rand, 50, 150);
    cameras[side].step_ns = (int64_t)(frames * interval);
    struct pairing pairing;
    struct pairs pairs = run_both(rand, cameras, interval, &pairing);
    g_assert_cmpint(pairing.mode, ==, PAIR_BY_ARRIVAL);
    g_assert_cmpint(pairing.unusable, ==, side);
    g_assert_cmpstr(pairing.reason, !=, "");
    int wrong = 0;
    for (int i = 0; i < pairs.count; i++) {
        if ((double)llabs(pairs.gap_ns[i]) < 0.8 * interval)
            continue;
        g_assert_cmpint(pairs.mode[i], ==, PAIR_BY_CAPTURE);
        wrong++;
    }
    g_assert_cmpint(wrong, <=, 2 * PAIRING_PERIOD);
    g_assert_cmpint(pairs.count, >=, 300 - 45 - 3 * PAIRING_PERIOD);
}

TEST("/pairing/clock-steps", test_steps) {
    guint32 first = g_test_rand_int();
    g_test_message("seeds from %u", first);
    for (guint32 i = 0; i < 500; i++)
        step_case(first + i);
}

/* Clocks that drift apart, with jitter: the slower camera's frames all find a partner, and each
 * slip by a frame costs the faster one just one. */
static void drift_case(guint32 seed) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    double interval = 1e9 / uniform(rand, 10, 60);
    struct camera cameras[2];
    for (int i = 0; i < 2; i++)
        cameras[i] = (struct camera){.interval_ns = interval,
                                     .phase_ns = uniform(rand, 0, 0.2) * interval,
                                     .jitter = 0.03,
                                     .delay_ns = 0.2 * interval,
                                     .frames = MOST,
                                     .step_at = -1};
    int slow = g_rand_int_range(rand, 0, 2);
    double ratio = uniform(rand, 1.002, 1.01);
    cameras[slow].interval_ns *= ratio;
    cameras[slow].frames = (int)(MOST / ratio) - 1; /* the other one ends last */
    struct pairing pairing;
    struct pairs pairs = run_both(rand, cameras, interval, &pairing);
    g_assert_cmpint(pairing.mode, ==, PAIR_BY_CAPTURE);
    for (int i = 0; i < pairs.count; i++)
        g_assert_cmpfloat((double)llabs(pairs.gap_ns[i]), <=, 0.58 * interval);
    g_assert_cmpint(pairing.side[slow].unpaired, ==, 0);
    g_assert_cmpint(pairing.side[!slow].unpaired + pairing.side[!slow].count, <=,
                    MOST - cameras[slow].frames);
    g_assert_cmpint(pairs.count + pairing.side[slow].count, ==, cameras[slow].frames);
}

TEST("/pairing/drift", test_drift) {
    guint32 first = g_test_rand_int();
    g_test_message("seeds from %u", first);
    for (guint32 i = 0; i < 500; i++)
        drift_case(first + i);
}

/* ---- chosen cases; times in ms, arrivals 5 ms later */

static struct shot at(int side, int number, double taken_ms) {
    int64_t ns = (int64_t)(taken_ms * 1e6) + 1000 * MS;
    return (struct shot){ns, {ns, ns + 5 * MS, (uint32_t)number, 1, 1}, side, number};
}

static void start(struct pairing *pairing, int64_t tolerance_ns) {
    pairing_init(pairing, tolerance_ns, (const int64_t[]){33 * MS, 33 * MS});
}

TEST("/pairing/default-tolerance", test_default_tolerance) {
    struct pairing pairing;
    pairing_init(&pairing, 0, (const int64_t[]){40 * MS, 20 * MS});
    g_assert_cmpint(pairing.tolerance_ns, ==, 20 * MS * 9 / 16);
    pairing_init(&pairing, 7 * MS, (const int64_t[]){40 * MS, 20 * MS});
    g_assert_cmpint(pairing.tolerance_ns, ==, 7 * MS);
    /* a camera that halves its rate in dim light */
    pairing_init(&pairing, 0, (const int64_t[]){33 * MS, 33 * MS});
    struct shot shots[100];
    for (int i = 0; i < 100; i++)
        shots[i] = at(i % 2, i / 2, 66.0 * (i / 2) + 25 * (i % 2));
    struct pairs pairs = run(&pairing, shots, 100);
    g_assert_cmpint(pairs.count, >=, 40);
    g_assert_cmpint(pairing.tolerance_ns, >, 32 * MS);
}

TEST("/pairing/nearest", test_nearest) {
    /* 30 frames a second beside 60: of the two in reach the nearer one is taken */
    struct pairing pairing;
    pairing_init(&pairing, 16 * MS, (const int64_t[]){33 * MS, 16 * MS});
    struct shot shots[] = {at(1, 0, 0),  at(0, 0, 12), at(1, 1, 16), at(1, 2, 33),
                           at(0, 1, 45), at(1, 3, 49), at(1, 4, 66)};
    struct pairs pairs = run(&pairing, shots, G_N_ELEMENTS(shots));
    g_assert_cmpint(pairs.count, ==, 2);
    g_assert_cmpint(pairs.number[1][0], ==, 1);
    g_assert_cmpint(pairs.number[1][1], ==, 3);
    g_assert_cmpint(pairing.side[1].unpaired, ==, 2);
}

TEST("/pairing/start-skew", test_start_skew) {
    /* the right camera comes up 10 frames later */
    struct pairing pairing;
    start(&pairing, 0);
    struct shot shots[60];
    int count = 0;
    for (int i = 0; i < 30; i++) {
        shots[count++] = at(0, i, 33.0 * i);
        if (i >= 10)
            shots[count++] = at(1, i - 10, 33.0 * i + 3);
    }
    struct pairs pairs = run(&pairing, shots, count);
    g_assert_cmpint(pairs.count, ==, 20);
    g_assert_cmpint(pairing.side[0].unpaired, ==, 10);
    g_assert_cmpint(pairing.side[1].unpaired, ==, 0);
    struct pairing_gaps gaps;
    pairing_get_gaps(&pairing, &gaps);
    g_assert_cmpfloat_with_epsilon(gaps.median_ms, 3, 1e-9);
    g_assert_cmpfloat_with_epsilon(gaps.p95_ms, 3, 1e-9);
}

TEST("/pairing/dropped-by-sequence", test_dropped_by_sequence) {
    struct pairing pairing;
    start(&pairing, 0);
    /* the left number wraps and leaves out two; then one comes twice */
    const uint32_t left[] = {0xfffffffe, 0xffffffff, 2, 3, 3, 4};
    const double ms[] = {0, 33, 132, 165, 198, 231};
    for (int i = 0; i < 6; i++) {
        struct shot shot = at(0, 0, ms[i]);
        shot.stamp.sequence = left[i];
        run(&pairing, &shot, 1);
    }
    g_assert_cmpint(pairing.side[0].dropped, ==, 2);
    g_assert_cmpint(pairing.side[1].dropped, ==, 0);
}

static void expect_arrival(struct shot odd, const char *reason) {
    struct pairing pairing;
    start(&pairing, 0);
    struct shot shots[40];
    for (int i = 0; i < 40; i++)
        shots[i] = at(i % 2, i / 2, 33.0 * (i / 2) + i % 2);
    odd.stamp.arrived_ns = shots[20].stamp.arrived_ns;
    odd.stamp.sequence = shots[20].stamp.sequence;
    shots[20].stamp = odd.stamp;
    struct pairs pairs = run(&pairing, shots, 40);
    g_assert_cmpint(pairing.mode, ==, PAIR_BY_ARRIVAL);
    g_assert_cmpint(pairing.unusable, ==, 0);
    struct stderr_of caught = stderr_begin();
    for (int i = 0; i < 2; i++) /* told once */
        source_tell_arrival(&pairing, "left camera");
    stderr_one_line(caught, "left camera", reason);
    g_assert_cmpint(pairs.count, ==, 20);
    for (int i = 0; i < 20; i++)
        g_assert_cmpint(llabs(pairs.gap_ns[i]), <, 2 * MS);
}

TEST("/pairing/odd-times", test_odd_times) {
    struct shot odd = at(0, 0, 0);
    expect_arrival(odd, "backwards");
    odd = at(0, 0, 33.0 * 10 + 60);
    expect_arrival(odd, "future");
    odd = at(0, 0, 0);
    odd.stamp.capture_ns = 9223372020000000000LL; /* vivid's wrapped time stamps */
    expect_arrival(odd, "future");
    odd.stamp.capture_ns = INT64_MIN;
    expect_arrival(odd, "backwards");
    odd = at(0, 0, 33.0 * 10);
    odd.stamp.monotonic = 0;
    expect_arrival(odd, "monotonic");
}

/* The rate is that of the last frames, and falls while none come, whatever the source. */
TEST("/pairing/rate", test_rate) {
    struct pairing pairing;
    struct source_status status;
    struct camera_status camera[2] = {{.came = 0}, {.came = 0}};
    start(&pairing, 0);
    for (int i = 0; i <= 100; i++)
        camera_came(&camera[1], i * 20 * MS);
    source_status_fill(&status, &pairing, &camera[0], &camera[1], 0, 2010 * MS);
    g_assert_cmpfloat(status.camera[0].rate, ==, 0);
    g_assert_cmpfloat_with_epsilon(status.camera[1].rate, 50, 1e-9);
    g_assert_cmpint(status.camera[1].frames, ==, 101);
    source_status_fill(&status, &pairing, &camera[0], &camera[1], 0,
                       2000 * MS + 5580 * MS); /* 31 steps in 6.2 s */
    g_assert_cmpfloat_with_epsilon(status.camera[1].rate, 5, 1e-9);
}

TEST("/pairing/one-stops", test_one_stops) {
    struct pairing pairing;
    start(&pairing, 0);
    struct shot shots[200];
    for (int i = 0; i < 100; i++)
        shots[i] = at(0, i, 33.0 * i);
    struct pairs pairs = run(&pairing, shots, 100);
    g_assert_cmpint(pairs.count, ==, 0);
    g_assert_cmpint(pairing.side[0].count, ==, PAIRING_KEPT);
    g_assert_cmpint(pairs.expired, ==, 100 - PAIRING_KEPT);
    pairing_restart(&pairing);
    g_assert_cmpint(pairing.side[0].unpaired, ==, 100);
    /* after a restart times may start anywhere */
    for (int i = 0; i < 20; i++)
        shots[i] = at(i % 2, i / 2, 33.0 * (i / 2) - 500);
    pairs = run(&pairing, shots, 20);
    g_assert_cmpint(pairs.count, ==, 10);
    g_assert_cmpint(pairing.mode, ==, PAIR_BY_CAPTURE);
    check_sums(&pairing, 110, 10);
}
