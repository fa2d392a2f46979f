import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ADMIN, useDeployment } from "./deployment.ts";
import { goTo, logIn, pressOn } from "./pages.ts";

/** More than a browser needs for its first page. */
const PER_MINUTE = 60;
const deployment = useDeployment({
  async configure(folder) {
    const file = join(folder, "collector.toml");
    writeFileSync(file, `[rate_limits.pages]\nper_minute = ${PER_MINUTE}\n`);
    return { file };
  },
});

/** Others behind the browser's address take all that is left of the minute. */
async function askForAll(): Promise<void> {
  for (let asked = 0; asked <= PER_MINUTE; asked += 1) if ((await fetch(`${deployment.collector.url}/assets/none`)).status === 429) return;
  throw new Error("nothing is refused");
}

test("a page whose files are refused says so and comes by its button when they are given, without a reload; who opens the dashboard meanwhile reads why it does not", async () => {
  const { page, context, faults } = await deployment.browser.open();
  const refused: string[] = [];
  page.on("response", (response) => response.status() === 429 && refused.push(new URL(response.url()).pathname));
  await logIn(page, deployment.collector.url, ADMIN);
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  await page.evaluate("globalThis.isSame = true");
  await askForAll();

  const other = await deployment.browser.open();
  expect((await other.page.goto(deployment.collector.url))?.status()).toBe(429);
  await other.page.getByRole("heading", { name: "Too many requests" }).waitFor();
  expect(await other.page.locator("body").innerText()).toMatch(/This page tries again by itself in \d+ seconds?\./);
  await other.context.close();

  await goTo(page, "v");
  await page.getByRole("alert").getByText("Too many requests").waitFor();
  await page.getByRole("button", { name: "Try again in" }).waitFor();
  await pressOn(page.getByRole("button", { name: "Try again", exact: true }));
  await page.getByRole("heading", { name: "Vulnerabilities", level: 1 }).waitFor();

  expect(refused.filter((path) => !path.startsWith("/assets/vulnerabilities-page-"))).toEqual([]);
  expect(await page.evaluate("globalThis.isSame")).toBe(true);
  // React says each error that a page has shown.
  expect(faults.filter((fault) => !fault.startsWith("ClientError: The collector was asked for more files"))).toEqual([]);
  await context.close();
});
