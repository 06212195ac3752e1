// The flat display modes: pictures, disparity and depth in colour, confidence, blend, anaglyph, row
// lines, motion (MOTION is 1). Each mode is a program of its own, which DISPLAY_... (render/draw.h) selects; ROW_LINES is 1
// where it has row lines. With conditions in one program a software renderer would compute both sides
// for every pixel.
// SPDX-License-Identifier: MIT

uniform sampler2D left, right, confidence, colors;
uniform isampler2D disparity, motion_v; // 1/16 px; of motion u and v
uniform vec3 hues[55];        // flow_hue()
uniform int colormap;         // row of colors
uniform vec2 range;           // px
uniform float blend;
uniform float confidence_max; // that is white, 0..1
uniform int hide_below;       // confidences of disparities that look unknown
uniform bool hatched;         // what was filled in: in regions, 1
uniform sampler2D filled;
uniform float row_step;       // px between row lines
uniform float row_width;      // px that are one of the window
uniform bool gray;            // the pictures have one channel
uniform isampler2D truth_u, truth_v; // 1/16 px, where has_truth; truth_v of motion
uniform isampler2D other;     // disparities, shown from column wipe on
uniform sampler2D other_confidence;
uniform int other_matched_from;
uniform float wipe;
uniform bool has_truth;

in vec2 pixel;
out vec4 color;

const int UNKNOWN = -32768;

vec3 picture(sampler2D from) {
    vec3 c = texture(from, pixel / vec2(textureSize(from, 0))).rgb;
    return gray ? c.rrr : c;
}

float luma(vec3 c) {
    return dot(c, vec3(0.299, 0.587, 0.114));
}

// Neutral dark grey with thin lines, which no colour map has.
vec3 unknown_color() {
    return vec3(mod(gl_FragCoord.x + gl_FragCoord.y, 8.0) < 1.0 ? 0.26 : 0.17);
}

vec3 map_color(float ratio) {
    return texelFetch(colors, ivec2(clamp(ratio, 0.0, 1.0) * 255.0 + 0.5, colormap), 0).rgb;
}

#if !MOTION
int byte_at(sampler2D from, ivec2 at) {
    return int(texelFetch(from, at, 0).r * 255.0 + 0.5);
}

// From a pixel to its match, px; whether that is known.
bool motion_at(ivec2 at, out vec2 motion) {
    int d = texelFetch(disparity, at, 0).r;
    motion = vec2(-float(d) / 16.0, 0.0);
    return d != UNKNOWN && byte_at(confidence, at) >= hide_below;
}

// Hatched where it was filled in.
vec3 color_of(int d, bool is_filled) {
    if (d == UNKNOWN)
        return unknown_color();
    vec3 c = map_color((float(d) / 16.0 - range.x) / (range.y - range.x));
    float line = mod(gl_FragCoord.x - gl_FragCoord.y, 6.0) < 1.5 ? 0.65 : 1.0;
    return is_filled ? line * mix(c, vec3(0.5), 0.4) : c;
}

vec3 disparity_color(ivec2 at) {
    return color_of(byte_at(confidence, at) < hide_below ? UNKNOWN : texelFetch(disparity, at, 0).r,
                    hatched && texelFetch(filled, at, 0).r > 0.5);
}
#endif

vec3 with_row_lines(vec3 c) {
    float off = abs(fract(pixel.y / row_step - 0.5) - 0.5) * row_step / row_width;
    bool odd = mod(floor(pixel.y / row_step + 0.5), 2.0) < 1.0;
    return off < 0.75 ? mix(c, odd ? vec3(0.2, 1.0, 0.3) : vec3(1.0, 0.85, 0.2), 0.8) : c;
}

