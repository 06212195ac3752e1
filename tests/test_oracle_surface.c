/*
 * Oracles of the stages of sub-pixel disparity: curves in doubles, planes by elimination over
 * regions that are walked pixel by pixel.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/stages/stages.h"
#include "tests/test.h"

enum { W = 37, H = 29, N = W * H, LABELS = 9 };

/* Where the curve through three costs has its minimum, in 1/16 px, within half a pixel. */
static double minimum_of(int before, int here, int after, int subpixel) {
    double left = before - here, right = after - here, bend;
    bend = subpixel == SUBPIXEL_PARABOLA ? left + right : fmax(left, right);
    if (subpixel == SUBPIXEL_OFF || bend <= 0)
        return 0;
    return fmax(-8, fmin(8, round(8 * (left - right) / bend)));
}

/* Random blocks of the two that there are, one of them at least. */
static void draw_kept(uint8_t *kept, size_t tiles) {
    memset(kept, NOT_KEPT, tiles * KEPT_MOST);
    for (size_t i = 0; i < tiles; i++) {
        int which = g_test_rand_int_range(0, 3);
        kept[i * KEPT_MOST] = which == 1;
        if (which == 2)
            kept[i * KEPT_MOST + 1] = 1;
    }
}

/* Of all labels in every other round, else of those that tiles keep; -1 stands for no cost. */
TEST("/oracle/cost-curve", test_cost_curve) {
    enum {
        MANY = LABEL_BLOCK + 9, /* labels: two blocks */
        COLUMNS = (W + PRUNING_TILE - 1) / PRUNING_TILE,
        ROWS = (H + PRUNING_TILE - 1) / PRUNING_TILE
    };
    static uint8_t cost[(N + H) * 2 * LABEL_BLOCK], kept[COLUMNS * ROWS * KEPT_MOST];
    int16_t disparity[N];
    uint8_t rise[N];
    uint16_t label[N];
    int flat = 0, steep = 0, between = 0, without = 0;
    for (int round = 0; round < 60; round++) {
        struct label_space space = {.u_min = round % 30 - 3, .u_count = MANY, .v_count = 1};
        struct cost_curve_args a = {.grid = grid_make(W, H, space),
                                    .label = label,
                                    .cost = cost,
                                    .disparity = disparity,
                                    .rise = rise,
                                    .subpixel = round % 3};
        g_assert_cmpuint(grid_volume(&a.grid), <=, sizeof(cost));
        draw_kept(kept, sizeof(kept) / KEPT_MOST);
        if (round % 2)
            a.pruning = (struct pruning){kept, PRUNING_TILE, COLUMNS};
        for (size_t i = 0; i < grid_volume(&a.grid); i++)
            cost[i] = (uint8_t)g_test_rand_int_range(0, round < 30 ? 5 : MAX_COST + 1);
        for (int i = 0; i < N; i++) {
            int c[MANY + 2], x = i % W, y = i / W, l, exists, least = MAX_COST;
            size_t pixel = grid_pixel(&a.grid, x, y);
            c[0] = c[MANY + 1] = -1; /* of labels from -1 on */
            for (int k = 0; k < MANY; k++) {
                int number =
                    a.pruning.kept ? kept_find(kept_at(&a.pruning, x, y), k / LABEL_BLOCK) : 0;
                c[k + 1] =
                    !a.pruning.kept ? cost[pixel * 2 * LABEL_BLOCK + (size_t)k]
                    : number < 0
                        ? -1
                        : cost[((size_t)number * grid_pixels(&a.grid) + pixel) * LABEL_BLOCK +
                               (size_t)(k % LABEL_BLOCK)];
            }
            do
                l = g_test_rand_int_range(0, MANY);
            while (c[l + 1] < 0);
            label[i] = (uint16_t)l;
            stage_cost_curve(&a, x, y);
            exists = c[l] >= 0 && c[l + 2] >= 0;
            double offset = exists ? minimum_of(c[l], c[l + 1], c[l + 2], a.subpixel) : 0;
            g_assert_cmpfloat(disparity[i], ==, 16.0 * (space.u_min + l) + offset);
            for (int k = 0; k < MANY; k++)
                least = abs(k - l) == 3 && c[k + 1] >= 0 ? MIN(least, c[k + 1]) : least;
            g_assert_cmpint(rise[i], ==, MAX(0, least - c[l + 1]));
            flat += rise[i] == 0;
            steep += rise[i] > 0;
            between += disparity[i] % 16 != 0;
            without += !exists;
        }
    }
    g_assert_cmpint(MIN(MIN(flat, steep), MIN(between, without)), >, 1000);
}

