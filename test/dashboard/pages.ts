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

/** Goes to a page of the rail by `g` and the page's key. */
export async function goTo(page: Page, key: string): Promise<void> {
  // One behind the other at once: the second counts only a moment after the first, however long a busy page takes over that.
  await Promise.all([page.keyboard.press("g"), page.keyboard.press(key)]);
}

const byKey = (key: string) => (page: Page) => goTo(page, key);

/** Opens the device with an address, or what else the palette finds for a text alone. */
export async function find(page: Page, text: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
}

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
  await goTo(page, "e");
  await page.getByRole("navigation", { name: "Sensors" }).getByRole("link", { name, exact: true }).click();
};

/** Every page. */
export const TOUR: readonly Tour[] = [
  { name: "overview", title: /^Overview/, go: byKey("o") },
  { name: "devices", title: /^Devices/, go: byKey("d") },
  {
    name: "device", title: / · Lanthorn$/,
    async go(page) {
      await goTo(page, "d");
      await page.getByRole("row", { selected: true }).getByRole("link").first().click();
      await page.getByRole("heading", { name: "What it is" }).waitFor();
    },
  },
  { name: "map", title: /^Map/, go: byKey("m") },
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
  { name: "alerts", title: /^Alerts/, go: byKey("a") },
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
      await goTo(page, "l");
      await page.getByText("connected", { exact: true }).waitFor();
    },
  },
  { name: "scans", title: /^Scans/, go: byKey("c") },
  { name: "scan", title: /^Scans?( of .*)? · Lanthorn$/, go: openFirst("No scan yet", /^Scan of/) },
  { name: "vulnerabilities", title: /^Vulnerabilities/, go: byKey("v") },
  { name: "captures", title: /^Captures/, go: byKey("p") },
  { name: "capture", title: /^Captures? · Lanthorn$/, go: openFirst("No capture yet", /^Capture$/) },
  { name: "dns", title: /^DNS ·/, go: byTab("DNS") },
  { name: "dns-queries", title: /^DNS queries/, go: byTab("DNS queries") },
  { name: "dns-lists", title: /^DNS lists/, go: byTab("DNS lists and rules") },
  { name: "intrusions", title: /^Intrusions/, go: byTab("Intrusions") },
  { name: "intrusion-rules", title: /^Intrusion rules/, go: byTab("Intrusion rules") },
  { name: "anomalies", title: /^Anomalies/, go: byTab("Anomalies") },
  { name: "anomaly", title: /^Anomal(y|ies) · Lanthorn$/, go: openFirst("Nothing unusual", /^Anomaly$/) },
  { name: "guards", title: /^Guards/, go: byTab("Guards and decoys") },
  { name: "integrations", title: /^Integrations/, go: byKey("i") },
  { name: "sites", title: /^Sites and probes/, go: byKey("s") },
  { name: "api-keys", title: /^API keys/, go: byKey("k") },
  { name: "ipam", title: /^IPAM/, go: byKey("n") },
  { name: "prefix", title: /^(IPAM|Prefix .*) · Lanthorn$/, go: openFirst("No prefixes yet", /^Prefix/) },
  { name: "configurations", title: /^Configurations/, go: byKey("f") },
  { name: "configuration", title: /^Configurations?( of .*)? · Lanthorn$/, go: openFirst("No network device yet", /^Configuration of/) },
  { name: "baselines", title: /^Baselines/, go: byKey("r") },
  { name: "vault", title: /^Vault/, go: byKey("w") },
  { name: "users", title: /^Users/, go: byKey("u") },
  { name: "audit", title: /^Audit log/, go: byKey("t") },
  { name: "backups", title: /^Backups/, go: byKey("b") },
  { name: "license", title: /^License/, go: byKey("y") },
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
