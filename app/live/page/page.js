// The page of --out foxglove: pictures, depth, settings and a surface, by the protocol that
// Foxglove speaks on the same port. SPDX-License-Identifier: MIT
"use strict";
const UNKNOWN = -32768, ONE = 16; // disparities: unknown, and 1 px
const by = (id) => document.getElementById(id);
const clamp = (value, least, most) => Math.max(least, Math.min(most, value));
let about, palette, socket, surface, mouse, isOpen, warning = "", colormap = "turbo";
let topics = {}, shown = {}, parameters = {};

// ---- messages

// CDR, little-endian, aligned from behind a head of four bytes: numbers of 32 bits (n), bytes (b)
// and arrays of bytes (a).
function unpack(buffer, at, kinds) {
  const view = new DataView(buffer, at + 4);
  let end = 0;
  return [...kinds].map((kind) => {
    end = kind === "b" ? end + 1 : (end + 7) & ~3;
    if (kind === "b")
      return view.getUint8(end - 1);
    const number = view.getUint32(end - 4, true);
    end += kind === "a" ? number : 0;
    return kind === "a" ? new Uint8Array(buffer, at + 4 + end - number, number) : number;
  });
}

function unpackImage(buffer, at) { // time, frame, size, encoding, order of bytes, bytes of a row
  const [, , , height, width, , , , data] = unpack(buffer, at, "nnannabna");
  return {width, height, data: data.slice()};
}

// Each topic's function, which takes its messages.
const takers = {
  "/statistics"(buffer, at) {
    const s = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, at)));
    shown.statistics = s;
    by("statistics").textContent = `frame ${s.frame} \u00b7 ${(s.rate || 0).toFixed(1)} frames/s ` +
      `\u00b7 computed in ${s.compute_ms.toFixed(0)} ms \u00b7 ${s.age_ms.toFixed(0)} ms old`;
  },
  "/confidence": (buffer, at) => shown.confidence = unpackImage(buffer, at).data,
  "/disparity/image_raw"(buffer, at) {
    const {width, height, data} = unpackImage(buffer, at);
    Object.assign(shown, {width, height, disparity: new Int16Array(data.buffer)});
    if (!about.metric)
      Object.assign(about, {fx: width, cx: width / 2, cy: height / 2, baseline: 1, doffs: 0});
    requestAnimationFrame(drawDepth);
  },
  async "/left/image_rect/compressed"(buffer, at) {
    const own = shown, jpeg = unpack(buffer, at, "nnaaa")[4];
    own.picture = await createImageBitmap(new Blob([jpeg], {type: "image/jpeg"}));
    Object.assign(by("left"), {width: own.picture.width, height: own.picture.height});
    by("left").getContext("2d").drawImage(own.picture, 0, 0);
  },
};

// ---- depth
// Metres (baselines without a calibration) of px; beyond the horizon infinite.
const depthOf = (px) =>
  px + about.doffs > 0 ? about.fx * about.baseline / (px + about.doffs) : Infinity;
const isKnown = (i) =>
  shown.disparity[i] !== UNKNOWN && !(shown.confidence?.[i] < parameters.hide_below);

function depthAt(x, y) {
  const i = y * shown.width + x, disparity = shown.disparity[i] / ONE;
  const z = isKnown(i) ? depthOf(disparity) : NaN, sigma = about.sigma[shown.confidence?.[i] || 0];
  return {disparity, z, error: z * z * sigma / (about.fx * about.baseline)};
}

// The disparities of these shares of the known ones, px.
function quantiles(...shares) {
  const known = shown.disparity.filter((d, i) => i % 101 === 0 && d !== UNKNOWN).sort();
  return shares.map((share) => (known[Math.floor(share * known.length)] || 0) / ONE);
}

// Unknown is grey, and what was filled in hatched where it is wider than the hatching, as in the
// window. The colours are fitted to the first map.
function drawDepth() {
  if (!shown.disparity)
    return;
  const canvas = by("depth"), {width, height, disparity, confidence} = shown;
  if (canvas.width !== width || canvas.height !== height) {
    Object.assign(canvas, {width, height});
    document.body.style.setProperty("--shape", width / height);
    document.body.classList.toggle("wide", width > 2 * height);
    canvas.parentNode.scrollLeft = canvas.clientWidth / 5; // in the middle of a phone
  }
  const [from, to] = shown.fitted ||= quantiles(0.02, 0.98), scale = 255 / Math.max(1, to - from);
  const context = canvas.getContext("2d"), image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const isFilled = (i) => confidence[i] < shown.statistics?.matched_from;
  for (let i = 0; i < pixels.length; i++) {
    const across = i % width + Math.floor(i / width);
    const step = clamp((disparity[i] / ONE - from) * scale + 0.5, 0, 255) | 0;
    if (!isKnown(i))
      pixels[i] = across % 8 < 1 ? 0xff424242 : 0xff2b2b2b;
    else if (parameters.mark_filled && confidence && isFilled(i) &&
             (isFilled(i - 6) || isFilled(i + 6)))
      pixels[i] = palette[across % 6 < 2 ? 2 : 1][step];
    else
      pixels[i] = palette[0][step];
  }
  context.putImageData(image, 0, 0);
  shown.maps = (shown.maps || 0) + 1;
  drawLegend(from, to);
  readOut();
  if (surface?.isIdle())
    surface.draw();
}

