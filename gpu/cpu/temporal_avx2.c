/*
 * The last map moved into this frame in AVX2: eight pixels at a time, by the operations of the
 * plain stage in their order.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"
#include "gpu/cpu/vector_avx2.h"

enum { LANES = 8 };

/* The disparities of eight votes. */
INLINE __m256i upper_halves(const uint64_t *vote) {
    __m256 a = _mm256_castsi256_ps(load_256(vote)), b = _mm256_castsi256_ps(load_256(vote + 4));
    return _mm256_permute4x64_epi64(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd)), 0xd8);
}

/* Stores eight estimates of these halves. */
INLINE void store_estimates(struct estimate *to, __m256i lower, __m256i upper) {
    __m256i a = _mm256_unpacklo_epi32(lower, upper), b = _mm256_unpackhi_epi32(lower, upper);
    store_256(to, _mm256_permute2x128_si256(a, b, 0x20));
    store_256(to + 4, _mm256_permute2x128_si256(a, b, 0x31));
}

INLINE __m256i choose(__m256i no, __m256i yes, __m256i mask) {
    return _mm256_blendv_epi8(no, yes, mask);
}

INLINE __m256 all(float v) {
    return _mm256_set1_ps(v);
}
INLINE __m256 times(__m256 a, __m256 b) {
    return _mm256_mul_ps(a, b);
}
INLINE __m256 over(__m256 a, __m256 b) {
    return _mm256_div_ps(a, b);
}
INLINE __m256 plus(__m256 a, __m256 b) {
    return _mm256_add_ps(a, b);
}
INLINE __m256 less(__m256 a, __m256 b) {
    return _mm256_sub_ps(a, b);
}
INLINE __m256 above(__m256 a, float b) {
    return _mm256_cmp_ps(a, all(b), _CMP_GT_OQ);
}
INLINE __m256 both(__m256 a, __m256 b) {
    return _mm256_and_ps(a, b);
}

/* ---- the map moved */

INLINE __m256i close_gaps(__m256i own, __m256i first, __m256i second) {
    __m256i zero = _mm256_setzero_si256(), step = _mm256_set1_epi32(256);
    __m256i mean = _mm256_srli_epi32(_mm256_add_epi32(first, second), 1),
            apart = _mm256_abs_epi32(_mm256_sub_epi32(first, second)),
            least = _mm256_min_epi32(first, second);
    __m256i closes = _mm256_and_si256(_mm256_cmpgt_epi32(least, zero),
                                      _mm256_cmpgt_epi32(_mm256_sub_epi32(least, step), own));
    closes = _mm256_andnot_si256(_mm256_cmpgt_epi32(apart, step), closes);
    return choose(own, mean, closes);
}

/* stage_move_take()'s votes at x..x+7, once gaps are closed. */
INLINE __m256i closed_votes(const struct move_args *a, int x, int y) {
    const uint64_t *v = a->vote + (size_t)y * (size_t)a->width + (size_t)x;
    __m256i zero = _mm256_setzero_si256();
    __m256i own = close_gaps(upper_halves(v), upper_halves(v - 1), upper_halves(v + 1));
    __m256i over = y > 0 ? upper_halves(v - a->width) : zero;
    return close_gaps(own, over, y + 1 < a->height ? upper_halves(v + a->width) : zero);
}

/* Places in the old picture, disparities there, and where they are known. */
struct old_places {
    __m256 u, v, d, known;
};

INLINE struct old_places places_before(const struct move_args *a, int x, int y, __m256i own) {
    const float *t = a->motion->turn, *s = a->motion->shift, f = a->camera.focal;
    const __m256 focal = all(f), numbers = _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7);
    __m256 near =
        over(_mm256_cvtepi32_ps(_mm256_sub_epi32(own, _mm256_set1_epi32(1))), all(256 * f));
    __m256 across = over(less(plus(all((float)x), numbers), all(a->camera.cx)), focal);
    __m256 px = less(across, times(all(s[0]), near)),
           py = less(all(((float)y - a->camera.cy) / f), times(all(s[1]), near)),
           pz = less(all(1), times(all(s[2]), near));
    __m256 to[3];
    for (int i = 0; i < 3; i++)
        to[i] =
            plus(plus(times(all(t[i]), px), times(all(t[3 + i]), py)), times(all(t[6 + i]), pz));
    struct old_places p = {plus(all(a->camera.cx), over(times(focal, to[0]), to[2])),
                           plus(all(a->camera.cy), over(times(focal, to[1]), to[2])),
                           less(over(times(near, focal), to[2]), all(a->camera.doffs)),
                           _mm256_castsi256_ps(_mm256_cmpgt_epi32(own, _mm256_setzero_si256()))};
    p.known = both(p.known, above(to[2], 0.05f));
    p.known = both(p.known, both(_mm256_cmp_ps(p.u, all(0), _CMP_GE_OQ),
                                 _mm256_cmp_ps(p.v, all(0), _CMP_GE_OQ)));
    p.known = both(p.known, both(_mm256_cmp_ps(p.u, all((float)(a->width - 1)), _CMP_LE_OQ),
                                 _mm256_cmp_ps(p.v, all((float)(a->height - 1)), _CMP_LE_OQ)));
    p.u = both(p.u, p.known);
    p.v = both(p.v, p.known);
    return p;
}