TEST("/oracle/take-known", test_take_known) {
    const int16_t source[4] = {3, UNKNOWN, 5, UNKNOWN}, values[4] = {30, 40, UNKNOWN, 60};
    int16_t out[4];
    struct take_known_args a = {source, values, out, 2};
    RUN_STAGE(stage_take_known, &a, 2, 2);
    const int16_t expected[4] = {30, UNKNOWN, UNKNOWN, UNKNOWN};
    g_assert_cmpmem(out, sizeof(out), expected, sizeof(expected));
}

/* The cell of each measure alone, and that more of each does not mean less confidence where the
 * others are in the middle. */
TEST("/oracle/chance", test_chance) {
    static const int thirds[8] = {0, 3, 6, 12, 24, 48, 96, 192},
                     rises[8] = {0, 1, 2, 4, 8, 16, 32, 64};
    static const struct arms arms[4] = {
        {{9, 9, 9, 9}}, {{2, 2, 5, 5}}, {{5, 5, 5, 5}}, {{9, 9, 9, 9}}};
    const int16_t source[4] = {UNKNOWN, 7, 7, 7};
    for (int kind = 0; kind < 4; kind++)
        for (int m = 0; m < 8; m++)
            for (int r = 0; r < 8; r++) {
                uint8_t margin[4] = {0}, rise[4] = {0}, out[4];
                margin[kind] = (uint8_t)thirds[m];
                rise[kind] = (uint8_t)rises[r];
                struct chance_args a = {source, arms, margin, rise, out, 4, 1};
                stage_chance(&a, kind, 0);
                g_assert_cmpint(out[kind], ==, 64 * kind + 8 * m + r);
            }
    for (int cell = 0; cell < CHANCE_CELLS; cell++)
        g_assert_true((chance_of(cell) < CHANCE_MATCHED) == (cell < 64));
    g_assert_cmpint(chance_of(3 * 64 + 4 * 8 + 5), >, chance_of(1 * 64 + 4 * 8 + 5));
    g_assert_cmpint(chance_of(1 * 64 + 4 * 8 + 5), >, chance_of(0 * 64 + 4 * 8 + 5));
    g_assert_cmpint(chance_of(2 * 64 + 4 * 8 + 6), >, chance_of(2 * 64 + 4 * 8 + 1));
}

/* Random places, by sums over squares of samples, and in half of the rounds how many rows agree of
 * nodes of 4x4 px; the picture ends within tiles. */
