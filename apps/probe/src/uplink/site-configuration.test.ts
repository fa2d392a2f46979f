import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProbeConfiguration } from "@lanthorn/contract/uplink";
import { silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSiteConfiguration } from "./site-configuration.ts";

let directory: string;
let applied: ProbeConfiguration[];
let said: number[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-site-"));
  applied = [];
  said = [];
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const path = () => join(directory, "site-configuration.json");
const open = () => createSiteConfiguration({
  path: path(), log: silentLog, onState: () => said.push(1),
  credentials: (sealed) => Promise.resolve(sealed === "for another" ? "not sealed to this probe's key" : null),
  apply(configuration) {
    if (configuration.excluded.includes("printer")) return "no address";
    applied.push(configuration);
    return null;
  },
});
const wish = (overrides: Partial<ProbeConfiguration> = {}): ProbeConfiguration => ({
  v: 1, revision: 1, site_name: "Office", sweep: { enabled: true, interval_seconds: 600, packets_per_second: 50 }, excluded: ["10.0.0.7"],
  ...overrides,
});
const payload = (value: unknown) => Buffer.from(JSON.stringify(value));

describe("the collector's configuration", () => {
  test("is applied, and holds after a restart without a connection", () => {
    open().onMessage(payload(wish()));
    applied = [];
    expect(open().current()).toEqual(wish());
    expect(applied).toEqual([wish()]);
  });

  test("that cannot be read, or used, leaves the last one in force", () => {
    const configuration = open();
    configuration.onMessage(payload(wish()));
    for (const bad of [
      payload({}), Buffer.from("{"), Buffer.alloc(0), payload(wish({ excluded: ["printer"] })), payload({ ...wish(), v: 2 }),
      Buffer.alloc(2_000_000, "x"),
    ]) {
      configuration.onMessage(bad);
    }
    expect(configuration.current()).toEqual(wish());
    expect(open().current()).toEqual(wish());
  });

  test("is reported by its revision, and by the error of the last one that was received", async () => {
    const configuration = open();
    expect(configuration.state()).toEqual({ revision: null, error: null });
    const state = async (message: unknown) => {
      configuration.onMessage(payload(message));
      await Promise.resolve();
      return configuration.state();
    };
    expect(await state(wish())).toEqual({ revision: 1, error: null });
    expect(await state(wish({ revision: 2, excluded: ["printer"] }))).toEqual({ revision: 1, error: "no address" });
    expect(await state({})).toMatchObject({ revision: 1, error: expect.stringContaining("cannot read") as string });
    expect(await state(wish({ revision: 3, credentials: "for another" }))).toEqual({
      revision: 3, error: "not sealed to this probe's key",
    });
    expect(await state(wish({ revision: 4, credentials: "sealed" }))).toEqual({ revision: 4, error: null });
    expect(said.length).toBe(5);
  });

  test("that was kept and is damaged does not stop the start", () => {
    writeFileSync(path(), "{ nonsense");
    expect(open().current()).toBeNull();
    rmSync(path());
    mkdirSync(path());
    const configuration = open();
    configuration.onMessage(payload(wish()));
    expect(configuration.current()).toEqual(wish());
  });
});
