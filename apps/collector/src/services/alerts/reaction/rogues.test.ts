import { readFileSync } from "node:fs";
import { GUARD_KINDS } from "@lanthorn/contract";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AlertsBench, createAlertsBench, rogue } from "../testing/bench.ts";
import { guideOf, ROGUES } from "./rogues.ts";

const ROOT = new URL("../../../../../../", import.meta.url);

test.each(GUARD_KINDS)("an alert of %s names a section that there is", (kind) => {
  const [page = "", section] = guideOf({ source: "rogue", type: ROGUES[kind].type })?.split("#") ?? [];
  const headings = [...readFileSync(new URL(page, ROOT), "utf8").matchAll(/^#+ (.+)$/gm)]
    .map(([, heading = ""]) => heading.toLowerCase().replaceAll(/[^a-z0-9 -]/g, "").replaceAll(" ", "-"));
  expect(headings).toContain(section);
});

test("an alert that no guard raised names none", () => {
  expect([guideOf({ source: "ids", type: "arp_spoofing" }), guideOf({ source: "rogue", type: "of_another_version" })]).toEqual([null, null]);
});

describe("an alert of a guard", () => {
  let bench: AlertsBench;
  beforeEach(async () => void (bench = await createAlertsBench()));
  afterEach(() => bench.server.stop());

  const since = "2026-06-01T00:00:00.000Z";
  const after = async (...values: readonly Parameters<typeof rogue>[0][]) => {
    for (const value of values) await bench.append([rogue(value)]);
    return bench.single();
  };

  test("counts what its events count from the beginning, once", async () => {
    expect((await after({ count: 20, since })).count).toBe(20);
    expect((await after({ count: 25, since }, { count: 25, since, severity: "critical" })).count).toBe(25);
  });

  test("counts a later incident, and events of older probes, beside what it has counted", async () => {
    expect((await after({ count: 20, since }, { count: 3, since: "2026-06-01T01:00:00.000Z" }, {}, { count: 2, since: "2026-06-01T02:00:00.000Z" })).count).toBe(26);
  });

  test("takes no count that the database does not", async () => {
    expect((await after({ count: Number.MAX_SAFE_INTEGER, since }, { count: 1, since: "2026-06-01T01:00:00.000Z" })).count).toBe(2_147_483_647);
  });

  test("shows the facts of its events", async () => {
    const { evidence } = await after({ facts: { "gateway handed out": "192.0.2.66" } });
    expect(evidence[0]?.data["facts"]).toEqual({ "gateway handed out": "192.0.2.66" });
  });
});
