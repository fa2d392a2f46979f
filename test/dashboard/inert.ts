import type { Page } from "playwright-core";

/** Elements that hostile texts would make, attributes that would run, and marks that turn or hide letters, wherever a person or a screen reader meets them. */
const SEARCH = `(() => {
  const marks = /[\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff]/;
  const found = [document.title === "1" || marks.test(document.title) ? "the title" : ""];
  for (const element of document.querySelectorAll("#root *, dialog *")) {
    if (element.matches("img, script, iframe, object, embed, i, u, svg[onload]")) found.push(element.outerHTML.slice(0, 160));
    for (const { name, value } of element.attributes) {
      if (name.startsWith("on") || /^\\s*javascript:/i.test(value) || marks.test(value)) found.push(element.localName + " " + name + "=" + value.slice(0, 160));
    }
    for (const child of element.childNodes) {
      if (child.nodeType === Node.TEXT_NODE && marks.test(child.data)) found.push(element.localName + ": " + child.data.slice(0, 160));
    }
  }
  return found.filter((text) => text !== "");
})()`;

/** @returns What hostile texts have become beside text on a page, each with the page's name. */
export async function findActive(page: Page, name: string): Promise<readonly string[]> {
  return (await page.evaluate<readonly string[]>(SEARCH)).map((text) => `${name}: ${text}`);
}
