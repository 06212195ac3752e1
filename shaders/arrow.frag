// SPDX-License-Identifier: MIT

flat in vec3 arrow_color;
out vec4 color;

void main() {
    color = vec4(arrow_color, 1.0);
}