#if MOTION
// The colours of motion, as image/flow.h has them; full: length of full colour, px.
vec3 motion_color(vec2 motion, float full) {
    float r = length(motion) / full;
    if (r == 0.0)
        return vec3(1.0);
    float place = (1.0 + atan(-motion.y, -motion.x) / 3.14159265358979) / 2.0 * 54.0;
    int low = int(place);
    vec3 hue = mix(hues[low], hues[(low + 1) % 55], place - float(low));
    return floor(255.0 * (r <= 1.0 ? 1.0 - r * (1.0 - hue) : 0.75 * hue)) / 255.0;
}

// At a pixel, px; whether it is known.
bool motion_at(ivec2 at, out vec2 motion) {
    ivec2 uv = ivec2(texelFetch(disparity, at, 0).r, texelFetch(motion_v, at, 0).r);
    motion = vec2(uv) / 16.0;
    return uv.x != UNKNOWN;
}

vec3 color_at(ivec2 at) {
    vec2 motion;
    return motion_at(at, motion) ? motion_color(motion, range.y) : vec3(0.0);
}
#endif

// Black, orange, white: a scale of its own, so that no error looks like a depth.
vec3 error_color(float ratio) {
    float r = clamp(ratio, 0.0, 1.0);
    vec3 orange = vec3(242.0, 122.0, 26.0) / 255.0;
    return r < 0.5 ? 2.0 * r * orange : mix(orange, vec3(1.0), 2.0 * r - 1.0);
}

// The error against the truth, up to DRAW_ERROR_PX; without a truth the difference of the grey
// levels here and where disparity or motion lead, up to DRAW_ERROR_LEVELS.
#if defined DISPLAY_MOTION_ERROR || defined DISPLAY_ERROR
vec3 error_at(ivec2 at) {
    vec2 motion;
#if MOTION
    ivec2 truth = ivec2(texelFetch(truth_u, at, 0).r, texelFetch(truth_v, at, 0).r);
#else
    int d = texelFetch(truth_u, at, 0).r;
    ivec2 truth = ivec2(d == UNKNOWN ? d : -d, 0);
#endif
    if (has_truth && truth.x == UNKNOWN) // black with thin lines
        return vec3(mod(gl_FragCoord.x + gl_FragCoord.y, 6.0) < 1.0 ? 0.25 : 0.0);
    if (!motion_at(at, motion))
        return unknown_color();
    if (has_truth)
        return error_color(length(motion - vec2(truth) / 16.0) / 4.0);
    vec3 here = texelFetch(left, at, 0).rgb;
    vec3 there = texture(right, (vec2(at) + 0.5 + motion) / vec2(textureSize(right, 0))).rgb;
    return error_color(abs(gray ? here.r - there.r : luma(here) - luma(there)) * 255.0 / 64.0);
}
#endif

void main() {
    ivec2 at = ivec2(pixel);
    vec3 c;
#if defined DISPLAY_LEFT || defined DISPLAY_ROWS || defined DISPLAY_ARROWS
    c = picture(left);
#elif defined DISPLAY_RIGHT
    c = picture(right);
#elif defined DISPLAY_DISPARITY || defined DISPLAY_DEPTH // inverse depth is linear in disparity
    vec3 theirs = color_of(texelFetch(other, at, 0).r,
                           other_matched_from > 0 && byte_at(other_confidence, at) < other_matched_from);
    c = abs(pixel.x - wipe) < row_width ? vec3(1.0) : pixel.x < wipe ? disparity_color(at) : theirs;
#elif defined DISPLAY_CONFIDENCE
    c = texelFetch(confidence, at, 0).rrr / confidence_max;
#elif defined DISPLAY_BLEND
    c = mix(picture(left), disparity_color(at), blend);
#elif defined DISPLAY_ANAGLYPH
    c = vec3(luma(picture(left)), vec2(luma(picture(right))));
#elif defined DISPLAY_MOTION
    c = color_at(at);
#elif defined DISPLAY_MOTION_BLEND
    c = mix(picture(left), color_at(at), blend);
#elif defined DISPLAY_MOTION_ERROR || defined DISPLAY_ERROR
    c = error_at(at);
#endif
#if ROW_LINES
    c = with_row_lines(c);
#endif
    color = vec4(c, 1.0);
}
