// The page of --out foxglove: pictures, depth, settings and a surface, by the protocol that
// Foxglove speaks on the same port. SPDX-License-Identifier: MIT
"use strict";
const UNKNOWN = -32768, ONE = 16; // disparities: unknown, and 1 px
const TOPICS = ["/left/image_rect/compressed", "/disparity/image_raw", "/confidence",
                "/statistics"];
const by = (id) => document.getElementById(id);
const clamp = (value, least, most) => Math.max(least, Math.min(most, value));
let about, palette, socket, topics = {}, shown = {}, mouse = null, surface = null;
let isOpen = false, warning = "", colormap = "turbo", parameters = {};

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
  header() { // time and frame
    return [this.number(4), this.number(4), this.data()];
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
    Object.assign(shown, {disparity: new Int16Array(image.data.buffer), width: image.width,
                          height: image.height});
    requestAnimationFrame(drawDepth);
  } else {
    reader.header();
    reader.data(); // format
    const picture = await createImageBitmap(new Blob([reader.data()], {type: "image/jpeg"}));
    if (own !== shown)
      return; // another server answers now
    Object.assign(by("left"), {width: picture.width, height: picture.height});
    by("left").getContext("2d").drawImage(picture, 0, 0);
    shown.picture = picture;
    shown.pictures = (shown.pictures || 0) + 1;
  }
}

function showStatistics(s) {
  Object.assign(shown, {least: s.min_disparity, range: s.disparity_range, frame: s.frame,
                        matchedFrom: s.matched_from});
  by("statistics").textContent = [`frame ${s.frame}`, `${(s.rate || 0).toFixed(1)} frames/s`,
    `computed in ${s.compute_ms.toFixed(0)} ms`, `${s.age_ms.toFixed(0)} ms old when sent`,
    `${s.clients} connected`].join(" \u00b7 ");
}

// ---- depth
function geometry() {
  return about.metric ? about : {fx: shown.width, cx: shown.width / 2, cy: shown.height / 2,
                                 baseline: 1, doffs: 0};
}

// Metres (baselines without a calibration) of px; beyond the horizon infinite.
function depthOf(px) {
  const g = geometry();
  return px + g.doffs > 0 ? g.fx * g.baseline / (px + g.doffs) : Infinity;
}

function isKnown(i) {
  const confidence = shown.confidence ? shown.confidence[i] : 255;
  return shown.disparity[i] !== UNKNOWN && confidence >= (parameters.hide_below || 0);
}

function depthAt(x, y) {
  const i = y * shown.width + x, g = geometry(), disparity = shown.disparity[i] / ONE;
  const sigma = about.sigma[shown.confidence ? shown.confidence[i] : 0];
  const z = isKnown(i) ? depthOf(disparity) : NaN;
  return {x, y, disparity, z, error: z * z * sigma / (g.fx * g.baseline)};
}

function searched() {
  return [shown.least, shown.least + Math.max(1, shown.range - 1)];
}

// Unknown is grey, and what was filled in hatched where it is wider than the hatching, as in the
// window.
function drawDepth() {
  if (shown.least === undefined || !shown.disparity)
    return;
  const canvas = by("depth"), {width, height, disparity, confidence} = shown;
  if (canvas.width !== width || canvas.height !== height) {
    Object.assign(canvas, {width, height});
    document.body.style.setProperty("--shape", width / height);
    document.body.classList.toggle("wide", width > 2 * height);
  }
  const context = canvas.getContext("2d"), image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer), [from, to] = searched();
  const scale = 255 / (ONE * (to - from)), mark = parameters.mark_filled && confidence;
  const isFilled = (i) => confidence[i] < shown.matchedFrom;
  for (let y = 0, i = 0; y < height; y++)
    for (let x = 0; x < width; x++, i++) {
      const step = clamp((disparity[i] - ONE * from) * scale + 0.5, 0, 255) | 0;
      if (!isKnown(i))
        pixels[i] = (x + y) % 8 < 1 ? 0xff424242 : 0xff2b2b2b;
      else if (mark && isFilled(i) && (isFilled(i - 6) || isFilled(i + 6)))
        pixels[i] = palette[(x + y) % 6 < 2 ? 2 : 1][step];
      else
        pixels[i] = palette[0][step];
    }
  context.putImageData(image, 0, 0);
  shown.maps = (shown.maps || 0) + 1;
  drawLegend();
  readOut();
  if (surface && !by("surface").hidden && surface.isIdle())
    surface.draw();
}

