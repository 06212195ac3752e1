// The colours of motion, as image/flow.h has them; put before programs that use them.
// SPDX-License-Identifier: MIT

uniform isampler2D disparity, motion_v; // of motion u and v, 1/16 px
uniform vec3 hues[55];                  // flow_hue()

const int MOTION_UNKNOWN = -32768;

// full: length of full colour, px
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
    return uv.x != MOTION_UNKNOWN;
}