TEST("/oracle/doubt", test_doubt) {
    enum { WIDE = 60, HIGH = 43, COLUMNS = 7, ROWS = 5, PIXELS = WIDE * HIGH, NODES = 15 };
    uint8_t places[COLUMNS * ROWS], confidence[PIXELS], out[PIXELS], doubts[NODES * 11];
    struct doubt_args a = {places, doubts, out, 0, WIDE, HIGH, 0};
    int changed = 0, kept = 0, alike = 0;
    g_assert_cmpint(agreement_columns(WIDE), ==, COLUMNS); /* the last pixel of 8 is number 52 */
    g_assert_cmpint(agreement_columns(HIGH), ==, ROWS);
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < COLUMNS * ROWS; i++)
            places[i] = (uint8_t)(g_test_rand_int_range(0, 5) ? SEVERAL_PLACES
                                                              : g_test_rand_int_range(0, 2));
        for (int i = 0; i < PIXELS; i++)
            out[i] = confidence[i] = (uint8_t)g_test_rand_int_range(0, 256);
        for (int i = 0; i < NODES * 11; i++)
            doubts[i] = (uint8_t)g_test_rand_int_range(0, 4);
        a.doubts = round % 2 ? doubts : NULL;
        a.bare = round / 2 % 2;
        RUN_STAGE(stage_doubt, &a, (WIDE + 7) / 8, (HIGH + 7) / 8);
        for (int i = 0; i < PIXELS; i++) {
            int several = 0, matched = 0, repeat = 0, nodes = 0, c = confidence[i];
            int x = i % WIDE / 8, y = i / WIDE / 8;
            for (int k = 0; k < COLUMNS * ROWS; k++)
                if (abs(k % COLUMNS - x) <= 2 && abs(k / COLUMNS - y) <= 2) {
                    several += places[k] == SEVERAL_PLACES;
                    matched += places[k] != NO_PLACE;
                }
            for (int k = 0; a.doubts && k < NODES * 11; k++)
                if (abs(k % NODES / 2 - x) <= 2 && abs(k / NODES / 2 - y) <= 2) {
                    repeat += doubts[k] / 2;
                    nodes++;
                }
            bool repeated = matched && several >= 0.8 * matched,
                 most = nodes && 2 * repeat >= nodes,
                 bare = a.bare && a.doubts && doubts[i / WIDE / 4 * NODES + i % WIDE / 4] % 2;
            int quarters = bare || most ? 1 : 4 - repeated;
            g_assert_cmpint(out[i], ==, c > 128 ? 128 + quarters * (c - 128) / 4 : c);
            changed += repeated;
            kept += !repeated;
            alike += most;
        }
    }
    g_assert_cmpint(alike, >, 5 * PIXELS);
    g_assert_cmpint(alike, <, 20 * PIXELS);
    g_assert_cmpint(changed, >, PIXELS);
    g_assert_cmpint(kept, >, PIXELS);
    memset(places, NO_PLACE, sizeof(places)); /* nothing is known of what has no match */
    memcpy(out, confidence, sizeof(out));
    a.doubts = NULL;
    stage_doubt(&a, 0, 0);
    g_assert_cmpmem(out, AGREEMENT_STEP, confidence, AGREEMENT_STEP);
}

/* Regions of equal letters in a picture with blocks of 4x4 px a letter, each with its brightness
 * and the cost's rise: s sky, h sky near a thing, where the cost rises, w a window's white, k dark,
 * t texture, g ground like sky that reaches below the middle, o overexposed. */
TEST("/oracle/sky", test_sky) {
    enum { BLOCK = 4, COLUMNS = 9, ROWS = 6, SKY_W = COLUMNS * BLOCK, SKY_H = ROWS * BLOCK };
    static const char *const rows[ROWS] = {"sshktkgko", "ssskwkgko", "sskktkgko",
                                           "kkkkkkgkk", "kkkkkkgkk", "kkkkkkggk"};
    static const struct {
        char letter;
        uint8_t brightness, rise;
    } kinds[] = {{'s', 150, SKY_RISE}, {'h', 152, SKY_RISE + 1},
                 {'w', 180, 0},        {'k', 30, 0},
                 {'t', 100, 9},        {'g', 150, 0},
                 {'o', 250, 0}};
    uint8_t image[SKY_W * SKY_H], rise[SKY_W * SKY_H], brightness[SKY_W * SKY_H],
        in_region[SKY_W * SKY_H], confidence[SKY_W * SKY_H];
    uint32_t parent[SKY_W * SKY_H], votes[SKY_W * SKY_H], border[SKY_W * SKY_H];
    int16_t source[SKY_W * SKY_H], out[SKY_W * SKY_H];
    for (int i = 0; i < SKY_W * SKY_H; i++) {
        char letter = rows[i / SKY_W / BLOCK][i % SKY_W / BLOCK];
        for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++)
            if (kinds[k].letter == letter) {
                image[i] = kinds[k].brightness;
                rise[i] = kinds[k].rise;
            }
        source[i] = (int16_t)(16 * (i % 50));
        confidence[i] = 200;
    }
    struct sky_args a = {image,  rise, brightness, parent, votes, border, in_region,
                         source, out,  confidence, SKY_W,  SKY_H, 1,      UNKNOWN};
    static void (*const stages[])(const struct sky_args *, int, int) = {
        stage_sky_start, stage_sky_join, stage_sky_count, stage_sky_region, stage_sky};
    for (size_t s = 0; s < G_N_ELEMENTS(stages); s++)
        for (int i = 0; i < SKY_W * SKY_H; i++)
            stages[s](&a, i % SKY_W, i / SKY_W);
    for (int i = 0; i < SKY_W * SKY_H; i++) {
        char letter = rows[i / SKY_W / BLOCK][i % SKY_W / BLOCK];
        g_test_message("%d, %d: %c", i % SKY_W, i / SKY_W, letter);
        g_assert_cmpint(out[i], ==, letter == 's' || letter == 'h' ? UNKNOWN : source[i]);
        g_assert_cmpint(confidence[i], ==, out[i] == UNKNOWN ? 0 : 200);
    }
}

