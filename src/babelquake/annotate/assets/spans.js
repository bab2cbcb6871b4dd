/* Marking errors on words: drag or tap, or arrow keys, Shift and Space. A marked error goes minor, major, unmarked.
   A suggested error is none until it is accepted: A accepts the next one, D drops it. */
"use strict";

(() => {
  const panels = [...document.querySelectorAll("[data-spans]")].map(marking);

  function point() {
    const current = panels.map((panel) => panel.open()).find(Boolean);
    for (const panel of panels) panel.point(current);
    return current;
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !["a", "d"].includes(event.key.toLowerCase())) return;
    const current = point();
    if (!current) return;
    event.preventDefault();
    current.decide(event.key.toLowerCase() === "a");
  });
  point();

  function marking(text) {
    const place = text.dataset.spans;
    const words = [...text.querySelectorAll(".word")];
    const missing = document.querySelector(`[data-missing="${place}"]`);
    const field = document.getElementById("spans" + place);
    const taken = document.getElementById("taken" + place);
    const suggestions = [...document.querySelectorAll(`[data-suggestions="${place}"] li`)].map((row) => ({ row, accepted: null }));
    const said = document.getElementById("said" + place);
    let spans = [];
    let omitted = null;
    let anchor = null;
    let focus = 0;

    const severity = () => document.querySelector(`input[name=severity${place}]:checked`).value;
    const spanAt = (index) => spans.find((span) => span.first <= index && index <= span.last);
    const harder = (span) => (span.severity === "minor" ? "major" : null);

    function within(start, end) {
      const first = words.findIndex((word) => Number(word.dataset.end) > start);
      const last = words.findLastIndex((word) => Number(word.dataset.start) < end);
      return first < 0 || last < first ? null : [first, last];
    }

    const isMarked = (one) =>
      one.at ? spans.some((span) => span.first <= one.at[1] && one.at[0] <= span.last) : Boolean(omitted);

    function put(first, last, chosen) {
      spans = spans.filter((span) => span.last < first || span.first > last);
      spans.push({ first, last, severity: chosen });
    }

    for (const one of suggestions) {
      const { start, end, severity: chosen } = one.row.dataset;
      one.at = start === "missing" ? null : within(Number(start), Number(end));
      one.decide = (accept) => {
        one.accepted = accept;
        if (!one.at) omitted = accept ? chosen : null;
        else if (accept) put(...one.at, chosen);
        else spans = spans.filter((span) => span.last < one.at[0] || one.at[1] < span.first);
        said.textContent = accept ? `suggestion accepted as ${chosen}` : "suggestion dropped";
        changed();
        point();
      };
      one.row.querySelector("[data-accept]").addEventListener("click", () => one.decide(true));
      one.row.querySelector("[data-drop]").addEventListener("click", () => one.decide(false));
    }

    function showSuggestions() {
      for (const one of suggestions) {
        if (one.accepted === null && isMarked(one)) one.accepted = true;
        if (one.accepted && !isMarked(one)) one.accepted = false;
        one.row.querySelector("[data-accept]").setAttribute("aria-pressed", String(one.accepted === true));
        one.row.querySelector("[data-drop]").setAttribute("aria-pressed", String(one.accepted === false));
        one.row.classList.toggle("decided", one.accepted !== null);
      }
      const open = suggestions.filter((one) => one.accepted === null);
      words.forEach((word, index) => {
        const hinted = open.some((one) => one.at && one.at[0] <= index && index <= one.at[1]);
        word.classList.toggle("suggested", hinted && !spanAt(index));
      });
      missing.classList.toggle("suggested", open.some((one) => !one.at) && !omitted);
      if (taken) taken.value = JSON.stringify(suggestions.map((one) => one.accepted));
    }

    function restore() {
      for (const mark of JSON.parse(field.value || "[]")) {
        if (mark.start_i === "missing") omitted = mark.severity;
        else {
          const at = within(mark.start_i, mark.end_i);
          if (at) put(...at, mark.severity);
        }
      }
      JSON.parse(taken?.value || "[]").forEach((accepted, index) => {
        if (suggestions[index]) suggestions[index].accepted = accepted;
      });
    }

    function show() {
      showSuggestions();
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

    function changed() {
      show();
      text.dispatchEvent(new CustomEvent("marked", { bubbles: true }));
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
        put(first, last, chosen);
        said.textContent = `marked as ${chosen}`;
      }
      select(null);
      changed();
      point();
    }

    function cycleMissing() {
      const order = severity() === "minor" ? [null, "minor", "major"] : [null, "major", "minor"];
      omitted = order[(order.indexOf(omitted) + 1) % 3];
      said.textContent = omitted ? `missing text marked as ${omitted}` : "mark removed";
      changed();
      point();
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
    restore();
    show();
    return {
      open: () => suggestions.find((one) => one.accepted === null),
      point: (current) => {
        for (const one of suggestions) {
          const here = one === current;
          one.row.classList.toggle("current", here);
          if (here) one.row.setAttribute("aria-current", "true");
          else one.row.removeAttribute("aria-current");
        }
      },
    };
  }
})();
