import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createRestClient, type RestClient } from "@lanthorn/client";
import { formatDeviceFilter, parseDeviceFilter } from "@lanthorn/contract";
import type { CDPSession, Page } from "playwright-core";
import { type RealBrowser, startBrowser, type Window } from "../dashboard/browser.ts";
import { logIn, settle, TOUR } from "../dashboard/pages.ts";
import { REPOSITORY } from "../lab/lab-state.ts";
import { measureLive } from "./dashboard-live.ts";
import { measureMap } from "./dashboard-map.ts";
import { scrollThrough, timeToFiltered, timeToLastRow, timeToRows } from "./dashboard-pages.ts";
import { SEED_PASSWORD, seedCollector, startSeeded } from "./seeded-collector.ts";

const ADMIN = { username: "admin", password: SEED_PASSWORD };
const RUNS = 5;
const THROTTLE = 4;
const ASSETS = join(REPOSITORY, "apps/dashboard/dist/assets");
/** Every one leaves something, and another number than the one before. */
const FILTERS = ["berlin", "lyon", "porto", "kyiv", "oslo", "graz", "turin", "malmo"].flatMap((place) => [
  place, `type:printer ${place}`, `type:server,router -tag:lab ${place}`, `state:online vendor:"Cisco Systems, Inc" ${place}`, `cam-${place}-0`,
]);

interface Scene {
  readonly url: string;
  readonly rest: RestClient;
  readonly browser: RealBrowser;
  readonly devices: number;
  /** Answers that the API refused for their number, in all windows. */
  readonly refused: { count: number };
}

/**
 * How the dashboard works on a collector with many devices, in Debian's Chromium: loaded and logged in on a processor four times slower (CDP), filtered, scrolled and followed live on
 * this one. The last line is JSON.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { devices: { type: "string", default: "100000" }, "live-seconds": { type: "string", default: "300" } } });
  const [devices, liveSeconds] = [Number(values.devices), Number(values["live-seconds"])];
  const isCount = Number.isInteger(devices) && devices >= 1000 && devices <= 1_000_000 && liveSeconds >= 1;
  if (!isCount) throw new Error("--devices takes a whole number from 1000 on, --live-seconds one from 1 on");
  const directory = mkdtempSync(join(tmpdir(), "lanthorn-bench-dashboard-"));
  await seedCollector(directory, { devices });
  const collector = await startSeeded(directory);
  const browser = await startBrowser();
  try {
    const url = String(collector.ready["url"]);
    const rest = await keyed(url);
    const scene: Scene = { url, rest, browser, devices, refused: { count: 0 } };
    const floor = await measureFloor(rest);
    const login = await measureLogin(scene);
    const list = await measureList(scene);
    const requests = await measureTour(scene);
    const mqttUrl = String(collector.ready["mqtt_url"]);
    const map = await measureMap({ ...scene, mqttUrl, open: () => openWindow(scene) });
    console.log(`map of 300 switches: ${map.map(Math.round).join(", ")} ms`);
    const live = await measureLive({ ...scene, mqttUrl, seconds: liveSeconds, open: () => openWindow(scene) });
    console.log(JSON.stringify({
      bench: "dashboard", initial_js_kb: login.initialKib, largest_chunk_kb: Math.max(...scriptsOf(ASSETS).map(({ kib }) => kib)),
      login_to_rows_ms: login.ms, ...list,
      map_300_ms: median(map), live_heap_growth_mb: live.growthMegabytes, live_events_per_second: live.perSecond, requests_per_navigation_max: requests, responses_429: scene.refused.count, floor_list_ms: floor,
    }));
  } finally {
    await browser.close();
    await collector.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A client whose limit is that of programs, so that what it asks for is not counted for the person in the browser. */
async function keyed(url: string): Promise<RestClient> {
  const { access_token: token } = await createRestClient({ url, token: () => null, fetch }).login(ADMIN);
  const rest = createRestClient({ url, token: () => token, fetch });
  const { key } = await rest.createApiKey({ name: "bench", scopes: ["devices:read", "agents:read", "agents:write"] });
  return createRestClient({ url, token: () => key, fetch });
}

async function openWindow({ browser, refused }: Pick<Scene, "browser" | "refused">): Promise<Window & { readonly cdp: CDPSession }> {
  const window = await browser.open({ width: 1440, height: 900 });
  // What compiles this file gives functions their names by it; those that run in the page have none.
  await window.page.addInitScript("globalThis.__name ??= (it) => it;");
  window.page.on("response", (response) => {
    if (response.status() === 429) refused.count += 1;
  });
  return { ...window, cdp: await window.context.newCDPSession(window.page) };
}

