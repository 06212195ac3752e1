// The page of --out foxglove: pictures, depth, settings and a surface, by the protocol that
// Foxglove speaks on the same port. SPDX-License-Identifier: MIT
"use strict";
const UNKNOWN = -32768, ONE = 16; // of disparities: unknown, and 1 px
const TOPICS = ["/left/image_rect/compressed", "/disparity/image_raw", "/confidence",
                "/statistics"];
const by = (id) => document.getElementById(id);
let about, palette, socket, topics = {}, shown = {}, mouse = null, surface = null;
let isSurfaceInView = false, isOpen = false, warning = "";

// ---- messages: CDR, little-endian, numbers aligned from behind four bytes of head
class Reader {
  constructor(buffer, at) {
    this.view = new DataView(buffer, at + 4);
    this.at = 0;
  }
  number(bytes) {
    this.at = Math.ceil(this.at / bytes) * bytes + bytes;
    return bytes === 1 ? this.view.getUint8(this.at - 1) : this.view.getUint32(this.at - 4, true);
  }
  data() {
    const length = this.number(4);
    this.at += length;
    return new Uint8Array(this.view.buffer, this.view.byteOffset + this.at - length, length);
  }
  header() {
    this.number(4);
    this.number(4);
    this.data();
  }
  image() {
    this.header();
    const height = this.number(4), width = this.number(4);
    this.data(); // encoding
    this.number(1);
    this.number(4);
    return {width, height, data: this.data().slice()};
  }
}

async function takeMessage(topic, buffer, at) {
  const reader = new Reader(buffer, at), own = shown;
  own.time = Date.now();
  if (topic === "/statistics") {
    showStatistics(JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, at))));
  } else if (topic === "/confidence") {
    shown.confidence = reader.image().data;
  } else if (topic === "/disparity/image_raw") {
    const image = reader.image();
    shown.disparity = new Int16Array(image.data.buffer);
    shown.width = image.width;
    shown.height = image.height;
    requestAnimationFrame(drawDepth);
  } else {
    reader.header();
    reader.data(); // format
    const picture = await createImageBitmap(new Blob([reader.data()], {type: "image/jpeg"}));
    if (own !== shown)
      return; // another server answers now
    const canvas = by("left");
    canvas.width = picture.width;
    canvas.height = picture.height;
    canvas.getContext("2d").drawImage(picture, 0, 0);
    shown.picture = picture;
    shown.pictures = (shown.pictures || 0) + 1;
  }
}

// ---- depth
function geometry() {
  return about.metric ? about
                      : {fx: shown.width, fy: shown.width, cx: shown.width / 2,
                         cy: shown.height / 2, baseline: 1, doffs: 0};
}

// Metres (baselines without a calibration); NaN unknown.
function depthOf(disparity) {
  const g = geometry(), d = disparity / ONE + g.doffs;
  return disparity === UNKNOWN ? NaN : d > 0 ? g.fx * g.baseline / d : Infinity;
}

function depthAt(x, y) {
  const i = y * shown.width + x, z = depthOf(shown.disparity[i]), g = geometry();
  const sigma = about.sigma[shown.confidence ? shown.confidence[i] : 0];
  return {x, y, disparity: shown.disparity[i] / ONE, z, error: z * z * sigma / (g.fx * g.baseline)};
}

function searched() {
  return [shown.least, shown.least + Math.max(1, shown.range - 1)];
}

function drawDepth() {
  if (shown.least === undefined)
    return;
  const canvas = by("depth"), context = canvas.getContext("2d");
  if (canvas.width !== shown.width || canvas.height !== shown.height) {
    canvas.width = shown.width;
    canvas.height = shown.height;
  }
  const image = context.createImageData(shown.width, shown.height);
  const pixels = new Uint32Array(image.data.buffer), black = 0xff000000;
  const [from, to] = searched(), scale = 255 / (ONE * (to - from));
  for (let i = 0; i < pixels.length; i++) {
    const d = shown.disparity[i], step = (d - ONE * from) * scale + 0.5;
    pixels[i] = d === UNKNOWN ? black : palette[step < 0 ? 0 : step > 255 ? 255 : step | 0];
  }
  context.putImageData(image, 0, 0);
  shown.maps = (shown.maps || 0) + 1;
  drawLegend();
  readOut();
  if (surface && isSurfaceInView && surface.isIdle())
    surface.draw();
}

