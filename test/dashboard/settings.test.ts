import { expect, test } from "vitest";
import { generateIdentity } from "../../apps/collector/src/backups/format/age-keys.ts";
import { findFaults } from "./axe.ts";
import { ADMIN, VIEWER, useDeployment } from "./deployment.ts";
import { goTo, logIn, pressOn } from "./pages.ts";
import { HOSTILE } from "./world.ts";

let recipient: string;
const deployment = useDeployment({
  async configure() {
    ({ recipient } = await generateIdentity());
    return { env: { LANTHORN_BACKUPS_RECIPIENTS: recipient } };
  },
});

test("a user is added, changed and removed by keyboard alone, and the audit log shows each with its fields", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  await goTo(page, "u");
  await page.getByText("(you)").waitFor();
  await page.keyboard.press("n");
  await page.keyboard.type("day-shift");
  await page.getByLabel("What the user may do").focus();
  await page.keyboard.type("operator");
  await page.getByLabel("First password").focus();
  await page.keyboard.type("a long first password");
  await page.keyboard.press("Enter");
  const change = page.getByRole("button", { name: "Change day-shift" });
  await change.focus();
  await page.keyboard.press("Enter");
  await page.getByLabel("E-mail address").focus();
  await page.keyboard.type("day@example.com");
  await page.keyboard.press("Enter");
  await page.getByText("day@example.com").waitFor();
  expect((await deployment.collector.rest.listUsers({ search: "day-shift" })).data).toMatchObject([{ role: "operator", email: "day@example.com" }]);
  await pressOn(page.getByRole("button", { name: "Remove day-shift" }));
  for (const key of ["Tab", "Enter"]) await page.keyboard.press(key);
  await change.waitFor({ state: "detached" });

  await goTo(page, "t");
  await page.getByLabel("What was done").focus();
  await page.keyboard.type("user.update");
  const record = page.getByRole("listitem").filter({ hasText: "user.update" });
  await expect.poll(() => page.getByRole("region", { name: "Records" }).getByRole("listitem").count()).toBe(1);
  await record.locator("summary").focus();
  await page.keyboard.press("Enter");
  await record.getByRole("row").filter({ hasText: "day@example.com" }).waitFor();
  expect(await page.getByText("a long first password").count()).toBe(0);
  expect(faults).toEqual([]);
  await context.close();
});

test("a backup is made, looked at and scheduled by keyboard alone", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  await goTo(page, "b");
  await page.getByText(recipient).waitFor();
  await page.keyboard.press("n");
  const look = page.getByRole("button", { name: "Verify…" });
  await look.focus();
  await page.keyboard.press("Enter");
  await page.getByLabel("Private key").focus();
  await page.keyboard.press("Enter");
  await page.getByText("passed", { exact: true }).waitFor();
  await pressOn(page.getByRole("button", { name: "Schedule" }));
  await page.getByRole("textbox", { name: "Schedule" }).focus();
  await page.keyboard.type("30 3 * * *");
  await page.keyboard.press("Enter");
  await page.getByText("30 3 * * *").waitFor();
  expect(await deployment.collector.rest.readBackupSettings()).toMatchObject({ schedule: "30 3 * * *", updated_by: "admin" });
  expect(faults).toEqual([]);
  await context.close();
});

