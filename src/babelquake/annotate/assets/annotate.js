/* Sliders must be touched, answers are sent once, and a page from the browser's memory is asked for anew. */
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

  const update = () => {
    next.disabled = !ready();
    hint.hidden = ready();
  };

  for (const slider of sliders) {
    const place = slider.dataset.slider;
    slider.value = slider.defaultValue;
    slider.addEventListener("input", () => {
      form.elements["touched" + place].value = "1";
      document.getElementById("shown" + place).value = slider.value;
      slider.classList.add("touched");
      update();
    });
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
