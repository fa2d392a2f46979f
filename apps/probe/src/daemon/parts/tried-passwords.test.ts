import { HoneypotCredentials, MAX_TRIED_CREDENTIALS, SEALED_PASSWORDS_INFO, SealedPasswords } from "@lanthorn/contract/uplink";
import { createId, hpkeOpen, hpkePublicKey } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createTriedPasswords } from "./tried-passwords.ts";

const KEY = new Uint8Array(32).fill(7);
const TRIED: HoneypotCredentials = {
  incident_id: createId(), decoy: "files2",
  tried: [{ service: "ssh", username: "root", password: "Summer-2026!", is_bait: false }, { service: "smb2", username: "joe", password: null, is_bait: false }],
};

test("passwords are sealed for the collector's key alone, the names stay; without a key nothing of them is left", () => {
  const passwords = createTriedPasswords();
  const { passwords_sealed: none, ...named } = passwords.seal({ ...TRIED, passwords_sealed: "AAAA" });
  expect([none, named.tried]).toEqual([undefined, TRIED.tried.map((one) => ({ ...one, password: null }))]);
  passwords.sealFor(hpkePublicKey(KEY).toString("base64"));
  const { passwords_sealed: sealed, ...same } = HoneypotCredentials.parse(passwords.seal(TRIED));
  expect(same).toEqual(named);
  const open = (aad: string, key = KEY) => hpkeOpen(key, Buffer.from(sealed ?? "", "base64"), { info: SEALED_PASSWORDS_INFO, aad })?.toString();
  expect(SealedPasswords.parse(JSON.parse(open(TRIED.incident_id) ?? ""))).toEqual(["Summer-2026!", null]);
  expect([open(createId()), open(TRIED.incident_id, new Uint8Array(32))]).toEqual([undefined, undefined]);
  passwords.sealFor(undefined);
  expect(passwords.seal(TRIED)).toEqual(named);
});

test("the most that one message has of them is still one, whatever is in them", () => {
  const passwords = createTriedPasswords();
  passwords.sealFor(hpkePublicKey(KEY).toString("base64"));
  const tried = Array.from({ length: MAX_TRIED_CREDENTIALS }, () => ({ service: "ssh", username: "root", password: "\u0001".repeat(255), is_bait: false }));
  expect(HoneypotCredentials.safeParse(passwords.seal({ ...TRIED, tried })).success).toBe(true);
});