test("a credential is stored, revealed and removed by keyboard alone, and the audit log has the reveal", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  await goTo(page, "w");
  await page.getByText("No credentials yet").waitFor();
  await page.keyboard.press("n");
  await page.keyboard.type(HOSTILE[0] ?? "");
  await page.getByLabel("Community").focus();
  await page.keyboard.type("only-for-reading");
  await page.keyboard.press("Enter");
  await page.getByText("no probe gets it").waitFor();
  expect((await deployment.collector.rest.listCredentials()).data).toMatchObject([{ name: HOSTILE[0], type: "snmp", parts: ["community"] }]);
  await pressOn(page.getByRole("button", { name: "Reveal" }));
  expect(await page.getByText("only-for-reading").count()).toBe(0);
  for (const key of ["Tab", "Enter"]) await page.keyboard.press(key);
  expect(await page.getByRole("textbox", { name: "community" }).inputValue()).toBe("only-for-reading");
  expect((await deployment.collector.rest.listAuditRecords({ action: "credential" })).data.map(({ action }) => action)).toEqual(["credential.reveal", "credential.create"]);
  expect(await page.locator("main img").count()).toBe(0);
  await page.keyboard.press("Escape");
  await pressOn(page.getByRole("button", { name: "Remove" }));
  for (const key of ["Tab", "Enter"]) await page.keyboard.press(key);
  await page.getByText("No credentials yet").waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test("a viewer reads which scope is missing, and nothing is asked for that would be refused", async () => {
  const { page, context, faults } = await deployment.browser.open();
  const refused: string[] = [];
  page.on("response", (response) => response.status() >= 400 && refused.push(`${response.status()} ${response.url()}`));
  await logIn(page, deployment.collector.url, VIEWER);
  for (const [key, scope] of [["u", "users:read"], ["t", "audit:read"], ["w", "vault:read"]] as const) {
    await goTo(page, key);
    await page.getByText(scope).waitFor();
  }
  await goTo(page, "b");
  await page.getByRole("heading", { name: "Backups", level: 1 }).waitFor();
  expect(await page.getByRole("button", { name: "Make a backup now" }).count()).toBe(0);
  expect([refused, faults]).toEqual([[], []]);
  await context.close();
});

test("how a person sees things is chosen by keyboard, seen in another browser, and not by who logs in next", async () => {
  const { page, context, faults } = await deployment.browser.open();
  const menu = async (of = page) => {
    await pressOn(of.getByRole("button", { name: "You and this browser" }));
    await of.getByRole("dialog", { name: "You and this browser" }).waitFor();
  };
  const chosen = async (of = page) => {
    const checked = await of.getByRole("radio", { checked: true }).all();
    return Promise.all(checked.map((radio) => radio.evaluate((element) => element.parentElement?.textContent ?? "")));
  };
  const themeOf = (of = page) => of.evaluate("document.documentElement.dataset.theme ?? null");
  await logIn(page, deployment.collector.url, ADMIN);
  await menu();
  expect(await chosen()).toEqual(["As the system", "Local", "On"]);
  for (const name of ["Dark", "UTC", "Off"]) await page.getByRole("radio", { name, exact: true }).press("Space");
  await expect.poll(() => chosen()).toEqual(["Dark", "UTC", "Off"]);
  await expect.poll(() => deployment.collector.rest.readPreferences()).toMatchObject({ theme: "dark", zone: "utc", single_keys: false });

  const other = await deployment.browser.open();
  await logIn(other.page, deployment.collector.url, ADMIN);
  await expect.poll(() => themeOf(other.page)).toBe("dark");
  await other.page.locator("time[title*=UTC]").or(other.page.locator("time").filter({ hasText: "UTC" })).first().waitFor();
  // Single keys do nothing there either.
  await goTo(other.page, "d");
  await menu(other.page);
  expect([await chosen(other.page), new URL(other.page.url()).pathname]).toEqual([["Dark", "UTC", "Off"], "/"]);
  // What cannot be kept is as before, and said.
  await other.page.route("**/api/v1/me/preferences", (route) => (route.request().method() === "GET" ? route.continue() : route.abort()));
  await other.page.getByRole("radio", { name: "Light", exact: true }).press("Space");
  await other.page.getByRole("dialog", { name: "You and this browser" }).getByRole("alert").waitFor();
  expect([await chosen(other.page), await themeOf(other.page)]).toEqual([["Dark", "UTC", "Off"], "dark"]);
  await other.page.unroute("**/api/v1/me/preferences");

  // The colors are there before anything is asked for; of the rest the next person has her own.
  await page.reload();
  expect(await themeOf()).toBe("dark");
  await menu();
  await pressOn(page.getByRole("button", { name: "Log out" }));
  await page.getByRole("heading", { name: "Log in" }).waitFor();
  await logIn(page, deployment.collector.url, VIEWER);
  await expect.poll(() => themeOf()).toBe(null);
  await menu();
  expect(await chosen()).toEqual(["As the system", "Local", "On"]);
  expect(await page.evaluate("JSON.stringify(localStorage)")).toBe(JSON.stringify({ "lanthorn.theme": "system" }));
  await deployment.collector.rest.updatePreferences({ theme: "system", zone: "local", single_keys: true });
  expect([faults, other.faults]).toEqual([[], []]);
  await context.close();
  await other.context.close();
});

test("a site gets its time zone by keyboard, in which its devices' times are shown to who wants that, and in the browser's where there is none", async () => {
  const { page, context, faults } = await deployment.browser.open();
  const { data: [site] } = await deployment.collector.rest.listSites();
  const siteId = site?.id ?? "";
  const device = await deployment.collector.rest.createDevice({ ip: "10.9.6.1", hostname: "clock", site_id: siteId });
  await deployment.collector.rest.updateDevice(device.id, { hostname: "clock-tower" });
  await deployment.collector.rest.updatePreferences({ zone: "site" });
  await logIn(page, deployment.collector.url, ADMIN);
  await goTo(page, "s");
  const change = page.getByRole("button", { name: `Change ${site?.name}` });
  await change.press("Enter");
  const zone = page.getByLabel("Time zone");
  await zone.fill("Asia/Nowhere");
  await zone.press("Enter");
  await page.getByRole("alert").getByText("BAD_REQUEST").waitFor();
  expect(await findFaults(page, "a site", "dialog[open]")).toEqual([]);
  await zone.fill("Asia/Tokyo");
  await zone.press("Enter");
  await page.getByText("Asia/Tokyo", { exact: true }).waitFor();
  expect((await deployment.collector.rest.readSite(siteId)).time_zone).toBe("Asia/Tokyo");

  const times = async () => {
    await page.goto(`${deployment.collector.url}/devices/${device.id}`);
    const when = page.locator("section").filter({ hasText: "What changed" }).locator("time").first();
    await when.waitFor();
    return await when.getAttribute("title") ?? "";
  };
  await expect.poll(times).toMatch(/GMT\+9$/);
  await deployment.collector.rest.updateSite(siteId, { time_zone: null });
  await expect.poll(times).toMatch(/(?:CET|GMT\+1|UTC\+1)$/);
  await deployment.collector.rest.updatePreferences({ zone: "local" });
  await deployment.collector.rest.deleteDevice(device.id);
  expect(faults).toEqual([]);
  await context.close();
});
