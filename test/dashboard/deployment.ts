import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { type Collector, startCollector } from "../system/deployment.ts";
import type { SimulatedProbe } from "../system/simulated-probe.ts";
import { type RealBrowser, startBrowser } from "./browser.ts";
import { sayHostile } from "./world.ts";

export const ADMIN = { username: "admin", password: "only for this test" };
export const VIEWER = { username: "night-shift", password: "only for this test too" };

/** A collector with an administrator and a viewer, a browser, and a probe where one is wanted. */
interface Deployment {
  readonly folder: string;
  readonly collector: Collector;
  readonly browser: RealBrowser;
  readonly probe: SimulatedProbe;
}

/**
 * Starts them before the tests of a file and ends them after; to be called first in it.
 * @param options.probe Enrolls one that says what hostile hosts would make it say; see `sayHostile`.
 * @param options.configure What the collector is started with besides. It may write files into the folder.
 * @returns What has them from then on.
 */
export function useDeployment({ probe, configure }: {
  readonly probe?: NonNullable<Parameters<typeof sayHostile>[1]>;
  readonly configure?: (folder: string) => Promise<Pick<Parameters<typeof startCollector>[0], "env" | "file">>;
} = {}): Deployment {
  const own: { -readonly [name in keyof Deployment]?: Deployment[name] } = {};
  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), "lanthorn-dashboard-"));
    own.folder = folder;
    const { env, ...others } = await configure?.(folder) ?? {};
    const collector = await startCollector({ ...others, dataDir: join(folder, "collector"), host: "127.0.0.1", env: { LANTHORN_ADMIN_PASSWORD: ADMIN.password, ...env } });
    own.collector = collector;
    await collector.rest.createUser({ ...VIEWER, role: "viewer" });
    if (probe) own.probe = await sayHostile(collector, probe);
    own.browser = await startBrowser();
  });
  afterAll(async () => {
    await own.browser?.close();
    own.probe?.close();
    await own.collector?.stop();
    if (own.folder !== undefined) rmSync(own.folder, { recursive: true, force: true });
  });
  return own as Deployment;
}
