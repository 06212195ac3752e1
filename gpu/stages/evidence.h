/*
 * The evidence of a node: how much its data costs tell labels apart.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/stages/image.h"
#include "gpu/stages/pruning.h"

/* What a node of the third finest level matches, by the costs summed over the node and
 * EVIDENCE_REACH nodes on each side of it in its row, at labels whose match lies in the other
 * picture: the label of least cost; lead, by how much the least cost of other places, more than
 * MATCH_APART labels away, exceeds it; and depth, by how much the mean does, both as shares of the
 * mean. Where more than a fifth of the labels cost less than a quarter of the way from the least to
 * the mean, depth is divided by how many fifths they are. */
enum { EVIDENCE_REACH = 5, EVIDENCE_NODES = 2 * EVIDENCE_REACH + 1, EVIDENCE_LEAST_LABELS = 8 };
enum { NO_MATCH = 0xffff, MATCH_APART = 2 };

struct node_match {
    uint16_t label; /* of the grid; NO_MATCH where there are fewer than EVIDENCE_LEAST_LABELS */
    uint16_t gain;  /* what the ground's labels cost less: 1 / GROUND_SHARE of a node's mean */
    uint16_t depth; /* in 1/DEPTH_UNIT of a twentieth */
    uint16_t lead;  /* in 1/EVIDENCE_UNIT of a fiftieth */
};

/* Evidence is the lead in fiftieths and how many of the EVIDENCE_ROWS rows above and below have a
 * label that agrees, and the depth, DEPTHS_FULL twentieths for full evidence: where costs are
 * averaged all are added, elsewhere depth counts alone where it is more: there two surfaces may
 * meet, neither of which leads. Up to EVIDENCE_BARE the label is hardly ever right, and from
 * EVIDENCE_FULL on, DEPTHS_FULL where costs are averaged, it mostly is, on walls as on roads. */
enum { DEPTH_UNIT = 256, DEPTHS_OF_MEAN = 20, EVIDENCE_UNIT = 32, LEADS_OF_MEAN = 50 };
enum {
    EVIDENCE_ROWS = 3,
    EVIDENCE_SLOPE = 3,
    EVIDENCE_BARE = 4,
    EVIDENCE_FULL = 9,
    DEPTHS_FULL = 7
};

/* Reasons to doubt a node's label. BARE: costs are not averaged and fewer than EVIDENCE_AGREES rows
 * agree: the label is right less often than not. REPEATS: another place is as good, the lead is
 * below 1 / REPEATS_SHARE of the depth, which is more than REPEATS_DEPTH twentieths. */
enum { DOUBT_BARE = 1, DOUBT_REPEATS = 2 };
enum { EVIDENCE_AGREES = 2, REPEATS_SHARE = 8, REPEATS_DEPTH = 3 };

/* Multiplies the costs of each node by a weight, which grows with its evidence from bare_weight on:
 * on a plain surface coarser nodes would sum up noise until it outweighs smoothness. bare_weight
 * grows with the noise of the whole picture, since evidence is lost everywhere. Nodes on the ground
 * have full weight. Run over width x height of the grid, as node_match. */
struct evidence_args {
    struct grid grid;
    const uint16_t *source;   /* at most 16 * MAX_COST */
    struct node_match *match; /* width*height */
    uint16_t *out;
    int first, width; /* of the picture: the column of the first node's first pixel, the width */
    int sign;         /* as in cost_args */
    int bare_weight;  /* of costs without evidence, in 1/256 */
    int least_mean;   /* of a node's costs, in shares: where pictures are clipped all are small */
    int averaged;     /* whether costs are averaged along arms */
    const struct likeness *likeness; /* or NULL */
    uint8_t *doubts;                 /* width*height: DOUBT_BARE | DOUBT_REPEATS; or NULL */
    uint64_t *ground;                /* ground_vote() of the line that is kept, or NULL */
};

/* GROUND_BOTTOM: the least disparity below the last row. GROUND_NEAR: labels from the ground that
 * cost less, by 1 / GROUND_SHARE of a node's mean cost. */
enum { GROUND_BOTTOM = 8, GROUND_NEAR = 3, GROUND_SHARE = 10 };

/* Noise up to which bare_weight stays, what is added for each grey level above it, and how far. */
enum { EVIDENCE_NOISE = 4, NOISE_WEIGHT = 32, NOISE_MOST = 128 };

/* The labels first..end-1 of a node. */
struct label_range {
    int first, end;
};

/* Those whose match for the pixel in the middle of the node lies in the other picture. */
STAGE struct label_range evidence_labels(const struct evidence_args *a, int x) {
    int middle =
            stage_min(a->first + (x << PRUNED_LEVELS) + (1 << PRUNED_LEVELS) / 2, a->width - 1),
        first = (a->sign > 0 ? middle - a->width + 1 : -middle) - a->grid.space.u_min;
    struct label_range r = {stage_clamp(first, 0, a->grid.labels),
                            stage_clamp(first + a->width, 0, a->grid.labels)};
    return r;
}

