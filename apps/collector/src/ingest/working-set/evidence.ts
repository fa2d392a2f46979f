import type { Evidence } from "@lanthorn/contract";
import type { Schema } from "../../db/schema.ts";
import { type IdentityKey, keyText } from "../../identity/keys.ts";
import type { DeviceDraft } from "../devices/devices-draft.ts";

/** What is taken in of one device at once; a busy machine's whole state has some dozens. */
const MAX_EVIDENCE = 500;

/** What is said of a site's devices, and the keys that they show, while batches are applied. */
export interface EvidenceAndKeys {
  /** Rows to be written, by their keys. */
  readonly evidence: ReadonlyMap<string, Schema["evidence"]>;
  /** Keys that their devices did not have. */
  readonly keys: readonly Schema["device_keys"][];
  /** Takes in a key that a device has, as it was read. */
  holdKey(deviceId: string, text: string): void;
  /** Beyond `MAX_EVIDENCE` of one device, only what it has is renewed. */
  addEvidence(device: DeviceDraft, list: readonly Evidence[]): void;
  addKeys(device: DeviceDraft, keys: readonly IdentityKey[], at: string): void;
}

/** Holds none yet. */
export function createEvidenceAndKeys({ tenantId, siteId }: { readonly tenantId: string; readonly siteId: string }): EvidenceAndKeys {
  const evidence = new Map<string, Schema["evidence"]>();
  const evidenceOf = new Map<string, number>();
  const heldKeys = new Set<string>();
  const newKeys: Schema["device_keys"][] = [];
  return {
    evidence, keys: newKeys,
    holdKey: (deviceId, text) => void heldKeys.add(`${deviceId} ${text}`),
    addEvidence(device, list) {
      for (const { field, value, source, confidence, seen_at } of list) {
        const key = JSON.stringify([device.id, field, source, value]);
        const known = evidence.get(key);
        if (known && known.seen_at >= seen_at) continue;
        if (!known) {
          const count = evidenceOf.get(device.id) ?? 0;
          if (count >= MAX_EVIDENCE) continue;
          evidenceOf.set(device.id, count + 1);
        }
        evidence.set(key, { device_id: device.id, tenant_id: tenantId, field, value, source, confidence, seen_at });
      }
    },
    addKeys(device, keys, at) {
      for (const key of keys) {
        const text = keyText(key);
        const held = `${device.id} ${text}`;
        if (heldKeys.has(held)) continue;
        heldKeys.add(held);
        newKeys.push({ device_id: device.id, tenant_id: tenantId, site_id: siteId, key: text, source: key.source, first_seen: at });
      }
    },
  };
}
