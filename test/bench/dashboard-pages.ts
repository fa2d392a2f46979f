import type { Page } from "playwright-core";

/** As much of a window as is used; its types are not those of Node. */
interface InPage {
  readonly document: {
    querySelector(selector: string): (HTMLLike & { focus(): void }) | null;
    querySelectorAll(selector: string): { readonly length: number };
    addEventListener(type: string, listener: (event: { readonly key: string }) => void, capture: boolean): void;
  };
  readonly performance: { now(): number };
  requestAnimationFrame(task: () => void): void;
}

interface HTMLLike {
  scrollTop: number;
  readonly scrollHeight: number;
  value: string;
  dispatchEvent(event: unknown): boolean;
  getAttribute(name: string): string | null;
}

/** Milliseconds from the press of a key until so many elements are there. Now there must be fewer. */
export async function timeToDrawn(page: Page, key: string, wanted: { readonly selector: string; readonly count: number }): Promise<number> {
  await page.evaluate(markKey);
  await page.keyboard.press(key);
  return page.evaluate(untilThere, wanted);
}

/** Milliseconds from the press of a key until devices are drawn. */
export function timeToRows(page: Page, key: string): Promise<number> {
  return timeToDrawn(page, key, { selector: '[role="grid"] [role="row"] a', count: 1 });
}

/** Milliseconds from the End key until the last row is drawn. */
export async function timeToLastRow(page: Page, total: number): Promise<number> {
  await page.locator('[role="grid"]').focus();
  return timeToDrawn(page, "End", { selector: `[aria-rowindex="${total + 1}"] a`, count: 1 });
}

/** Milliseconds from the last letter of a filter until what it leaves is drawn. */
export function timeToFiltered(page: Page, text: string, total: number): Promise<number> {
  return page.evaluate(([wanted, count]) => {
    const { document, performance, requestAnimationFrame } = globalThis as unknown as InPage;
    const box = document.querySelector('[aria-label="Filter devices"]');
    if (!box) throw new Error("there is no filter box");
    // React listens to the element's own setter.
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(box) as object, "value")?.set?.call(box, wanted);
    const from = performance.now();
    box.dispatchEvent(new (globalThis as unknown as { readonly Event: new (type: string, options: object) => unknown }).Event("input", { bubbles: true }));
    return new Promise<number>((resolve) => {
      const look = () => {
        const grid = document.querySelector('[role="grid"]');
        const isThere = grid?.getAttribute("aria-rowcount") === String(count + 1) && document.querySelector('[role="grid"] [role="row"] a') !== null;
        if (isThere) resolve(performance.now() - from);
        else requestAnimationFrame(look);
      };
      look();
    });
  }, [text, total] as const);
}

/** Scrolls through all rows in 400 frames. @returns Tasks of more than 50 ms meanwhile, and the most rows that were there at once. */
export function scrollThrough(page: Page): Promise<{ readonly longTasks: number; readonly rows: number }> {
  return page.evaluate(() => {
    const { document, requestAnimationFrame } = globalThis as unknown as InPage;
    const scroller = document.querySelector('[role="grid"]');
    if (!scroller) throw new Error("there is no grid");
    let longTasks = 0;
    const { PerformanceObserver: Observer } = globalThis as unknown as { readonly PerformanceObserver: new (seen: (list: { getEntries(): readonly unknown[] }) => void) => { observe(options: object): void; disconnect(): void } };
    const observer = new Observer((list) => {
      longTasks += list.getEntries().length;
    });
    observer.observe({ entryTypes: ["longtask"] });
    return new Promise((resolve) => {
      let [frame, rows] = [0, 0];
      const step = () => {
        frame += 1;
        scroller.scrollTop = (scroller.scrollHeight * frame) / 400;
        rows = Math.max(rows, document.querySelectorAll('[role="grid"] [role="row"]').length);
        if (frame < 400) requestAnimationFrame(step);
        else {
          observer.disconnect();
          resolve({ longTasks, rows });
        }
      };
      step();
    });
  });
}

function markKey(): void {
  const page = globalThis as unknown as InPage & { keyAt?: number };
  page.document.addEventListener("keydown", () => {
    page.keyAt = page.performance.now();
  }, true);
}

function untilThere({ selector, count }: { readonly selector: string; readonly count: number }): Promise<number> {
  const page = globalThis as unknown as InPage & { keyAt?: number };
  return new Promise((resolve) => {
    const look = () => {
      if (page.document.querySelectorAll(selector).length >= count) resolve(page.performance.now() - (page.keyAt ?? 0));
      else page.requestAnimationFrame(look);
    };
    look();
  });
}
