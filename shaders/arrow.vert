// One arrow for each node of a grid of pixels, along its motion: a shaft of two triangles and a head
// of one. With shaders/motion.glsl before it.
// SPDX-License-Identifier: MIT

uniform vec4 rect;   // of the picture: left, bottom, right, top in the window, -1..1
uniform vec2 size;   // of the picture, px
uniform float scale; // pixels of the window for one of the picture
uniform vec2 range;  // y: the motion whose arrow is LENGTH px of the picture long
uniform int step_px; // between nodes
uniform float edge;  // so much wider all around, px of the window

flat out vec3 arrow_color;

const float LENGTH = 16.0, SHAFT = 1.0, HEAD = 7.0, HEAD_WIDTH = 3.5; // halves of widths

void main() {
    int columns = (int(size.x) + step_px / 2 - 1) / step_px;
    ivec2 node = ivec2(gl_InstanceID % columns, gl_InstanceID / columns) * step_px + step_px / 2;
    vec2 motion;
    if (!motion_at(node, motion)) {
        gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
        return;
    }
    float far = length(motion) * LENGTH / range.y * scale;
    vec2 along = far > 0.0 ? normalize(motion) : vec2(1.0, 0.0);
    far = max(far, 1.0);
    float head = min(HEAD, far), neck = far - head, width = HEAD_WIDTH * head / HEAD;
    vec2 at; // along the arrow, across it
    if (gl_VertexID < 6) {
        bool front = gl_VertexID == 2 || gl_VertexID > 3, up = (gl_VertexID & 1) != 0;
        at = vec2(front ? neck + edge : -edge, (up ? 1.0 : -1.0) * (SHAFT + edge));
    } else {
        bool tip = gl_VertexID == 8;
        at = vec2(tip ? far + 2.0 * edge : neck - edge,
                  tip ? 0.0 : (gl_VertexID == 6 ? -1.0 : 1.0) * (width + 2.0 * edge));
    }
    vec2 point = vec2(node) + 0.5 + (at.x * along + at.y * vec2(-along.y, along.x)) / scale;
    vec2 part = vec2(point.x, size.y - point.y) / size;
    arrow_color = edge > 0.0 ? vec3(0.0) : motion_color(motion, range.y);
    gl_Position = vec4(mix(rect.xy, rect.zw, part), 0.0, 1.0);
}
