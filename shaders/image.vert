// A rectangle of the window that shows a part of a picture. SPDX-License-Identifier: MIT

uniform vec4 rect;   // left, bottom, right, top in the window, -1..1
uniform vec2 size;   // of the picture, px

out vec2 pixel;      // in the picture, px, from its top left

void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    pixel = vec2(corner.x, 1.0 - corner.y) * size;
    gl_Position = vec4(mix(rect.xy, rect.zw, corner), 0.0, 1.0);
}
