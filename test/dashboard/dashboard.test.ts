import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { startReceiver } from "../../apps/collector/src/deliveries/testing/receiver.ts";
import { waitFor } from "../lab/wait-for.ts";
import { runProbeCommand } from "../system/deployment.ts";
import { ADMIN, useDeployment } from "./deployment.ts";
import { claim } from "./every-page.ts";
import { findActive } from "./inert.ts";
import { find, goTo, logIn, settleFilter, tabTo } from "./pages.ts";
import { openProxy } from "./proxy.ts";
import { found, HOSTILE } from "./world.ts";

const MAC = "02:00:5e:10:00:07";
const deployment = useDeployment({
  probe: {}, configure: async () => ({ env: { LANTHORN_WEBHOOKS_ALLOW: "127.0.0.1" } }),
});

beforeAll(async () => {
  for (const [index, hostname] of HOSTILE.entries()) await deployment.collector.rest.createDevice({ ip: `10.9.0.${index + 1}`, hostname, tags: [hostname.slice(0, 64)] });
  await deployment.collector.rest.createDevice({ ip: "10.9.0.7", mac: MAC, hostname: "night-printer", device_type: "printer" });
});

describe("the dashboard", () => {
  test("is used by keyboard alone: log in, find a device by its MAC, filter the list and open the first", async () => {
    const { page, context, faults } = await deployment.browser.open();
    await logIn(page, deployment.collector.url, ADMIN);
    await find(page, MAC);
    await page.getByRole("heading", { name: "night-printer", level: 1 }).waitFor();

    await goTo(page, "d");
    await page.getByRole("grid", { name: "Devices" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("type:printer night");
    await settleFilter(page, "night");
    await expect.poll(() => page.getByRole("grid").getAttribute("aria-rowcount")).toBe("2");
    expect(new URL(page.url()).searchParams.get("device_type")).toBe("printer");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "night-printer", level: 1 }).waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  test("shows hostile names as the texts that they are, and its policy has nothing to report", async () => {
    const { page, context, faults } = await deployment.browser.open();
    await logIn(page, deployment.collector.url, ADMIN);
    await goTo(page, "d");
    await page.getByText('<img src=x onerror="document.title=1">').first().waitFor();
    await page.getByText("in⟨202E⟩voice⟨2066⟩").first().waitFor();
    expect(await page.locator("main img, main script").count()).toBe(0);
    for (const ip of ["10.9.0.3", "10.9.0.5", "10.9.0.66"]) {
      await find(page, ip);
      await page.getByRole("heading", { name: "What it is" }).waitFor();
      expect(await findActive(page, ip)).toEqual([]);
    }
    expect(faults).toEqual([]);
    await context.close();
  });

  test("has twenty alerts triaged by keyboard alone: each is acknowledged, resolved or muted, and none is passed over", async () => {
    // With that of the hostile host as many of a type as make no storm.
    for (let index = 1; index <= 19; index += 1) deployment.probe.say(claim(index));
    await waitFor("19 alerts", () => (deployment.probe.acknowledged() === deployment.probe.said() ? true : null));
    const { page, context, faults } = await deployment.browser.open();
    await logIn(page, deployment.collector.url, ADMIN);
    await goTo(page, "a");
    const rows = page.locator("main").getByRole("listitem").filter({ hasText: "ARP spoofing" });
    await expect.poll(() => rows.count()).toBe(20);
    const article = page.getByRole("article");
    for (const key of Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? "e" : "r"))) {
      await page.keyboard.press("j");
      await article.getByText("open", { exact: true }).first().waitFor();
      await page.keyboard.press(key);
      await article.getByText(key === "e" ? "acknowledged" : "resolved", { exact: true }).first().waitFor();
    }
    for (const key of ["j", "m"]) await page.keyboard.press(key);
    await page.getByRole("heading", { name: "Mute alerts like this" }).waitFor();
    for (const key of ["Tab", "Tab"]) await page.keyboard.press(key);
    await page.keyboard.type("moving it, ticket 4711");
    await page.keyboard.press("Enter");
    await article.getByText("muted", { exact: true }).first().waitFor();
    // Somebody who knows the keys does not wait for what they cause.
    for (let left = 9; left > 0; left -= 1) for (const key of ["j", "e"]) await page.keyboard.press(key);
    const data = await waitFor("what the keys did", async () => {
      const all = (await deployment.collector.rest.listAlerts()).data;
      return all.filter(({ status }) => status === "acknowledged").length === 14 ? all : null;
    }, { everyMs: 1000 });
    // One that ended by itself, such as that of a probe that was away for a moment, was nobody's.
    expect(data.filter(({ status, resolved_by: by }) => status === "resolved" && by !== null)).toHaveLength(5);
    expect(data.filter(({ muted }) => muted).map(({ status }) => status)).toEqual(["open"]);
    expect(new Set(data.flatMap(({ acknowledged_by: by, resolved_by }) => [by, resolved_by]))).toEqual(new Set([null, "admin"]));
    expect((await deployment.collector.rest.listAlertMutes()).data.map(({ reason }) => reason)).toEqual(["moving it, ticket 4711"]);
    expect(faults).toEqual([]);
    await context.close();
  });

  test("enrolls a probe by keyboard alone: the command that it shows does it, and the page waits until it is done", async () => {
    const { page, context, faults } = await deployment.browser.open();
    await logIn(page, deployment.collector.httpsUrl, ADMIN);
    await goTo(page, "s");
    await page.getByRole("heading", { name: "Sites and probes" }).waitFor();
    await page.keyboard.press("n");
    await page.getByLabel("The token is good for").waitFor();
    for (const key of ["Tab", "Tab", "Tab", "Enter"]) await page.keyboard.press(key);
    await page.getByText("Waiting…").waitFor();
    const [program, ...args] = (await page.getByLabel("The command").inputValue()).split(" ");
    expect([program, ...args]).toEqual(["lanthorn-probe", "enroll", "--collector", deployment.collector.httpsUrl, "--token", expect.stringMatching(/^\S{20,}$/)]);
    const { code } = await runProbeCommand({ dataDir: join(deployment.folder, "probe") }, args);
    expect(code).toBe(0);
    await page.getByText(/^Enrolled: /).waitFor();
    const enrolled = (await deployment.collector.rest.listProbes()).data.find(({ id }) => id !== deployment.probe.probeId);
    expect(await page.getByText(/^Enrolled: /).innerText()).toContain(enrolled?.name);
    await page.keyboard.press("Escape");
    await page.getByRole("article").filter({ hasText: enrolled?.name ?? "" }).getByText("enrolled", { exact: true }).waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  test("has an API key made and revoked by keyboard alone", async () => {
    const { page, context, faults } = await deployment.browser.open();
    await logIn(page, deployment.collector.url, ADMIN);
    await goTo(page, "k");
    await page.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
    await page.keyboard.press("n");
    await page.keyboard.type("nightly export");
    await tabTo(page, page.getByRole("checkbox", { name: "devices:read" }));
    await page.keyboard.press("Space");
    await tabTo(page, page.getByRole("textbox", { name: "Name" }));
    await page.keyboard.press("Enter");
    expect(await page.getByLabel("The key", { exact: true }).last().inputValue()).toMatch(/^svc_live_[0-9a-f]{48}$/);
    expect((await deployment.collector.rest.listApiKeys()).data.map(({ name, scopes }) => [name, scopes])).toEqual([["nightly export", ["devices:read"]]]);
    await page.keyboard.press("Escape");
    await tabTo(page, page.getByRole("button", { name: "Revoke nightly export" }));
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Revoke this key?" }).waitFor();
    for (const key of ["Tab", "Enter"]) await page.keyboard.press(key);
    await page.getByText("No keys yet").waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  test("adds a webhook, sends an event again and a test, and shows events as they come", async () => {
    const receiver = await startReceiver();
    const { page, context, faults } = await deployment.browser.open();
    await logIn(page, deployment.collector.url, ADMIN);
    await goTo(page, "i");
    await page.getByRole("heading", { name: "Integrations", level: 1 }).waitFor();
    await page.keyboard.press("n");
    await page.getByRole("heading", { name: "Add a webhook" }).waitFor();
    await page.keyboard.type(receiver.url);
    await page.keyboard.press("Enter");
    expect(await page.getByLabel("The signing key").last().inputValue()).not.toBe("");
    await page.keyboard.press("Escape");
    const press = async (name: string) => {
      await tabTo(page, page.getByRole("button", { name }).first());
      await page.keyboard.press("Enter");
    };
    deployment.probe.say(found("10.9.0.199", "02:00:5e:10:01:99", "early-guest"));
    await receiver.got(1);
    await press("Show deliveries to");
    await press("Send again");
    const [first, again] = await receiver.got(2);
    expect(again?.body).toBe(first?.body);
    await press("Send a test");
    await receiver.got(3);
    await press("Remove http");
    await page.getByRole("heading", { name: /^Remove http.*\?$/ }).waitFor();
    for (const key of ["Tab", "Enter"]) await page.keyboard.press(key);
    await page.getByText("No webhooks yet").waitFor();
    expect((await deployment.collector.rest.listWebhooks()).data).toEqual([]);

    await goTo(page, "l");
    await page.getByText("connected", { exact: true }).waitFor();
    deployment.probe.say(found("10.9.0.200", "02:00:5e:10:02:00", "late-guest"));
    await page.getByRole("log").getByText("late-guest").waitFor();
    expect(faults).toEqual([]);
    await context.close();
    await receiver.close();
  });

  test("goes on after a reload without the password, gives the session to no page of another port, and forgets it at logout", async () => {
    const { page, context, faults } = await deployment.browser.open();
    await logIn(page, deployment.collector.url, ADMIN);
    await goTo(page, "d");
    await page.getByRole("grid", { name: "Devices" }).waitFor();
    await page.reload();
    await page.getByRole("grid", { name: "Devices" }).waitFor();
    expect(await page.evaluate("document.cookie + Object.values(localStorage).filter((text) => text.includes('eyJ')).join()")).toBe("");
    expect((await context.cookies(`${deployment.collector.url}/api/v1/auth/session`)).map(({ name, path, httpOnly, sameSite }) => [name, path, httpOnly, sameSite]))
      .toEqual([["lanthorn_session", "/api/v1/auth", true, "Strict"]]);

    const other = createServer((_request, answer) => answer.setHeader("content-type", "text/html").end("<title>other</title>"));
    await new Promise<void>((resolve) => {
      other.listen(0, "127.0.0.1", resolve);
    });
    const attacker = await context.newPage();
    await attacker.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
    const resume = JSON.stringify(`${deployment.collector.url}/api/v1/auth/session/resume`);
    expect(await attacker.evaluate(`fetch(${resume}, { method: "POST", credentials: "include" }).then((answer) => answer.text(), () => "nothing")`)).toBe("nothing");
    await attacker.close();
    other.close();

    await page.getByRole("button", { name: "You and this browser" }).first().click();
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    expect([await context.cookies(), faults]).toEqual([[], []]);
    await context.close();
  });

  test("keeps what was there, with its date, while the collector does not answer", async () => {
    const { page, context } = await deployment.browser.open();
    await logIn(page, deployment.collector.url, ADMIN);
    await goTo(page, "d");
    await page.getByRole("grid").getByText("night-printer").waitFor();
    await page.route("**/api/**", (route) => route.abort());
    await page.getByRole("button", { name: "Name" }).click();
    await page.getByText("The collector does not answer").waitFor();
    await page.unroute("**/api/**");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("grid").getByText("night-printer").waitFor();
    await context.close();
  });

  test("works below a path of a proxy, at each of its addresses", async () => {
    const proxy = await openProxy("/tools/lanthorn", deployment.collector.url);
    const { page, context, faults } = await deployment.browser.open();
    const base = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/tools/lanthorn`;
    const { data: [device] } = await deployment.collector.rest.listDevices({ search: MAC });
    await logIn(page, `${base}/devices/${device?.id}`, ADMIN);
    await page.getByRole("heading", { name: "night-printer", level: 1 }).waitFor();
    await page.getByRole("link", { name: "All devices" }).click();
    await page.getByRole("grid", { name: "Devices" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/tools/lanthorn/devices");
    expect(faults).toEqual([]);
    await context.close();
    proxy.close();
  });
});
