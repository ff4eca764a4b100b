// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"use strict";
(function () {
  const value = document.getElementById("value");

  function show(point) {
    const box = point.getBoundingClientRect();
    value.textContent = point.getAttribute("aria-label");
    value.hidden = false;
    const left = Math.min(box.right + 10, window.innerWidth - value.offsetWidth - 8);
    value.style.left = Math.max(8, left) + "px";
    value.style.top = Math.max(8, box.top - value.offsetHeight - 6) + "px";
  }
  function hide() { value.hidden = true; }

  for (const point of document.querySelectorAll(".chart .point")) {
    const title = point.querySelector("title");
    if (title) title.remove(); // the browser's own would come on top
    point.addEventListener("mouseenter", function () { show(point); });
    point.addEventListener("focus", function () { show(point); });
    point.addEventListener("mouseleave", hide);
    point.addEventListener("blur", hide);
  }
  window.addEventListener("scroll", hide, { passive: true });
  document.addEventListener("keydown", function (event) { if (event.key === "Escape") hide(); });

  for (const button of document.querySelectorAll(".legend button")) {
    button.addEventListener("click", function () {
      const on = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(on));
      for (const part of button.closest("figure").querySelectorAll(".chart .series"))
        if (part.dataset.series === button.dataset.series) part.classList.toggle("off", !on);
    });
  }
})();
