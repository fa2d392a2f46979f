import { describe, expect, test } from "vitest";
import { AGO, baselineOf, type FactText, NOW, outcomes, SOON } from "../testing/comparisons.ts";
import type { CertificateNow } from "./certificates.ts";
import { compareDevice } from "./combine.ts";
import type { NeighborNow } from "./neighbors.ts";
import type { PortNow } from "./ports.ts";
import { type Mode, NOT_CHECKED_MS } from "./result.ts";

interface Case {
  readonly facts: readonly FactText[];
  readonly certificates?: readonly CertificateNow[];
  readonly neighbors?: readonly NeighborNow[];
  readonly ports?: readonly PortNow[];
  readonly mode?: Mode;
  readonly now?: string;
}
const compare = ({ facts, certificates = [], neighbors = [], ports = [], mode = "active", now = SOON }: Case) =>
  outcomes(compareDevice({ ports, looks: [], certificates, neighbors }, baselineOf(facts, mode), Date.parse(now)));
const inAWeek = new Date(Date.parse(NOW) + NOT_CHECKED_MS).toISOString();

describe("certificates", () => {
  const shown = (...fingerprints: readonly string[]): readonly CertificateNow[] => fingerprints.map((fingerprint) => ({ fingerprint, seenAt: NOW }));
  const facts: readonly FactText[] = ["certificate tls = aa,bb"];
  test.each<readonly [string, Case, object]>([
    ["as they were", { facts, certificates: shown("aa", "bb") }, { differences: [], learned: ["certificate tls"] }],
    ["of which one did not answer", { facts, certificates: shown("aa") }, { differences: [], learned: ["certificate tls"] }],
    ["of which one is another", { facts, certificates: shown("aa", "cc") }, { differences: ["certificate tls changed: aa,bb -> aa,cc"] }],
    ["of which all are others", { facts, certificates: shown("cc") }, { differences: ["certificate tls replaced: aa,bb -> cc"] }],
    ["that are seen first", { facts: [], certificates: shown("aa") }, { differences: [], learned: ["certificate tls"] }],
    ["that are seen first by what is frozen", { facts: [], certificates: shown("aa"), mode: "frozen" }, { differences: [], learned: [] }],
    ["of which none was seen", { facts }, { differences: [], undecided: ["certificate tls"] }],
    ["of which none was seen in a week", { facts, now: inAWeek }, { differences: ["certificate tls not_checked: aa,bb -> "] }],
    ["of an earlier look do not count", { facts, certificates: [...shown("aa"), { fingerprint: "old", seenAt: AGO }] }, { differences: [] }],
    ["that are others while it learns", { facts, certificates: shown("cc"), mode: "learning" }, { differences: [], learned: ["certificate tls"] }],
  ])("%s", (_, of, expected) => expect(compare(of)).toMatchObject(expected));
});

test("another host key and another certificate at once are another machine", () => {
  const ssh = (hostKey: string): PortNow => ({ protocol: "tcp", port: 22, state: "open", service: "ssh", version: "", hostKey, seenAt: NOW });
  const facts: readonly FactText[] = ["port tcp/22 = open", "host_key tcp/22 = a", "certificate tls = aa"];
  const outcomesOf = (hostKey: string, fingerprint: string) =>
    compare({ facts, ports: [ssh(hostKey)], certificates: [{ fingerprint, seenAt: NOW }] }).differences.map((text) => text.split(":", 1)[0]);
  expect(outcomesOf("b", "cc")).toEqual(["host_key tcp/22 replaced", "certificate tls replaced"]);
  expect(outcomesOf("b", "aa")).toEqual(["host_key tcp/22 changed"]);
  expect(outcomesOf("a", "cc")).toEqual(["certificate tls replaced"]);
});

describe("a neighbor", () => {
  const at = (port: string, value: string, state: NeighborNow["state"] = "up"): NeighborNow => ({ port, value, state, seenAt: NOW });
  const facts: readonly FactText[] = ["neighbor eth0 = switch 1"];
  test.each<readonly [string, Case, object]>([
    ["is the one that was there", { facts, neighbors: [at("eth0", "switch 1")] }, { differences: [], learned: ["neighbor eth0"] }],
    ["is another one", { facts, neighbors: [at("eth0", "switch 2")] }, { differences: ["neighbor eth0 changed: switch 1 -> switch 2"] }],
    ["is one of two at a port", { facts, neighbors: [at("eth0", "switch 1"), at("eth0", "phone")] },
      { differences: ["neighbor eth0 changed: switch 1 -> phone, switch 1"] }],
    ["is there for the first time of all", { facts: [], neighbors: [at("eth0", "switch 1")] }, { differences: [], learned: ["neighbor eth0"] }],
    ["is new at another port", { facts, neighbors: [at("eth0", "switch 1"), at("eth1", "ap")] }, { differences: ["neighbor eth1 appeared:  -> ap"] }],
    ["is gone", { facts, neighbors: [at("eth0", "switch 1", "gone")] }, { differences: ["neighbor eth0 gone: switch 1 -> "] }],
    ["is unknown: nobody listens", { facts, neighbors: [at("eth0", "switch 1", "unknown")] }, { differences: [], undecided: ["neighbor eth0"] }],
    ["is not checked when nobody has listened for a week", { facts, now: inAWeek }, { differences: ["neighbor eth0 not_checked: switch 1 -> "] }],
    ["is gone while it learns", { facts, neighbors: [at("eth0", "switch 1", "gone")], mode: "learning" }, { differences: [], forgotten: ["neighbor eth0"] }],
    ["is new to what is frozen", { facts, neighbors: [at("eth0", "switch 1"), at("eth1", "ap")], mode: "frozen" },
      { differences: ["neighbor eth1 appeared:  -> ap"] }],
  ])("%s", (_, of, expected) => expect(compare(of)).toMatchObject(expected));
});
