// A point in space for each pixel that has a disparity, from the textures alone. SPDX-License-Identifier: MIT

uniform isampler2D disparity; // 1/16 px
uniform sampler2D left, confidence;
uniform mat4 transform;       // camera axes (x right, y down, z forward) to the clip space
uniform vec4 rig;             // focal (px), baseline (m or 1), offset (px), farthest (in baselines' unit)
uniform vec2 center;          // px
uniform int step_px;          // between the points, px
uniform float point_scale;    // size on screen of one pixel at distance 1
uniform int hide_below;       // confidences of disparities that are left out
uniform bool gray;

out vec3 point_color;

const int UNKNOWN = -32768;

// Whether a pixel lies between a near and a far side in a row or column: points of such pixels hang
// in the air, in a curtain between both. As in image/disparity.c.
bool between(int before, int d, int after) {
    int to_before = before - d, to_after = after - d;
    return before != UNKNOWN && after != UNKNOWN && abs(to_before) > 16 && abs(to_after) > 16 &&
           (to_before < 0) != (to_after < 0);
}

int disparity_at(ivec2 at, ivec2 size) {
    return texelFetch(disparity, clamp(at, ivec2(0), size - 1), 0).r;
}

void main() {
    ivec2 size = textureSize(disparity, 0);
    int columns = (size.x + step_px - 1) / step_px;
    ivec2 at = ivec2(gl_VertexID % columns, gl_VertexID / columns) * step_px;
    int d = texelFetch(disparity, at, 0).r;
    float px = float(d) / 16.0 + rig.z;
    float z = rig.x * rig.y / px;
    ivec2 right = ivec2(1, 0), down = ivec2(0, 1);
    bool hangs = between(disparity_at(at - right, size), d, disparity_at(at + right, size)) ||
                 between(disparity_at(at - down, size), d, disparity_at(at + down, size));
    bool hidden = int(texelFetch(confidence, at, 0).r * 255.0 + 0.5) < hide_below;
    if (d == UNKNOWN || hidden || px <= 0.0 || z > rig.w || hangs) {
        gl_Position = vec4(2.0, 2.0, 2.0, 1.0); // outside
        return;
    }
    vec3 point = vec3((vec2(at) - center) * z / rig.x, z);
    gl_Position = transform * vec4(point, 1.0);
    gl_PointSize = clamp(point_scale * z / gl_Position.w, 1.0, 16.0);
    vec3 c = texelFetch(left, at, 0).rgb;
    point_color = gray ? c.rrr : c;
}