function drawLegend() {
  const canvas = by("legend"), context = canvas.getContext("2d"), [from, to] = searched();
  const width = canvas.width;
  context.fillStyle = "#22252b";
  context.fillRect(0, 0, width, canvas.height);
  for (let x = 0; x < width; x++) { // near on the left
    const at = 3 * Math.round(255 * (1 - x / (width - 1)));
    context.fillStyle = `rgb(${about.colors.slice(at, at + 3)})`;
    context.fillRect(x, 0, 1, 12);
  }
  context.fillStyle = "#e8eaed";
  context.font = "12px sans-serif";
  context.textAlign = "center";
  for (let k = 0, last = -100; k <= 60; k++) { // 1, 2, 5, 10, ... of 10^-3
    const z = [1, 2, 5][k % 3] * 10 ** (Math.floor(k / 3) - 3), g = geometry();
    const x = (to - (g.fx * g.baseline / z - g.doffs)) / (to - from) * (width - 1);
    if (x < 12 || x > width - 24 || x < last + 36)
      continue;
    context.fillText(z.toPrecision(1) * 1 + (about.metric ? " m" : ""), x, 25);
    last = x;
  }
}

function readOut() {
  const out = by("read");
  out.textContent = "";
  if (!mouse || !shown.disparity || !isOpen)
    return;
  const at = (share, size) => Math.max(0, Math.min(size - 1, Math.floor(share * size)));
  const point = depthAt(at(mouse.u, shown.width), at(mouse.v, shown.height));
  const unit = about.metric ? " m" : " baselines";
  const digits = point.error < 0.01 ? 3 : point.error < 0.1 ? 2 : 1;
  out.textContent = isNaN(point.z) ? "unknown" : point.z === Infinity ? "far" :
      `${point.z.toFixed(digits)} \u00b1 ${point.error.toFixed(digits)}${unit}`;
}

for (const id of ["left", "depth"]) {
  by(id).addEventListener("pointermove", (event) => {
    const box = event.target.getBoundingClientRect();
    mouse = {u: (event.clientX - box.left) / box.width, v: (event.clientY - box.top) / box.height};
    readOut();
  });
}

function showStatistics(s) {
  shown.least = s.min_disparity;
  shown.range = s.disparity_range;
  shown.frame = s.frame;
  by("statistics").textContent = `frame ${s.frame}   ${(s.rate || 0).toFixed(1)} frames/s   ` +
      `computed in ${s.compute_ms.toFixed(1)} ms   ${s.age_ms.toFixed(0)} ms old when sent   ` +
      `${s.clients} connected`;
}

// ---- settings
function send(message) {
  warning = "";
  if (socket.readyState === WebSocket.OPEN)
    socket.send(JSON.stringify(message));
}

function setParameter(name, value) {
  send({op: "setParameters", id: "page", parameters: [{name, value}]});
}

function addRow(name, title, control, value) {
  const label = document.createElement("label"), text = document.createElement("span");
  text.textContent = title;
  label.append(text, value || "", control);
  control.id = "set_" + name;
  by("settings").append(label);
}

function addSetting(setting) {
  const input = document.createElement("input"), value = document.createElement("output");
  input.type = setting.step ? "range" : "checkbox";
  input.title = setting.help;
  // As far as is of use; the whole range is Foxglove's, or --set.
  const most = setting.default > 0 ? 8 * setting.default : 255;
  Object.assign(input, {min: Math.max(setting.min, -most), max: Math.min(setting.max, most),
                        step: setting.step || 1});
  input.addEventListener("input", () => {
    value.textContent = `${input.value} ${setting.unit}`;
    setParameter(setting.name, setting.step ? Number(input.value) : input.checked);
  });
  addRow(setting.name, setting.label, input, setting.step ? value : null);
}

function addPresets() {
  const select = document.createElement("select");
  select.append(new Option("choose", ""), ...about.presets.map((name) => new Option(name)));
  select.addEventListener("change", () => select.value && setParameter("preset", select.value));
  addRow("preset", "Preset", select);
}

function showParameters(parameters) {
  for (const {name, value} of parameters) {
    const input = by("set_" + name);
    if (!input || input === document.activeElement)
      continue;
    if (input.type === "checkbox")
      input.checked = value;
    else
      input.value = value;
    if (input.type === "range")
      input.parentElement.querySelector("output").textContent = value;
  }
}

