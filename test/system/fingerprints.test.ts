import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOSTS } from "../lab/host-plan.ts";
import { canMakeLabs } from "../lab/testing.ts";
import { waitFor } from "../lab/wait-for.ts";
import { runProbeCommand } from "./deployment.ts";
import { openSite, type Site } from "./site.ts";

/** Recog's databases, which lie beside the repository and are no part of it. */
const RECOG = fileURLToPath(new URL("../../../shared/data/recog", import.meta.url));
const hasRecog = existsSync(RECOG);
if (!hasRecog) console.warn(`databases of fingerprints at a site: not tried, as there is no ${RECOG}`);

describe.skipIf(!canMakeLabs() || !hasRecog)("databases of fingerprints that a running probe is given", () => {
  let site: Site;
  let folder: string;

  beforeAll(async () => {
    site = await openSite({ hosts: ["gateway", "core-switch", "printer", "web"] });
    // The smaller set: a part of the whole that knows neither switches nor printers.
    folder = mkdtempSync(join(tmpdir(), "lanthorn-recog-"));
    copyFileSync(join(RECOG, "ssh_banners.xml"), join(folder, "ssh_banners.xml"));
  });

  afterAll(async () => {
    await site?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const addressOf = (name: string) => HOSTS.find((host) => host.name === name)?.addresses[0]?.split("/")[0] ?? "";
  const profileOf = async (name: string) => {
    const { data } = await site.collector.rest.listDevices();
    const mac = HOSTS.find((host) => host.name === name)?.mac;
    return site.collector.rest.readDevice(data.find((device) => device.mac === mac)?.id ?? "");
  };
  const fingerprints = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await runProbeCommand(site.box, ["fingerprints", ...args]);
    expect([args, code, stderr]).toEqual([args, 0, ""]);
    return JSON.parse(stdout) as Readonly<Record<string, unknown>>;
  };
  /** Scans one host to its end. */
  const scan = async (name: string) => {
    const { rest } = site.collector;
    const order = { target: `${addressOf(name)}/32`, profile: "standard", site_id: site.siteId } as const;
    const { id } = await waitFor("the probe takes an order", () => rest.startScan(order).catch(() => null), { everyMs: 1000 });
    await waitFor("the scan's end", async () => ((await rest.readScan(id)).status === "completed" ? true : null), { everyMs: 500 });
  };
  const byRecog = async (name: string) => {
    const { evidence } = await profileOf(name);
    const claims = Object.entries(evidence).flatMap(([field, said]) => said.map((one) => ({ field, ...one })));
    return claims.filter(({ source }) => source.includes(":recog")).map(({ field, value }) => `${field} ${value}`);
  };
  const reported = (name: string, fact: string) =>
    waitFor(`${name}: ${fact}`, async () => ((await byRecog(name)).includes(fact) ? true : null));

  test("are used without a restart, add what only they know, and roll back", async () => {
    const small = await fingerprints("update", "--from", folder);
    expect(small).toMatchObject({ unchanged: false, files: 1, refused: 0 });
    await scan("core-switch");
    await reported("core-switch", "os Debian");
    expect(await byRecog("core-switch")).not.toContain("model J9019B");

    const whole = await fingerprints("update", "--from", RECOG);
    expect(whole).toMatchObject({ unchanged: false, right: whole["examples"] });
    await scan("core-switch");
    await reported("core-switch", "model J9019B");
    // Our own rules read its description too, so that Recog's reading stands beside theirs.
    const { verdicts, evidence } = await profileOf("core-switch");
    expect(evidence["model"]?.map(({ value, source }) => [value, source])).toContainEqual(["J9019B", "snmp-description:recog:161"]);
    expect([verdicts.model?.value, verdicts.device_type?.value]).toEqual(["J9019B", "switch"]);

    expect(await fingerprints("rollback")).toEqual({ version: small["version"] });
    await scan("printer");
    // All evidence from one answer is published at once.
    await waitFor("what the printer says of itself", async () => ((await profileOf("printer")).evidence["model"] ? true : null));
    expect(await byRecog("printer")).toEqual([]);

    expect(await fingerprints("rollback")).toEqual({ version: whole["version"] });
    await scan("printer");
    await reported("printer", "model NC-8300w");
  });
});
