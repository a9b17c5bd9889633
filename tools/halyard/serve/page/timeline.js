// SPDX-License-Identifier: Apache-2.0
// Draws when each stage of the last frames ran: a row for each stage, a block for each frame.

const MAX_FRAMES = 120;
const SPAN_MS = 1200;

export class Timeline {
  constructor(canvas) {
    this.canvas = canvas;
    this.frames = new Map();  // by the frame's number, in order
    this.rows = [];
  }

  /** Adds the frames of a state that it does not have yet. */
  add(timeline) {
    for (const frame of timeline) {
      if (this.frames.has(frame.frame)) continue;
      this.frames.set(frame.frame, frame);
      for (const [name] of frame.stages) if (!this.rows.includes(name)) this.rows.push(name);
    }
    for (const key of this.frames.keys()) {
      if (this.frames.size <= MAX_FRAMES) break;
      this.frames.delete(key);
    }
  }

  draw() {
    const box = this.canvas.getBoundingClientRect();
    const scale = window.devicePixelRatio || 1;
    const width = Math.round(box.width * scale);
    const height = Math.round(box.height * scale);
    if (width === 0 || this.rows.length === 0) return;
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(name).trim();
    const pen = this.canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, box.width, box.height);
    pen.font = getComputedStyle(document.body).font.replace(/\d+(\.\d+)?px/, "12px");
    pen.textBaseline = "middle";
    const left = 8 + Math.max(...this.rows.map((name) => pen.measureText(name).width));
    const bottom = 18;
    const row = (box.height - bottom) / this.rows.length;
    const end = this.end();
    const at = (ms) => left + (box.width - left) * (1 - (end - ms) / SPAN_MS);
    this.drawGrid(pen, {left, row, end, at, height: box.height - bottom, width: box.width, color});
    this.drawBlocks(pen, {left, row, at, color});
  }

  /** The end of the last block, in milliseconds since the start. */
  end() {
    let end = 0;
    for (const frame of this.frames.values())
      for (const [, start, duration] of frame.stages)
        end = Math.max(end, frame.at_ms + start + duration);
    return end;
  }

  drawGrid(pen, {left, row, end, at, height, width, color}) {
    pen.fillStyle = color("--soft");
    pen.strokeStyle = color("--line");
    pen.lineWidth = 1;
    this.rows.forEach((name, index) => pen.fillText(name, 0, (index + 0.5) * row));
    pen.beginPath();
    for (let index = 0; index <= this.rows.length; ++index) {
      pen.moveTo(left, Math.round(index * row) + 0.5);
      pen.lineTo(width, Math.round(index * row) + 0.5);
    }
    pen.stroke();
    pen.textAlign = "right";
    for (let back = 0; back < SPAN_MS; back += width < 600 ? 400 : 200) {
      const label = back === 0 ? "newest" : `-${back} ms`;
      pen.fillText(label, at(end - back), height + 10);
    }
    pen.textAlign = "left";
  }

  drawBlocks(pen, {left, row, at, color}) {
    const fills = [color("--block-a"), color("--block-b")];
    for (const frame of this.frames.values()) {
      pen.fillStyle = fills[frame.frame % 2];
      for (const [name, start, duration] of frame.stages) {
        const begin = Math.max(left, at(frame.at_ms + start));
        const end = at(frame.at_ms + start + duration);
        if (end <= left) continue;
        const top = this.rows.indexOf(name) * row + row * 0.18;
        pen.fillRect(begin, top, Math.max(1, end - begin), row * 0.64);
      }
    }
  }
}