// ---- the surface: two triangles a cell of the map, left out over jumps and unknown pixels
const VERTEX = `#version 300 es
precision highp float; precision highp isampler2D;
uniform isampler2D map; uniform ivec2 cells; uniform int stride; uniform float doffs, far;
uniform vec4 lens; uniform mat4 view; out vec2 place;
float depth(ivec2 p, inout bool good) {
  int d = texelFetch(map, p, 0).r;
  float px = float(d) / 16.0 + doffs;
  good = good && d != -32768 && px > 0.0;
  return lens.x * lens.w / max(px, 1e-3);
}
void main() {
  int cell = gl_VertexID / 6, corner = gl_VertexID % 6;
  ivec2 at = ivec2(cell % cells.x, cell / cells.x) * stride;
  ivec2 offsets[6] = ivec2[6](ivec2(0, 0), ivec2(1, 0), ivec2(0, 1), ivec2(0, 1), ivec2(1, 0),
                              ivec2(1, 1));
  bool good = true;
  float least = 1e9, most = 0.0, own = 0.0;
  ivec2 p;
  for (int i = 0; i < 6; i++) {
    float z = depth(at + offsets[i] * stride, good);
    least = min(least, z); most = max(most, z);
    if (i == corner) { own = z; p = at + offsets[i] * stride; }
  }
  good = good && most < 1.05 * least && most < far;
  vec2 size = vec2(textureSize(map, 0));
  place = (vec2(p) + 0.5) / size;
  vec3 point = vec3((vec2(p) - vec2(lens.y, lens.z)) * own / lens.x, own);
  gl_Position = good ? view * vec4(point, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
}`;
const FRAGMENT = `#version 300 es
precision mediump float; uniform sampler2D picture; in vec2 place; out vec4 color;
void main() { color = texture(picture, place); }`;

function makeSurface(canvas) {
  const gl = canvas.getContext("webgl2");
  if (!gl)
    return null;
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) {
    console.error(gl.getProgramInfoLog(program));
    return null;
  }
  gl.useProgram(program);
  const where = (name) => gl.getUniformLocation(program, name);
  const textures = [gl.createTexture(), gl.createTexture()];
  const start = {yaw: 0, pitch: 0, zoom: 1};
  let eye = {...start}, sync = null;

  function upload() {
    for (const [i, texture] of textures.entries()) {
      gl.activeTexture(gl.TEXTURE0 + i);
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, i ? gl.LINEAR : gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, i ? gl.LINEAR : gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    }
    gl.activeTexture(gl.TEXTURE0);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.R16I, shown.width, shown.height, 0, gl.RED_INTEGER,
                  gl.SHORT, shown.disparity);
    gl.activeTexture(gl.TEXTURE1);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, shown.picture);
    gl.uniform1i(where("map"), 0);
    gl.uniform1i(where("picture"), 1);
  }

  // Turns about the point that lies in the middle at the depth of the median.
  function matrix(middle) {
    const g = geometry(), near = middle / 50, far = middle * 50;
    const [cy, sy, cp, sp] = [Math.cos(eye.yaw), Math.sin(eye.yaw), Math.cos(eye.pitch),
                              Math.sin(eye.pitch)];
    const turn = [[cy, 0, sy], [sp * sy, cp, -sp * cy], [-cp * sy, sp, cp * cy]];
    const scale = [2 * g.fx / shown.width, -2 * g.fx / shown.height], distance = middle / eye.zoom;
    const m = new Float32Array(16);
    for (let column = 0; column < 4; column++) {
      const point = turn.map((row, i) => column < 3 ? row[column]
                                                    : -row[2] * middle + (i === 2 ? distance : 0));
      m[4 * column] = scale[0] * point[0];
      m[4 * column + 1] = scale[1] * point[1];
      m[4 * column + 2] = (far + near) / (far - near) * point[2] -
          (column === 3 ? 2 * far * near / (far - near) : 0);
      m[4 * column + 3] = point[2];
    }
    return m;
  }

  function draw() {
    if (!shown.picture || !shown.disparity)
      return;
    upload();
    const g = geometry(), step = Math.ceil(Math.sqrt(shown.width * shown.height / 80000));
    const cells = [Math.floor((shown.width - 1) / step), Math.floor((shown.height - 1) / step)];
    const known = [];
    for (let i = 0; i < shown.disparity.length; i += 101)
      if (shown.disparity[i] > 0)
        known.push(shown.disparity[i]);
    known.sort((a, b) => a - b);
    const middle = known.length ? depthOf(known[known.length >> 1]) : 1;
    canvas.width = shown.width;
    canvas.height = shown.height;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 1);
    gl.enable(gl.DEPTH_TEST);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.uniform2i(where("cells"), ...cells);
    gl.uniform1i(where("stride"), step);
    gl.uniform1f(where("doffs"), g.doffs);
    gl.uniform1f(where("far"), about.metric ? 100 : 1e9);
    gl.uniform4f(where("lens"), g.fx, g.cx, g.cy, g.baseline);
    gl.uniformMatrix4fv(where("view"), false, matrix(middle));
    gl.drawArrays(gl.TRIANGLES, 0, 6 * cells[0] * cells[1]);
    gl.deleteSync(sync);
    sync = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
  }

  canvas.addEventListener("pointerdown", (event) => canvas.setPointerCapture(event.pointerId));
  canvas.addEventListener("pointermove", (event) => {
    if (!event.buttons)
      return;
    eye.yaw += event.movementX / 200;
    eye.pitch = Math.max(-1.5, Math.min(1.5, eye.pitch - event.movementY / 200));
    draw();
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    eye.zoom = Math.max(0.1, Math.min(10, eye.zoom * Math.exp(-event.deltaY / 500)));
    draw();
  }, {passive: false});
  canvas.addEventListener("dblclick", () => {
    eye = {...start};
    draw();
  });
  // Whether the last one has been drawn; while it is not, maps go before.
  function isIdle() {
    return !sync || gl.getSyncParameter(sync, gl.SYNC_STATUS) === gl.SIGNALED;
  }
  return {draw, isIdle};
}