function drawLegend(from, to) { // near on the left
  const colors = Array.from({length: 52}, (_, i) =>
    `rgb(${about.colors[colormap].slice(765 - 15 * i, 768 - 15 * i)})`);
  by("legend").style.background = `no-repeat linear-gradient(90deg, ${colors})`;
  by("legend").replaceChildren(...[1, 0.75, 0.5, 0.25, 0].map((share) => {
    const z = depthOf(from + share * (to - from)), unit = about.metric ? " m" : "";
    return make("span", {textContent: z < 1e4 ? z.toPrecision(2) * 1 + unit : "\u221e"});
  }));
}

function readOut() {
  const at = (share, size) => clamp(Math.floor(share * size), 0, size - 1);
  by("read").textContent = "";
  if (!mouse || !shown.disparity || !isOpen)
    return;
  const {z, error} = depthAt(at(mouse.u, shown.width), at(mouse.v, shown.height));
  const digits = error < 0.1 ? 2 + (error < 0.01) : 1, unit = about.metric ? "m" : "baselines";
  by("read").textContent = !Number.isFinite(z) ? isNaN(z) ? "unknown" : "far"
    : `${z.toFixed(digits)} \u00b1 ${error.toFixed(digits)} ${unit}`;
}

for (const canvas of [by("left"), by("depth")])
  canvas.onpointermove = canvas.onpointerdown = (event) => {
    const box = canvas.getBoundingClientRect(); // the picture lies in its middle, as large as fits
    const scale = Math.min(box.width / canvas.width, box.height / canvas.height);
    mouse = {u: 0.5 + (event.clientX - box.left - box.width / 2) / (canvas.width * scale),
             v: 0.5 + (event.clientY - box.top - box.height / 2) / (canvas.height * scale)};
    readOut();
  };

// As bytes of ImageData: colours, and those of what was filled in, between hatching and on it.
function setColors(name) {
  const colors = about.colors[colormap = name];
  palette = [[1, 0], [0.6, 51], [0.39, 33]].map(([share, grey]) =>
    Uint32Array.from({length: 256}, (_, i) => [2, 1, 0].reduce(
        (sum, k) => sum * 256 + Math.round(share * colors[3 * i + k] + grey), 255)));
  drawDepth();
}

// ---- settings: the window's rows, as far as the server has them
const make = (kind, properties) => Object.assign(document.createElement(kind), properties);
const makeSlider = (min, max, step) => make("input", {type: "range", min, max, step});

function setParameter(name, value) {
  warning = "";
  send({op: "setParameters", id: "page", parameters: [{name, value}]});
}

// A row whose control shows what get() says, and gives what the user chooses to set().
function addRow({name, label, help}, control, get, set, print = () => "") {
  const row = make("div"), said = make("output");
  const field = {range: "valueAsNumber", checkbox: "checked"}[control.type] || "value";
  const say = (value) => said.textContent = print(value);
  Object.assign(control, {id: "set_" + name, title: help, ariaLabel: label,
                          show: () => say(control[field] = get()),
                          oninput: () => set(control[field], say(control[field]))});
  row.append(make("label", {textContent: label, htmlFor: control.id}), control, said);
  by("settings").append(row);
}

function addList(row, names, get, set) {
  const list = make("select");
  list.append(...names.map((name) => new Option(name)));
  addRow(row, list, get, set);
}

function addQuality(row) {
  const group = make("div", {role: "group"});
  group.append(...Object.entries(about.quality).map(([name, value]) => make("button", {
    value, type: "button", textContent: name,
    onclick: () => setParameter("preset", value)})));
  addRow(row, group);
  group.show = () => [...group.children].forEach(
      (button) => button.ariaPressed = button.value === parameters.preset);
}

