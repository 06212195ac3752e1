// A point in space for each pixel that has a disparity or, as a surface, strips of two triangles
// for each square of pixels but over jumps; from the textures alone. SPDX-License-Identifier: MIT

uniform isampler2D disparity; // 1/16 px
uniform sampler2D left, confidence, colors;
uniform mat4 transform;       // camera axes (x right, y down, z forward) to the clip space
uniform vec4 rig;             // focal (px), baseline (m or 1), offset (px), farthest (in baselines' unit)
uniform vec2 center;          // px
uniform vec2 range;           // px, of the colours of depth
uniform int colormap;         // row of colors
uniform int step_px;          // between the points, px
uniform float point_scale;    // size on screen of one pixel at distance 1
uniform float height_range;   // half of the heights that have colours of their own
uniform int hide_below;       // confidences of disparities that are left out
uniform int color_by;         // POINTS_... of render/draw.h
uniform bool gray, surface;

out vec3 point_color;
flat out int drawn;           // of a triangle, by its last vertex

const int UNKNOWN = -32768;
const int JUMP = 16;          // 1/16 px; as in app/save/points.c, no triangle spans more

// Whether a pixel lies between a near and a far side in a row or column: points of such pixels hang
// in the air, in a curtain between both. As in image/disparity.c.
bool between(int before, int d, int after) {
    int to_before = before - d, to_after = after - d;
    return before != UNKNOWN && after != UNKNOWN && abs(to_before) > 16 && abs(to_after) > 16 &&
           (to_before < 0) != (to_after < 0);
}

int disparity_at(ivec2 at) {
    return texelFetch(disparity, clamp(at, ivec2(0), textureSize(disparity, 0) - 1), 0).r;
}

float confidence_at(ivec2 at) {
    return texelFetch(confidence, at, 0).r;
}

// False where it has no point.
bool point_at(ivec2 at, out vec3 point) {
    int d = disparity_at(at);
    float px = float(d) / 16.0 + rig.z, z = rig.x * rig.y / px;
    point = vec3((vec2(at) - center) * z / rig.x, z);
    return d != UNKNOWN && px > 0.0 && z <= rig.w &&
           (hide_below == 0 || int(confidence_at(at) * 255.0 + 0.5) >= hide_below);
}

vec3 map_color(float ratio) {
    return texelFetch(colors, ivec2(clamp(ratio, 0.0, 1.0) * 255.0 + 0.5, colormap), 0).rgb;
}

vec3 color_of(ivec2 at, vec3 point) {
    if (color_by == 1)
        return map_color((float(disparity_at(at)) / 16.0 - range.x) / (range.y - range.x));
    if (color_by == 2)
        return map_color(0.5 - 0.5 * point.y / height_range);
    if (color_by == 3)
        return vec3(confidence_at(at));
    vec3 c = texelFetch(left, at, 0).rgb;
    return gray ? c.rrr : c;
}

// Along an axis, between neighbours on the same surface: one pixel's steps of disparity would show.
vec3 slope(ivec2 at, ivec2 along, vec3 point) {
    vec3 before, after;
    int d = disparity_at(at);
    bool has_before = point_at(at - along, before) && abs(disparity_at(at - along) - d) <= 3 * JUMP;
    bool has_after = point_at(at + along, after) && abs(disparity_at(at + along) - d) <= 3 * JUMP;
    return (has_after ? after : point) - (has_before ? before : point);
}

// Light comes from above and behind the camera.
float light_at(ivec2 at, vec3 point) {
    const int reach = 3;
    vec3 normal = cross(slope(at, ivec2(reach, 0), point), slope(at, ivec2(0, reach), point));
    float size = length(normal);
    return size > 0.0 ? 0.35 + 0.65 * abs(dot(normal / size, vec3(0.24, -0.6, -0.76))) : 1.0;
}

// Vertex n of the strip of triangles between two rows.
ivec2 strip_at(int n) {
    return ivec2(n / 2, gl_InstanceID + n % 2) * step_px;
}

// Whether the triangle that ends with a vertex is drawn.
bool joins(ivec2 at) {
    ivec2 a = strip_at(max(gl_VertexID - 2, 0)), b = strip_at(max(gl_VertexID - 1, 0));
    ivec3 d = ivec3(disparity_at(a), disparity_at(b), disparity_at(at));
    vec3 unused;
    return max(max(d.x, d.y), d.z) - min(min(d.x, d.y), d.z) <= JUMP * step_px &&
           point_at(a, unused) && point_at(b, unused);
}

void main() {
    ivec2 size = textureSize(disparity, 0), at;
    vec3 point;
    float light = 1.0;
    bool there;
    if (surface) {
        at = strip_at(gl_VertexID);
        there = point_at(at, point);
        drawn = int(there && joins(at));
        light = there ? light_at(at, point) : 1.0;
        if (!there) { // somewhere on its ray, so that triangles that are not drawn are small
            float z = rig.x * rig.y / max(range.y + rig.z, 1.0);
            point = vec3((vec2(at) - center) * z / rig.x, z);
            there = true;
        }
    } else {
        int columns = (size.x + step_px - 1) / step_px;
        at = ivec2(gl_VertexID % columns, gl_VertexID / columns) * step_px;
        ivec2 right = ivec2(1, 0), down = ivec2(0, 1);
        int d = disparity_at(at);
        there = point_at(at, point) &&
                !between(disparity_at(at - right), d, disparity_at(at + right)) &&
                !between(disparity_at(at - down), d, disparity_at(at + down));
        drawn = 1;
    }
    gl_Position = there ? transform * vec4(point, 1.0) : vec4(2.0, 2.0, 2.0, 1.0); // outside
    gl_PointSize = clamp(point_scale * point.z / gl_Position.w, 1.0, 64.0);
    point_color = light * color_of(at, point);
}
