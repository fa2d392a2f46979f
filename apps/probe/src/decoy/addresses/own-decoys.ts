import { createHash } from "node:crypto";
import { parsePrefix, prefixHolds, parseIp } from "@lanthorn/packets";
import type { DecoySettings } from "../settings.ts";
import { ownMac } from "./own-mac.ts";

/** A decoy with an address of its own. */
export interface OwnDecoy {
  readonly name: string;
  readonly ip: string;
  readonly prefixLength: number;
  /** The interface on which it is taken. */
  readonly parent: string;
  /** Name of the link that is made for it. */
  readonly link: string;
  readonly mac: string;
  /** Number of its table of routes. */
  readonly table: number;
}

/** @param dataDir Where the seed of MAC addresses is kept. */
export function ownDecoys(decoys: readonly DecoySettings[], dataDir: string): readonly OwnDecoy[] {
  return decoys.flatMap(({ name, address, own }) => {
    if (!own) return [];
    const digest = createHash("sha256").update(name).digest();
    return [{
      name, ip: address, prefixLength: own.prefixLength, parent: own.interface, mac: ownMac(dataDir, { name, mac: own.mac }),
      link: `lt${digest.toString("hex").slice(0, 10)}`, table: 0x4c00_0000 + digest.readUIntBE(5, 3),
    }];
  });
}

/** The first of these addresses through which a decoy reaches other networks: one of its own network, or a router's of the link. */
export function gatewayOf({ ip, prefixLength }: Pick<OwnDecoy, "ip" | "prefixLength">, gateways: readonly string[]): string | null {
  return gateways.find((gateway) => isOnLink({ ip, prefixLength }, gateway) || (ip.includes(":") && gateway.startsWith("fe80:"))) ?? null;
}

/** Whether an address lies in a decoy's network. */
export function isOnLink({ ip, prefixLength }: Pick<OwnDecoy, "ip" | "prefixLength">, address: string): boolean {
  const [network, bytes] = [parsePrefix(`${ip}/${prefixLength}`), parseIp(address)];
  return network !== null && bytes !== null && prefixHolds(network, bytes, 0, bytes.length);
}
