import { describe, expect, test } from "vitest";
import { baselineOf, type FactText, NOW, outcomes, SOON, AGO } from "../testing/comparisons.ts";
import { comparePorts, type Look, type PortNow } from "./ports.ts";
import { NOT_CHECKED_MS } from "./result.ts";

const port = (key: string, rest: Partial<PortNow> = {}): PortNow => {
  const [protocol = "", number = ""] = key.split("/");
  return { protocol, port: Number(number), state: "open", service: "", version: "", hostKey: null, seenAt: NOW, ...rest };
};
/** A scan that asked TCP 1 to 1000 and UDP 53, with the list that the baseline knows. */
const look = (lookedAt = NOW, scopeId = "known"): Look => ({
  scopeId, lookedAt, scope: "scan", covers: (protocol, number) => (protocol === "tcp" ? number <= 1000 : number === 53),
});
const wide = (): Look => ({ scopeId: "wide", lookedAt: NOW, scope: "scan", covers: () => true });
const SSH = { service: "ssh", version: "OpenSSH 9.2p1" };
const KNOWN: readonly FactText[] = ["port tcp/22 = open", "service tcp/22 = ssh OpenSSH 9.2p1", "host_key tcp/22 = ssh-ed25519 SHA256:a"];
const KEY = { ...SSH, hostKey: "ssh-ed25519 SHA256:a" };

interface Case {
  readonly facts?: readonly FactText[];
  readonly ports: readonly PortNow[];
  readonly looks?: readonly Look[];
  readonly mode?: "learning" | "active" | "frozen";
  readonly scopes?: readonly string[];
}
const compare = ({ facts = KNOWN, ports, looks = [look()], mode = "active", scopes = ["known"] }: Case, now = SOON) =>
  outcomes(comparePorts({ ports, looks }, baselineOf(facts, mode, scopes), Date.parse(now)));

describe("ports", () => {
  test.each<readonly [string, Case, object]>([
    ["as they were are looked at again", { ports: [port("tcp/22", KEY)] }, { learned: ["port tcp/22", "service tcp/22", "host_key tcp/22"] }],
    ["that an earlier look covered are new", { ports: [port("tcp/22", KEY), port("tcp/80", { service: "http" })] },
      { differences: ["port tcp/80 appeared:  -> open: http"] }],
    ["that no earlier look covered become part of the baseline", { ports: [port("tcp/22", KEY), port("tcp/8080")], looks: [wide()] },
      { differences: [], learned: ["port tcp/22", "service tcp/22", "host_key tcp/22", "port tcp/8080"] }],
    ["that no earlier look covered are new to a frozen baseline", { ports: [port("tcp/22", KEY), port("tcp/8080")], looks: [wide()], mode: "frozen" },
      { differences: ["port tcp/8080 appeared:  -> open"] }],
    ["that are new while it learns are learned", { ports: [port("tcp/22", KEY), port("tcp/80")], mode: "learning" },
      { differences: [], learned: ["port tcp/22", "service tcp/22", "host_key tcp/22", "port tcp/80"] }],
    ["without a row after a look are gone", { ports: [] }, { differences: ["port tcp/22 gone: open -> "] }],
    ["of a row that says closed are gone", { ports: [port("tcp/22", { state: "closed" })], looks: [] }, { differences: ["port tcp/22 gone: open -> "] }],
    ["that are filtered are gone, and say so", { ports: [port("tcp/22", { state: "filtered" })] }, { differences: ["port tcp/22 gone: open -> filtered"] }],
    ["that are gone while it learns are forgotten, with what hangs on them", { ports: [], mode: "learning" },
      { differences: [], forgotten: ["port tcp/22", "service tcp/22", "host_key tcp/22"] }],
    ["which a person set stay while it learns", { facts: ["port tcp/22 = open by ann"], ports: [], mode: "learning" }, { differences: [], forgotten: [] }],
    ["without a row are unknown without a later look", { ports: [], looks: [look(AGO)] }, { differences: [], undecided: ["port tcp/22"] }],
    ["of UDP that are silent say nothing", { facts: ["port udp/53 = open"], ports: [] }, { differences: [], undecided: ["port udp/53"] }],
    ["of UDP that may be open say nothing", { facts: ["port udp/53 = open"], ports: [port("udp/53", { state: "open|filtered" })] },
      { differences: [], undecided: ["port udp/53"] }],
    ["of probes that do not say what they asked are never new", { ports: [port("tcp/22", KEY), port("tcp/80")], looks: [], scopes: [] }, { differences: [] }],
    ["of another list are not covered by it", { ports: [port("tcp/22", KEY), port("tcp/80")], looks: [look(NOW, "other")] }, { differences: [] }],
  ])("%s", (_, of, expected) => expect(compare(of)).toMatchObject(expected));

  test("for which nobody looked in a week are not checked, and are no difference before", () => {
    const later = (ms: number) => new Date(Date.parse(NOW) + ms).toISOString();
    const unlooked: Case = { facts: ["port tcp/22 = open"], ports: [port("tcp/22")] };
    expect(compare(unlooked, later(NOT_CHECKED_MS)).differences).toEqual([]);
    expect(compare(unlooked, later(NOT_CHECKED_MS + 1)).differences).toEqual(["port tcp/22 not_checked: open -> "]);
    expect(compare({ ...unlooked, mode: "learning" }, later(NOT_CHECKED_MS + 1)).differences).toEqual([]);
  });
});

