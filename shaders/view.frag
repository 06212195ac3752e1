// The flat views: pictures, colours of disparity and depth, confidence, blend, anaglyph, row lines.
// SPDX-License-Identifier: MIT
#version 330 core

uniform int view;             // enum draw_view
uniform sampler2D left, right, confidence, colors;
uniform isampler2D disparity; // 1/16 px
uniform float colormap;       // row of colors, 0..1
uniform vec2 range;           // px, or m for depth
uniform vec2 rig;             // focal * baseline (px m), offset (px)
uniform float blend;
uniform float row_step;       // px between row lines, 0 for none
uniform bool gray;            // the pictures have one channel

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

// Stripes that no colour map holds, whatever lies beside them.
vec3 unknown_color() {
    return mod(floor((gl_FragCoord.x + gl_FragCoord.y) / 4.0), 2.0) < 1.0 ? vec3(0.10, 0.0, 0.10)
                                                                          : vec3(0.75, 0.0, 0.65);
}

vec3 map_color(float share) {
    return texture(colors, vec2((clamp(share, 0.0, 1.0) * 255.0 + 0.5) / 256.0, colormap)).rgb;
}

vec3 disparity_color(int d) {
    if (d == UNKNOWN)
        return unknown_color();
    return map_color((float(d) / 16.0 - range.x) / (range.y - range.x));
}

vec3 depth_color(int d) {
    float px = float(d) / 16.0 + rig.y;
    if (d == UNKNOWN || px <= 0.0)
        return unknown_color();
    return map_color(1.0 - (rig.x / px - range.x) / (range.y - range.x));
}

vec3 with_rows(vec3 c) {
    if (row_step <= 0.0)
        return c;
    float off = abs(fract(pixel.y / row_step - 0.5) - 0.5) * row_step / max(fwidth(pixel.y), 1e-6);
    bool odd = mod(floor(pixel.y / row_step + 0.5), 2.0) < 1.0;
    return off < 0.75 ? mix(c, odd ? vec3(0.2, 1.0, 0.3) : vec3(1.0, 0.85, 0.2), 0.8) : c;
}

void main() {
    ivec2 at = ivec2(pixel);
    int d = texelFetch(disparity, at, 0).r;
    vec3 c;
    if (view == 0 || view == 7)
        c = picture(left);
    else if (view == 1)
        c = picture(right);
    else if (view == 2)
        c = disparity_color(d);
    else if (view == 3)
        c = depth_color(d);
    else if (view == 4)
        c = texelFetch(confidence, at, 0).rrr;
    else if (view == 5)
        c = mix(picture(left), disparity_color(d), blend);
    else
        c = vec3(luma(picture(left)), vec2(luma(picture(right))));
    color = vec4(with_rows(c), 1.0);
}
