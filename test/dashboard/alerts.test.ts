import { expect, test } from "vitest";
import { findFaults } from "./axe.ts";
import { ADMIN, VIEWER, useDeployment } from "./deployment.ts";
import { goTo, logIn, pressOn, settle } from "./pages.ts";

const deployment = useDeployment({ probe: {} });

const counted = async (status: string) => (await deployment.collector.rest.listAlerts({ status })).meta.total;

test("alerts are counted by what they are: a count is the list's total once it is clicked, and a second click takes it out again", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  await goTo(page, "a");
  await settle(page, /^Alerts/);
  const total = await counted("open");
  await page.getByText("Severities, sources and kinds").click();
  const kind = page.getByRole("group", { name: "Kind" }).getByRole("button", { name: /^ARP spoofing/ });
  const count = Number((await kind.textContent())?.replace(/\D+/, ""));
  expect(await findFaults(page, "alert facets")).toEqual([]);
  await kind.click();
  await page.getByText(`${count} pending`, { exact: true }).waitFor();
  expect(new URL(page.url()).searchParams.get("type")).toBe("arp_spoofing");
  await kind.click();
  await page.getByText(`${total} pending`, { exact: true }).waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test("they are counted under the filter that the address has in words, as the list is", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  await page.goto(`${deployment.collector.url}/alerts?filter=type:arp_spoofing&severity=purple&color=red`);
  await settle(page, /^Alerts/);
  await page.getByText("1 pending", { exact: true }).waitFor();
  await page.getByText("Severities, sources and kinds").click();
  const kinds = page.getByRole("group", { name: "Kind" }).getByRole("button");
  await kinds.first().waitFor();
  expect(await kinds.allTextContents()).toEqual(["ARP spoofing 1"]);
  // The words are the address's parameters, so that each can be changed; what is no parameter or no value of one spoils nothing.
  expect(new URL(page.url()).searchParams.get("type")).toBe("arp_spoofing");
  expect(faults).toEqual([]);
  await context.close();
});

test("a filter is saved as a view by keyboard, made the default, begun with, seen by others where it is shared, and removed", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  const open = async (of = page) => {
    await goTo(of, "a");
    await settle(of, /^Alerts/);
  };
  await open();
  const all = await counted("open");
  const critical = (await deployment.collector.rest.listAlerts({ status: "open", severity: "critical" })).meta.total;
  expect(critical).toBeLessThan(all);
  await page.getByLabel("Severity", { exact: true }).focus();
  await page.keyboard.type("critical");
  await page.getByText(`${critical} pending`, { exact: true }).waitFor();
  await page.getByRole("heading", { name: "Alerts" }).click();
  await page.keyboard.press("v");
  await page.getByLabel("Save it as").waitFor();
  await page.keyboard.type("<b>Urgent</b>\u202E");
  await page.getByLabel("For everybody").press("Space");
  await page.getByLabel("Save it as").press("Enter");
  await pressOn(page.getByRole("button", { name: "Make default: <b>Urgent</b>" }));
  await page.getByRole("button", { name: "No default: <b>Urgent</b>" }).waitFor();
  expect(await findFaults(page, "views of alerts")).toEqual([]);
  const [view] = (await deployment.collector.rest.listViews({ list: "alerts" })).data;
  expect(view).toMatchObject({ filter: "severity:critical status:open,acknowledged", sort: "", columns: [], shared: true });
  expect((await deployment.collector.rest.readPreferences()).default_views).toEqual({ devices: null, alerts: view?.id });
  await page.keyboard.press("Escape");
  await goTo(page, "o");
  await settle(page, /^Overview/);
  await open();
  await page.getByText(`${critical} pending`, { exact: true }).waitFor();
  expect(new URL(page.url()).searchParams.get("severity")).toBe("critical");

  // A viewer is shown what others share, and shares nothing.
  const own = await deployment.collector.rest.createView({ list: "alerts", name: "Everything", filter: "seen:<7d", shared: true });
  const viewer = await deployment.browser.open();
  await logIn(viewer.page, deployment.collector.url, VIEWER);
  await open(viewer.page);
  await viewer.page.getByText(`${all} pending`, { exact: true }).waitFor();
  await viewer.page.keyboard.press("v");
  await pressOn(viewer.page.getByRole("button", { name: "Everything", exact: true }));
  // Without a state it is of all of them.
  await viewer.page.getByText(`${(await deployment.collector.rest.listAlerts()).meta.total} alerts`, { exact: true }).waitFor();
  await viewer.page.getByText("seen:<7d", { exact: true }).waitFor();
  expect(await findFaults(viewer.page, "a filter of time")).toEqual([]);
  await pressOn(viewer.page.getByRole("button", { name: "Any device and time" }));
  await viewer.page.getByText("seen:<7d", { exact: true }).waitFor({ state: "detached" });
  await viewer.page.keyboard.press("v");
  await viewer.page.getByText("shared by admin").first().waitFor();
  expect(await viewer.page.getByLabel("For everybody").count()).toBe(0);
  await viewer.context.close();

  await deployment.collector.rest.deleteView(own.id);
  await page.keyboard.press("v");
  await pressOn(page.getByRole("button", { name: "Remove <b>Urgent</b>" }));
  await pressOn(page.getByRole("button", { name: "Remove", exact: true }));
  await page.getByText("No view is saved yet.").waitFor();
  expect([(await deployment.collector.rest.listViews()).data, (await deployment.collector.rest.readPreferences()).default_views.alerts]).toEqual([[], null]);
  expect([faults, viewer.faults]).toEqual([[], []]);
  await context.close();
});