/* read_old(), and from its disparity on what move_found() does: the halves of estimates without
 * fits. */
INLINE void read_and_move(const struct move_args *a, struct old_places *p, __m256i *lower,
                          __m256i *upper) {
    const int *last = (const int *)(const void *)a->last;
    const float *t = a->motion->turn;
    const __m256i one = _mm256_set1_epi32(1), byte = _mm256_set1_epi32(255);
    __m256i column = _mm256_cvttps_epi32(p->u), row = _mm256_cvttps_epi32(p->v),
            state = _mm256_setzero_si256(), width = _mm256_set1_epi32(a->width);
    __m256 fx = less(p->u, _mm256_cvtepi32_ps(column)), fy = less(p->v, _mm256_cvtepi32_ps(row)),
           weight = all(0), most = all(0), d = all(0), variance = all(0);
    for (int n = 0; n < 4; n++) {
        __m256i x =
            n & 1 ? _mm256_min_epi32(_mm256_add_epi32(column, one), _mm256_set1_epi32(a->width - 1))
                  : column;
        __m256i y =
            n >> 1 ? _mm256_min_epi32(_mm256_add_epi32(row, one), _mm256_set1_epi32(a->height - 1))
                   : row;
        __m256i at = _mm256_add_epi32(_mm256_mullo_epi32(y, width), x);
        __m256i about = _mm256_i32gather_epi32(last + 1, at, 8);
        __m256 across = n & 1 ? fx : less(all(1), fx);
        __m256 w = times(across, n >> 1 ? fy : less(all(1), fy));
        __m256 was =
            times(_mm256_cvtepi32_ps(_mm256_i32gather_epi32(last, at, 8)), all(1.0f / 256));
        __m256 off = less(was, p->d);
        __m256i known_as = _mm256_and_si256(_mm256_srli_epi32(about, 16), byte);
        __m256 fits = _mm256_andnot_ps(
            _mm256_or_ps(above(off, 1), _mm256_cmp_ps(off, all(-1), _CMP_LT_OQ)), above(w, 0));
        fits = _mm256_andnot_ps(
            _mm256_castsi256_ps(_mm256_cmpeq_epi32(known_as, _mm256_setzero_si256())), fits);
        w = both(w, fits);
        weight = plus(weight, w);
        d = plus(d, times(w, was));
        variance =
            plus(variance,
                 times(w, _mm256_cvtepi32_ps(_mm256_and_si256(about, _mm256_set1_epi32(65535)))));
        __m256 more = _mm256_cmp_ps(w, most, _CMP_GT_OQ);
        most = _mm256_blendv_ps(most, w, more);
        state = choose(state, known_as, _mm256_castps_si256(more));
    }
    p->known = both(p->known, above(weight, 0.01f));
    d = over(d, weight);
    variance = over(variance, weight);
    __m256 focal = all(a->camera.focal), doffs = all(a->camera.doffs), was = plus(d, doffs);
    __m256 near = over(was, focal),
           z = times(all(t[6]), over(less(p->u, all(a->camera.cx)), focal));
    z = plus(z, times(all(t[7]), over(less(p->v, all(a->camera.cy)), focal)));
    z = plus(plus(z, all(t[8])), times(all(a->motion->shift[2]), near));
    p->known = both(p->known, both(above(z, 0.05f), _mm256_cmp_ps(near, all(0), _CMP_GE_OQ)));
    __m256 moved = times(over(near, z), focal);
    __m256 ratio = _mm256_blendv_ps(all(1), over(moved, was), above(was, 0.1f));
    __m256 square = times(ratio, ratio), spread = times(times(variance, square), square);
    __m256 whole = plus(times(all(256), plus(less(moved, doffs), all(4096))), all(0.5f));
    *lower = _mm256_sub_epi32(_mm256_cvttps_epi32(whole), _mm256_set1_epi32(4096 << 8));
    *upper = _mm256_or_si256(_mm256_cvttps_epi32(_mm256_min_ps(spread, all(65535))),
                             _mm256_slli_epi32(state, 16));
}

