// SPDX-License-Identifier: MIT

in vec3 point_color;
flat in int drawn;
out vec4 color;

void main() {
    if (drawn == 0)
        discard;
    color = vec4(point_color, 1.0);
}
