/* Marking errors on words: drag or tap, or arrow keys, Shift and Space. A marked error goes minor, major, unmarked. */
"use strict";

(() => {
  for (const text of document.querySelectorAll("[data-spans]")) marking(text);

  function marking(text) {
    const place = text.dataset.spans;
    const words = [...text.querySelectorAll(".word")];
    const missing = document.querySelector(`[data-missing="${place}"]`);
    const field = document.getElementById("spans" + place);
    const said = document.getElementById("said" + place);
    let spans = [];
    let omitted = null;
    let anchor = null;
    let focus = 0;

    const severity = () => document.querySelector(`input[name=severity${place}]:checked`).value;
    const spanAt = (index) => spans.find((span) => span.first <= index && index <= span.last);
    const harder = (span) => (span.severity === "minor" ? "major" : null);

    function show() {
      words.forEach((word, index) => {
        const span = spanAt(index);
        word.classList.toggle("minor", span?.severity === "minor");
        word.classList.toggle("major", span?.severity === "major");
        word.setAttribute("aria-pressed", span ? "true" : "false");
        word.tabIndex = index === focus ? 0 : -1;
      });
      missing.classList.toggle("minor", omitted === "minor");
      missing.classList.toggle("major", omitted === "major");
      missing.setAttribute("aria-pressed", omitted ? "true" : "false");
      const marked = [...spans]
        .sort((one, other) => one.first - other.first)
        .map((span) => ({
          start_i: Number(words[span.first].dataset.start),
          end_i: Number(words[span.last].dataset.end),
          severity: span.severity,
        }));
      if (omitted) marked.push({ start_i: "missing", end_i: "missing", severity: omitted });
      field.value = JSON.stringify(marked);
    }

    function select(first, last) {
      words.forEach((word, index) => word.classList.toggle("chosen", first !== null && index >= first && index <= last));
    }

    function mark(from, to) {
      let [first, last] = [Math.min(from, to), Math.max(from, to)];
      const known = first === last ? spanAt(first) : undefined;
      if (known) {
        const next = harder(known);
        if (next) known.severity = next;
        else spans = spans.filter((span) => span !== known);
        said.textContent = next ? "marked as major" : "mark removed";
      } else {
        const chosen = severity();
        spans = spans.filter((span) => span.last < first || span.first > last);
        for (const span of spans.filter((one) => one.severity === chosen)) {
          if (span.last === first - 1) first = span.first;
          else if (span.first === last + 1) last = span.last;
        }
        spans = spans.filter((span) => span.last < first || span.first > last);
        spans.push({ first, last, severity: chosen });
        said.textContent = `marked as ${chosen}`;
      }
      select(null);
      show();
    }

    function cycleMissing() {
      const order = severity() === "minor" ? [null, "minor", "major"] : [null, "major", "minor"];
      omitted = order[(order.indexOf(omitted) + 1) % 3];
      said.textContent = omitted ? `missing text marked as ${omitted}` : "mark removed";
      show();
    }

    words.forEach((word, index) => {
      word.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        anchor = index;
        focus = index;
        if (event.pointerType === "mouse") event.preventDefault();
        word.focus({ preventScroll: true });
      });
      word.addEventListener("pointerenter", (event) => {
        if (anchor !== null && event.pointerType === "mouse" && event.buttons & 1) {
          select(Math.min(anchor, index), Math.max(anchor, index));
        }
      });
      word.addEventListener("pointerup", (event) => {
        if (anchor === null) return;
        mark(event.pointerType === "mouse" ? anchor : index, index);
        anchor = null;
      });
    });
    document.addEventListener("pointerup", () => {
      anchor = null;
      select(null);
    });
    document.addEventListener("pointercancel", () => {
      anchor = null;
    });

    text.addEventListener("keydown", (event) => {
      const backwards = getComputedStyle(text).direction === "rtl" ? "ArrowRight" : "ArrowLeft";
      const forwards = backwards === "ArrowRight" ? "ArrowLeft" : "ArrowRight";
      const step = event.key === forwards ? 1 : event.key === backwards ? -1 : 0;
      if (step) {
        event.preventDefault();
        if (event.shiftKey && anchor === null) anchor = focus;
        if (!event.shiftKey) anchor = null;
        focus = Math.min(words.length - 1, Math.max(0, focus + step));
        show();
        words[focus].focus();
        if (anchor !== null) select(Math.min(anchor, focus), Math.max(anchor, focus));
        else select(null);
      } else if (event.key === " " || event.key === "Enter") {
        event.preventDefault();
        mark(anchor ?? focus, focus);
        anchor = null;
      } else if (event.key === "Escape") {
        anchor = null;
        select(null);
      }
    });

    missing.addEventListener("click", cycleMissing);
    missing.addEventListener("keydown", (event) => {
      if (event.key === " " || event.key === "Enter") {
        event.preventDefault();
        cycleMissing();
      }
    });
    show();
  }
})();
