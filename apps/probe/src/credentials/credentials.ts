import { createPrivateKey } from "node:crypto";
import { DeliveredCredentials, type ProbeCredential } from "@lanthorn/contract/uplink";
import { type AddressPrefix, formatIp, parseIp, parsePrefix, prefixHolds } from "@lanthorn/packets";
import { parseJson } from "@lanthorn/runtime";
import type { Identity } from "../identity/identity.ts";

/** What the collector has delivered to this probe, for logging in to devices. It is open in memory only; on the disk it lies sealed. */
export interface Credentials {
  /** Those that are for a host: the ones for the smallest network first, those for every host last. @param ip Of either family. */
  forHost(ip: string): readonly ProbeCredential[];
  /** Addresses that some of them for SNMP name alone: who wrote one down wants that host asked. */
  namedHosts(): readonly string[];
  /**
   * Takes what came in the place of what was there.
   * @param sealed A JWE; undefined for none.
   * @returns What is wrong with it, in which case what was there stays; else null. It never rejects, and names no secret.
   */
  take(sealed: string | undefined): Promise<string | null>;
}

interface Held {
  readonly credential: ProbeCredential;
  readonly prefixes: readonly AddressPrefix[];
}

/** Shorter than every prefix. */
const ANY = -1;

/** @param deps.identity Whose key opens it, read each time: a renewal brings another key. */
export function createCredentials(deps: { readonly identity: () => Pick<Identity, "probe_id" | "private_key"> }): Credentials {
  let held: readonly Held[] = [];
  let taken = 0;

  const open = async (sealed: string): Promise<readonly Held[] | string> => {
    const { probe_id: probeId, private_key: key } = deps.identity();
    // Only loaded by probes that have something to open.
    const { generalDecrypt } = await import("jose");
    let plain: Uint8Array;
    try {
      ({ plaintext: plain } = await generalDecrypt(JSON.parse(sealed) as Parameters<typeof generalDecrypt>[0], createPrivateKey(key), {
        keyManagementAlgorithms: ["ECDH-ES+A256KW"], contentEncryptionAlgorithms: ["A256GCM"],
      }));
    } catch {
      return "the credentials are not encrypted to this probe's key";
    }
    const delivered = DeliveredCredentials.safeParse(parseJson(new TextDecoder().decode(plain)));
    if (!delivered.success) return "the credentials have a type that this version of the probe does not know";
    if (delivered.data.probe_id !== probeId) return "the credentials belong to another probe";
    return delivered.data.credentials.map(
      (credential) => ({ credential, prefixes: credential.networks.flatMap((text) => parsePrefix(text) ?? []) }),
    );
  };

  return {
    forHost(ip) {
      const address = parseIp(ip);
      if (!address) return [];
      return held.flatMap(({ credential, prefixes }) => {
        const fitting = prefixes.filter((prefix) => prefixHolds(prefix, address, 0, address.length)).map(({ length }) => length);
        const length = credential.networks.length === 0 ? ANY : Math.max(...fitting);
        return length === Number.NEGATIVE_INFINITY ? [] : [{ credential, length }];
      }).toSorted((a, b) => b.length - a.length).map(({ credential }) => credential);
    },
    namedHosts() {
      const prefixes = held.flatMap((one) => (one.credential.type === "ssh" ? [] : one.prefixes));
      return [...new Set(prefixes.filter(({ bytes, length }) => length === bytes.length * 8).map(({ bytes }) => formatIp(bytes)))];
    },
    async take(sealed) {
      taken += 1;
      const turn = taken;
      const opened = sealed === undefined ? [] : await open(sealed);
      // What came later counts, whichever was opened first.
      if (turn === taken && typeof opened !== "string") held = opened;
      return typeof opened === "string" ? opened : null;
    },
  };
}
