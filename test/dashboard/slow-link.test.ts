import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { findFaults } from "./axe.ts";
import { ADMIN, useDeployment } from "./deployment.ts";
import { goTo, logIn, pressOn } from "./pages.ts";

const deployment = useDeployment();

/** Holds the answers of a path back until it is called. */
async function holdBack(page: Page, path: string): Promise<() => void> {
  let release = () => {};
  const promise = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(`**/api/v1${path}`, async (route) => {
    const response = await route.fetch();
    await promise;
    await route.fulfill({ response });
  });
  return release;
}

/** Waits until a page has asked for something five times over: what it had to do before, it has done by then. */
async function hearFrom(page: Page): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await page.evaluate("fetch(document.baseURI).then((answer) => answer.text())");
}

async function logOut(page: Page): Promise<void> {
  await pressOn(page.getByRole("button", { name: "You and this browser" }));
  await pressOn(page.getByRole("button", { name: "Log out" }));
}

test("a key whose command waits for what a person may do is not lost, and the others need not wait", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  const release = await holdBack(page, "/me");
  await page.reload();
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  await goTo(page, "s");
  await page.getByRole("heading", { name: "Sites and probes" }).waitFor();
  await page.keyboard.press("n");
  release();
  await page.getByLabel("The token is good for").waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test("nothing is shown to who logs in before the browser keeps the session, so that a page that is loaded again at once goes on with it", async () => {
  const { page, context, faults } = await deployment.browser.open();
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  let askedBefore: readonly string[] = [];
  await page.route("**/api/v1/auth/session", async (route) => {
    await hearFrom(page);
    askedBefore = [...asked];
    await route.continue();
  });
  await logIn(page, deployment.collector.url, ADMIN);
  expect(askedBefore.findLast((path) => path.startsWith("/api/"))).toBe("/api/v1/auth/session");
  await page.goto(`${deployment.collector.url}/devices`);
  await page.getByRole("heading", { name: "Devices", level: 1 }).waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test("a logout is done when the collector has heard of it; until then nothing is shown, and what does not arrive is said", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  const release = await holdBack(page, "/auth/logout");
  await logOut(page);
  await page.getByText("Logging out…").waitFor();
  expect(await page.getByRole("navigation").count()).toBe(0);
  release();
  await page.getByRole("heading", { name: "Log in" }).waitFor();
  await page.reload();

  await logIn(page, deployment.collector.url, ADMIN);
  await page.route("**/api/v1/auth/logout", (route) => route.abort());
  await logOut(page);
  await page.getByRole("alert").getByText("The collector does not answer").waitFor();
  expect(await findFaults(page, "a logout that did not arrive")).toEqual([]);
  await page.unroute("**/api/v1/auth/logout");
  await pressOn(page.getByRole("button", { name: "Try again" }));
  await page.getByRole("heading", { name: "Log in" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Log in" }).waitFor();
  expect([await context.cookies(), faults]).toEqual([[], []]);
  await context.close();
});

test("who closes the page as soon as the logout is pressed is logged out", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  await pressOn(page.getByRole("button", { name: "You and this browser" }));
  await page.getByRole("button", { name: "Log out" }).evaluate((button) => {
    (button as unknown as { click(): void }).click();
    (globalThis as unknown as { location: { href: string } }).location.href = "about:blank";
  });
  await page.waitForURL("about:blank");
  await expect.poll(() => context.cookies()).toEqual([]);
  expect(faults).toEqual([]);
  await context.close();
});

test("a new token that comes after the logout begins no session", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await page.clock.install();
  await logIn(page, deployment.collector.url, ADMIN);
  const release = await holdBack(page, "/auth/refresh");
  const asked = page.waitForRequest("**/api/v1/auth/refresh");
  const answered = page.waitForResponse("**/api/v1/auth/refresh");
  await page.clock.fastForward("13:00:00");
  await asked;
  await logOut(page);
  await page.getByRole("heading", { name: "Log in" }).waitFor();
  release();
  await (await answered).finished();
  await hearFrom(page);
  expect(await page.getByRole("navigation").count()).toBe(0);
  expect(faults).toEqual([]);
  await context.close();
});
