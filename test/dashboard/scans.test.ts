import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Collector, startCollector } from "../system/deployment.ts";
import type { SimulatedProbe } from "../system/simulated-probe.ts";
import { findFaults } from "./axe.ts";
import { type RealBrowser, startBrowser } from "./browser.ts";
import { logIn } from "./pages.ts";
import { LAN } from "./working-probe.ts";
import { sayHostile } from "./world.ts";

const ADMIN = { username: "admin", password: "only for this test" };
const VIEWER = { username: "night-shift", password: "only for this test too" };

let folder: string;
let collector: Collector;
let browser: RealBrowser;
let probe: SimulatedProbe;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-dashboard-scans-"));
  collector = await startCollector({ dataDir: join(folder, "collector"), host: "127.0.0.1", env: { LANTHORN_ADMIN_PASSWORD: ADMIN.password } });
  await collector.rest.createUser({ ...VIEWER, role: "viewer" });
  probe = await sayHostile(collector);
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
  probe?.close();
  await collector?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("a scan is started and read by keyboard alone: first it says what it will send where, at last what differs from the scan before", async () => {
  const { page, context, faults } = await browser.open();
  await logIn(page, collector.url, ADMIN);
  for (const key of ["g", "c"]) await page.keyboard.press(key);
  await page.getByText("No scan yet").waitFor();
  await page.keyboard.press("n");
  await page.keyboard.type("192.0.2.0/24");
  const preview = page.getByRole("region", { name: "What will be sent" });
  await preview.getByText("256 addresses").waitFor();
  await preview.getByText("1,000 TCP and 20 UDP ports").waitFor();
  await preview.getByText("it will be refused").waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("You may not do this").waitFor();
  await page.getByLabel("Address or network").focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.type(LAN);
  expect(await findFaults(page, "scan dialog")).toEqual([]);
  await preview.getByText("it will be refused").waitFor({ state: "detached" });
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: `Scan of ${LAN}`, level: 1 }).waitFor();
  await page.getByText("completed", { exact: true }).waitFor();
  await page.getByRole("listitem").filter({ hasText: "<img src=x>⟨202E⟩" }).first().waitFor();

  await page.keyboard.press("n");
  await page.getByRole("heading", { name: "Start a scan" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("0 new, 0 gone, 1 changed").waitFor();
  await page.getByRole("listitem").filter({ hasText: "8002" }).getByText("(opened)").waitFor();
  await page.getByRole("listitem").filter({ hasText: "8001" }).getByText("(closed)").waitFor();
  expect(await findFaults(page, "scan")).toEqual([]);
  expect(await page.locator("main img").count()).toBe(0);
  expect(faults).toEqual([]);
  await context.close();
});

test("a viewer reads scans and is offered nothing that is refused", async () => {
  const { page, context, faults } = await browser.open();
  const refused: string[] = [];
  page.on("response", (response) => response.status() >= 400 && refused.push(`${response.status()} ${response.url()}`));
  await logIn(page, collector.url, VIEWER);
  for (const key of ["g", "c"]) await page.keyboard.press(key);
  await page.getByRole("link", { name: LAN }).first().click();
  await page.getByRole("heading", { name: `Scan of ${LAN}`, level: 1 }).waitFor();
  await page.getByRole("table").getByText("10.9.0.66").waitFor();
  expect(await page.getByRole("button", { name: /scan/i }).count()).toBe(0);
  expect(refused).toEqual([]);
  expect(faults).toEqual([]);
  await context.close();
});
