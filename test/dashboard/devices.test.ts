import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { findFaults } from "./axe.ts";
import { ADMIN, useDeployment } from "./deployment.ts";
import { goTo, logIn, pressOn, settle } from "./pages.ts";

const deployment = useDeployment();

beforeAll(async () => {
  for (const [at, device_type] of (["printer", "printer", "printer", "server", "access_point"] as const).entries()) {
    const { id } = await deployment.collector.rest.createDevice({ ip: `10.9.2.${at + 1}`, hostname: `${device_type}-${at}`.replace("_", "-"), device_type });
    if (device_type === "server") await deployment.collector.rest.updateDevice(id, { vendor: "Acme_Corp" });
  }
});

test("a filter is saved as a view by keyboard, made the default, begun with, and removed", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  const open = async () => {
    await goTo(page, "d");
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
  await pressOn(page.getByRole("button", { name: "Make default: <b>Printers</b>" }));
  await page.getByRole("button", { name: "No default: <b>Printers</b>" }).waitFor();
  expect(await findFaults(page, "views")).toEqual([]);
  const [view] = (await deployment.collector.rest.listViews({ list: "devices" })).data;
  expect(view).toMatchObject({ name: "<b>Printers</b>", filter: "type:printer", shared: true });
  expect((await deployment.collector.rest.readPreferences()).default_views.devices).toBe(view?.id);
  await page.keyboard.press("Escape");
  await goTo(page, "o");
  await settle(page, /^Overview/);
  await open();
  await page.getByText("3 devices", { exact: true }).waitFor();
  await page.keyboard.press("v");
  await pressOn(page.getByRole("button", { name: "Remove <b>Printers</b>" }));
  await pressOn(page.getByRole("button", { name: "Remove", exact: true }));
  await page.getByText("No view is saved yet.").waitFor();
  expect((await deployment.collector.rest.listViews()).data).toEqual([]);
  expect(faults).toEqual([]);
  await context.close();
});

test("a facet's count is the list's total once it is clicked, and a second click takes it out again", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  await goTo(page, "d");
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
  const { page, context, faults } = await deployment.browser.open();
  const view = await deployment.collector.rest.createView({ list: "devices", name: "Toasters", filter: "type:printer" });
  await deployment.collector.rest.updatePreferences({ default_views: { devices: view.id } });
  await logIn(page, deployment.collector.url, ADMIN);
  const newer = { ...view, filter: "type:toaster" };
  // As a collector answers that was updated while the page was open.
  await page.route(/\/api\/v1\/views\?/, (route) => route.fulfill({ json: { data: [newer], meta: { total: 1, page: 1, per_page: 1000, next_cursor: null } } }));
  await page.route(`**/api/v1/views/${view.id}`, (route) => (route.request().method() === "GET" ? route.fulfill({ json: newer }) : route.continue()));
  await goTo(page, "d");
  await settle(page, /^Devices/);
  await page.getByRole("alert").getByText("Toasters").waitFor();
  await page.getByText("5 devices", { exact: true }).waitFor();
  expect(await findFaults(page, "unread default view")).toEqual([]);
  await pressOn(page.getByRole("button", { name: "Choose another one" }));
  await page.getByText("Remove it, write the filter anew").waitFor();
  expect(await page.getByRole("button", { name: "Toasters", exact: true }).count()).toBe(0);
  expect(await findFaults(page, "unread view")).toEqual([]);
  await page.unroute(/\/api\/v1\/views\?/);
  await pressOn(page.getByRole("button", { name: "Remove Toasters" }));
  await pressOn(page.getByRole("button", { name: "Remove", exact: true }));
  await page.getByText("No view is saved yet.").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("alert").waitFor({ state: "detached" });
  expect(faults).toEqual([]);
  await context.close();
});

