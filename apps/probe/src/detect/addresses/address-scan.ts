import { createBoundedMap } from "../../bounded-map.ts";
import type { GuardDeps } from "../guard.ts";
import { macText } from "./mac-number.ts";

/** Notices a host that asks for many addresses that nobody has. */
export interface AddressScan {
  /** @param request.hash Of the address that is asked for. */
  note(request: { readonly source: number; readonly hash: number; readonly length: number; readonly packet: Uint8Array }, now: number): void;
  tick(): void;
}

interface Scanner {
  readonly startedAt: number;
  readonly targets: Set<number>;
  readonly packet: Uint8Array;
  readonly length: number;
}

const MAX_SCANNERS = 256;
const WINDOW_MS = 30_000;
/**
 * A host that lost its peers asks for a few of them; routers and servers, which ask for whatever others want, are left out by the caller, as
 * are addresses that somebody has.
 */
const MAX_DARK_TARGETS = 40;

/** What is known to be there is not counted, so that a monitor that starts is no scanner. */
export function createAddressScan({ incidents }: Pick<GuardDeps, "incidents">): AddressScan {
  const scanners = createBoundedMap<number, Scanner>(MAX_SCANNERS);
  return {
    note({ source, hash, length, packet }, now) {
      let scanner = scanners.get(source);
      if (scanner && now - scanner.startedAt > WINDOW_MS) {
        scanners.delete(source);
        scanner = undefined;
      }
      if (scanner === undefined) {
        scanner = { startedAt: now, targets: new Set(), packet: packet.slice(), length };
        scanners.put(source, scanner);
      }
      if (scanner.targets.size < MAX_DARK_TARGETS) scanner.targets.add(hash);
    },
    tick() {
      for (const [source, { targets, packet, length }] of scanners) {
        if (targets.size < MAX_DARK_TARGETS) continue;
        scanners.delete(source);
        const mac = macText(source);
        incidents.report({
          kind: "address_scan", subject: mac, severity: "medium", ip: "", mac, packet, facts: { protocol: length === 4 ? "ARP" : "NDP" },
          detail: `${mac} asks for many addresses that nobody has: it looks for the hosts of this network. An attacker does this first. Find out `
            + "what runs on the device. If it is a scanner or an inventory of yours, add an exception for it.",
        });
      }
    },
  };
}