static bool joined(const int16_t *map, int i, int j, int step) {
    return map[i] != UNKNOWN && map[j] != UNKNOWN && abs(map[i] - map[j]) <= step;
}

/* How far one may walk from (x, y). */
static int walk(const struct surface_args *a, int x, int y, int dx, int dy) {
    int n = 0;
    while (n < a->longest) {
        int px = x + n * dx, py = y + n * dy, qx = px + dx, qy = py + dy;
        if (qx < 0 || qy < 0 || qx >= W || qy >= H ||
            !joined(a->source, py * W + px, qy * W + qx, a->step))
            break;
        n++;
    }
    return n;
}

/* m is 3 rows of 4: solves m x = last column, and gives the first unknown. */
static double first_unknown(double m[3][4]) {
    for (int k = 2; k > 0; k--) /* the system is positive definite: no pivots are needed */
        for (int row = 0; row < k; row++) {
            double factor = m[row][k] / m[k][k];
            for (int column = 0; column < 4; column++)
                m[row][column] -= factor * m[k][column];
        }
    return m[0][3] / m[0][0];
}

/* The plane's value above the disparity of (x, y); *count gets the size of the region. */
static double plane_at(const struct surface_args *a, int x, int y, int *count) {
    double m[3][4] = {{0, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    *count = 0;
    for (int py = y - walk(a, x, y, 0, -1); py <= y + walk(a, x, y, 0, 1); py++)
        for (int px = x - walk(a, x, py, -1, 0); px <= x + walk(a, x, py, 1, 0); px++) {
            double term[4] = {1, px - x, py - y, a->source[py * W + px] - a->source[y * W + x]};
            for (int row = 0; row < 3; row++)
                for (int column = 0; column < 4; column++)
                    m[row][column] += term[row] * term[column];
            ++*count;
        }
    return first_unknown(m);
}

/* Slopes with noise, jumps and unknown pixels. */
static void random_surfaces(int16_t *map, int noise) {
    int slope_x = g_test_rand_int_range(-12, 13), slope_y = g_test_rand_int_range(-12, 13);
    for (int i = 0; i < N; i++) {
        int x = i % W, y = i / W, jump = x > W / 2 + y / 4 ? 90 : 0;
        int d = 2000 + slope_x * x + slope_y * y + jump + g_test_rand_int_range(-noise, noise + 1);
        map[i] = (int16_t)(g_test_rand_int_range(0, 40) ? d : UNKNOWN);
    }
}

TEST("/oracle/surface", test_surface) {
    int16_t map[N], out[N];
    struct arms arms[N];
    int32_t sums[2 * N];
    int moved = 0, kept = 0;
    for (int round = 0; round < 40; round++) {
        struct surface_args a = {
            map, arms, sums, out, W, H, 1 + round % MAX_SURFACE_LENGTH, round % 4 ? 16 : 6};
        random_surfaces(map, round % 3 * 4);
        RUN_STAGE(stage_surface_arms, &a, W, H);
        RUN_STAGE(stage_surface_sums, &a, W, H);
        for (int i = 0; i < N; i++) {
            int count, got;
            stage_surface_plane(&a, i % W, i / W);
            if (map[i] == UNKNOWN) {
                g_assert_cmpint(out[i], ==, UNKNOWN);
                continue;
            }
            double value = plane_at(&a, i % W, i / W, &count);
            got = out[i] - map[i];
            if (count < MIN_SURFACE || fabs(value) > 16.5 + 1e-6)
                g_assert_cmpint(got, ==, 0);
            else if (fabs(value) < 16.5 - 1e-6)
                g_assert_cmpfloat(fabs(got - value), <=, 0.5 + 1e-6);
            moved += got != 0;
            kept += got == 0;
        }
    }
    g_assert_cmpint(MIN(moved, kept), >, 1000);
}

/* With the longest arms over the whole of a large plane no sum overflows: a plane stays one. */
TEST("/oracle/surface/largest", test_largest) {
    enum { SIDE = 2 * MAX_SURFACE_LENGTH + 1, MIDDLE = MAX_SURFACE_LENGTH * SIDE + SIDE / 2 };
    static int16_t map[SIDE * SIDE], out[SIDE * SIDE];
    static struct arms arms[SIDE * SIDE];
    static int32_t sums[2 * SIDE * SIDE];
    struct surface_args a = {map, arms, sums, out, SIDE, SIDE, MAX_SURFACE_LENGTH, 16};
    for (int i = 0; i < SIDE * SIDE; i++)
        map[i] = (int16_t)(16 * (i % SIDE) - 16 * (i / SIDE));
    map[MIDDLE] += 8;
    map[MIDDLE - 1] += 8; /* both stay joined to the rest on one side at least */
    RUN_STAGE(stage_surface_arms, &a, SIDE, SIDE);
    RUN_STAGE(stage_surface_sums, &a, SIDE, SIDE);
    for (int i = 0; i < SIDE * SIDE; i++) {
        stage_surface_plane(&a, i % SIDE, i / SIDE);
        if (i != MIDDLE && i != MIDDLE - 1)
            g_assert_cmpint(abs(out[i] - map[i]), <=, 1);
    }
}

/* A plane goes on to the left border, for BORDER_REACH px, and not below the least disparity; a
 * small region stays flat. */
TEST("/oracle/border", test_border) {
    enum { WIDE = 90, HIGH = 40, LEAST = 150 };
    static int16_t map[WIDE * HIGH], out[WIDE * HIGH];
    static struct border_plane plane[HIGH];
    struct border_plane_args planes = {map, plane, WIDE, HIGH};
    static const uint8_t image[WIDE * HIGH];
    static const uint16_t weight[256] = {256};
    struct extend_args extend = {map, image, weight, out, WIDE, HIGH, 1, LEAST, plane};
    for (int slope = -4; slope <= 4; slope++)
        for (int small = 0; small < 2; small++) {
            for (int i = 0; i < WIDE * HIGH; i++) {
                int x = i % WIDE, y = i / WIDE, first = 45 + (small ? y / 4 : 0);
                bool known = small ? x >= first && x < first + 2 && y % 4 < 2 : x >= first;
                int d = 320 + (small ? slope * (x - first) : slope * x - 2 * y);
                map[i] = (int16_t)(known ? d : UNKNOWN);
            }
            RUN_STAGE(stage_border_plane, &planes, 1, HIGH);
            for (int i = 0; i < WIDE * HIGH; i++) {
                int x = i % WIDE, y = i / WIDE, first = 45 + (small ? y / 4 : 0);
                stage_extend(&extend, x, y);
                if (x >= first || (small && y % 4 >= 2))
                    continue;
                int at = MAX(x, first - BORDER_REACH);
                int want = small ? 320 : MAX(320 + slope * at - 2 * y, LEAST);
                g_assert_cmpint(abs(out[i] - want), <=, small ? 0 : 3);
            }
        }
}
