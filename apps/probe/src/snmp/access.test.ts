import type { ProbeCredential } from "@lanthorn/contract/uplink";
import { createFakeClock, createId } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { createSnmpAccess } from "./access.ts";
import type { SnmpCredential } from "./session/session.ts";

const community = (networks: readonly string[] = []): SnmpCredential => ({
  id: createId(), name: "community", networks: [...networks], type: "snmp", settings: { version: "2c", port: 161 },
  secret: { community: "lan-secret" },
});
const user = (password = "authentic-1"): SnmpCredential => ({
  id: "0199fffe-0000-7000-8000-000000000001", name: "user", networks: [], type: "snmpv3",
  settings: { username: "usual", context: "", auth_protocol: "sha256", privacy_protocol: null, port: 161 },
  secret: { auth_password: password },
});
const ssh: ProbeCredential = {
  id: createId(), name: "ssh", networks: [], type: "ssh", settings: { username: "backup", port: 22 }, secret: { password: "geheim" },
};

function open(
  all: readonly ProbeCredential[],
  { devices = [], alone = [], reaches = () => true }: {
    readonly devices?: readonly string[]; readonly alone?: readonly string[]; readonly reaches?: (ip: string) => boolean;
  } = {},
) {
  const clock = createFakeClock();
  return { clock, access: createSnmpAccess({ reaches, credentials: { forHost: () => all, namedHosts: () => alone }, devices, clock }) };
}
const namesFor = (ip: string, ...given: Parameters<typeof open>) => open(...given).access.forHost(ip).map(({ name }) => name);

describe("a credential", () => {
  test("is sent to whom somebody has named, or whose network it is for, of whatever version, and to nobody else who answers", () => {
    expect(namesFor("10.0.0.9", [user(), community(), ssh])).toEqual([]);
    expect(namesFor("10.0.0.9", [user(), community(["10.0.0.0/24"])])).toEqual(["community"]);
    expect(namesFor("10.0.0.9", [{ ...user(), networks: ["10.0.0.0/24"] }, community()])).toEqual(["user"]);
    expect(namesFor("10.0.0.9", [user()], { devices: ["10.0.0.9"] })).toEqual(["user"]);
    expect(namesFor("10.0.0.9", [community()], { devices: ["10.0.0.9"] })).toEqual(["community"]);
    expect(namesFor("10.0.0.9", [community()], { alone: ["10.0.0.9"] })).toEqual(["community"]);
    expect(namesFor("fd00::9", [community()], { devices: ["FD00:0:0::9"] })).toEqual(["community"]);
  });

  test("is sent beyond the probe's own networks only to whom the probe's own file names, whatever a credential or a host says", () => {
    const held = [{ ...user(), networks: ["0.0.0.0/0"] }, community(["203.0.113.7/32"])];
    const bound = { alone: ["203.0.113.7"], reaches: (ip: string) => ip.startsWith("10.") };
    expect(namesFor("203.0.113.7", held, bound)).toEqual([]);
    expect(open(held, bound).access.namedHosts()).toEqual([]);
    expect(namesFor("203.0.113.7", held, { ...bound, devices: ["203.0.113.7"] })).toEqual(["user", "community"]);
    expect(namesFor("10.0.0.9", held, bound)).toContain("user");
  });

  test("that is refused waits an hour, or until it is another", async () => {
    const { access, clock } = open([user()]);
    access.noteProblem("10.0.0.9", user(), { kind: "refused", text: "the password is wrong" });
    expect(["10.0.0.9", "10.0.0.8"].map((ip) => access.refusal(ip, user()))).toEqual(["the password is wrong", null]);
    expect(access.refusal("10.0.0.9", user("authentic-2"))).toBeNull();
    await clock.advance(3_600_000);
    expect(access.refusal("10.0.0.9", user())).toBeNull();
  });

  test("that has been answered to is not given up for a silence, and nobody for being away", () => {
    const { access } = open([user()]);
    access.noteProblem("10.0.0.8", user(), { kind: "silent", text: "it does not answer" });
    access.noteAnswer("10.0.0.9", user());
    access.noteProblem("10.0.0.9", user(), { kind: "unanswered", text: "it does not answer to this user" });
    access.noteProblem("10.0.0.7", user(), { kind: "unanswered", text: "it does not answer to this user" });
    const refusals = ["10.0.0.9", "10.0.0.8", "10.0.0.7"].map((ip) => access.refusal(ip, user()));
    expect(refusals).toEqual([null, null, "it does not answer to this user"]);
  });
});
