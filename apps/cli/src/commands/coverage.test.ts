import type { RestClient } from "@lanthorn/client";
import type { SiteCoverage } from "@lanthorn/contract";
import { expect, test } from "vitest";
import { formatAnswer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { showCoverage } from "./coverage.ts";

const ID = "01939f6e-2a10-7c3e-8f00-000000000001";
const AT = "2026-11-20T08:15:30.250Z";
const COVERAGE: SiteCoverage = {
  site_id: ID, probes: [
    {
      probe_id: ID, name: "box", is_online: true, reported_at: AT, facts: [{ fact: "lldp", value: "not seen", since: AT }],
      detectors: [
        { name: "Gateway", state: "sees", why: "It answers.", what_to_do: null }, { name: "Switch neighbors", state: "blind", why: "No LLDP.", what_to_do: "Turn on LLDP." },
        { name: "Others", state: "partly", why: "No LLDP.", what_to_do: "Turn on LLDP." },
      ],
    },
    {
      probe_id: ID, name: "evil\u001B[2J", is_online: false, reported_at: AT, facts: [],
      detectors: [{ name: "Gateway", state: "sees", why: "It answers.", what_to_do: null }],
    },
    { probe_id: ID, name: "new\u001B[2J", is_online: true, reported_at: null, facts: [], detectors: [] },
  ],
};

test("coverage shows what each probe sees, for what it is blind, and once what to change", async () => {
  const rest: Partial<RestClient> = {
    listSites: () => Promise.resolve({ data: [{ id: ID, name: "Office" }] as never, meta: { page: 1, per_page: 20, total: 1, next_cursor: null } }),
    readSiteCoverage: () => Promise.resolve(COVERAGE),
  };
  const answer = await showCoverage({ rest } as Connection, undefined);
  const lines = formatAnswer(answer, false).split("\n");
  expect(lines).toContain("Switch neighbors  blind   No LLDP.");
  expect(lines).toContain("LLDP  not seen  2026-11-20T08:15:30Z");
  expect(lines.filter((line) => line === "- Turn on LLDP.")).toHaveLength(1);
  expect(lines).toContain("evil?[2J: silent now, and sees nothing; this is what it saw, as of 2026-11-20T08:15:30Z");
  expect(lines.at(-1)).toContain("new?[2J");
  expect(answer.json).toEqual(COVERAGE);
});
