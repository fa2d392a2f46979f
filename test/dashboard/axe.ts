import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

interface Axe {
  readonly axe: {
    run(within: string, options: { readonly resultTypes: readonly string[]; readonly runOnly?: readonly string[] }): Promise<{
      readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
    }>;
  };
}

const WIDTHS = [360, 768, 1280] as const;
/** In the dark only colors are others, and only the rules about them find anything else. */
const SCHEMES = [["light", {}], ["dark", { runOnly: ["color-contrast", "link-in-text-block"] }]] as const;
const program = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * @param within What is looked at, as a selector; the whole page unless it is given.
 * @returns What axe finds on a page, light and dark, from a phone to a large screen, and where it is wider than the screen; each with the page's name.
 */
export async function findFaults(page: Page, name: string, within = "html"): Promise<readonly string[]> {
  const found: string[] = [];
  await page.evaluate(program);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    for (const [colorScheme, rules] of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      // What depends on the size is drawn in the next frame.
      await page.evaluate("new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); })");
      const { violations } = await page.evaluate(
        ([selector, options]) => (globalThis as unknown as Axe).axe.run(selector, { ...options, resultTypes: ["violations"] }), [within, rules] as const,
      );
      found.push(...violations.map(({ id, nodes }) => `${name} ${width} ${colorScheme} ${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(" | ")}`));
    }
    // The page scrolls in its content, which may hide that it is too wide.
    const overflow = "[document.documentElement, ...document.querySelectorAll('#content')].some((each) => each.scrollWidth > each.clientWidth)";
    if (await page.evaluate(overflow)) found.push(`${name} ${width}: wider than the screen`);
    // A table may be scrolled in its panel, but nobody expects to: what is done with a row is at its end.
    const table = "[...document.querySelectorAll('table')].some((each) => each.offsetWidth > each.parentElement.clientWidth)";
    if (await page.evaluate(table)) found.push(`${name} ${width}: a table is wider than its panel`);
    const wide = "[...document.querySelectorAll('dialog[open]')].some((dialog) => dialog.scrollWidth > dialog.clientWidth)";
    if (await page.evaluate(wide)) found.push(`${name} ${width}: a dialog is wider than itself`);
  }
  return found;
}