function drawLegend() {
  const canvas = by("legend"), context = canvas.getContext("2d"), [from, to] = searched();
  const width = canvas.width, g = geometry(), unit = about.metric ? " m" : "";
  context.clearRect(0, 0, width, canvas.height);
  for (let x = 0; x < width; x++) { // near on the left
    const at = 3 * Math.round(255 * (1 - x / (width - 1)));
    context.fillStyle = `rgb(${about.colors[colormap].slice(at, at + 3)})`;
    context.fillRect(x, 0, 1, 12);
  }
  context.fillStyle = getComputedStyle(canvas).color;
  context.font = "12px sans-serif";
  const write = (z, x, textAlign) => Object.assign(context, {textAlign}).fillText(
      z === Infinity ? "\u221e" : z.toPrecision(2) * 1 + unit, x, 25);
  write(depthOf(to), 0, "left");
  write(depthOf(from), width, "right");
  for (let k = 0, last = 20; k <= 60; k++) { // 1, 2, 5, 10, ... of 10^-3
    const z = [1, 2, 5][k % 3] * 10 ** (Math.floor(k / 3) - 3);
    const x = (to - (g.fx * g.baseline / z - g.doffs)) / (to - from) * (width - 1);
    if (x >= last + 42 && x <= width - 48)
      write(z, last = x, "center");
  }
}

function readOut() {
  const out = by("read"), at = (share, size) => clamp(Math.floor(share * size), 0, size - 1);
  out.textContent = "";
  if (!mouse || !shown.disparity || !isOpen)
    return;
  const point = depthAt(at(mouse.u, shown.width), at(mouse.v, shown.height));
  const unit = about.metric ? " m" : " baselines";
  const digits = point.error < 0.01 ? 3 : point.error < 0.1 ? 2 : 1;
  if (Number.isFinite(point.z))
    out.textContent = `${point.z.toFixed(digits)} \u00b1 ${point.error.toFixed(digits)}${unit}`;
  else
    out.textContent = isNaN(point.z) ? "unknown" : "far";
}

for (const canvas of [by("left"), by("depth")]) {
  canvas.onpointermove = canvas.onpointerdown = (event) => {
    const box = canvas.getBoundingClientRect(); // the picture lies in its middle, as large as fits
    const scale = Math.min(box.width / canvas.width, box.height / canvas.height);
    mouse = {u: 0.5 + (event.clientX - box.left - box.width / 2) / (canvas.width * scale),
             v: 0.5 + (event.clientY - box.top - box.height / 2) / (canvas.height * scale)};
    readOut();
  };
}

// ---- settings: the window's rows, as far as the server has them
function setParameter(name, value) {
  warning = "";
  send({op: "setParameters", id: "page", parameters: [{name, value}]});
}

const make = (kind, properties) => Object.assign(document.createElement(kind), properties);
const capital = (text) => text[0].toUpperCase() + text.slice(1);

// show() makes the control say what the parameters are.
function addRow({name, label, help}, control, show, ...more) {
  const row = make("div"), text = make("label", {textContent: label, htmlFor: "set_" + name});
  Object.assign(control, {id: "set_" + name, title: help, ariaLabel: label, show});
  row.append(text, control, ...more);
  by("settings").append(row);
}

function addSlider(row, [min, max, step], get, set, print = (value) => `${value} ${row.unit}`) {
  const value = make("output"), input = make("input", {type: "range", min, max, step});
  const say = (number) => value.textContent = print(number);
  input.oninput = () => [say, set].forEach((take) => take(Number(input.value)));
  addRow(row, input, () => say(input.value = get()), value);
}

function addChoices(row, names, get, set) {
  const select = make("select", {onchange: () => set(select.value)});
  select.append(...names.map((name) => new Option(capital(name), name)));
  addRow(row, select, () => select.value = get());
}

