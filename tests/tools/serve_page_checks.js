// SPDX-License-Identifier: Apache-2.0
// What a page must have for people with a keyboard, a screen reader or weak eyes: returns a list of
// faults. Evaluated in the page by serve_page_test.py.
() => {
  const faults = [];
  const fault = (element, text) =>
    faults.push(`${element.tagName.toLowerCase()}#${element.id || "-"}: ${text}`);
  const isShown = (element) =>
    element.checkVisibility({checkVisibilityCSS: true}) && element.getClientRects().length > 0;
  const shown = (selector) => [...document.querySelectorAll(selector)].filter(isShown);

  const nameOf = (element) => {
    const by = element.getAttribute("aria-labelledby");
    if (by) return by.split(" ").map((id) => document.getElementById(id)?.textContent).join(" ");
    const label = element.getAttribute("aria-label");
    if (label) return label;
    if (element.labels?.length) return [...element.labels].map((each) => each.textContent).join(" ");
    if (element.alt) return element.alt;
    return element.textContent;
  };

  if (!document.documentElement.lang) faults.push("the page has no language");
  if (!document.title) faults.push("the page has no title");
  if (shown("main").length !== 1) faults.push("the page has not one main");
  if (shown("h1").length !== 1) faults.push("the page has not one h1");
  const ids = [...document.querySelectorAll("[id]")].map((each) => each.id);
  for (const id of new Set(ids))
    if (ids.filter((each) => each === id).length > 1) faults.push(`two elements have the id ${id}`);

  const controls = shown("button, a[href], input, select, textarea, summary, output, canvas");
  for (const element of controls) {
    if (!nameOf(element)?.trim()) fault(element, "it has no name");
    const box = element.getBoundingClientRect();
    const own = element.labels?.[0]?.getBoundingClientRect() ?? box;
    const isTarget = element.matches("button, a.button, input, summary");
    if (isTarget && Math.max(box.height, own.height) < 24) fault(element, "it is below 24 px high");
    if (element.tabIndex > 0) fault(element, "it changes the order of the tab key");
  }
  for (const image of document.images)
    if (!image.hasAttribute("alt")) fault(image, "it has no alternative text");
  for (const id of [...document.querySelectorAll("[aria-labelledby], [aria-describedby], [for]")]
    .flatMap((each) => ["aria-labelledby", "aria-describedby", "for"]
      .flatMap((name) => (each.getAttribute(name) ?? "").split(" "))))
    if (id && !document.getElementById(id)) faults.push(`a reference leads to no element: ${id}`);
  for (const table of shown("table"))
    for (const head of table.querySelectorAll("th"))
      if (!head.scope) fault(head, "a header cell has no scope");
  let level = 0;
  for (const heading of shown("h1, h2, h3, h4")) {
    const own = Number(heading.tagName[1]);
    if (own > level + 1) fault(heading, "a level of headings is left out");
    level = own;
  }
  if (document.title.startsWith("Halyard") && !document.querySelector("[role=status]"))
    faults.push("nothing tells changes to a screen reader");
  if (document.documentElement.scrollWidth > innerWidth)
    faults.push(`the page is ${document.documentElement.scrollWidth} px wide`);

  // Contrast, by WCAG 2: 4.5, for large text 3.
  const channel = (value) => {
    value /= 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  const parse = (text) => {
    const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
    return {light: 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b), alpha: a};
  };
  const groundOf = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const color = parse(getComputedStyle(each).backgroundColor);
      if (color.alpha > 0.99) return color.light;
    }
    return 1;
  };
  for (const element of shown("body *")) {
    const hasText = [...element.childNodes].some((node) =>
      node.nodeType === Node.TEXT_NODE && node.textContent.trim());
    if (!hasText || element.closest(".hidden, .skip, :disabled")) continue;
    const style = getComputedStyle(element);
    const text = parse(style.color).light;
    const ground = groundOf(element);
    const ratio = (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
    const isLarge = parseFloat(style.fontSize) >= 24;
    if (ratio < (isLarge ? 3 : 4.5)) fault(element, `its contrast is ${ratio.toFixed(2)}`);
  }
  return faults;
}
