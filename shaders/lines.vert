// A grid below the points, in cells of whole metres, and what the camera sees: a pyramid from its
// eye. Each two vertices are a line. SPDX-License-Identifier: MIT

uniform mat4 transform; // as of shaders/points.vert
uniform vec4 grid;      // side of a cell, cells to each side of its middle, its height and depth
uniform vec3 pyramid;   // half of the width and height of its end, and the depth of that

out vec3 point_color;
flat out int drawn;

vec3 corner(int i) {
    return pyramid * vec3(i % 4 == 0 || i % 4 == 3 ? -1.0 : 1.0, i % 4 < 2 ? -1.0 : 1.0, 1.0);
}

void main() {
    int line = gl_VertexID / 2, lines = 2 * int(grid.y) + 1, edge = line - 2 * lines;
    bool first = gl_VertexID % 2 == 0;
    vec2 at = vec2(line % lines - int(grid.y), first ? -grid.y : grid.y) * grid.x;
    at = line < lines ? at : at.yx;
    vec3 point = vec3(at.x, grid.z, grid.w + at.y);
    if (edge >= 0)
        point = first ? corner(edge) : edge < 4 ? vec3(0.0) : corner(edge + 1);
    drawn = 1;
    point_color = edge < 0 ? vec3(0.36) : vec3(1.0, 0.88, 0.38);
    gl_Position = transform * vec4(point, 1.0);
}