describe("a service", () => {
  const with22 = (rest: Partial<PortNow>): Case => ({ ports: [port("tcp/22", { ...KEY, ...rest })] });
  test.each<readonly [string, Case, readonly string[]]>([
    ["of another version has changed", with22({ version: "OpenSSH 9.6p1" }), ["service tcp/22 changed: ssh OpenSSH 9.2p1 -> ssh OpenSSH 9.6p1"]],
    ["of another product was replaced", with22({ version: "dropbear 2022.83" }), ["service tcp/22 replaced: ssh OpenSSH 9.2p1 -> ssh dropbear 2022.83"]],
    ["of another name was replaced", with22({ service: "http", version: "" }), ["service tcp/22 replaced: ssh OpenSSH 9.2p1 -> http"]],
    ["that is not identified says nothing", with22({ service: "", version: "" }), []],
    ["that is identified in fewer words says nothing", with22({ version: "" }), []],
    ["that was not identified before is learned", { ...with22({}), facts: ["port tcp/22 = open"] }, []],
    ["that was not identified before is learned by nothing frozen", { ...with22({}), facts: ["port tcp/22 = open"], mode: "frozen" }, []],
    ["of a port that has appeared is reported with the port", { ...with22({}), facts: [] }, ["port tcp/22 appeared:  -> open: ssh OpenSSH 9.2p1"]],
  ])("%s", (_, of, expected) => expect(compare(of).differences).toEqual(expected));

  test("in more words becomes part of the baseline, unless it is frozen", () => {
    const facts = ["port tcp/22 = open", "service tcp/22 = ssh"] as const;
    const values = (mode: "active" | "frozen") => comparePorts(
      { ports: [port("tcp/22", SSH)], looks: [look()] }, baselineOf(facts, mode, ["known"]), Date.parse(SOON),
    ).learned.find(({ kind }) => kind === "service")?.value;
    expect([values("active"), values("frozen")]).toEqual(["ssh OpenSSH 9.2p1", "ssh"]);
  });
});

describe("a host key", () => {
  test.each<readonly [string, string | null, "learning" | "active" | "frozen", readonly string[]]>([
    ["that is another one has changed", "ssh-ed25519 SHA256:b", "active", ["host_key tcp/22 changed: ssh-ed25519 SHA256:a -> ssh-ed25519 SHA256:b"]],
    ["that is another one has changed for what is frozen too", "ssh-ed25519 SHA256:b", "frozen", ["host_key tcp/22 changed: ssh-ed25519 SHA256:a -> ssh-ed25519 SHA256:b"]],
    ["that is another one is learned while it learns", "ssh-ed25519 SHA256:b", "learning", []],
    ["that was not seen says nothing", null, "active", []],
  ])("%s", (_, hostKey, mode, expected) => {
    expect(compare({ ports: [port("tcp/22", { ...SSH, hostKey })], mode }).differences).toEqual(expected);
  });
});