function addQuality(row) {
  const group = make("div", {role: "group"}), presets = Object.values(about.quality);
  for (const [name, preset] of Object.entries(about.quality))
    group.append(make("button", {type: "button", textContent: capital(name),
                                 onclick: () => setParameter("preset", preset)}));
  addRow(row, group, () => presets.forEach(
      (preset, i) => group.children[i].ariaPressed = preset === parameters.preset));
}

function addParameter(row) {
  const {name, min, max, step} = row, set = (value) => setParameter(name, value);
  const input = make("input", {type: "checkbox", onchange: () => set(input.checked)});
  if (step)
    addSlider(row, [min, max, step], () => parameters[name], set);
  else
    addRow(row, input, () => input.checked = parameters[name]);
}

function addNearest(row) {
  const g = geometry(), nearest = (px) => g.fx * g.baseline / Math.max(1, px + g.doffs);
  addSlider(row, [nearest(511), Math.min(50, nearest(7)), "any"],
            () => nearest(parameters.min_disparity + parameters.disparity_range - 1),
            (z) => setParameter("disparity_range", clamp(Math.round(
                g.fx * g.baseline / z - g.doffs - parameters.min_disparity + 1), 2, 512)),
            (z) => `${z.toFixed(z < 1 ? 2 : 1)} m`);
}

function addRows() {
  by("settings").replaceChildren();
  for (const row of about.rows)
    if (row.name === "quality")
      addQuality(row);
    else if (row.name === "nearest" && about.metric)
      addNearest(row);
    else if (row.name === "hide_below")
      addSlider(row, [0, 100, 1], () => Math.round(parameters.hide_below / 2.55),
                (value) => setParameter("hide_below", Math.round(2.55 * value)),
                (value) => value ? `${value} %` : "off");
    else if (row.name === "colormap")
      addChoices(row, Object.keys(about.colors), () => colormap, setColors);
    else if (row.max !== undefined && (row.name !== "disparity_range" || !about.metric))
      addParameter(row);
  addChoices({name: "preset", label: "Preset", help: "settings for a purpose"},
             [...about.presets, "custom"], () => parameters.preset,
             (name) => name !== "custom" && setParameter("preset", name));
}

function showParameters(list) {
  for (const {name, value} of list)
    parameters[name] = value;
  for (const {children: [, control]} of by("settings").children)
    if (control !== document.activeElement || control.type !== "range")
      control.show();
  drawDepth();
}

// As bytes of ImageData: colours, and those of what was filled in, between hatching and on it.
function setColors(name) {
  const colors = about.colors[colormap = name];
  palette = [[1, 0], [0.6, 51], [0.39, 33]].map(([share, grey]) =>
    Uint32Array.from({length: 256}, (_, i) => [2, 1, 0].reduce(
        (sum, k) => sum * 256 + Math.round(share * colors[3 * i + k] + grey), 255)));
  drawDepth();
}

