import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { RestClient } from "@lanthorn/client";
import { describeError } from "@lanthorn/runtime";
import { Command } from "commander";
import { generateIdentity } from "../../apps/collector/src/backups/format/age-keys.ts";
import { startReceiver } from "../../apps/collector/src/deliveries/testing/receiver.ts";
import { PROBE_BOX } from "../lab/host-plan.ts";
import { waitFor } from "../lab/wait-for.ts";
import { startScenario } from "../lab/scenarios/run-scenario.ts";
import { createVariant } from "../lab/scenarios/scenario.ts";
import { SCENARIOS } from "../lab/scenarios/scenarios.ts";
import { openSite } from "../system/site.ts";
import { startBrowser } from "./browser.ts";
import { furnish } from "./furnish.ts";
import { logIn, settle, TOUR } from "./pages.ts";
import { sense, sensorFolders } from "./sensed.ts";

/** Pictures of every page of the dashboard, light and dark, from a phone to a wide screen, from the demonstration site. */

const PASSWORD = "only for these pictures";
const LAN = "10.77.0.0/24";
const SCREENS = [
  { name: "light", width: 1280, height: 800, scheme: "light" }, { name: "dark", width: 1280, height: 800, scheme: "dark" },
  { name: "phone", width: 360, height: 800, scheme: "light" }, { name: "phone-dark", width: 360, height: 800, scheme: "dark" },
  { name: "tablet", width: 768, height: 1024, scheme: "light" }, { name: "wide", width: 2560, height: 1440, scheme: "light" },
] as const;

interface Target {
  readonly url: string;
  readonly password: string;
}

await new Command("npm run dashboard:screenshots --")
  .description("Writes pictures of every page of the dashboard: of the demonstration site, or of a collector that runs.")
  .argument("<dir>", "where the pictures go")
  .option("--url <url>", "a collector that runs, as npm start prints it")
  .option("--password-file <file>", "its administrator's password")
  .action(async (dir: string, { url, passwordFile }: { readonly url?: string; readonly passwordFile?: string }) => {
    try {
      await (url === undefined ? ofDemonstration(dir) : takeAll(dir, { url, password: readFileSync(passwordFile ?? "", "utf8").trim() }));
    } catch (error) {
      process.stderr.write(`dashboard:screenshots: ${describeError(error)}\n`);
      process.exitCode = 1;
    }
  })
  .parseAsync();

/** A site on which something happens: its hosts are found and scanned, and one of them is attacked; its resolver, a decoy and rules have something to see. */
async function ofDemonstration(dir: string): Promise<void> {
  const [{ recipient }, receiver] = await Promise.all([generateIdentity(), startReceiver()]);
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-sensors-"));
  const site = await openSite({
    probeEnv: sensorFolders(folder).probeEnv,
    collectorEnv: { LANTHORN_ADMIN_PASSWORD: PASSWORD, LANTHORN_BACKUPS_RECIPIENTS: recipient, LANTHORN_WEBHOOKS_ALLOW: "127.0.0.1" },
    probeToml: `[guards]\nlearning_minutes = 0.25\n[traffic]\ninterfaces = ["${PROBE_BOX.lanInterface}"]\n`,
  });
  let endSensors: () => Promise<void> = () => Promise.resolve();
  const { rest } = site.collector;
  try {
    const hosts = (await site.lab.status()).hosts.length;
    await waitFor("the demonstration's hosts", async () => ((await rest.listDevices()).meta.total >= hosts ? true : null));
    await scanLan(rest);
    const attack = SCENARIOS.find(({ name }) => name === "arpspoof");
    if (!attack) throw new Error("there is no scenario arpspoof");
    const running = await startScenario(site.lab, attack, createVariant(0, 0));
    await waitFor("an alert", async () => ((await rest.listAlerts()).meta.total > 0 ? true : null));
    await rest.startPcap({ filter: "host 10.77.0.20 and tcp port 80", seconds: 600 });
    const { id } = await rest.startPcap({ seconds: 5 });
    await waitFor("the capture", async () => ((await rest.readPcap(id)).state === "ready" ? true : null));
    await site.lab.join("kitchen-tablet");
    await scanLan(rest);
    await furnish(rest, site.siteId, receiver.url);
    endSensors = await sense(site, rest, folder);
    await takeAll(dir, { url: site.collector.url, password: PASSWORD });
    await running.stop();
  } finally {
    await endSensors();
    await site.close();
    await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function scanLan(rest: RestClient): Promise<void> {
  const { id } = await rest.startScan({ target: LAN, profile: "standard" });
  await waitFor("the scan", async () => ((await rest.readScan(id)).status === "completed" ? true : null));
}

async function takeAll(dir: string, { url, password }: Target): Promise<void> {
  const folder = resolve(dir);
  mkdirSync(folder, { recursive: true });
  const browser = await startBrowser();
  try {
    // In one browser, which keeps the page's files: one with nothing kept for each screen asks for more of them in a minute than an address may.
    const { page, context } = await browser.open();
    for (const screen of SCREENS) {
      await context.clearCookies();
      await page.setViewportSize(screen);
      await page.emulateMedia({ colorScheme: screen.scheme });
      await page.goto(url);
      await page.getByRole("heading", { name: "Log in" }).waitFor();
      await page.screenshot({ path: join(folder, `login-${screen.name}.png`) });
      await logIn(page, url, { username: "admin", password });
      for (const { name, title, go } of TOUR) {
        await go(page);
        await settle(page, title);
        await page.screenshot({ path: join(folder, `${name}-${screen.name}.png`) });
        process.stdout.write(`${name}-${screen.name}.png\n`);
      }
    }
  } finally {
    await browser.close();
  }
}