/* The label of the ground in row y. A level ground's disparity grows with the row, from 0 at the
 * horizon to bottom below the last row (Labayrade, Aubert, Tarel 2002). */
STAGE int ground_label(const struct grid *g, int horizon, int bottom, int y) {
    return divide_round(bottom * (y - horizon), g->height - horizon) - g->space.u_min;
}

/* A line of ground_label() with its votes; the greatest one has most of them. */
STAGE uint64_t ground_vote(uint32_t votes, int horizon, int bottom) {
    return (uint64_t)votes << 32 | (uint64_t)horizon << 16 | (uint64_t)bottom;
}

/* How many nodes costs are summed over: those of them that exist. */
STAGE int evidence_nodes(const struct evidence_args *a, int x) {
    return stage_min(x + EVIDENCE_REACH, a->grid.width - 1) - stage_max(x - EVIDENCE_REACH, 0) + 1;
}

/* Costs summed over nodes. */
struct node_costs {
    uint32_t sum, least;    /* over all labels */
    uint32_t near;          /* how many labels cost at most evidence_limit() */
    uint32_t label, second; /* of the least; the least of other places */
};

/* The least cost of near labels. */
STAGE uint32_t evidence_limit(int count, uint32_t sum, uint32_t least) {
    return least + (sum - least * (uint32_t)count) / (4 * (uint32_t)stage_max(count, 1));
}

/* By the costs of count labels summed over nodes. */
STAGE struct node_match node_match_of(const struct evidence_args *a, int nodes, int count,
                                      const struct node_costs *c) {
    struct node_match m = {NO_MATCH, 0, 0, 0};
    if (count < EVIDENCE_LEAST_LABELS)
        return m;
    uint32_t labels = (uint32_t)count, smallest = (uint32_t)(a->least_mean * nodes) * labels,
             whole = c->sum > smallest ? c->sum : smallest;
    uint64_t above = (uint64_t)(c->sum - c->least * labels) * DEPTHS_OF_MEAN * DEPTH_UNIT;
    if (5 * c->near > labels)
        above = above * labels / (5 * c->near);
    m.label = (uint16_t)c->label;
    m.gain = (uint16_t)(c->sum / (uint32_t)(GROUND_SHARE * count * nodes));
    m.depth = (uint16_t)(above / (whole + 1));
    m.lead = (uint16_t)((uint64_t)(c->second - c->least) * labels * LEADS_OF_MEAN * EVIDENCE_UNIT /
                        (whole + 1));
    return m;
}

STAGE void stage_node_match(const struct evidence_args *a, int x, int y) {
    int left = stage_max(x - EVIDENCE_REACH, 0), nodes = evidence_nodes(a, x);
    struct label_range range = evidence_labels(a, x);
    struct node_costs c = {0, UINT32_MAX, 0, 0, UINT32_MAX};
    uint32_t sums[MAX_LABELS];
    for (int d = range.first; d < range.end; d++) {
        sums[d] = 0;
        for (int px = left; px < left + nodes; px++)
            sums[d] += a->source[grid_labels(&a->grid, px, y) + d];
        c.sum += sums[d];
        c.label = sums[d] < c.least ? (uint32_t)d : c.label;
        c.least = sums[d] < c.least ? sums[d] : c.least;
    }
    int count = range.end - range.first;
    uint32_t limit = evidence_limit(count, c.sum, c.least);
    for (int d = range.first; d < range.end; d++) {
        c.near += sums[d] <= limit;
        if (stage_abs(d - (int)c.label) > MATCH_APART && sums[d] < c.second)
            c.second = sums[d];
    }
    a->match[y * a->grid.width + x] = node_match_of(a, nodes, count, &c);
    if (x == 0 && y == 0 && a->ground)
        *a->ground = 0;
}

/* How many times EVIDENCE_NODES nodes a row has; the nodes in their middle vote for the ground. */
STAGE int ground_groups(const struct grid *g) {
    return g->width / EVIDENCE_NODES;
}

STAGE int ground_voter(const struct evidence_args *a, int i, int y) {
    return a->match[y * a->grid.width + i * EVIDENCE_NODES + EVIDENCE_REACH].label;
}

/* Keeps the line with most votes: labels of least cost within 1 of it, in every second row.
 * Run over labels x the rows that may be the horizon. */
STAGE void stage_ground_line(const struct evidence_args *a, int i, int horizon) {
    const struct grid *g = &a->grid;
    int bottom = GROUND_BOTTOM + i, groups = ground_groups(g);
    uint32_t votes = 0;
    for (int y = horizon + 2; y < g->height; y += 2) {
        int label = ground_label(g, horizon, bottom, y);
        for (int k = 0; k < groups; k++)
            votes += stage_abs(ground_voter(a, k, y) - label) <= 1;
    }
    stage_raise64(a->ground, ground_vote(votes, horizon, bottom));
}

/* The same of the line that was kept, or a label far from all: above the horizon, where that is in
 * the upper three tenths of the picture, and where less than a sixth of the votes below it are for
 * the line. */
