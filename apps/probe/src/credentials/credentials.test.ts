import { createPrivateKey, createPublicKey } from "node:crypto";
import type { ProbeCredential } from "@lanthorn/contract/uplink";
import { createId } from "@lanthorn/runtime";
import { GeneralEncrypt } from "jose";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createKeyAndRequest } from "../identity/certificate-request.ts";
import { createCredentials, type Credentials } from "./credentials.ts";

const probeId = createId();
const keys = new Map<string, string>();
beforeAll(async () => {
  for (const name of ["own", "next", "other"]) keys.set(name, (await createKeyAndRequest(name)).privateKey);
});

let own: string;
let credentials: Credentials;
beforeEach(() => {
  own = keys.get("own") ?? "";
  credentials = createCredentials({ identity: () => ({ probe_id: probeId, private_key: own }) });
});

const snmp = (name: string, networks: readonly string[]): ProbeCredential => ({
  id: createId(), name, networks: [...networks], type: "snmp", settings: { version: "2c", port: 161 }, secret: { community: "geheim" },
});

/** As the collector seals it. */
async function seal(delivered: unknown, ...to: readonly string[]): Promise<string> {
  const jwe = new GeneralEncrypt(new TextEncoder().encode(JSON.stringify(delivered))).setProtectedHeader({ enc: "A256GCM" });
  for (const name of to) {
    jwe.addRecipient(createPublicKey(createPrivateKey(keys.get(name) ?? ""))).setUnprotectedHeader({ alg: "ECDH-ES+A256KW" });
  }
  return JSON.stringify(await jwe.encrypt());
}
const delivered = (...all: readonly ProbeCredential[]) => ({ probe_id: probeId, credentials: all });
const namesFor = (ip: string) => credentials.forHost(ip).map(({ name }) => name);

describe("credentials", () => {
  test("are for their networks' hosts, the smallest network first", async () => {
    const all = [snmp("any", []), snmp("office", ["10.0.0.0/8", "fd00::/8"]), snmp("switches", ["10.1.2.0/24"]), snmp("one", ["10.1.2.3"])];
    expect(await credentials.take(await seal(delivered(...all), "own"))).toBeNull();
    expect(namesFor("10.1.2.3")).toEqual(["one", "switches", "office", "any"]);
    expect(namesFor("10.9.9.9")).toEqual(["office", "any"]);
    expect(namesFor("fd00::1")).toEqual(["office", "any"]);
    expect(namesFor("192.0.2.1")).toEqual(["any"]);
    expect(namesFor("no address")).toEqual([]);
    expect(credentials.forHost("192.0.2.1")[0]).toEqual(all[0]);
    expect(credentials.namedHosts()).toEqual(["10.1.2.3"]);
  });

  test("that are not for this probe, or are no credentials, leave those that are there", async () => {
    await credentials.take(await seal(delivered(snmp("any", [])), "own"));
    const good = await seal(delivered(snmp("new", [])), "own");
    const refused: readonly (readonly [string, string])[] = [
      [await seal(delivered(snmp("new", [])), "other"), "not encrypted to this probe's key"], ["", "not encrypted"], ["{}", "not encrypted"],
      ["null", "not encrypted"], [good.replace(/"ciphertext":"..../, '"ciphertext":"AAAA'), "not encrypted"],
      [await seal({ ...delivered(), probe_id: createId() }, "own"), "another probe"],
      [await seal({ probe_id: probeId, credentials: [{ type: "telnet" }] }, "own"), "does not know"],
    ];
    for (const [sealed, words] of refused) {
      const wrong = await credentials.take(sealed);
      expect(wrong).toContain(words);
      expect(wrong).not.toContain("geheim");
    }
    expect(namesFor("192.0.2.1")).toEqual(["any"]);
  });

  test("are forgotten when there are none any more", async () => {
    await credentials.take(await seal(delivered(snmp("any", [])), "own"));
    expect(await credentials.take(undefined)).toBeNull();
    expect(namesFor("192.0.2.1")).toEqual([]);
  });

  test("that are sealed to two keys open with either, before and after a renewal", async () => {
    const sealed = await seal(delivered(snmp("any", [])), "next", "own");
    expect(await credentials.take(sealed)).toBeNull();
    own = keys.get("next") ?? "";
    expect(await credentials.take(sealed)).toBeNull();
  });

  test("that came last count, whichever were open first", async () => {
    const first = credentials.take(await seal(delivered(snmp("first", [])), "own"));
    const second = credentials.take(undefined);
    await Promise.all([first, second]);
    expect(namesFor("192.0.2.1")).toEqual([]);
  });
});
