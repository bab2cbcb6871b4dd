/* What the theme leaves out for people who use a keyboard or a screen reader. */
(() => {
  "use strict";
  const mend = () => {
    document.querySelectorAll(".md-search").forEach((dialog) => dialog.setAttribute("aria-label", "Search"));
    document.querySelectorAll(".md-typeset__scrollwrap").forEach((table) => table.setAttribute("tabindex", "0"));
    document.querySelectorAll("nav.md-code__nav").forEach((nav, place) => nav.setAttribute("aria-label", `Code ${place + 1}`));
    document.querySelectorAll("nav.md-nav[aria-labelledby]").forEach((nav) => {
      const names = [];
      for (let one = nav; one; one = one.parentElement.closest("nav.md-nav[aria-labelledby], nav.md-nav[data-titles]")) {
        const title = document.getElementById(one.getAttribute("aria-labelledby") || one.dataset.titles);
        if (title) names.unshift(title.textContent.trim());
      }
      nav.dataset.titles = nav.getAttribute("aria-labelledby");
      nav.removeAttribute("aria-labelledby");
      nav.setAttribute("aria-label", names.join(", "));
    });
    document.querySelectorAll(".md-typeset th:empty").forEach((head) => {
      const corner = document.createElement("td");
      head.replaceWith(corner);
    });
  };
  const watch = new MutationObserver(mend);
  mend();
  watch.observe(document.body, { childList: true, subtree: true });
})();
