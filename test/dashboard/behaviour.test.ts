import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { findFaults } from "./axe.ts";
import { ADMIN, VIEWER, useDeployment } from "./deployment.ts";
import { find, goTo, logIn, pressOn } from "./pages.ts";

const deployment = useDeployment({ probe: { readsTraffic: true } });

async function openDevice(page: Page): Promise<void> {
  await find(page, "10.9.0.66");
  await page.getByRole("heading", { name: "What is usual for it" }).waitFor();
}

test("what probes have learned is listed with its devices; a viewer sees it and changes nothing", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, VIEWER);
  await goTo(page, "e");
  await page.getByRole("navigation", { name: "Sensors" }).getByRole("link", { name: "Anomalies" }).press("Enter");
  const models = page.locator("section").filter({ hasText: "What probes have learned" });
  await models.getByRole("row").filter({ hasText: "<b>probe</b>" }).getByText("1 more were not trusted").waitFor();
  expect(await page.getByRole("button", { name: /^(Freeze|Learn again|Reset)/ }).count()).toBe(0);
  await pressOn(models.getByRole("button", { name: "Show" }));
  await page.getByText("1 device", { exact: true }).waitFor();
  await page.getByLabel("State").selectOption("drifted");
  await page.getByText("0 devices", { exact: true }).waitFor();
  expect(await findFaults(page, "learned devices")).toEqual([]);
  expect(faults).toEqual([]);
  await context.close();
});

test("a probe is asked for the devices that it knows once for each list that somebody opens, not again and again", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, VIEWER);
  await page.clock.install();
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await goTo(page, "e");
  await page.getByRole("navigation", { name: "Sensors" }).getByRole("link", { name: "Anomalies" }).press("Enter");
  await pressOn(page.getByRole("button", { name: "Show" }));
  await page.getByText("1 device", { exact: true }).waitFor();
  const [models, devices] = ["/api/v1/anomalies/models", `/api/v1/anomalies/models/${deployment.probe.probeId}/devices`];
  const timesOf = (path: string | undefined) => asked.filter((each) => each === path).length;
  expect(timesOf(devices)).toBe(1);
  for (let turn = 0; turn < 2; turn += 1) {
    const again = page.waitForResponse((response) => new URL(response.url()).pathname === models);
    await page.clock.fastForward(31_000);
    await again;
  }
  expect(timesOf(devices)).toBe(1);
  expect(faults).toEqual([]);
  await context.close();
});

test("a device's page draws what is usual for it by hour, and by keyboard it is frozen, learned again and forgotten", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  await openDevice(page);
  await page.getByRole("img", { name: "By hour, Monday to Friday: the most is usual from 8 to 9 o'clock UTC, 1 MiB" }).waitFor();
  await page.getByText("The probe is at an access port").waitFor();
  await page.getByText("<img src=x>.example").waitFor();
  expect(await findFaults(page, "behaviour")).toEqual([]);
  await page.getByLabel("Days", { exact: true }).selectOption("weekends");
  await page.getByText("no such day was learned yet").waitFor();
  await page.getByLabel("Days", { exact: true }).selectOption("workdays");
  await page.getByLabel("What", { exact: true }).selectOption("nxdomain_share");
  await page.getByText("up to 30 % in an hour").waitFor();
  await page.getByText("As a table").click();
  await page.getByRole("row", { name: "8 10 % 30 % 7" }).waitFor();
  expect(await findFaults(page, "behaviour as a table")).toEqual([]);
  for (const [act, then] of [["Freeze", "frozen"], ["Learn again", "active"], ["Reset", "it does not know the device yet"]] as const) {
    await pressOn(page.getByRole("button", { name: `${act}: ` }));
    await pressOn(page.getByRole("button", { name: act, exact: true }));
    await page.getByText("Done for 1 device.").waitFor();
    expect(await findFaults(page, `${act} dialog`)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByText(then).first().waitFor();
  }
  expect(await page.locator("main img").count()).toBe(0);
  expect((await deployment.collector.rest.listAuditRecords({ action: "anomaly_models" })).data.map(({ action }) => action)).toEqual(["anomaly_models.reset", "anomaly_models.freeze", "anomaly_models.freeze"]);
  expect(faults).toEqual([]);
  await context.close();
});