INLINE __m256i eight_words(const uint16_t *from) {
    return _mm256_cvtepu16_epi32(load_128(from));
}

/* Two neighbours in a row of the old picture, of which the first one is at column. */
INLINE __m256 between(const struct move_args *a, __m256i row, __m256i column, __m256 fx) {
    __m256i begin = _mm256_min_epi32(column, _mm256_set1_epi32(a->width - 2));
    __m256i at = _mm256_add_epi32(_mm256_mullo_epi32(row, _mm256_set1_epi32(a->width)), begin);
    __m256i pair = _mm256_i32gather_epi32((const int *)(const void *)a->before, at, 2);
    __m256i second = _mm256_srli_epi32(pair, 16);
    __m256i first = choose(_mm256_and_si256(pair, _mm256_set1_epi32(65535)), second,
                           _mm256_cmpgt_epi32(column, begin));
    __m256 left = _mm256_cvtepi32_ps(first);
    return plus(left, times(fx, less(_mm256_cvtepi32_ps(second), left)));
}

/* grey_fits() of eight pixels. */
INLINE __m256i greys_fit(const struct move_args *a, int x, int y, __m256 u, __m256 v) {
    const uint16_t *n = a->now + (size_t)y * (size_t)a->width + (size_t)x;
    __m256i column = _mm256_cvttps_epi32(u), row = _mm256_cvttps_epi32(v);
    __m256i below = _mm256_min_epi32(_mm256_add_epi32(row, _mm256_set1_epi32(1)),
                                     _mm256_set1_epi32(a->height - 1));
    __m256 fx = less(u, _mm256_cvtepi32_ps(column)), fy = less(v, _mm256_cvtepi32_ps(row));
    __m256 top = between(a, row, column, fx), bottom = between(a, below, column, fx);
    __m256 was = plus(top, times(fy, less(bottom, top)));
    const uint16_t *up = y > 0 ? n - a->width : n;
    const uint16_t *down = y + 1 < a->height ? n + a->width : n;
    __m256i slope =
        _mm256_add_epi32(_mm256_abs_epi32(_mm256_sub_epi32(eight_words(n + 1), eight_words(n - 1))),
                         _mm256_abs_epi32(_mm256_sub_epi32(eight_words(down), eight_words(up))));
    __m256 off = less(times(all(a->motion->gain), was), _mm256_cvtepi32_ps(eight_words(n)));
    __m256 most = plus(all(MISFIT_LEVELS), times(all(0.25f), _mm256_cvtepi32_ps(slope)));
    __m256i differs =
        _mm256_castps_si256(_mm256_cmp_ps(_mm256_andnot_ps(all(-0.0f), off), most, _CMP_GT_OQ));
    __m256i textured = _mm256_cmpgt_epi32(slope, _mm256_set1_epi32(TEXTURE - 1));
    __m256i fits = choose(_mm256_set1_epi32(FITS), _mm256_set1_epi32(FITS_TEXTURED), textured);
    return choose(fits, _mm256_set1_epi32(FITS_NOT), differs);
}

void rows_move_take_avx2(const void *args, int width, int first, int last, void *scratch) {
    const struct move_args *a = args;
    (void)scratch;
    for (int y = first; y < last; y++) {
        int x = 0;
        if (a->motion->state == MOTION_FOUND && width > LANES + 1) {
            stage_move_take(a, x++, y);
            for (; x + LANES < width; x += LANES) {
                struct old_places p = places_before(a, x, y, closed_votes(a, x, y));
                __m256i lower, upper, known;
                read_and_move(a, &p, &lower, &upper);
                upper = _mm256_or_si256(upper, _mm256_slli_epi32(greys_fit(a, x, y, p.u, p.v), 24));
                known = _mm256_castps_si256(p.known);
                store_estimates(a->moved + (size_t)y * (size_t)width + (size_t)x,
                                _mm256_and_si256(lower, known), _mm256_and_si256(upper, known));
            }
        }
        for (; x < width; x++)
            stage_move_take(a, x, y);
    }
}
