// SPDX-License-Identifier: Apache-2.0
// The live view. Text from the server is set as text, never as HTML.
import {Timeline} from "/timeline.js";
import {VideoPlayer, canPlay} from "/video.js";

const find = (id) => document.getElementById(id);
const timeline = new Timeline(find("timeline"));
const number = (digits) => new Intl.NumberFormat("en", {
  minimumFractionDigits: digits, maximumFractionDigits: digits});
const whole = number(0), tenths = number(1), hundredths = number(2);
let state = null;
let last = null;     // frames and copies of the state a second ago
let streams = 0;
let isLost = false;

function say(text) {
  const place = find("message");
  if (place.textContent !== text) place.textContent = text;
}

function setText(id, text) {
  const place = find(id);
  if (place.textContent !== text) place.textContent = text;
}

function element(name, text) {
  const out = document.createElement(name);
  if (text !== undefined) out.textContent = text;
  return out;
}

/** Replaces rows only if their text has changed, so that a screen reader keeps its place. */
function setRows(body, rows, make) {
  const key = JSON.stringify(rows);
  if (body.dataset.key === key) return;
  body.dataset.key = key;
  body.replaceChildren(...rows.map(make));
}

function tableRow(cells) {
  const row = element("tr");
  cells.forEach((text, index) => {
    const cell = element(index === 0 ? "th" : "td", text);
    if (index === 0) cell.scope = "row";
    row.append(cell);
  });
  return row;
}

// ---- requests

async function request(path, body) {
  const options = body === undefined ? {} : {
    method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)};
  const reply = await fetch(path, options);
  if (reply.status === 401) location.assign("/login");
  const answer = await reply.json();
  if (!reply.ok) throw new Error(answer.error || reply.statusText);
  return answer;
}

async function change(controls, told) {
  try {
    showControls(await request("/api/controls", controls));
    say(told);
  } catch (error) {
    say(`Not changed: ${error.message}`);
    if (state) showControls(state.controls);
  }
}

// ---- the image

const player = new VideoPlayer(find("video"), (text) => say(`No video: ${text}`));

function isVideo() {
  return find("stream").value === "video";
}

function startStream() {
  if (document.hidden) return;
  if (isVideo()) {
    // A video has no frame before the next one of the source.
    if (state && state.status !== "running") find("video").poster = "/api/snapshot";
    player.start();
    return;
  }
  streams += 1;
  find("image").src = `/stream.mjpg?${streams}`;
}

function stopStream() {
  player.stop();
  find("image").removeAttribute("src");
}

function changeStream() {
  stopStream();
  find("image").hidden = isVideo();
  find("video").hidden = !isVideo();
  startStream();
  say(isVideo() ? "The stream is H.264" : "The stream is MJPEG");
}

function watchStream() {
  const image = find("image");
  find("stream").addEventListener("change", changeStream);
  find("video").addEventListener("loadeddata", () => { find("no-image").hidden = true; });
  image.addEventListener("load", () => { find("no-image").hidden = true; });
  image.addEventListener("error", () => {
    if (!image.hasAttribute("src")) return;
    setText("no-image", "No image: all places of viewers may be taken");
    find("no-image").hidden = false;
    setTimeout(startStream, 2000);
  });
  // A hidden page takes no images, so that none are made for it.
  document.addEventListener("visibilitychange", () => {
    document.hidden ? stopStream() : startStream();
  });
  startStream();
}

// ---- the state

function showStatus() {
  const pill = find("status");
  const status = isLost ? "lost" : state.status;
  pill.className = `pill ${status}`;
  setText("status", isLost ? "connection lost" : status);
}

function showControls(controls) {
  for (const name of ["score", "iou"]) {
    const slider = find(name);
    // The slider that is being moved is not moved by the server.
    if (document.activeElement !== slider) slider.value = controls[name];
    setText(`${name}-text`, hundredths.format(slider.value));
    slider.setAttribute("aria-valuetext", hundredths.format(slider.value));
  }
  for (const name of ["boxes", "masks", "tracks"]) find(name).checked = controls[name];
  find("pause").setAttribute("aria-pressed", String(controls.paused));
  setText("pause", controls.paused ? "Resume" : "Pause");
}

function showRecording(recording) {
  const button = find("record");
  button.disabled = !recording.available;
  button.title = recording.available ? "" : "Start halyard serve with --record-to FOLDER";
  button.setAttribute("aria-pressed", String(recording.on));
  setText("record", recording.on ? `Stop (${recording.frames} frames)` : "Record");
}

function showNumbers() {
  const frames = state.frames;
  setText("rate", tenths.format(frames.rate));
  setText("latency", `${tenths.format(state.latency.p50_ms)} ms`);
  setText("dropped", whole.format(frames.dropped + frames.skipped + frames.failed));
  setText("viewers", whole.format(state.viewers.images + state.viewers.video));
  const now = {time: performance.now(), frames: frames.passed, copies: state.copies.count};
  if (last && now.time - last.time > 1000) {
    const passed = now.frames - last.frames;
    if (passed > 0) setText("copies", tenths.format((now.copies - last.copies) / passed));
    last = now;
  }
  last = last || now;
}

function showObjects() {
  const {labels, tracks, detections} = state.objects;
  const rows = labels.map((entry) => [entry.label, String(entry.count)]);
  if (state.objects.class)
    rows.push([state.objects.class.label, `${whole.format(state.objects.class.score * 100)} %`]);
  if (state.source.tracker && detections > 0) rows.push(["with a track", String(tracks)]);
  setRows(find("objects"), rows.length ? rows : [["Nothing found", ""]], ([label, count]) => {
    const item = element("li");
    item.append(element("span", label), element("b", count));
    return item;
  });
}

