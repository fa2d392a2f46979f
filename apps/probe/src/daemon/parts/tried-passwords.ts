import { type HoneypotCredentials, SEALED_PASSWORDS_INFO } from "@lanthorn/contract/uplink";
import { hpkeSeal } from "@lanthorn/runtime";

/** What makes passwords that were tried at decoys unreadable before they are written down. */
export interface TriedPasswords {
  /** @param key The collector's `password_key`; undefined while none is known. */
  sealFor(key: string | undefined): void;
  /** @returns The same with the passwords sealed; without them while no key is known, for they are somebody's own. */
  seal(credentials: HoneypotCredentials): HoneypotCredentials;
}

/** @returns One that knows no key yet. */
export function createTriedPasswords(): TriedPasswords {
  let key: Uint8Array | null = null;
  return {
    sealFor(given) {
      key = given === undefined ? null : Buffer.from(given, "base64");
    },
    seal({ incident_id: incidentId, decoy, tried }) {
      const passwords = Buffer.from(JSON.stringify(tried.map(({ password }) => password)));
      const sealed = key && hpkeSeal(key, passwords, { info: SEALED_PASSWORDS_INFO, aad: incidentId });
      return { incident_id: incidentId, decoy, tried: tried.map((one) => ({ ...one, password: null })), ...(sealed && { passwords_sealed: sealed.toString("base64") }) };
    },
  };
}