function addRows() {
  by("settings").replaceChildren();
  for (const row of about.rows) {
    const {name, min, max, step, unit} = row, get = () => parameters[name];
    const set = (value) => setParameter(name, value);
    if (name === "quality")
      addQuality(row);
    else if (name === "nearest" && about.metric)
      addRow(row, makeSlider(2, 256, 1), () => parameters.disparity_range, // metres are printed
             (px) => setParameter("disparity_range", px),
             (px) => `${depthOf(parameters.min_disparity + px - 1).toPrecision(2) * 1} m`);
    else if (name === "hide_below")
      addRow(row, makeSlider(0, 100, 1), () => Math.round(get() / 2.55),
             (value) => set(Math.round(2.55 * value)), (value) => value ? `${value} %` : "off");
    else if (name === "colormap")
      addList(row, Object.keys(about.colors), () => colormap, setColors);
    else if (max !== undefined && (name !== "disparity_range" || !about.metric))
      addRow(row, step ? makeSlider(min, max, step) : make("input", {type: "checkbox"}), get, set,
             (value) => step ? `${value} ${unit}` : "");
  }
  addList({name: "preset", label: "Preset", help: "settings for a purpose"},
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

// ---- the surface: two triangles a cell of the map, left out where they lie along the line of
// sight, as over jumps, and at unknown pixels
const SHADERS = {VERTEX: `#version 300 es
precision highp float; precision highp isampler2D;
uniform isampler2D map; uniform vec4 lens, grid; uniform mat4 view;
out vec2 place; out vec3 point; out float known;
void main() { // lens: focal length, middle, its product with the baseline; grid: columns, step,
  int cell = gl_VertexID / 6, corner = gl_VertexID % 6, columns = int(grid.x); // offset, far end
  ivec2 p = int(grid.y) * ivec2(cell % columns + (50 >> corner & 1),
                                cell / columns + (44 >> corner & 1));
  int d = texelFetch(map, p, 0).r;
  float z = lens.w / max(float(d) / 16.0 + grid.z, 1e-3);
  known = d != -32768 && z < grid.w ? 1.0 : 0.0;
  place = (vec2(p) + 0.5) / vec2(textureSize(map, 0));
  point = vec3((vec2(p) - lens.yz) * z / lens.x, z);
  gl_Position = view * vec4(point, 1.0);
}`, FRAGMENT: `#version 300 es
precision highp float; uniform sampler2D picture; uniform vec4 lens, grid;
in vec2 place; in vec3 point; in float known; out vec4 color;
void main() { // light from above the camera
  vec3 normal = normalize(cross(dFdx(point), dFdy(point)));
  if (known < 0.999 || abs(dot(normal, normalize(point))) < 10.0 * grid.y / lens.x)
    discard;
  float light = 0.45 + 0.65 * abs(dot(normal, normalize(vec3(0.2, 0.5, 0.85))));
  color = vec4(texture(picture, place).rgb * light, 1.0);
}`};

function makeSurface(canvas) {
  const gl = canvas.getContext("webgl2"), program = gl.createProgram();
  for (const [kind, text] of Object.entries(SHADERS)) {
    const shader = gl.createShader(gl[kind + "_SHADER"]);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  gl.useProgram(program);
  gl.enable(gl.DEPTH_TEST);
  gl.clearColor(0.055, 0.059, 0.067, 1);
  gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  const place = (name) => gl.getUniformLocation(program, name);
  for (const [i, name] of ["map", "picture"].entries()) {
    gl.activeTexture(gl.TEXTURE0 + i);
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    gl.uniform1i(place(name), i);
  }
  const start = {yaw: 0, pitch: 20, zoom: 0.9}, eye = {...start}; // degrees
  let sync = null, apart = 0; // of the last drawing; px between two fingers

  // Turns about the point that lies in the middle at this depth.
  function view(middle) {
    const near = middle / 50, far = middle * 50;
    const fit = 2 * about.fx * Math.min(canvas.width / shown.width, canvas.height / shown.height);
    return new DOMMatrix([fit / canvas.width, 0, 0, 0, 0, -fit / canvas.height, 0, 0, 0, 0,
                          (far + near) / (far - near), 1, 0, 0, -2 * far * near / (far - near), 0])
      .translate(0, 0, middle / eye.zoom).rotateAxisAngle(1, 0, 0, eye.pitch)
      .rotateAxisAngle(0, 1, 0, eye.yaw).translate(0, 0, -middle).toFloat32Array();
  }

  function draw() {
    if (!shown.picture || !shown.disparity || !canvas.clientWidth)
      return;
    const {width, height, disparity, picture} = shown, {fx, cx, cy, baseline, doffs} = about;
    const step = Math.ceil(Math.sqrt(width * height / 80000));
    const columns = Math.floor((width - 1) / step), rows = Math.floor((height - 1) / step);
    Object.assign(canvas, {width: canvas.clientWidth, height: canvas.clientHeight});
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.activeTexture(gl.TEXTURE0);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.R16I, width, height, 0, gl.RED_INTEGER, gl.SHORT, disparity);
    gl.activeTexture(gl.TEXTURE1);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, picture);
    gl.uniform4f(place("lens"), fx, cx, cy, fx * baseline);
    gl.uniform4f(place("grid"), columns, step, doffs, about.metric ? 100 : 1e5);
    gl.uniformMatrix4fv(place("view"), false, view(Math.min(1e5, depthOf(quantiles(0.5)[0]))));
    gl.drawArrays(gl.TRIANGLES, 0, 6 * columns * rows);
    sync = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
  }

  const look = (change) => draw(Object.assign(eye, change));
  const zoom = (factor) => look({zoom: clamp(eye.zoom * factor, 0.1, 10)});
  canvas.onpointerdown = ({pointerId}) => canvas.setPointerCapture(pointerId);
  canvas.onpointermove = ({buttons, movementX, movementY}) => {
    if (buttons && !apart)
      look({yaw: eye.yaw + movementX / 3.5, pitch: clamp(eye.pitch + movementY / 3.5, -90, 90)});
  };
  canvas.ontouchstart = canvas.ontouchend = canvas.ontouchmove = ({touches: [a, b]}) => {
    const before = apart;
    apart = b ? Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY) : 0;
    if (before && apart)
      zoom(apart / before);
  };
  canvas.onwheel = (event) => event.preventDefault(zoom(Math.exp(-event.deltaY / 500)));
  canvas.ondblclick = () => look(start);
  // While the last one is being drawn, maps go before.
  const isIdle = () => !sync || gl.getSyncParameter(sync, gl.SYNC_STATUS) === gl.SIGNALED;
  return {draw, isIdle, showTop: () => look({yaw: 0, pitch: 90, zoom: 0.6})};
}

