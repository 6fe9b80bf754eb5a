// Shows the page in frames: one at its top, one at each section.
"use strict";
window.addEventListener("load", async () => {
  const page = document.getElementById("page").value;
  const show = at => new Promise(shown => {
    const frame = document.createElement("iframe");
    frame.style = style;
    frame.srcdoc = page;
    frame.onload = () => {
      const sections = [...frame.contentDocument.querySelectorAll("h2[id]")];
      if (at > 0) sections[at - 1].scrollIntoView();
      shown(sections.length);
    };
    document.body.append(frame);
  });
  for (let at = 0, last = 1; at <= last; at++) last = await show(at);
});