function show(text) {
  state = JSON.parse(text);
  isLost = false;
  const {width, height, model, published} = state.source;
  setText("source", width ? `${state.source.name}, ${width} x ${height}` : state.source.name);
  find("controls").hidden = find("objects-card").hidden = find("skip").hidden = !model && !published;
  find("iou-slider").hidden = find("model-card").hidden = !model;
  find("tracks-label").hidden = !state.source.tracker;
  find("masks-label").hidden = !state.source.masks;
  find("logout").hidden = !state.login;
  find("stream-label").hidden = !state.video.available || !canPlay();
  if (model && !isModelAsked) showModel().catch((error) => say(error.message));
  showStatus();
  showControls(state.controls);
  showRecording(state.recording);
  showNumbers();
  showObjects();
  setRows(find("stages"), state.stages.map((stage) =>
    [stage.name, hundredths.format(stage.p50_ms), hundredths.format(stage.p99_ms)]), tableRow);
  timeline.add(state.timeline);
  timeline.draw();
  if (state.error) say(state.error);
  else if (state.video.available && state.video.error) say(`No video: ${state.video.error}`);
  else if (state.recording.error) say(`Recording ended: ${state.recording.error}`);
}

function watchEvents() {
  const events = new EventSource("/events");
  let wasLost = false;
  events.onmessage = (event) => show(event.data);
  events.onopen = () => {
    if (wasLost) startStream();
    wasLost = false;
  };
  events.onerror = () => {
    wasLost = isLost = true;
    if (state) showStatus();
    if (events.readyState !== EventSource.CLOSED) return;
    // The server has refused: the session may have ended, or it starts again.
    request("/api/state").catch(() => {});
    setTimeout(watchEvents, 3000);
  };
}

// ---- model, pools and topics

function pairs(entries) {
  const list = element("dl");
  list.className = "pairs";
  for (const [name, value, isLines] of entries) {
    const text = element("dd", value);
    if (isLines) text.className = "lines";
    list.append(element("dt", name), text);
  }
  return list;
}

let isModelAsked = false;

async function showModel() {
  isModelAsked = true;
  const model = await request("/api/model");
  const shapes = (tensors) =>
    tensors.map((each) => `${each.name} ${each.dtype} [${each.shape.join(", ")}]`).join("\n");
  const decoder = element("details");
  const lines = element("p", model.decoder.join("\n"));
  lines.className = "lines";
  decoder.append(element("summary", "How its outputs are read"), lines);
  find("model").replaceChildren(pairs([
    ["File", model.name],
    ["Engine", model.runtime],
    ["Input", `${model.input.width} x ${model.input.height}`],
    ["Tensors in", shapes(model.inputs), true],
    ["Tensors out", shapes(model.outputs), true],
    ["Classes", model.labels.length ? model.labels.join(", ") : String(model.classes)],
    ...Object.entries(model.metadata).filter(([name]) => name !== "names"),
  ]), decoder);
}

function sum(list, value) {
  return list.reduce((total, each) => total + (value(each) || 0), 0);
}

function bytes(count) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let at = 0;
  for (; count >= 1024 && at < 3; ++at) count /= 1024;
  return `${at ? tenths.format(count) : count} ${units[at]}`;
}

async function showShared() {
  const shared = await request("/api/pools");
  const pools = shared.pools.map((pool) => [String(pool.id),
    `${bytes(pool.used_bytes)} of ${bytes(pool.pool_size)}`,
    `${pool.used_slots} of ${pool.max_slots}`]);
  const topics = shared.topics.map((topic) => [topic.name, topic.type,
    whole.format(sum(topic.endpoints, (each) => each.sent)),
    whole.format(sum(topic.endpoints, (each) => each.lost))]);
  setRows(find("pools"), pools.length ? pools : [["none", "", ""]], tableRow);
  setRows(find("topics"), topics.length ? topics : [["none", "", "", ""]], tableRow);
}

// ---- controls

function bindSlider(id, name) {
  const slider = find(id);
  let timer = 0;
  slider.addEventListener("input", () => {
    setText(`${id}-text`, hundredths.format(slider.value));
    slider.setAttribute("aria-valuetext", hundredths.format(slider.value));
    clearTimeout(timer);
    timer = setTimeout(() => change({[id]: Number(slider.value)},
      `${name} is ${hundredths.format(slider.value)}`), 80);
  });
}

function bindControls() {
  bindSlider("score", "Score threshold");
  bindSlider("iou", "IoU threshold");
  for (const id of ["boxes", "masks", "tracks"]) {
    const box = find(id);
    box.addEventListener("change", () =>
      change({[id]: box.checked}, box.checked ? `${id} are drawn` : `${id} are hidden`));
  }
  find("pause").addEventListener("click", () => {
    const isPaused = find("pause").getAttribute("aria-pressed") === "true";
    change({paused: !isPaused}, isPaused ? "Running" : "Paused");
  });
  find("snapshot").addEventListener("click", () => say("The image is saved by the browser"));
  find("record").addEventListener("click", async () => {
    const isOn = find("record").getAttribute("aria-pressed") === "true";
    try {
      const answer = await request("/api/record", {on: !isOn});
      say(answer.on ? `Recording to ${answer.file}` : `Recorded ${answer.file}`);
    } catch (error) {
      say(`Not recorded: ${error.message}`);
    }
  });
}

function start() {
  bindControls();
  watchStream();
  watchEvents();
  const shared = find("shared");
  const look = () => { if (shared.open && !document.hidden) showShared().catch(() => {}); };
  shared.addEventListener("toggle", look);
  setInterval(look, 2000);
  addEventListener("resize", () => timeline.draw());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => timeline.draw());
}

start();