// ---- the connection
function showState() {
  const seconds = shown.time ? Math.round((Date.now() - shown.time) / 1000) : 0;
  const age = seconds > 2 ? `picture of ${seconds} s ago` : "";
  const state = !isOpen ? "not connected" : warning || (shown.time ? "" : "waiting for a picture");
  by("state").textContent = [state, age].filter(Boolean).join(", ") || "live";
  by("state").className = !isOpen ? "bad" : warning || age || !shown.time ? "warned" : "good";
}

function setOpen(open) {
  isOpen = open;
  document.body.classList.toggle("gone", !open);
  by("settings").disabled = !open;
  readOut();
  showState();
}

function connect() {
  socket = new WebSocket(`ws://${location.host}/`, ["foxglove.websocket.v1"]);
  socket.binaryType = "arraybuffer";
  socket.onclose = () => {
    setOpen(false);
    setTimeout(connect, 1000);
  };
  socket.onmessage = ({data}) => {
    if (typeof data === "string") {
      takeText(JSON.parse(data), socket);
    } else {
      const view = new DataView(data);
      if (view.getUint8(0) === 1)
        takeMessage(topics[view.getUint32(1, true)], data, 13);
    }
  };
}

// Asks the server for everything anew: another source may have another calibration. Pictures come
// after that.
async function meet(channels, server) {
  const answer = await (await fetch("about.json", {cache: "no-store"})).json();
  if (server.readyState !== WebSocket.OPEN)
    return;
  about = answer;
  shown = {};
  warning = "";
  palette = new Uint32Array(256); // as the bytes of ImageData, red first
  for (let i = 0; i < 256; i++)
    palette[i] = 0xff000000 | about.colors[3 * i + 2] << 16 | about.colors[3 * i + 1] << 8 |
        about.colors[3 * i];
  by("settings").replaceChildren();
  addPresets();
  about.settings.forEach(addSetting);
  setOpen(true);
  const wanted = channels.filter((channel) => TOPICS.includes(channel.topic));
  topics = Object.fromEntries(wanted.map((channel) => [channel.id, channel.topic]));
  send({op: "subscribe",
        subscriptions: wanted.map((channel) => ({id: channel.id, channelId: channel.id}))});
  send({op: "getParameters", parameterNames: [], id: "all"});
  send({op: "subscribeParameterUpdates", parameterNames: []});
}

function takeText(message, server) {
  if (message.op === "advertise") {
    meet(message.channels, server).catch(() => server.close());
  } else if (message.op === "parameterValues") {
    showParameters(message.parameters);
  } else if (message.op === "status") {
    warning = message.message;
    showState();
  }
}

window.addEventListener("load", () => {
  surface = makeSurface(by("surface"));
  new IntersectionObserver(([entry]) => {
    isSurfaceInView = entry.isIntersecting;
  }).observe(by("surface"));
  window.livestereo = {depthAt, get shown() { return shown; }, // for scripts and tests
                       draw: () => surface && surface.draw()};
  setInterval(showState, 1000);
  connect();
});
