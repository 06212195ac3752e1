// A line in space. SPDX-License-Identifier: MIT

uniform mat4 transform; // camera axes (x right, y down, z forward) to the clip space
uniform vec3 from, to;

void main() {
    gl_Position = transform * vec4(gl_VertexID == 0 ? from : to, 1.0);
}
