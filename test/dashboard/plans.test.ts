import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { findFaults } from "./axe.ts";
import { ADMIN, VIEWER, useDeployment } from "./deployment.ts";
import { goTo, logIn, pressOn, settle } from "./pages.ts";
import { HOSTILE } from "./world.ts";

const NAME = HOSTILE[0] ?? "";
const deployment = useDeployment({ probe: {} });

beforeAll(async () => {
  const { id } = await deployment.collector.rest.createDevice({ ip: "10.9.1.200", hostname: "access-9", device_type: "switch" });
  for (const [vlan, secret] of [[10, "first-secret"], [20, "second-secret"]]) {
    await deployment.collector.rest.uploadDeviceConfiguration(id, { content: `interface Gi1/0/1\n description ${NAME}\n switchport access vlan ${vlan}\nsnmp-server community ${secret} RO\n`, changed_by: NAME, comment: NAME });
  }
});

const go = async (page: Page, key: string, title: RegExp) => {
  await goTo(page, key);
  await settle(page, title);
};

test("a prefix is planned and its next address recorded by keyboard alone, and who has another address than recorded is shown", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await deployment.collector.rest.createIpamAddress({ ip: "10.9.0.66", status: "assigned", mac: "02:00:5e:10:00:99", hostname: "", description: "", site_id: (await deployment.collector.rest.listSites()).data[0]?.id ?? "" });
  await logIn(page, deployment.collector.url, ADMIN);
  await go(page, "n", /^IPAM/);
  await page.getByText("another MAC than the recorded one").waitFor();
  await page.keyboard.press("n");
  await page.keyboard.type("10.9.0.0/24");
  await page.getByLabel("Name", { exact: true }).focus();
  await page.keyboard.type(NAME);
  await page.keyboard.press("Enter");
  const link = page.getByRole("link", { name: "10.9.0.0/24" });
  await link.waitFor();
  expect(await findFaults(page, "ipam")).toEqual([]);
  await link.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Prefix 10.9.0.0/24", level: 1 }).waitFor();
  await pressOn(page.getByRole("button", { name: "Record the next free address" }));
  await page.getByText("Recorded: 10.9.0.1").waitFor();
  await settle(page, /^Prefix/);
  expect((await deployment.collector.rest.listIpamAddresses()).data.map(({ ip }) => ip)).toContain("10.9.0.1");
  expect(await findFaults(page, "prefix")).toEqual([]);
  expect(await page.locator("main img").count()).toBe(0);
  expect(faults).toEqual([]);
  await context.close();
});

test("what differs between two versions of a configuration is read, its secrets only after they are asked for, which is recorded", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  await go(page, "f", /^Configurations/);
  await page.getByRole("link", { name: "access-9" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("+ switchport access vlan 20").waitFor();
  expect(await page.getByText("second-secret").count()).toBe(0);
  expect(await findFaults(page, "configuration")).toEqual([]);
  await pressOn(page.getByRole("button", { name: "Show secrets" }));
  await page.getByText("second-secret").waitFor();
  expect((await deployment.collector.rest.listAuditRecords({ actor: "admin" })).data.filter(({ action }) => action.includes("reveal"))).toHaveLength(1);
  expect(await page.locator("main img").count()).toBe(0);
  expect(faults).toEqual([]);
  await context.close();
});

test("a baseline is approved with a reason and frozen by keyboard alone", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  await go(page, "r", /^Baselines/);
  await pressOn(page.getByRole("button", { name: /^Approve/ }).first());
  await page.getByLabel("Reason").focus();
  await page.keyboard.type("looked at");
  await page.keyboard.press("Enter");
  await page.getByRole("row").filter({ hasText: "admin, " }).first().waitFor();
  await pressOn(page.getByRole("button", { name: /^Freeze/ }).first());
  await page.getByRole("button", { name: /^Unfreeze/ }).waitFor();
  expect((await deployment.collector.rest.listBaselines({ state: "frozen" })).data).toHaveLength(1);
  expect(await findFaults(page, "baselines")).toEqual([]);
  expect(await page.locator("main img").count()).toBe(0);
  expect(faults).toEqual([]);
  await context.close();
});

test("a viewer reads plans, configurations and baselines, and is offered nothing that would be refused", async () => {
  const { page, context, faults } = await deployment.browser.open();
  const refused: string[] = [];
  page.on("response", (response) => response.status() >= 400 && refused.push(`${response.status()} ${response.url()}`));
  await logIn(page, deployment.collector.url, VIEWER);
  await go(page, "n", /^IPAM/);
  await go(page, "r", /^Baselines/);
  await go(page, "f", /^Configurations/);
  await page.getByRole("link", { name: "access-9" }).click();
  await page.getByText("+ switchport access vlan 20").waitFor();
  expect(await page.locator("main").getByRole("button").count()).toBe(0);
  expect([refused, faults]).toEqual([[], []]);
  await context.close();
});
