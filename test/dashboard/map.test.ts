import { MapPinsUpdate } from "@lanthorn/contract";
import type { Page, Route } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { findFaults } from "./axe.ts";
import { ADMIN, VIEWER, useDeployment } from "./deployment.ts";
import { goTo, logIn, settle } from "./pages.ts";

const deployment = useDeployment({ probe: {} });
let siteId: string;

beforeAll(async () => {
  siteId = (await deployment.collector.rest.listSites()).data[0]?.id ?? "";
});

const pins = async () => (await deployment.collector.rest.readMapPins(siteId)).pins;
const openMap = async (page: Page) => {
  await goTo(page, "m");
  await settle(page, /^Map/);
  return page.getByRole("button", { name: "switch" }).first();
};

test("pin the map: by keyboard alone a station is pinned, moved and unpinned; what others pin meanwhile stays", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  const station = await openMap(page);
  await station.press("Enter");
  await page.getByRole("button", { name: "Pin here" }).waitFor();
  const before = await station.getAttribute("transform");
  await page.keyboard.press("p");
  await expect.poll(pins).toHaveLength(1);
  const [pin = { node: "", x: 0, y: 0 }] = await pins();
  expect(await station.getAttribute("transform")).toBe(before);
  const other = { node: "somebody else's", x: 7, y: 8 };
  await deployment.collector.rest.updateMapPins(siteId, { pins: [pin, other] });
  for (const key of ["ArrowRight", "ArrowRight", "ArrowDown"]) await page.keyboard.press(key);
  const moved = { ...pin, x: pin.x + 40, y: pin.y + 20 };
  await page.getByText(`Pinned at ${moved.x}, ${moved.y}`).waitFor();
  await expect.poll(pins).toEqual([moved, other]);
  const place = await station.getAttribute("transform");
  expect(await findFaults(page, "pinned map")).toEqual([]);
  await page.reload();
  await settle(page, /^Map/);
  expect(await page.getByRole("button", { name: "pinned" }).getAttribute("transform")).toBe(place);
  await page.getByRole("button", { name: "Unpin" }).waitFor();
  await page.keyboard.press("p");
  await expect.poll(pins).toEqual([other]);
  await deployment.collector.rest.updateMapPins(siteId, { pins: [] });
  expect(faults).toEqual([]);
  await context.close();
});

test("while a save waits for its answer no other one begins, also when the page is left: the newest place stays", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  const station = await openMap(page);
  await station.press("Enter");
  const saves: Route[] = [];
  await page.route("**/topology/pins/*", async (route, request) => {
    if (request.method() !== "PUT" || saves.push(route) > 1) await route.continue();
  });
  await page.clock.install();
  await page.getByRole("button", { name: "Pin here" }).click();
  await expect.poll(() => saves).toHaveLength(1);
  await page.keyboard.press("ArrowRight");
  const sent = () => saves.map((route) => MapPinsUpdate.parse(route.request().postDataJSON()).pins);
  const [[pin = { node: "", x: 0, y: 0 }] = []] = sent();
  const moved = { ...pin, x: pin.x + 20 };
  await page.getByText(`Pinned at ${moved.x}, ${moved.y}`).waitFor();
  await page.clock.runFor(5000);
  await goTo(page, "o");
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  // What began before has gone out by now.
  await page.evaluate("fetch('/').then(() => true)");
  expect(saves).toHaveLength(1);
  await saves[0]?.continue();
  await expect.poll(() => saves).toHaveLength(2);
  expect((await saves[1]?.request().response())?.status()).toBe(200);
  expect([sent(), await pins()]).toEqual([[[pin], [moved]], [moved]]);
  await deployment.collector.rest.updateMapPins(siteId, { pins: [] });
  expect(faults).toEqual([]);
  await context.close();
});

test("pins that cannot be read are an error that is said, and read by trying again", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  await page.route("**/topology/pins/*", (route) => route.fulfill({ status: 403, json: { error: { code: "FORBIDDEN", message: "not now", request_id: "1", details: null } } }));
  const station = await openMap(page);
  await station.press("Enter");
  await page.getByRole("region", { name: "What is chosen" }).waitFor();
  await page.getByRole("alert").getByText("FORBIDDEN").waitFor();
  expect(await page.getByText("to pin it").count()).toBe(0);
  await page.unroute("**/topology/pins/*");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("button", { name: "Pin here" }).waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
  expect(faults).toEqual([]);
  await context.close();
});

test("a station that is dragged is pinned where it is let go, without being chosen; a viewer sees it there and cannot move it", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  const station = await openMap(page);
  const box = await station.boundingBox() ?? { x: 0, y: 0 };
  await page.mouse.move(box.x + 20, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + 80, box.y + 120, { steps: 5 });
  await page.mouse.up();
  await expect.poll(pins).toHaveLength(1);
  await page.getByRole("button", { name: "pinned" }).waitFor();
  expect(await page.getByRole("region", { name: "What is chosen" }).count()).toBe(0);
  await context.close();
  const seen = await deployment.browser.open();
  await logIn(seen.page, deployment.collector.url, VIEWER);
  await openMap(seen.page);
  const pinned = seen.page.getByRole("button", { name: "pinned" });
  const place = await pinned.getAttribute("transform");
  await pinned.press("Enter");
  await seen.page.getByRole("region", { name: "What is chosen" }).waitFor();
  for (const key of ["p", "ArrowLeft"]) await seen.page.keyboard.press(key);
  expect(await pinned.getAttribute("transform")).toBe(place);
  expect(await seen.page.getByRole("button", { name: /^(Pin|Unpin)/ }).count()).toBe(0);
  expect([faults, seen.faults]).toEqual([[], []]);
  await seen.context.close();
});