STAGE int ground_of_row(const struct evidence_args *a, int y) {
    const struct grid *g = &a->grid;
    uint64_t line = a->ground ? *a->ground : 0, votes = line >> 32;
    int horizon = (int)(line >> 16 & 0xffff), rows = (g->height - horizon - 1) / 2;
    if (10 * horizon < 3 * g->height || y <= horizon ||
        6 * votes < (uint64_t)rows * (uint64_t)ground_groups(g))
        return -2 * GROUND_NEAR;
    return ground_label(g, horizon, (int)(line & 0xffff), y);
}

STAGE bool is_near_ground(int ground, int label) {
    return stage_abs(label - ground) <= GROUND_NEAR;
}

/* How many labels of the rows above and below agree with that of a node: where costs are averaged,
 * those within 1 of the line through it, of at most EVIDENCE_SLOPE labels a row, that has most of
 * them; else those that differ by at most 1, and 1 more each row. Of fewer rows at the border each
 * counts twice. */
STAGE int evidence_agreement(const struct evidence_args *a, int x, int y) {
    int most = 0, last = a->grid.height - 1, first_row = stage_max(y - EVIDENCE_ROWS, 0),
        last_row = stage_min(y + EVIDENCE_ROWS, last), steepest = a->averaged ? EVIDENCE_SLOPE : 0;
    const struct node_match *own = a->match + y * a->grid.width + x;
    for (int slope = -steepest; slope <= steepest; slope++) {
        int agree = 0;
        for (int row = first_row; row <= last_row; row++) {
            int away = row - y, apart = own[away * a->grid.width].label - own->label;
            int within = a->averaged ? 1 : 1 + stage_abs(away);
            agree += away != 0 && stage_abs(apart - slope * away) <= within;
        }
        most = stage_max(most, agree);
    }
    return last_row - first_row < 2 * EVIDENCE_ROWS ? 2 * most : most;
}

/* Of a node that is not on the ground, in 1/256. agreement: evidence_agreement() of it. */
STAGE int evidence_weight(const struct evidence_args *a, int x, int y, int agreement) {
    struct node_match m = a->match[y * a->grid.width + x];
    int bare = a->bare_weight, noise = a->likeness ? a->likeness->noise - EVIDENCE_NOISE : 0,
        full = a->averaged ? DEPTHS_FULL : EVIDENCE_FULL;
    bare = stage_min(bare + NOISE_WEIGHT * stage_max(noise, 0), stage_max(bare, NOISE_MOST));
    if (m.label == NO_MATCH)
        return bare;
    int lead = m.lead + EVIDENCE_UNIT * agreement,
        depth = m.depth * (EVIDENCE_UNIT * full) / (DEPTH_UNIT * DEPTHS_FULL);
    int evidence = a->averaged ? lead + depth : stage_max(lead, depth);
    int above = evidence - EVIDENCE_UNIT * EVIDENCE_BARE,
        all = EVIDENCE_UNIT * (full - EVIDENCE_BARE);
    return bare + (256 - bare) * stage_clamp(above, 0, all) / all;
}

STAGE bool node_repeats(const struct node_match *m) {
    int lead = REPEATS_SHARE * DEPTHS_OF_MEAN * (DEPTH_UNIT / EVIDENCE_UNIT) * m->lead;
    return m->depth > REPEATS_DEPTH * DEPTH_UNIT && lead < LEADS_OF_MEAN * m->depth;
}

/* What the costs of a node are multiplied by, in 1/256, and what labels near the ground gain, by
 * the ground's label in the row. */
struct node_weight {
    int weight, ground, gain;
};

/* Writes the node's doubts, too, where a->doubts is not NULL. */
STAGE struct node_weight node_weight_of(const struct evidence_args *a, int x, int y, int ground) {
    int i = y * a->grid.width + x, agreement = 0;
    const struct node_match *m = a->match + i;
    struct node_weight w = {256, ground, m->gain};
    bool on_ground = m->label != NO_MATCH && is_near_ground(ground, m->label);
    if (a->doubts || !on_ground)
        agreement = evidence_agreement(a, x, y);
    if (a->doubts)
        a->doubts[i] = (uint8_t)((!a->averaged && agreement < EVIDENCE_AGREES ? DOUBT_BARE : 0) |
                                 (node_repeats(m) ? DOUBT_REPEATS : 0));
    if (!on_ground) {
        w.weight = evidence_weight(a, x, y, agreement);
        w.gain = 0;
    }
    return w;
}

/* The cost of a label. */
STAGE uint16_t evidence_scaled(int cost, const struct node_weight *w, int label) {
    int gain = is_near_ground(w->ground, label) ? w->gain : 0;
    return (uint16_t)stage_max(((cost * w->weight + 128) >> 8) - gain, 0);
}

STAGE void stage_evidence(const struct evidence_args *a, int x, int y) {
    struct node_weight w = node_weight_of(a, x, y, ground_of_row(a, y));
    size_t at = grid_labels(&a->grid, x, y);
    for (int d = 0; d < a->grid.padded; d++)
        a->out[at + d] = evidence_scaled(a->source[at + d], &w, d);
}