// ---- the surface: two triangles a cell of the map, left out over jumps and unknown pixels
const VERTEX = `#version 300 es
precision highp float; precision highp isampler2D;
uniform isampler2D map; uniform ivec2 cells; uniform int stride; uniform float doffs, far;
uniform vec4 lens; uniform mat4 view; out vec2 place; out vec3 point;
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
  good = good && most < 1.1 * least && most < far;
  vec2 size = vec2(textureSize(map, 0));
  place = (vec2(p) + 0.5) / size;
  point = vec3((vec2(p) - vec2(lens.y, lens.z)) * own / lens.x, own);
  gl_Position = good ? view * vec4(point, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
}`;
const FRAGMENT = `#version 300 es
precision highp float; uniform sampler2D picture; in vec2 place; in vec3 point; out vec4 color;
void main() { // light from above the camera
  vec3 normal = normalize(cross(dFdx(point), dFdy(point)));
  float light = 0.45 + 0.65 * abs(dot(normal, normalize(vec3(0.2, 0.5, 0.85))));
  color = vec4(texture(picture, place).rgb * light, 1.0);
}`;

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
  const start = {yaw: 0, pitch: 0.35, zoom: 0.9}, fingers = new Map();
  let eye = {...start}, sync = null;

  function upload() {
    for (const [i, texture] of textures.entries()) {
      gl.activeTexture(gl.TEXTURE0 + i);
      gl.bindTexture(gl.TEXTURE_2D, texture);
      for (const name of ["TEXTURE_MIN_FILTER", "TEXTURE_MAG_FILTER"])
        gl.texParameteri(gl.TEXTURE_2D, gl[name], i ? gl.LINEAR : gl.NEAREST);
      for (const name of ["TEXTURE_WRAP_S", "TEXTURE_WRAP_T"])
        gl.texParameteri(gl.TEXTURE_2D, gl[name], gl.CLAMP_TO_EDGE);
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
    const fit = 2 * g.fx * Math.min(canvas.width / shown.width, canvas.height / shown.height);
    const scale = [fit / canvas.width, -fit / canvas.height], distance = middle / eye.zoom;
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
    if (!shown.picture || !shown.disparity || canvas.hidden)
      return;
    upload();
    const g = geometry(), step = Math.ceil(Math.sqrt(shown.width * shown.height / 80000));
    const cells = [Math.floor((shown.width - 1) / step), Math.floor((shown.height - 1) / step)];
    const known = [];
    for (let i = 0; i < shown.disparity.length; i += 101)
      if (shown.disparity[i] > 0)
        known.push(shown.disparity[i]);
    known.sort((a, b) => a - b);
    const middle = known.length ? depthOf(known[known.length >> 1] / ONE) : 1;
    Object.assign(canvas, {width: canvas.clientWidth, height: canvas.clientHeight});
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0.055, 0.059, 0.067, 1);
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

  function move(change) {
    Object.assign(eye, change);
    draw();
  }
  const zoom = (factor) => move({zoom: clamp(eye.zoom * factor, 0.1, 10)});
  const apart = ([a, b]) => Math.max(1, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY));
  canvas.onpointerdown = (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, event);
  };
  canvas.onpointermove = (event) => {
    const last = fingers.get(event.pointerId), before = [...fingers.values()];
    if (!last)
      return;
    fingers.set(event.pointerId, event);
    if (before.length > 1)
      zoom(apart([...fingers.values()]) / apart(before));
    else
      move({yaw: eye.yaw + (event.clientX - last.clientX) / 200,
            pitch: clamp(eye.pitch + (event.clientY - last.clientY) / 200, -1.5, 1.57)});
  };
  canvas.onpointerup = canvas.onpointercancel = (event) => fingers.delete(event.pointerId);
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 500));
  }, {passive: false});
  canvas.ondblclick = () => move(start);
  // Whether the last one has been drawn; while it is not, maps go before.
  function isIdle() {
    return !sync || gl.getSyncParameter(sync, gl.SYNC_STATUS) === gl.SIGNALED;
  }
  return {draw, isIdle, showTop: () => move({yaw: 0, pitch: 1.57, zoom: 0.6})};
}

// ---- the connection
function send(message) {
  if (socket.readyState === WebSocket.OPEN)
    socket.send(JSON.stringify(message));
}

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
    if (typeof data === "string")
      takeText(JSON.parse(data), socket);
    else if (new DataView(data).getUint8(0) === 1)
      takeMessage(topics[new DataView(data).getUint32(1, true)], data, 13);
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
  parameters = {};
  warning = "";
  by("source").textContent = document.title = about.source;
  setColors(colormap);
  addRows();
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

function showTab(name) {
  for (const id of ["left", "surface"]) {
    by(id).hidden = id !== name;
    by("tab_" + id).ariaPressed = id === name;
  }
  by("top").hidden = name === "left";
}

window.addEventListener("load", () => {
  surface = makeSurface(by("surface"));
  by("tab_left").onclick = () => showTab("left");
  by("tab_surface").onclick = () => showTab("surface");
  by("top").onclick = () => surface && surface.showTop();
  by("swap").onclick = () => by("swap").ariaPressed = document.body.classList.toggle("swapped");
  new ResizeObserver(() => surface && surface.draw()).observe(by("surface"));
  window.livestereo = {depthAt, get shown() { return shown; }, // for scripts and tests
                       draw: () => surface && surface.draw()};
  setInterval(showState, 1000);
  connect();
});
