// The flat views: pictures, colours of disparity and depth, confidence, blend, anaglyph, row lines.
// Each view is a program of its own: VIEW is its number in enum draw_view, ROWS 1 where it has row
// lines. A software renderer would compute all sides of a condition for every pixel.
// SPDX-License-Identifier: MIT

uniform sampler2D left, right, confidence, colors;
uniform isampler2D disparity; // 1/16 px
uniform int colormap;         // row of colors
uniform vec2 range;           // px, or m for depth
uniform vec2 rig;             // focal * baseline (px m), offset (px)
uniform float blend;
uniform float row_step;       // px between row lines
uniform float row_width;      // px that are one of the window
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
    return texelFetch(colors, ivec2(clamp(share, 0.0, 1.0) * 255.0 + 0.5, colormap), 0).rgb;
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
    float off = abs(fract(pixel.y / row_step - 0.5) - 0.5) * row_step / row_width;
    bool odd = mod(floor(pixel.y / row_step + 0.5), 2.0) < 1.0;
    return off < 0.75 ? mix(c, odd ? vec3(0.2, 1.0, 0.3) : vec3(1.0, 0.85, 0.2), 0.8) : c;
}

void main() {
    ivec2 at = ivec2(pixel);
    vec3 c;
#if VIEW == 0 || VIEW == 7
    c = picture(left);
#elif VIEW == 1
    c = picture(right);
#elif VIEW == 2
    c = disparity_color(texelFetch(disparity, at, 0).r);
#elif VIEW == 3
    c = depth_color(texelFetch(disparity, at, 0).r);
#elif VIEW == 4
    c = texelFetch(confidence, at, 0).rrr;
#elif VIEW == 5
    c = mix(picture(left), disparity_color(texelFetch(disparity, at, 0).r), blend);
#else
    c = vec3(luma(picture(left)), vec2(luma(picture(right))));
#endif
#if ROWS
    c = with_rows(c);
#endif
    color = vec4(c, 1.0);
}