test("columns are chosen and ordered by keyboard, kept for the next browser, in the address, and in a view", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  const open = async (of: Page) => {
    await goTo(of, "d");
    await settle(of, /^Devices/);
    await of.getByRole("grid").getByText("printer-0").waitFor();
  };
  const heads = (of: Page) => of.getByRole("columnheader").allTextContents();
  await open(page);
  const usual = await heads(page);
  expect(usual).toEqual(["State", "Name", "IP address", "MAC address", "Vendor", "Type", "System", "Open ports", "Last seen"]);
  await page.keyboard.press("c");
  for (const name of ["State", "MAC address", "Vendor", "System", "Open ports", "Last seen", "Site"]) await page.getByRole("checkbox", { name, exact: true }).press("Space");
  for (let times = 0; times < 3; times += 1) await pressOn(page.getByRole("button", { name: "Move Type up" }));
  expect(await findFaults(page, "columns")).toEqual([]);
  await pressOn(page.getByRole("button", { name: "Show these" }));
  const chosen = ["Name", "Type", "IP address", "Site"];
  await expect.poll(() => heads(page)).toEqual(chosen);
  expect(new URL(page.url()).searchParams.get("columns")).toBe("name,type,ip,site");
  expect((await deployment.collector.rest.readPreferences()).columns.devices).toEqual(["name", "type", "ip", "site"]);
  expect(await findFaults(page, "own columns")).toEqual([]);
  await page.keyboard.press("v");
  await page.getByLabel("Save it as").fill("Types");
  await page.getByLabel("Save it as").press("Enter");
  await page.getByText("Saved: Types").waitFor();
  await page.keyboard.press("Escape");

  const other = await deployment.browser.open();
  await logIn(other.page, deployment.collector.url, ADMIN);
  await open(other.page);
  await expect.poll(() => heads(other.page)).toEqual(chosen);
  await other.page.keyboard.press("c");
  await pressOn(other.page.getByRole("button", { name: "The usual ones" }));
  await expect.poll(() => heads(other.page)).toEqual(usual);
  await other.page.keyboard.press("v");
  await pressOn(other.page.getByRole("button", { name: "Types", exact: true }));
  await expect.poll(() => heads(other.page)).toEqual(chosen);
  for (const { id } of (await deployment.collector.rest.listViews()).data) await deployment.collector.rest.deleteView(id);
  expect([faults, other.faults]).toEqual([[], []]);
  await context.close();
  await other.context.close();
});

test("rows change where they are and stay there; a device that comes or goes waits for a click", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await page.clock.install();
  await logIn(page, deployment.collector.url, ADMIN);
  await goTo(page, "d");
  await settle(page, /^Devices/);
  const rows = page.getByRole("row").filter({ has: page.getByRole("gridcell") });
  await rows.first().getByText("printer-0").waitFor();
  const { data: [known] } = await deployment.collector.rest.listDevices({ search: "printer-1" });
  await deployment.collector.rest.updateDevice(known?.id ?? "", { hostname: "renamed-1" });
  const { id } = await deployment.collector.rest.createDevice({ ip: "10.9.1.1", hostname: "newcomer" });
  // The next time that the list is asked for by itself.
  await page.clock.fastForward(31_000);
  const show = page.getByRole("button", { name: "1 new: show" });
  await show.waitFor();
  expect(await rows.allTextContents()).toEqual([0, 1, 2, 3, 4].map((index) => expect.stringContaining(index === 1 ? "renamed-1" : `10.9.2.${index + 1}`) as string));
  await page.getByText("5 devices", { exact: true }).waitFor();
  expect(await findFaults(page, "newcomers")).toEqual([]);
  await show.press("Enter");
  await page.getByText("6 devices", { exact: true }).waitFor();
  await rows.first().getByText("newcomer").waitFor();
  expect(await show.count()).toBe(0);
  await deployment.collector.rest.deleteDevice(id);
  await page.clock.fastForward(31_000);
  await page.getByRole("button", { name: "1 gone: show" }).waitFor();
  await rows.first().getByText("newcomer").waitFor();
  await pressOn(page.getByRole("button", { name: "1 gone: show" }));
  await rows.first().getByText("printer-0").waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test("the filter is completed while it is written: words of the language, their values, and what devices have", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  await goTo(page, "d");
  await settle(page, /^Devices/);
  await page.keyboard.press("/");
  const box = page.getByLabel("Filter devices");
  const option = (name: string) => page.getByRole("option", { name, exact: true });
  await page.keyboard.type("ty");
  await option("type:").waitFor();
  expect(await findFaults(page, "suggestions")).toEqual([]);
  for (const key of ["ArrowDown", "Enter"]) await page.keyboard.press(key);
  expect(await box.inputValue()).toBe("type:");
  await page.keyboard.type("serv");
  await option("server").waitFor();
  for (const key of ["ArrowUp", "Enter"]) await page.keyboard.press(key);
  expect(await box.inputValue()).toBe("type:server ");
  await page.keyboard.type("vendor:corp");
  await option("Acme_Corp").click();
  expect(await box.inputValue()).toBe("type:server vendor:Acme_Corp ");
  await page.getByText("1 device", { exact: true }).waitFor();
  await page.keyboard.type("-t");
  await option("-tag:").waitFor();
  // What somebody writes to the end is not changed by Enter.
  await page.keyboard.press("Enter");
  expect(await box.inputValue()).toBe("type:server vendor:Acme_Corp -t");
  await page.keyboard.press("Escape");
  await page.getByRole("listbox", { name: "What may be written" }).waitFor({ state: "hidden" });
  expect(faults).toEqual([]);
  await context.close();
});
