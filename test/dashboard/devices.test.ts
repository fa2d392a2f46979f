import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Collector, startCollector } from "../system/deployment.ts";
import { findFaults } from "./axe.ts";
import { type RealBrowser, startBrowser } from "./browser.ts";
import { logIn, settle } from "./pages.ts";

const ADMIN = { username: "admin", password: "only for this test" };

let folder: string;
let collector: Collector;
let browser: RealBrowser;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-views-"));
  collector = await startCollector({ dataDir: join(folder, "collector"), host: "127.0.0.1", env: { LANTHORN_ADMIN_PASSWORD: ADMIN.password } });
  for (const [at, device_type] of (["printer", "printer", "printer", "server", "access_point"] as const).entries()) {
    const { id } = await collector.rest.createDevice({ ip: `10.9.2.${at + 1}`, hostname: `${device_type}-${at}`.replace("_", "-"), device_type });
    if (device_type === "server") await collector.rest.updateDevice(id, { vendor: "Acme_Corp" });
  }
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
  await collector?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("a filter is saved as a view by keyboard, made the default, begun with, and removed", async () => {
  const { page, context, faults } = await browser.open();
  await logIn(page, collector.url, ADMIN);
  const open = async () => {
    for (const key of ["g", "d"]) await page.keyboard.press(key);
    await settle(page, /^Devices/);
  };
  await open();
  await page.keyboard.press("/");
  await page.keyboard.type("type:printer");
  await page.getByText("3 devices", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("v");
  await page.getByLabel("Save it as").waitFor();
  await page.keyboard.type("<b>Printers</b>");
  await page.getByLabel("For everybody").press("Space");
  await page.getByLabel("Save it as").press("Enter");
  await page.getByRole("button", { name: "Make default: <b>Printers</b>" }).press("Enter");
  await page.getByRole("button", { name: "No default: <b>Printers</b>" }).waitFor();
  expect(await findFaults(page, "views")).toEqual([]);
  const [view] = (await collector.rest.listViews({ list: "devices" })).data;
  expect(view).toMatchObject({ name: "<b>Printers</b>", filter: "type:printer", shared: true });
  expect((await collector.rest.readPreferences()).default_views.devices).toBe(view?.id);
  await page.keyboard.press("Escape");
  for (const key of ["g", "o"]) await page.keyboard.press(key);
  await settle(page, /^Overview/);
  await open();
  await page.getByText("3 devices", { exact: true }).waitFor();
  await page.keyboard.press("v");
  await page.getByRole("button", { name: "Remove <b>Printers</b>" }).press("Enter");
  await page.getByRole("button", { name: "Remove", exact: true }).press("Enter");
  await page.getByText("No view is saved yet.").waitFor();
  expect((await collector.rest.listViews()).data).toEqual([]);
  expect(faults).toEqual([]);
  await context.close();
});

test("a facet's count is the list's total once it is clicked, and a second click takes it out again", async () => {
  const { page, context, faults } = await browser.open();
  await logIn(page, collector.url, ADMIN);
  for (const key of ["g", "d"]) await page.keyboard.press(key);
  await settle(page, /^Devices/);
  await page.getByText("Types, states and vendors").click();
  const types = page.getByRole("group", { name: "Type" });
  await types.getByRole("button", { name: "printer 3" }).waitFor();
  expect(await findFaults(page, "facets")).toEqual([]);
  for (const [name, total] of [["printer 3", "3 devices"], ["server 1", "1 device"], ["access point 1", "1 device"]] as const) {
    await types.getByRole("button", { name }).click();
    await page.getByText(total, { exact: true }).waitFor();
    await types.getByRole("button", { name, pressed: true }).click();
    await page.getByText("5 devices", { exact: true }).waitFor();
  }
  // A vendor is a name as it is, not one of ours.
  await page.getByRole("group", { name: "Vendor" }).getByRole("button", { name: "Acme_Corp 1", exact: true }).waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test("a view whose filter is not understood is said to be so, with what to do, in the list of views and where it is the default", async () => {
  const { page, context, faults } = await browser.open();
  await logIn(page, collector.url, ADMIN);
  const view = await collector.rest.createView({ list: "devices", name: "Toasters", filter: "type:printer" });
  await collector.rest.updatePreferences({ default_views: { devices: view.id } });
  const newer = { ...view, filter: "type:toaster" };
  // As a collector answers that was updated while the page was open.
  await page.route("**/api/v1/views?*", (route) => route.fulfill({ json: { data: [newer], meta: { total: 1, page: 1, per_page: 1000, next_cursor: null } } }));
  await page.route(`**/api/v1/views/${view.id}`, (route) => (route.request().method() === "GET" ? route.fulfill({ json: newer }) : route.continue()));
  for (const key of ["g", "d"]) await page.keyboard.press(key);
  await settle(page, /^Devices/);
  await page.getByRole("alert").getByText("Toasters").waitFor();
  await page.getByText("5 devices", { exact: true }).waitFor();
  expect(await findFaults(page, "unread default view")).toEqual([]);
  await page.getByRole("button", { name: "Choose another one" }).press("Enter");
  await page.getByText("Remove it, write the filter anew").waitFor();
  expect(await page.getByRole("button", { name: "Toasters", exact: true }).count()).toBe(0);
  expect(await findFaults(page, "unread view")).toEqual([]);
  await page.unroute("**/api/v1/views?*");
  await page.getByRole("button", { name: "Remove Toasters" }).press("Enter");
  await page.getByRole("button", { name: "Remove", exact: true }).press("Enter");
  await page.getByText("No view is saved yet.").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("alert").waitFor({ state: "detached" });
  expect(faults).toEqual([]);
  await context.close();
});
