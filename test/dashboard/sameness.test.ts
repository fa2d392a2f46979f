import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { findFaults } from "./axe.ts";
import { ADMIN, useDeployment } from "./deployment.ts";
import { find, logIn, pressOn } from "./pages.ts";

const deployment = useDeployment();

beforeAll(async () => {
  for (const index of [1, 2]) await deployment.collector.rest.createDevice({ ip: `10.9.4.${index}`, mac: `02:00:5e:10:04:0${index}`, hostname: "<b>twin</b>" });
});

const total = async () => (await deployment.collector.rest.listDevices()).meta.total;

async function openDevice(page: Page, ip: string): Promise<void> {
  await find(page, ip);
  await page.getByRole("heading", { name: "Is it one machine?" }).waitFor();
}

test("two devices that look alike are merged and split again by keyboard, and one's interface becomes a device of its own", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
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

  const { data: [kept, other] } = await deployment.collector.rest.listDevices();
  await deployment.collector.rest.mergeDevices(kept?.id ?? "", { with: other?.id ?? "" });
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
