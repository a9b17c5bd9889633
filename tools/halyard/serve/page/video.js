// SPDX-License-Identifier: Apache-2.0
// Plays /stream.mp4, a fragmented MP4 without an end, through Media Source Extensions, close to its
// newest frame.

const maxDelay = 1;        // seconds behind the newest frame
const aimedDelay = 0.1;
const keptSeconds = 10;    // that can still be shown
const restartPause = 1000; // milliseconds

export const canPlay = () => typeof MediaSource !== "undefined";

/** The type of the stream, from its avcC box (ISO/IEC 14496-15); null if the box is not whole. */
function typeOf(bytes) {
  for (let at = 0; at + 8 <= bytes.length; ++at) {
    if (bytes[at] !== 0x61 || bytes[at + 1] !== 0x76 || bytes[at + 2] !== 0x63 ||
        bytes[at + 3] !== 0x43) continue;
    const [profile, constraints, level] = bytes.slice(at + 5, at + 8);
    const hex = [profile, constraints, level].map((each) => each.toString(16).padStart(2, "0"));
    return `video/mp4; codecs="avc1.${hex.join("")}"`;
  }
  return null;
}

function joined(parts) {
  const out = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

export class VideoPlayer {
  /** `onError` gets a text when there is no video; the player then tries again. */
  constructor(video, onError) {
    this.video = video;
    this.onError = onError;
    this.run = null;
  }

  start() {
    this.stop();
    const run = {abort: new AbortController(), waiting: []};
    this.run = run;
    this.play(run).catch((error) => {
      if (this.run !== run) return;
      this.onError(error.message);
    }).finally(() => {
      run.abort.abort();
      if (this.run === run) setTimeout(() => { if (this.run === run) this.start(); }, restartPause);
    });
  }

  stop() {
    if (!this.run) return;
    this.run.abort.abort();
    this.run = null;
    this.video.removeAttribute("src");
    this.video.load();
  }

  async play(run) {
    const reply = await fetch("/stream.mp4", {signal: run.abort.signal});
    if (!reply.ok) throw new Error((await reply.json()).error);
    const reader = reply.body.getReader();
    for (;;) {
      const {done, value} = await reader.read();
      if (done || this.run !== run) return;
      run.waiting.push(value);
      if (run.buffer) this.append(run);
      else await this.open(run);
    }
  }

  /** Opens the source as soon as the type is known. */
  async open(run) {
    const bytes = joined(run.waiting);
    run.waiting = [bytes];
    const type = typeOf(bytes);
    if (!type) return;
    if (!MediaSource.isTypeSupported(type)) throw new Error(`this browser does not play ${type}`);
    const source = new MediaSource();
    const isOpen = new Promise((resolve) =>
      source.addEventListener("sourceopen", resolve, {once: true}));
    const address = URL.createObjectURL(source);
    this.video.src = address;
    await isOpen;
    URL.revokeObjectURL(address);
    if (this.run !== run) return;
    run.buffer = source.addSourceBuffer(type);
    run.buffer.addEventListener("updateend", () => { if (this.run === run) this.append(run); });
    this.append(run);
    this.video.play().catch(() => {});
  }

  append(run) {
    if (run.buffer.updating) return;
    const ranges = run.buffer.buffered;
    if (ranges.length) {
      const begin = ranges.start(0), newest = ranges.start(ranges.length - 1);
      const end = ranges.end(ranges.length - 1);
      const now = this.video.currentTime;
      // Frames that were skipped leave a gap, where a video would wait for ever.
      if (now < newest || end - now > maxDelay)
        this.video.currentTime = Math.max(newest, end - aimedDelay);
      if (end - begin > 2 * keptSeconds) return run.buffer.remove(begin, end - keptSeconds);
    }
    if (!run.waiting.length) return;
    run.buffer.appendBuffer(joined(run.waiting));
    run.waiting = [];
  }
}
