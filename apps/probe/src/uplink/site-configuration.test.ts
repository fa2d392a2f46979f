import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ProbeConfiguration } from "@lanthorn/contract/uplink";
import { nextTurn, silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSiteConfiguration, siteModule } from "./site-configuration.ts";

let directory: string;
let applied: object[];
let announced: object[];
let said: number[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-site-"));
  applied = [];
  announced = [];
  said = [];
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const path = () => join(directory, "site-configuration.json");
const open = () => createSiteConfiguration({
  path: path(), log: silentLog, onState: () => said.push(1),
  modules: [
    siteModule({
      name: "egress", part: ProbeConfiguration.pick({ sweep: true, excluded: true }), refuses: "all",
      take(part) {
        if (part.excluded.includes("printer")) return "no address";
        applied.push(part);
        return null;
      },
    }),
    siteModule({
      name: "credentials", part: ProbeConfiguration.pick({ credentials: true }), refuses: "part",
      take: ({ credentials }) => Promise.resolve(credentials === "for another" ? "not sealed to this probe's key" : null),
    }),
    siteModule({ name: "bundles", part: ProbeConfiguration.pick({ bundles: true }), refuses: "part", take(part) {
      announced.push(part);
      return null;
    } }),
  ],
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
    const { sweep, excluded } = wish();
    expect(applied).toEqual([{ sweep, excluded }]);
  });

  test("goes to each module as its own part, unless one of them refuses all of it", () => {
    const configuration = open();
    const bundles = [{ name: "fingerprints", version: 3 }];
    configuration.onMessage(payload(wish({ bundles })));
    configuration.onMessage(payload(wish({ revision: 2, bundles: [], excluded: ["printer"] })));
    expect([applied.length, announced]).toEqual([1, [{ bundles }]]);
    expect(configuration.current()?.revision).toBe(1);
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
      await nextTurn();
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
