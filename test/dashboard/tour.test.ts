import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { STREAM_EVENTS } from "@lanthorn/contract";
import { describeError } from "@lanthorn/runtime";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { generateIdentity } from "../../apps/collector/src/backups/format/age-keys.ts";
import { kindName } from "../../apps/dashboard/src/texts/words.ts";
import { waitFor } from "../lab/wait-for.ts";
import { findFaults } from "./axe.ts";
import { ADMIN, useDeployment } from "./deployment.ts";
import { fillEveryPage, longText } from "./every-page.ts";
import { findActive } from "./inert.ts";
import { logIn, pressOn, settle, TOUR } from "./pages.ts";
import { ATTACKER, found } from "./world.ts";

/** Pages that have no name which a host, a device or a person without much power could have chosen. */
const OWN_WORDS = ["backups", "captures", "integrations", "license", "scans", "users"];
/** Pages with something to add, start or make by the key N. */
const WITH_DIALOG = new Set(["scans", "captures", "guards", "integrations", "sites", "api-keys", "ipam", "vault", "users", "dns-lists", "intrusion-rules", "scan"]);
/** What somebody who may only read is offered: to look at more, to find, to keep a filter or a key of one's own. */
const READING = /^(?:Views|Columns|I have seen it|Export CSV|[a-z]+:\S+|Name|IP address|Vendor|Last seen|Smaller|Fit|Larger|Close|Hold|Check|Show\b.*|Make a key|.*, (?:probe|switch|router)\b.*)$/;
/** What the page Live is filtered by. */
const EVENT_KINDS: ReadonlySet<string> = new Set(STREAM_EVENTS.map(kindName));

const deployment = useDeployment({
  probe: { readsTraffic: true },
  async configure(folder) {
    const { recipient } = await generateIdentity();
    const file = join(folder, "collector.toml");
    // What fills the pages asks as the administrator, faster than a person does. Operators and viewers have the limits of everybody.
    writeFileSync(file, "[rate_limits.admin]\nper_minute = 10000\nburst = 1000\n");
    return { file, env: { LANTHORN_BACKUPS_RECIPIENTS: recipient, LANTHORN_WEBHOOKS_ALLOW: "127.0.0.1" } };
  },
});

beforeAll(async () => {
  for (const role of ["operator", "viewer"] as const) await deployment.collector.rest.createUser({ username: role, password: ADMIN.password, role });
  await fillEveryPage(deployment.collector);
});

/** Logs in and visits every page; what was refused meanwhile, and what the browser complained about. */
async function visitAll(username: string, options: { readonly width?: number; readonly scheme?: "light" | "dark" }, look: (page: Page, name: string) => Promise<void>) {
  const { page, context, faults } = await deployment.browser.open(options);
  const refused: string[] = [];
  // A busy machine may not compare two texts in time, which is said by 503 and asked for again.
  page.on("response", (response) => response.status() >= 400 && response.status() !== 503 && refused.push(`${response.status()} ${response.url()}`));
  await logIn(page, deployment.collector.url, { username, password: ADMIN.password });
  for (const { name, title, go } of TOUR) {
    try {
      await go(page);
      await settle(page, title);
      await look(page, name);
    } catch (cause) {
      throw new Error(`${username} at ${name}: ${describeError(cause)}`, { cause });
    }
  }
  expect([refused, faults]).toEqual([[], []]);
  return { page, context };
}

test("as administrator: every page shows hostile names as texts, and axe finds no fault, light or dark, from a phone to a large screen, in its dialog neither", async () => {
  const found: string[] = [];
  const plain: string[] = [];
  const { page, context } = await visitAll("admin", {}, async (at, name) => {
    found.push(...await findActive(at, name), ...await findFaults(at, name));
    if (!/<(?:img|script|svg|b|i|u)\b|⟨202E⟩/.test(await at.locator("main").innerText())) plain.push(name);
    if (!WITH_DIALOG.has(name)) return;
    await at.keyboard.press("n");
    await at.locator("dialog[open]").waitFor();
    found.push(...await findActive(at, `${name} dialog`), ...await findFaults(at, `${name} dialog`, "dialog[open]"));
    await at.keyboard.press("Escape");
    // Closed, it may for an instant still have the focus, and with it the next key.
    await at.locator("dialog").waitFor({ state: "detached" });
  });
  await page.keyboard.press("Control+k");
  await page.keyboard.type(ATTACKER.ip);
  await page.getByRole("option").filter({ hasText: ATTACKER.ip }).first().waitFor();
  found.push(...await findActive(page, "palette"), ...await findFaults(page, "palette", "dialog[open]"));
  await page.keyboard.press("Enter");
  await page.getByText("</code><img src=x>⟨202E⟩").waitFor();
  const systems = page.locator("section").filter({ has: page.getByRole("heading", { name: "System and firmware", exact: true }) });
  expect(await systems.getByRole("row").nth(1).innerText()).toMatch(/^<b>acme<\/b> <script>firmware<\/script>⟨202E⟩ <u>pro<\/u>\s+<i>1\.0<\/i>⟨202E⟩\s+<b>distribution<\/b>\s+snmp\s+90 %/);
  await page.getByRole("heading", { name: "2 vulnerabilities", exact: true }).waitFor();
  found.push(...await findActive(page, "hostile device"), ...await findFaults(page, "hostile device"));
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  found.push(...await findFaults(page, "help", "dialog[open]"));
  expect(found).toEqual([]);
  expect(plain.toSorted()).toEqual(OWN_WORDS.toSorted());
  await context.close();
});

// Both at once: more is asked for than the API takes from a person in a minute, so each waits for the next one, and is not refused.
test("as operator, on a phone, and as viewer: every page, nothing of it is refused, and a viewer is offered nothing that would be", async () => {
  const offered = new Set<string>();
  const operator = visitAll("operator", { width: 360, scheme: "dark" }, async () => {});
  const viewer = visitAll("viewer", {}, async (page, name) => {
    for (const button of await page.locator("main").getByRole("button").all()) offered.add(`${name}: ${await button.getAttribute("aria-label") ?? await button.textContent()}`);
  });
  for (const { context } of await Promise.all([operator, viewer])) await context.close();
  const isReading = (name: string) => READING.test(name) || EVENT_KINDS.has(name);
  expect([...offered].filter((name) => !isReading(name.replace(/^.*?: /, "")))).toEqual([]);
});

test("a name of ten kilobytes is refused where somebody gives it", async () => {
  await expect(deployment.collector.rest.createDevice({ ip: "10.9.1.201", hostname: longText(10_000) })).rejects.toMatchObject({ status: 400 });
});

test("the overview counts what changed since a person said that it was seen", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  await page.getByRole("link", { name: /new devices?$/ }).waitFor();
  await pressOn(page.getByRole("button", { name: "I have seen it" }));
  await page.getByRole("link", { name: /new devices?$/ }).waitFor({ state: "detached" });
  expect((await deployment.collector.rest.readPreferences()).last_seen).toEqual(expect.any(String));
  deployment.probe.say(found("10.9.42.1", "02:00:5e:10:42:01", "after"));
  await waitFor("the device", () => (deployment.probe.acknowledged() === deployment.probe.said() ? true : null));
  await page.reload();
  await page.getByRole("link", { name: "1 new device", exact: true }).press("Enter");
  await settle(page, /^Devices/);
  await page.getByText("1 device", { exact: true }).waitFor();
  await page.getByRole("row").filter({ hasText: "10.9.42.1" }).waitFor();
  expect(await page.getByLabel("Filter devices").inputValue()).toMatch(/^found:>\d{4}-/);
  expect(faults).toEqual([]);
  await context.close();
});
