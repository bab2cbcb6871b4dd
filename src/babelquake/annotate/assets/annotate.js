/* Sliders must be touched, answers are sent once, and a page from the browser's memory is asked for anew. What is marked
   on an unfinished screen is kept in this browser until the screen is sent. */
"use strict";

(() => {
  const form = document.getElementById("form");
  const next = document.getElementById("next");
  const hint = document.getElementById("hint");
  const sliders = [...form.querySelectorAll("[data-slider]")];
  const choices = [...form.querySelectorAll("input[name=preference]")];

  const ready = () =>
    sliders.every((slider) => form.elements["touched" + slider.dataset.slider].value === "1") &&
    (choices.length === 0 || choices.some((choice) => choice.checked));

  const draft = "draft:" + form.dataset.draft;
  const kept = [...form.querySelectorAll("input")].filter((field) => /^(spans|taken|touched|score)[0-9]+$/.test(field.name));

  const keep = () => {
    const values = Object.fromEntries(kept.map((field) => [field.name, field.value]));
    try {
      window.localStorage.setItem(draft, JSON.stringify(values));
    } catch {
      /* a browser without storage keeps no drafts */
    }
  };

  const restored = () => {
    try {
      for (const name of Object.keys(window.localStorage)) {
        if (name.startsWith("draft:") && name !== draft) window.localStorage.removeItem(name);
      }
      return JSON.parse(window.localStorage.getItem(draft)) || {};
    } catch {
      return {};
    }
  };

  const update = () => {
    next.disabled = !ready();
    hint.hidden = ready();
  };

  const before = restored();
  for (const field of kept) {
    if (/^(spans|taken)/.test(field.name)) field.value = before[field.name] || "[]";
  }
  form.addEventListener("marked", keep);

  for (const slider of sliders) {
    const place = slider.dataset.slider;
    const moved = () => {
      form.elements["touched" + place].value = "1";
      document.getElementById("shown" + place).value = slider.value;
      slider.classList.add("touched");
      update();
    };
    slider.value = slider.defaultValue;
    form.elements["touched" + place].value = "0";
    slider.addEventListener("input", () => {
      moved();
      keep();
    });
    if (before["touched" + place] === "1") {
      slider.value = before["score" + place];
      moved();
    }
  }
  for (const choice of choices) choice.addEventListener("change", update);

  form.addEventListener("submit", (event) => {
    if (!ready() || form.dataset.sent) {
      event.preventDefault();
      return;
    }
    form.dataset.sent = "1";
    next.setAttribute("aria-busy", "true");
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && ready()) form.requestSubmit(next);
  });

  window.addEventListener("pageshow", (event) => {
    if (event.persisted) window.location.reload();
  });

  update();
})();
