import type { Locator, Page } from "playwright-core";

/** A page of the dashboard by the name of its picture: how one gets there from the overview, by its links alone. */
export interface Tour {
  readonly name: string;
  readonly title: RegExp;
  readonly go: (page: Page) => Promise<void>;
}

/** Logs in by keyboard alone. */
export async function logIn(page: Page, url: string, { username, password }: { readonly username: string; readonly password: string }): Promise<void> {
  await page.goto(url);
  await page.getByRole("heading", { name: "Log in" }).waitFor();
  await page.keyboard.type(username);
  await page.keyboard.press("Tab");
  await page.keyboard.type(password);
  await page.keyboard.press("Enter");
  await page.getByRole("navigation", { name: "Pages" }).or(page.getByRole("button", { name: "Pages" })).first().waitFor();
}

/** Goes to a page of the rail by its two keys. */
const byKeys = (first: string, second: string) => async (page: Page) => {
  // One behind the other at once: the second counts only a moment after the first, however long a busy page takes over that.
  await Promise.all([page.keyboard.press(first), page.keyboard.press(second)]);
};

/** Opens the first row of a list, where it has one. */
const openFirst = (nothing: string, heading: RegExp) => async (page: Page) => {
  const first = page.getByRole("table").getByRole("link").first();
  await first.or(page.getByText(nothing)).first().waitFor();
  if (await first.count() === 0) return;
  await first.click();
  await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
};

/** Goes to one of the sensors' pages. */
const byTab = (name: string) => async (page: Page) => {
  await byKeys("g", "e")(page);
  await page.getByRole("navigation", { name: "Sensors" }).getByRole("link", { name, exact: true }).click();
};

/** Every page. */
export const TOUR: readonly Tour[] = [
  { name: "overview", title: /^Overview/, go: byKeys("g", "o") },
  { name: "devices", title: /^Devices/, go: byKeys("g", "d") },
  {
    name: "device", title: / · Lanthorn$/,
    async go(page) {
      await byKeys("g", "d")(page);
      await page.getByRole("row", { selected: true }).getByRole("link").first().click();
      await page.getByRole("heading", { name: "What it is" }).waitFor();
    },
  },
  { name: "map", title: /^Map/, go: byKeys("g", "m") },
  {
    name: "map-station", title: /^Map/,
    async go(page) {
      const switches = page.getByRole("button", { name: "switch" });
      await switches.or(page.getByText("No link is known yet")).first().waitFor();
      if (await switches.count() === 0) return;
      await switches.first().press("Enter");
      await page.getByRole("region", { name: "What is chosen" }).waitFor();
    },
  },
  {
    name: "map-table", title: /^Map/,
    async go(page) {
      await page.keyboard.press("t");
      await page.getByRole("table").or(page.getByText("No link is known yet")).first().waitFor();
    },
  },
  { name: "alerts", title: /^Alerts/, go: byKeys("g", "a") },
  {
    name: "alert", title: /^Alerts/,
    async go(page) {
      await page.keyboard.press("j");
      await page.getByRole("article").or(page.getByText("No pending alerts")).first().waitFor();
    },
  },
  {
    name: "live", title: /^Live/,
    async go(page) {
      await byKeys("g", "l")(page);
      await page.getByText("connected", { exact: true }).waitFor();
    },
  },
  { name: "scans", title: /^Scans/, go: byKeys("g", "c") },
  { name: "scan", title: /^Scans?( of .*)? · Lanthorn$/, go: openFirst("No scan yet", /^Scan of/) },
  { name: "vulnerabilities", title: /^Vulnerabilities/, go: byKeys("g", "v") },
  { name: "captures", title: /^Captures/, go: byKeys("g", "p") },
  { name: "capture", title: /^Captures? · Lanthorn$/, go: openFirst("No capture yet", /^Capture$/) },
  { name: "dns", title: /^DNS ·/, go: byTab("DNS") },
  { name: "dns-queries", title: /^DNS queries/, go: byTab("DNS queries") },
  { name: "dns-lists", title: /^DNS lists/, go: byTab("DNS lists and rules") },
  { name: "intrusions", title: /^Intrusions/, go: byTab("Intrusions") },
  { name: "intrusion-rules", title: /^Intrusion rules/, go: byTab("Intrusion rules") },
  { name: "anomalies", title: /^Anomalies/, go: byTab("Anomalies") },
  { name: "anomaly", title: /^Anomal(y|ies) · Lanthorn$/, go: openFirst("Nothing unusual", /^Anomaly$/) },
  { name: "guards", title: /^Guards/, go: byTab("Guards and decoys") },
  { name: "integrations", title: /^Integrations/, go: byKeys("g", "i") },
  { name: "sites", title: /^Sites and probes/, go: byKeys("g", "s") },
  { name: "api-keys", title: /^API keys/, go: byKeys("g", "k") },
  { name: "ipam", title: /^IPAM/, go: byKeys("g", "n") },
  { name: "prefix", title: /^(IPAM|Prefix .*) · Lanthorn$/, go: openFirst("No prefixes yet", /^Prefix/) },
  { name: "configurations", title: /^Configurations/, go: byKeys("g", "f") },
  { name: "configuration", title: /^Configurations?( of .*)? · Lanthorn$/, go: openFirst("No network device yet", /^Configuration of/) },
  { name: "baselines", title: /^Baselines/, go: byKeys("g", "r") },
  { name: "vault", title: /^Vault/, go: byKeys("g", "w") },
  { name: "users", title: /^Users/, go: byKeys("g", "u") },
  { name: "audit", title: /^Audit log/, go: byKeys("g", "t") },
  { name: "backups", title: /^Backups/, go: byKeys("g", "b") },
  { name: "license", title: /^License/, go: byKeys("g", "y") },
];

/** As much of a window as is looked at; its types are not those of Node. */
interface HasDocument {
  readonly document: { readonly title: string; readonly activeElement: unknown };
}

/** More than any page has to stop at. */
const MAX_TABS = 1000;

/** What takes a key: not what waits for an answer, nor what is not filled in yet. */
const USABLE = ':not(:disabled):not([aria-disabled="true"])';

/** Presses a button by the keyboard, as soon as it may be pressed. */
export async function pressOn(button: Locator): Promise<void> {
  await button.and(button.page().locator(USABLE)).press("Enter");
}

/** Moves the focus to an element by Tab alone, as somebody without a mouse does, as soon as it can be used. */
export async function tabTo(page: Page, wanted: Locator): Promise<void> {
  await wanted.and(page.locator(USABLE)).waitFor();
  for (let left = MAX_TABS; left > 0; left -= 1) {
    if (await wanted.evaluate((element) => element === (globalThis as unknown as HasDocument).document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not reach ${String(wanted)}`);
}

/** Waits until a page shows what it asked for. */
export async function settle(page: Page, title: RegExp): Promise<void> {
  await page.waitForFunction((source) => new RegExp(source).test((globalThis as unknown as HasDocument).document.title), title.source);
  await page.locator('[aria-label="Loading"]').first().waitFor({ state: "detached" });
  await page.waitForLoadState("networkidle");
}

/** Waits until the last letter of a filter of devices counts, and its list is there. */
export async function settleFilter(page: Page, search: string): Promise<void> {
  await page.waitForURL(({ searchParams }) => searchParams.get("search") === search);
  await settle(page, /Devices/);
}
