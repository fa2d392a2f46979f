import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

interface Axe {
  readonly axe: { run(): Promise<{ readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[] }> };
}

const SCREENS = [[360, "light"], [360, "dark"], [768, "dark"], [1280, "light"]] as const;
const program = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** @returns What axe finds on a page, light and dark, from a phone to a large screen, and where it is wider than the screen; each with the page's name. */
export async function findFaults(page: Page, name: string): Promise<readonly string[]> {
  const found: string[] = [];
  await page.evaluate(program);
  for (const [width, colorScheme] of SCREENS) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    // What depends on the size is drawn in the next frame.
    await page.evaluate("new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); })");
    const { violations } = await page.evaluate(() => (globalThis as unknown as Axe).axe.run());
    found.push(...violations.map(({ id, nodes }) => `${name} ${width} ${colorScheme} ${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(" | ")}`));
    if (await page.evaluate("document.documentElement.scrollWidth > innerWidth")) found.push(`${name} ${width}: wider than the screen`);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  return found;
}
