import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { waitFor } from "../lab/wait-for.ts";
import { findFaults } from "./axe.ts";
import { ADMIN, VIEWER, useDeployment } from "./deployment.ts";
import { goTo, logIn, tabTo } from "./pages.ts";
import { LAN } from "./working-probe.ts";

const deployment = useDeployment({ probe: {} });

test("a scan is started and read by keyboard alone: first it says what it will send where, at last what differs from the scan before", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  await goTo(page, "c");
  await page.getByText("No scan yet").waitFor();
  await page.keyboard.press("n");
  await page.keyboard.type("192.0.2.0/24");
  const preview = page.getByRole("region", { name: "What will be sent" });
  await preview.getByText("256 addresses").waitFor();
  await preview.getByText("1,000 TCP and 20 UDP ports").waitFor();
  await preview.getByText("it will be refused").waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("You may not do this").waitFor();
  await tabTo(page, page.getByLabel("Address or network"));
  await page.keyboard.press("Control+a");
  await page.keyboard.type(LAN);
  expect(await findFaults(page, "scan dialog")).toEqual([]);
  await preview.getByText("it will be refused").waitFor({ state: "detached" });
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: `Scan of ${LAN}`, level: 1 }).waitFor();
  await page.getByText("completed", { exact: true }).waitFor();
  await page.getByRole("listitem").filter({ hasText: "<img src=x>⟨202E⟩" }).first().waitFor();

  await page.keyboard.press("n");
  await page.getByRole("heading", { name: "Start a scan" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("0 new, 0 gone, 1 changed").waitFor();
  await page.getByRole("listitem").filter({ hasText: "8002" }).getByText("(opened)").waitFor();
  await page.getByRole("listitem").filter({ hasText: "8001" }).getByText("(closed)").waitFor();
  expect(await findFaults(page, "scan")).toEqual([]);
  expect(await page.locator("main img").count()).toBe(0);
  expect(faults).toEqual([]);
  await context.close();
});

test("a capture is started with a filter, stopped, downloaded and deleted by keyboard alone", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  const press = async (name: string | RegExp) => {
    await tabTo(page, page.getByRole("button", { name }).last());
    await page.keyboard.press("Enter");
  };
  await goTo(page, "p");
  await page.getByText("No capture yet").waitFor();
  await page.keyboard.press("n");
  await page.keyboard.type("host 10.9.0.66 and udp port 53");
  await page.getByRole("option", { name: "<b>probe</b>" }).waitFor({ state: "attached" });
  expect(await findFaults(page, "capture dialog")).toEqual([]);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Capture", level: 1, exact: true }).waitFor();
  await page.getByText("recording", { exact: true }).waitFor();
  await press("Stop the capture");
  await page.getByText("ready", { exact: true }).waitFor();
  await page.getByText("<b>dns</b>").waitFor();
  expect(await findFaults(page, "capture")).toEqual([]);
  const download = page.waitForEvent("download");
  await press(/^Download/);
  const file = await download;
  expect(file.suggestedFilename()).toBe("evidence.pcapng");
  expect(readFileSync(await file.path()).subarray(0, 4).toString("hex")).toBe("0a0d0d0a");

  await press("Keep as evidence");
  await page.getByText("locked", { exact: true }).waitFor();
  expect(await page.getByRole("button", { name: "Delete…" }).isDisabled()).toBe(true);
  await press("Unlock");
  await page.getByText("locked", { exact: true }).waitFor({ state: "detached" });
  await press("Delete…");
  await page.getByRole("heading", { name: "Delete this capture?" }).waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByText("No capture yet").waitFor();
  expect((await deployment.collector.rest.listPcaps()).meta.total).toBe(0);
  expect(faults).toEqual([]);
  await context.close();
});

test("a site that demands a reason gets it, and the audit log has it", async () => {
  const [site] = (await deployment.collector.rest.listSites()).data;
  await deployment.collector.rest.updateSiteCaptures(site?.id ?? "", { require_reason: true });
  const { id } = await deployment.collector.rest.startPcap({ filter: "arp" });
  await deployment.collector.rest.stopPcap(id);
  await waitFor("the file", async () => ((await deployment.collector.rest.readPcap(id)).state === "ready" ? true : null));
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  await goTo(page, "p");
  await tabTo(page, page.getByRole("button", { name: /^Download/ }));
  await page.keyboard.press("Enter");
  await page.getByLabel("Reason").waitFor();
  await page.keyboard.type("Ticket 4711");
  const download = page.waitForEvent("download");
  await page.keyboard.press("Enter");
  await download;
  expect((await deployment.collector.rest.listAuditRecords({ action: "pcap.download" })).data.map(({ after }) => after?.["reason"])).toContain("Ticket 4711");
  expect(faults).toEqual([]);
  await context.close();
});

test("a viewer reads scans and captures and is offered nothing that is refused", async () => {
  const { page, context, faults } = await deployment.browser.open();
  const refused: string[] = [];
  page.on("response", (response) => response.status() >= 400 && refused.push(`${response.status()} ${response.url()}`));
  await logIn(page, deployment.collector.url, VIEWER);
  await goTo(page, "c");
  await page.getByRole("link", { name: LAN }).first().click();
  await page.getByRole("heading", { name: `Scan of ${LAN}`, level: 1 }).waitFor();
  await page.getByRole("table").getByText("10.9.0.66").waitFor();
  expect(await page.getByRole("button", { name: /scan/i }).count()).toBe(0);
  await goTo(page, "p");
  await page.getByText("arp", { exact: true }).waitFor();
  await page.getByRole("table").getByRole("link").first().click();
  await page.getByText("<b>dns</b>").waitFor();
  expect(await page.getByRole("button", { name: /Download|Delete|Keep|Stop/ }).count()).toBe(0);
  expect(refused).toEqual([]);
  expect(faults).toEqual([]);
  await context.close();
});
