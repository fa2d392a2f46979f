import { beforeAll, expect, test } from "vitest";
import { waitFor } from "../lab/wait-for.ts";
import { ADMIN, useDeployment } from "./deployment.ts";
import { goTo, logIn, settleFilter } from "./pages.ts";
import { found } from "./world.ts";

const deployment = useDeployment({ probe: {} });

beforeAll(async () => {
  for (let index = 0; index < 200; index += 1) deployment.probe.say(found(`10.9.40.${index}`, `02:00:5e:10:40:${index.toString(16).padStart(2, "0")}`, `batch-${index}`));
  await waitFor("200 devices", () => (deployment.probe.acknowledged() === deployment.probe.said() ? true : null));
});

test("tags 200 devices by filter, by keyboard alone: as many as the list counts", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  await goTo(page, "d");
  await page.getByRole("grid", { name: "Devices" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("batch");
  await settleFilter(page, "batch");
  await page.getByRole("button", { name: "Change all 200" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("b");
  await page.getByRole("heading", { name: "Change 200 devices" }).waitFor();
  await page.getByLabel("Add tags").waitFor();
  await page.keyboard.type("third-floor");
  await page.keyboard.press("Enter");
  await page.getByText("200 changed, 0 were so already.").waitFor();
  expect((await deployment.collector.rest.listDevices({ tag: "third-floor" })).meta.total).toBe(200);
  await page.keyboard.press("Enter");

  await page.keyboard.press("b");
  await page.getByRole("heading", { name: "Change 200 devices" }).waitFor();
  await deployment.collector.rest.createDevice({ ip: "10.9.41.1", hostname: "batch-late" });
  await page.keyboard.type("too-late");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").first().waitFor();
  expect((await deployment.collector.rest.listDevices({ tag: "too-late" })).meta.total).toBe(0);
  expect(faults).toEqual([]);
  await context.close();
});

test("a filter begins at its top, by one request, wherever the list before it was looked at", async () => {
  const { page, context } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  await goTo(page, "d");
  const grid = page.getByRole("grid", { name: "Devices" });
  await grid.focus();
  await page.keyboard.press("End");
  const { total } = (await deployment.collector.rest.listDevices({ per_page: 1 })).meta;
  await grid.locator(`[aria-rowindex="${total + 1}"] a`).waitFor();
  const asked: string[] = [];
  page.on("request", (request) => request.url().includes("search=batch") && asked.push(request.url()));
  await page.getByLabel("Filter devices").fill("batch");
  await grid.locator('[aria-rowindex="2"] a').filter({ hasText: "batch-0" }).waitFor();
  expect(asked.map((url) => new URL(url).searchParams.get("page"))).toEqual(["1"]);
  await context.close();
});