/** The list itself, without a browser: what the grid asks for first. */
async function measureFloor(rest: RestClient): Promise<number> {
  const taken: number[] = [];
  for (let count = 0; count < 10; count += 1) {
    const from = performance.now();
    await rest.listDevices({ sort: "ip", per_page: 200 });
    taken.push(performance.now() - from);
  }
  return median(taken);
}

async function measureLogin(scene: Scene): Promise<{ readonly ms: number; readonly initialKib: number }> {
  const taken: number[] = [];
  let initialKib = 0;
  for (let count = 0; count < RUNS; count += 1) {
    const { page, context, cdp } = await openWindow(scene);
    const scripts = new Set<string>();
    page.on("request", (request) => request.resourceType() === "script" && scripts.add(request.url().split("/").at(-1) ?? ""));
    await cdp.send("Emulation.setCPUThrottlingRate", { rate: THROTTLE });
    await page.goto(`${scene.url}/devices`);
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    initialKib = scriptsOf(ASSETS).filter(({ name }) => scripts.has(name)).reduce((sum, { kib }) => sum + kib, 0);
    await page.keyboard.type(ADMIN.username);
    await page.keyboard.press("Tab");
    await page.keyboard.type(ADMIN.password);
    taken.push(await timeToRows(page, "Enter"));
    await context.close();
  }
  console.log(`login to rows, ${THROTTLE} × slower: ${taken.map(Math.round).join(", ")} ms`);
  return { ms: median(taken), initialKib: round(initialKib) };
}

async function measureList(scene: Scene) {
  const { page, context } = await openWindow(scene);
  await logIn(page, `${scene.url}/devices`, ADMIN);
  await settle(page, /^Devices/);
  const scrolled = await scrollThrough(page);
  await page.keyboard.press("Home");
  await settle(page, /^Devices/);
  let requests = 0;
  page.on("request", (request) => {
    if (request.url().includes("/api/v1/devices")) requests += 1;
  });
  const lastRows = [];
  for (let count = 0; count < RUNS; count += 1) {
    await page.locator('[role="grid"]').focus();
    await page.keyboard.press("Home");
    await settle(page, /^Devices/);
    requests = 0;
    // Another order each time, so that no answer is there already.
    await page.getByRole("columnheader").getByRole("button").nth(count % 3).click();
    await settle(page, /^Devices/);
    requests = 0;
    lastRows.push({ ms: await timeToLastRow(page, scene.devices), requests });
  }
  const filtered = await measureFilters(page, scene);
  await context.close();
  console.log(`last row: ${lastRows.map(({ ms }) => Math.round(ms)).join(", ")} ms; filters: ${filtered.map(Math.round).join(", ")} ms`);
  return {
    filter_p95_ms: round(filtered.toSorted((one, other) => one - other)[Math.floor(filtered.length * 0.95)] ?? Number.NaN),
    scroll_long_tasks: scrolled.longTasks, dom_rows: scrolled.rows, last_row_ms: median(lastRows.map(({ ms }) => ms)), last_row_requests: Math.max(...lastRows.map((one) => one.requests)),
  };
}

async function measureFilters(page: Page, { rest }: Scene): Promise<readonly number[]> {
  const taken: number[] = [];
  for (const text of FILTERS) {
    const parsed = parseDeviceFilter(text);
    if (!parsed.ok) throw new Error(`${text} is no filter: ${parsed.message}`);
    const { meta } = await rest.listDevices({ ...parsed.filter, per_page: 1 });
    if (meta.total === 0) throw new Error(`${formatDeviceFilter(parsed.filter)} leaves nothing`);
    taken.push(await timeToFiltered(page, text, meta.total));
    // As fast as somebody writes filters, so that the limit for a minute is not what is measured.
    await page.waitForTimeout(600);
  }
  return taken;
}

/** Every page once, as somebody would who looks at everything. @returns The most requests to the API for one of them. */
async function measureTour(scene: Scene): Promise<number> {
  const { page, context } = await openWindow(scene);
  let requests = 0;
  page.on("request", (request) => {
    if (request.url().includes("/api/v1/")) requests += 1;
  });
  await logIn(page, scene.url, ADMIN);
  await settle(page, /^Overview/);
  const counts = [{ name: "login and overview", requests }];
  for (const { name, title, go } of TOUR) {
    requests = 0;
    await go(page);
    await settle(page, title);
    counts.push({ name, requests });
  }
  await context.close();
  console.log(`requests: ${counts.map((one) => `${one.name} ${one.requests}`).join(", ")}`);
  return Math.max(...counts.map((one) => one.requests));
}

function scriptsOf(folder: string): readonly { readonly name: string; readonly kib: number }[] {
  return readdirSync(folder).filter((name) => name.endsWith(".js.gz")).map((name) => ({ name: name.replace(/\.gz$/, ""), kib: round(statSync(join(folder, name)).size / 1024) }));
}

function median(values: readonly number[]): number {
  return round(values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
