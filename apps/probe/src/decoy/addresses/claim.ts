/**
 * An IPv4 address that a decoy takes: probed before, announced, and given up as soon as another host has it or wants it.
 * It is never defended, so whom it belongs to gets it, whenever he comes. @see RFC 5227 sections 2.1 to 2.4
 */
import { type ArpPacket, ARP_OPERATION, equalBytes, formatMac } from "@lanthorn/packets";
import type { Clock } from "@lanthorn/runtime";
import { isArpProbe } from "./arp-frames.ts";
import type { AddressCondition } from "./address-state.ts";
import { createAttempts } from "./attempts.ts";

/** Those of RFC 5227 section 1.1. */
const PROBE_WAIT_MS = 1000;
const PROBE_NUM = 3;
const [PROBE_MIN_MS, PROBE_MAX_MS] = [1000, 2000];
const [ANNOUNCE_WAIT_MS, ANNOUNCE_NUM, ANNOUNCE_INTERVAL_MS] = [2000, 2, 2000];
/** An address that is being taken, or was. */
export interface Claim {
  /** A packet that somebody sent, we too. */
  onArp(arp: ArpPacket): void;
  /** Gives the address back. */
  close(): Promise<void>;
}

/** What a claim does. */
export interface ClaimDeps {
  readonly ip: Uint8Array;
  readonly mac: Uint8Array;
  /** MAC addresses of this machine: their probes are ours. */
  readonly isOurs: (mac: Uint8Array) => boolean;
  readonly sendProbe: () => void;
  readonly sendAnnouncement: () => void;
  readonly answer: (request: ArpPacket) => void;
  /** Puts the address on its link. */
  readonly take: () => Promise<void>;
  /** Takes it away from there, if it is there. */
  readonly release: () => Promise<void>;
  readonly onChange: (condition: AddressCondition) => void;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly clock: Pick<Clock, "after">;
}

/** Begins at once. */
export function claimAddress({ ip, mac, clock, random, onChange, ...deps }: ClaimDeps): Claim {
  const attempts = createAttempts({ release: deps.release, onChange, random, clock }, ({ later, run, isCurrent, taken }) => {
    const probe = (number: number) => {
      deps.sendProbe();
      if (number < PROBE_NUM) later(PROBE_MIN_MS + random() * (PROBE_MAX_MS - PROBE_MIN_MS), () => probe(number + 1));
      else later(ANNOUNCE_WAIT_MS, take);
    };
    const take = () => run(async () => {
      await deps.take();
      if (!isCurrent()) return;
      taken();
      announce(1);
    });
    const announce = (number: number) => {
      deps.sendAnnouncement();
      if (number < ANNOUNCE_NUM) later(ANNOUNCE_INTERVAL_MS, () => announce(number + 1));
    };
    later(random() * PROBE_WAIT_MS, () => probe(1));
  });
  return {
    onArp(arp) {
      const { operation, senderHardwareAddress: sender, senderProtocolAddress: claimed, targetProtocolAddress: target } = arp;
      const state = attempts.state();
      if ((state !== "probing" && state !== "taken") || equalBytes(sender, mac)) return;
      if (equalBytes(claimed, ip)) attempts.giveUp(formatMac(sender));
      else if (!equalBytes(target, ip) || operation !== ARP_OPERATION.request) return;
      else if (!isArpProbe(arp)) {
        if (state === "taken") deps.answer(arp);
      } else if (!deps.isOurs(sender)) attempts.giveUp(formatMac(sender));
    },
    close: attempts.close,
  };
}