test("all alerts that the filter leaves are acknowledged at once by keyboard, as many as the list counts, and none where others match by now", async () => {
  const total = await counted("open");
  expect(total).toBeGreaterThan(2);
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  await goTo(page, "a");
  await settle(page, /^Alerts/);
  await page.getByRole("button", { name: `Change all ${total}` }).waitFor();
  await page.keyboard.press("b");
  await page.getByText("status:open,acknowledged").waitFor();
  expect(await findFaults(page, "change alerts")).toEqual([]);
  const [first] = (await deployment.collector.rest.listAlerts({ status: "open" })).data;
  await deployment.collector.rest.resolveAlert(first?.id ?? "");
  await pressOn(page.getByRole("button", { name: `Change ${total} alerts` }));
  await page.getByRole("alert").getByText("CONFLICT").waitFor();
  expect(await counted("acknowledged")).toBe(0);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: `Change all ${total - 1}` }).waitFor();
  await page.keyboard.press("b");
  await page.getByLabel("Note").fill("<b>ticket 4711</b>\u202E");
  await pressOn(page.getByRole("button", { name: `Change ${total - 1} alerts` }));
  await page.getByText(`${total - 1} changed, 0 were so already.`).waitFor();
  expect([await counted("acknowledged"), await counted("open")]).toEqual([total - 1, 0]);
  await pressOn(page.getByRole("button", { name: "Close", exact: true }).last());
  await page.keyboard.press("j");
  const history = page.getByRole("article").locator("section").filter({ hasText: "What people did" });
  await history.getByText("<b>ticket 4711</b>⟨202E⟩").waitFor();
  await page.keyboard.press("n");
  await page.getByLabel("What is done").selectOption("muted");
  await page.getByLabel("Note").fill("until the move is over");
  expect(await findFaults(page, "an alert's note")).toEqual([]);
  await pressOn(page.getByRole("button", { name: "Change 1 alert", exact: true }));
  await page.getByText("1 changed, 0 were so already.").waitFor();
  await pressOn(page.getByRole("button", { name: "Close", exact: true }).last());
  await history.getByText("until the move is over").waitFor();
  expect((await deployment.collector.rest.listAlertMutes()).data.map(({ reason }) => reason)).toEqual(["until the move is over"]);
  await page.keyboard.press("n");
  // Begun with what is left to do.
  expect(await page.getByLabel("What is done").inputValue()).toBe("resolved");
  await page.getByLabel("What is done").selectOption("acknowledged");
  await page.getByLabel("Note").fill("kept nowhere");
  await pressOn(page.getByRole("button", { name: "Change 1 alert", exact: true }));
  await page.getByText("0 changed, 1 was so already. It was so already: your note was not kept there.").waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test("a viewer is not offered to change them", async () => {
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, VIEWER);
  await goTo(page, "a");
  await settle(page, /^Alerts/);
  await page.getByRole("listitem").filter({ hasText: "ARP spoofing" }).first().waitFor();
  expect(await page.getByRole("button", { name: "Change all" }).count()).toBe(0);
  expect(faults).toEqual([]);
  await context.close();
});
