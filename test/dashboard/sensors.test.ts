import { expect, test } from "vitest";
import { findFaults } from "./axe.ts";
import { ADMIN, useDeployment } from "./deployment.ts";
import { goTo, logIn, pressOn } from "./pages.ts";

const deployment = useDeployment({ probe: {} });

async function open() {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  await goTo(page, "e");
  const press = (name: string | RegExp) => pressOn(page.getByRole("button", { name }).last());
  const tab = async (name: string) => {
    await page.getByRole("navigation", { name: "Sensors" }).getByRole("link", { name, exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name, level: 1, exact: true }).waitFor();
  };
  return { page, press, tab, async close() {
    expect(faults).toEqual([]);
    await context.close();
  } };
}

test("a name is checked, enforced, allowed for an hour and decided for good by keyboard alone", async () => {
  const { page, press, tab, close } = await open();
  await tab("DNS lists and rules");
  await page.getByText("<i>ads</i>⟨202E⟩").first().waitFor();
  await press(/^Enforce /);
  await press(/^Only observe /);
  await press(/^Enforce /);
  // Said by the page when the collector has answered: what is checked below is judged by it. The key is where it was.
  await page.getByRole("button", { name: /^Only observe / }).and(page.locator(":focus")).waitFor();
  await page.keyboard.press("b");
  await page.keyboard.type("casino.example");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.type("<b>why</b>");
  expect(await findFaults(page, "rule dialog")).toEqual([]);
  await page.keyboard.press("Enter");
  await page.getByText("<b>why</b>").waitFor();
  expect((await deployment.collector.rest.listDnsRules()).data.map(({ name, action }) => [name, action])).toEqual([["casino.example", "block"]]);

  await tab("DNS");
  await page.getByRole("textbox", { name: "Name" }).focus();
  await page.keyboard.type("casino.example");
  await page.keyboard.press("Enter");
  await page.getByText("block", { exact: true }).waitFor();
  expect(await findFaults(page, "checked name")).toEqual([]);
  await press("Allow for an hour: casino.example");
  await page.getByText(/^allowed until/).waitFor();
  const [allowance] = (await deployment.collector.rest.listDnsAllowances()).data;
  expect(allowance?.name).toBe("casino.example");
  expect(Date.parse(allowance?.expires_at ?? "") - Date.parse(allowance?.created_at ?? "")).toBeGreaterThan(3_590_000);
  await press("Pause for ten minutes");
  await page.getByText(/^Nothing is blocked until/).waitFor();
  await press("Block again");
  await page.getByText(/^Nothing is blocked until/).waitFor({ state: "detached" });

  await tab("DNS queries");
  await page.getByText("<b>ads</b>.example").waitFor();
  await page.getByText("in⟨202E⟩voice.example").waitFor();
  await page.getByLabel("What became of it").selectOption("blocked");
  await page.getByText("in⟨202E⟩voice.example").waitFor({ state: "detached" });
  await press("Allow for an hour: <b>ads</b>.example");
  await page.getByText("The collector does not accept this").or(page.getByText(/^allowed until/)).first().waitFor();
  await tab("DNS lists and rules");
  await press("Remove casino.example");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect.poll(async () => (await deployment.collector.rest.listDnsRules()).meta.total).toBe(0);
  await close();
});

test("a noisy rule is found with its text, suppressed, and disabled with a reason by keyboard alone", async () => {
  const { page, press, tab, close } = await open();
  await page.getByRole("link", { name: /talk/ }).first().waitFor();
  await tab("Intrusion rules");
  await press("Show rule 1000001");
  await page.getByText(/^alert udp any any/).waitFor();
  expect(await findFaults(page, "rule")).toEqual([]);
  await press("Disable rule 1000001");
  await page.keyboard.type("normal here");
  await page.keyboard.press("Enter");
  await page.getByText("disabled", { exact: true }).last().waitFor();
  await expect.poll(async () => (await deployment.collector.rest.listIdsOverrides()).data.map(({ value, state, reason }) => [value, state, reason])).toContainEqual(["1:1000001", "disabled", "normal here"]);
  expect(await page.locator("main img").count()).toBe(0);
  await close();
});

test("an anomaly is read with what was measured, and said to be normal by keyboard alone", async () => {
  const { page, press, tab, close } = await open();
  await tab("Anomalies");
  await page.getByRole("link", { name: "exfiltration" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("img", { name: /^Values up to 90000000; usual is 1000/ }).waitFor();
  await page.getByText("<i>peer</i>.example").waitFor();
  expect(await findFaults(page, "anomaly")).toEqual([]);
  await press("This is normal…");
  await page.getByLabel("Why").focus();
  await page.keyboard.type("nightly backup");
  await page.keyboard.press("Enter");
  await page.getByText("somebody said so").waitFor();
  expect((await deployment.collector.rest.listAnomalyFeedback()).data.map(({ kind, reason }) => [kind, reason])).toEqual([["exfiltration", "nightly backup"]]);
  expect(await page.locator("main img").count()).toBe(0);
  await close();
});

test("who touched a decoy is seen, and an exception for guards is added and removed by keyboard alone", async () => {
  const { page, press, tab, close } = await open();
  await tab("Guards and decoys");
  await page.getByRole("link", { name: /ARP spoofing/ }).waitFor();
  await page.locator("section").filter({ hasText: "Who touched a decoy" }).getByRole("listitem").first().waitFor();
  await page.keyboard.press("n");
  await page.getByLabel("IP address or network").focus();
  await page.keyboard.type("10.9.0.0/28");
  await page.getByLabel("Why it is right").focus();
  await page.keyboard.type("our scanner");
  expect(await findFaults(page, "exception dialog")).toEqual([]);
  await page.keyboard.press("Enter");
  await page.getByText("anything · 10.9.0.0/28").waitFor();
  await press("Remove anything · 10.9.0.0/28");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByText("None: everything is reported.").waitFor();
  await close();
});

test("a chart's axis is in the zone that a person has chosen: the site's, UTC, or the browser's", async () => {
  const { rest, url } = deployment.collector;
  const { data: [anomaly] } = await rest.listAnomalies();
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, url, ADMIN);
  const axis = async () => {
    await page.goto(`${url}/sensors/anomalies/${anomaly?.id}`);
    const ends = page.locator("figcaption time");
    await ends.last().waitFor();
    return (await ends.allInnerTexts()).map((text) => text.replace(/^.* /, ""));
  };
  await rest.updateSite(anomaly?.site_id ?? "", { time_zone: "Asia/Tokyo" });
  await rest.updatePreferences({ zone: "site" });
  await expect.poll(axis).toEqual(["GMT+9", "GMT+9"]);
  await rest.updatePreferences({ zone: "utc" });
  await expect.poll(axis).toEqual(["UTC", "UTC"]);
  await rest.updatePreferences({ zone: "local" });
  await expect.poll(axis).toEqual(["CET", "CET"]);
  await rest.updateSite(anomaly?.site_id ?? "", { time_zone: null });
  expect(faults).toEqual([]);
  await context.close();
});
