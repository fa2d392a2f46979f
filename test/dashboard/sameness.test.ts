import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Collector, startCollector } from "../system/deployment.ts";
import { findFaults } from "./axe.ts";
import { type RealBrowser, startBrowser } from "./browser.ts";
import { logIn, pressOn } from "./pages.ts";

const ADMIN = { username: "admin", password: "only for this test" };

let folder: string;
let collector: Collector;
let browser: RealBrowser;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-sameness-"));
  collector = await startCollector({ dataDir: join(folder, "collector"), host: "127.0.0.1", env: { LANTHORN_ADMIN_PASSWORD: ADMIN.password } });
  for (const index of [1, 2]) await collector.rest.createDevice({ ip: `10.9.4.${index}`, mac: `02:00:5e:10:04:0${index}`, hostname: "<b>twin</b>" });
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
  await collector?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const total = async () => (await collector.rest.listDevices()).meta.total;

async function openDevice(page: Page, ip: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.keyboard.type(ip);
  await page.getByRole("option").filter({ hasText: ip }).first().waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Is it one machine?" }).waitFor();
}

test("two devices that look alike are merged and split again by keyboard, and one's interface becomes a device of its own", async () => {
  const { page, context, faults } = await browser.open();
  await logIn(page, collector.url, ADMIN);
  await openDevice(page, "10.9.4.2");
  await page.getByText("the name <b>twin</b>").waitFor();
  await pressOn(page.getByRole("button", { name: "Merge with <b>twin</b>" }));
  await page.getByLabel("Which one is kept").selectOption("other");
  expect(await findFaults(page, "merge dialog")).toEqual([]);
  await pressOn(page.getByRole("button", { name: "Merge", exact: true }));
  await page.getByRole("heading", { name: "Merged into it" }).waitFor();
  await page.getByText("somebody said so").waitFor();
  expect(await total()).toBe(1);
  expect(await findFaults(page, "merged device")).toEqual([]);
  await pressOn(page.getByRole("button", { name: "Split again…" }));
  await pressOn(page.getByRole("button", { name: "Split", exact: true }));
  await page.getByText("Discovery keeps the two apart.").waitFor();
  expect(await total()).toBe(2);
  await page.getByRole("link", { name: "<b>twin</b>" }).last().press("Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });

  const { data: [kept, other] } = await collector.rest.listDevices();
  await collector.rest.mergeDevices(kept?.id ?? "", { with: other?.id ?? "" });
  await page.reload();
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  await openDevice(page, "10.9.4.1");
  await pressOn(page.getByRole("button", { name: "Split interfaces off" }));
  expect(await page.getByRole("button", { name: "Split", exact: true }).isDisabled()).toBe(true);
  await page.getByRole("checkbox", { name: "02:00:5e:10:04:02" }).press("Space");
  expect(await findFaults(page, "split dialog")).toEqual([]);
  await pressOn(page.getByRole("button", { name: "Split", exact: true }));
  await page.getByText("Discovery keeps the two apart.").waitFor();
  expect(await total()).toBe(2);
  expect(faults).toEqual([]);
  await context.close();
});