// ---- the connection
const send = (message) =>
  socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message));

function showState() {
  const seconds = shown.time ? Math.round((Date.now() - shown.time) / 1000) : 0;
  const age = seconds > 2 ? `picture of ${seconds} s ago` : "";
  const state = !isOpen ? "not connected" : warning || (shown.time ? "" : "waiting for a picture");
  by("state").textContent = [state, age].filter(Boolean).join(", ") || "live";
  by("state").className = !isOpen ? "bad" : state || age ? "warned" : "good";
  document.body.classList.toggle("gone", by("settings").disabled = !isOpen);
  readOut();
}

// Asks the server for everything anew: another source may have another calibration. Pictures come
// after that.
async function meet(channels, server) {
  const answer = await (await fetch("about.json", {cache: "no-store"})).json();
  if (server.readyState !== WebSocket.OPEN)
    return;
  [about, shown, parameters, warning] = [answer, {}, {}, ""];
  by("source").textContent = document.title = about.source;
  setColors(colormap);
  addRows();
  showState(isOpen = true);
  const wanted = channels.filter(({topic}) => takers[topic]);
  topics = Object.fromEntries(wanted.map(({id, topic}) => [id, topic]));
  send({op: "subscribe", subscriptions: wanted.map(({id}) => ({id, channelId: id}))});
  send({op: "getParameters", parameterNames: [], id: "all"});
  send({op: "subscribeParameterUpdates", parameterNames: []});
}

function takeText({op, channels, parameters: list, message}, server) {
  if (op === "advertise")
    meet(channels, server).catch(() => server.close());
  else if (op === "parameterValues")
    showParameters(list);
  else if (op === "status")
    showState(warning = message);
}

function connect() {
  socket = new WebSocket(`ws://${location.host}/`, ["foxglove.websocket.v1"]);
  socket.binaryType = "arraybuffer";
  socket.onclose = () => {
    showState(isOpen = false);
    setTimeout(connect, 1000);
  };
  socket.onmessage = ({data, target}) => {
    if (typeof data === "string")
      return takeText(JSON.parse(data), target);
    shown.time = Date.now();
    takers[topics[new DataView(data).getUint32(1, true)]]?.(data, 13);
  };
}

window.addEventListener("load", () => {
  for (const id of ["space", "swapped"])
    by(id).onclick = () => by(id).ariaPressed = document.body.classList.toggle(id);
  by("fit").onclick = () => drawDepth(shown.fitted = null);
  window.livestereo = {depthAt, get shown() { return shown; }, // for scripts and tests
                       draw: () => surface.draw()};
  setInterval(showState, 1000);
  connect();
  surface = makeSurface(by("surface"));
  by("top").onclick = surface.showTop;
  new ResizeObserver(surface.draw).observe(by("surface"));
});
