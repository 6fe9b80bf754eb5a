// Shows the page in frames of several widths and colour schemes and tells what is wrong with their layout.
"use strict";
const rgb = text => {
  const found = text.match(/[\d.]+/g);
  return found && found.length >= 3 ? found.map(Number) : null;
};
const luminance = colour => {
  const linear = colour.slice(0, 3).map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
};
const contrast = (a, b) => {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
};
const short = text => JSON.stringify(text.trim().slice(0, 40));

function background(win, element) {
  for (let at = element; at; at = at.parentElement) {
    const colour = rgb(win.getComputedStyle(at).backgroundColor);
    if (colour && (colour.length < 4 || colour[3] > 0)) return colour;
  }
  return [255, 255, 255];
}

// Every piece of text with its boxes.
function texts(doc) {
  const walker = doc.createTreeWalker(doc.body, NodeFilter.SHOW_TEXT), found = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.data.trim() || ["STYLE", "SCRIPT"].includes(node.parentElement.tagName)) continue;
    const range = doc.createRange();
    range.selectNodeContents(node);
    const rects = node.parentElement.namespaceURI.endsWith("svg") ? [node.parentElement.getBoundingClientRect()] : range.getClientRects();
    for (const rect of rects) if (rect.width > 0.5) found.push({ rect, text: node.data, element: node.parentElement });
  }
  return found;
}

function measure(frame, width, scheme) {
  const doc = frame.contentDocument, win = frame.contentWindow, wrong = [];
  const say = what => wrong.push(`${width} px, ${scheme}: ${what}`);
  for (const details of doc.querySelectorAll("details")) details.open = true;
  if (doc.documentElement.scrollWidth > width) say(`the page is ${doc.documentElement.scrollWidth} px wide`);
  for (const element of doc.body.querySelectorAll("*")) {
    const right = element.getBoundingClientRect().right;
    const box = element.parentElement.closest(".scroll, figure");
    if (!box && right > width + 0.5) say(`<${element.tagName}> ends at ${right}: ${short(element.textContent)}`);
  }
  const pieces = texts(doc);
  const rows = new Map();
  for (const piece of pieces) {
    const { left, right, top, bottom } = piece.rect;
    const core = { left: left + 1, right: right - 1, top: top + 3, bottom: bottom - 3, piece };
    for (let band = Math.floor(core.top / 40); band <= Math.floor(core.bottom / 40); band++) {
      for (const other of rows.get(band) || []) {
        const apart = core.left >= other.right || other.left >= core.right || core.top >= other.bottom || other.top >= core.bottom;
        if (!apart && other.piece.text !== piece.text) say(`${short(piece.text)} lies over ${short(other.piece.text)}`);
      }
      rows.set(band, [...(rows.get(band) || []), core]);
    }
    const image = piece.element.closest("svg");
    if (image) {
      const frame = image.getBoundingClientRect();
      if (left < frame.left - 1 || right > frame.right + 1 || top < frame.top - 1 || bottom > frame.bottom + 1) say(`${short(piece.text)} leaves its image`);
    }
    const style = win.getComputedStyle(piece.element);
    const ink = rgb(image ? style.fill : style.color);
    const ratio = contrast(ink, background(win, piece.element));
    if (ratio < 4.5) say(`${short(piece.text)} has a contrast of ${ratio.toFixed(2)}`);
  }
  for (const bar of doc.querySelectorAll("svg rect")) {
    const ratio = contrast(rgb(win.getComputedStyle(bar).fill), background(win, bar));
    if (bar.getBoundingClientRect().width > 0 && ratio < 3) say(`a bar has a contrast of ${ratio.toFixed(2)}`);
  }
  const paper = luminance(background(win, doc.body));
  if (scheme === "dark" ? paper > 0.2 : paper < 0.8) say("the page does not follow the colour scheme");
  return { wrong, pieces: pieces.length };
}

window.addEventListener("load", async () => {
  const out = document.getElementById("findings");
  // Frames within the page are measured as the boxes they are, empty: the browser may end before such a frame is there.
  const page = document.getElementById("page").value.replaceAll(" srcdoc=", " data-srcdoc=");
  let lines = [], pieces = 0;
  for (const width of [360, 1280]) for (const scheme of ["light", "dark"]) {
    const frame = document.createElement("iframe");
    frame.style = `width:${width}px;height:2000px;border:0;color-scheme:${scheme}`;
    frame.srcdoc = page;
    await new Promise(loaded => { frame.onload = loaded; document.body.append(frame); });
    const found = measure(frame, width, scheme);
    lines.push(...new Set(found.wrong));
    pieces += found.pieces;
    frame.remove();
  }
  out.textContent = [`measured ${pieces} pieces of text`, ...lines, "end"].join("\n");
});
