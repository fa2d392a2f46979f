/**
 * Finds out whether the switch or the hypervisor lets frames of a decoy's own MAC address through: neighbors that answer the interface's
 * own address and never the decoy's say that it does not.
 */
import { ARP_OPERATION, type ArpPacket, equalBytes, formatIp } from "@lanthorn/packets";
import { type Clock, pause } from "@lanthorn/runtime";

const ROUNDS = 3;
const ROUND_MS = 1000;

/** One sender of requests. */
export interface AskingHost {
  readonly mac: Uint8Array;
  /** Left out where it has none: it asks as a probe does. */
  readonly ip?: Uint8Array;
}

/** A question that is being asked. */
export interface MacCheck {
  onArp(arp: ArpPacket): void;
  /** True where the decoy's MAC is refused, false where it is not, null where nobody answered anybody. */
  readonly result: Promise<boolean | null>;
}

/** Asks three times, a second apart, and ends as soon as the decoy was answered. @param deps.targets Addresses of neighbors. */
export function checkMac({ own, decoy, targets, ask, clock }: {
  readonly own: AskingHost; readonly decoy: AskingHost; readonly targets: readonly Uint8Array[]; readonly ask: (from: AskingHost, target: Uint8Array) => void; readonly clock: Pick<Clock, "after">;
}): MacCheck {
  const wanted = new Set(targets.map(formatIp));
  const answered = { own: false, decoy: false };
  const run = async () => {
    for (let round = 0; round < ROUNDS && !answered.decoy && targets.length > 0; round += 1) {
      for (const target of targets) {
        ask(decoy, target);
        ask(own, target);
      }
      await pause(clock, ROUND_MS);
    }
    return answered.decoy ? false : answered.own ? true : null;
  };
  return {
    onArp({ operation, senderProtocolAddress: sender, targetHardwareAddress: target }) {
      if (operation !== ARP_OPERATION.reply || !wanted.has(formatIp(sender))) return;
      answered.decoy ||= equalBytes(target, decoy.mac);
      answered.own ||= equalBytes(target, own.mac);
    },
    result: run(),
  };
}
