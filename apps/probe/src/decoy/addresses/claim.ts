/**
 * An IPv4 address that a decoy takes: probed before, announced, and given up as soon as another host has it or wants it.
 * It is never defended, so whom it belongs to gets it, whenever he comes. @see RFC 5227 sections 2.1 to 2.4
 */
import { type ArpPacket, ARP_OPERATION, equalBytes, formatMac } from "@lanthorn/packets";
import { type Clock, describeError } from "@lanthorn/runtime";
import { isArpProbe } from "./arp-frames.ts";
import type { AddressCondition } from "./address-state.ts";

/** Those of RFC 5227 section 1.1. */
const PROBE_WAIT_MS = 1000;
const PROBE_NUM = 3;
const [PROBE_MIN_MS, PROBE_MAX_MS] = [1000, 2000];
const [ANNOUNCE_WAIT_MS, ANNOUNCE_NUM, ANNOUNCE_INTERVAL_MS] = [2000, 2, 2000];
/** Until an address that another host has is tried again: well beyond RATE_LIMIT_INTERVAL, as who has it has it for hours. */
export const RETRY_MS = 600_000;
/** Until what the kernel refused is tried again. */
export const RETRY_FAILED_MS = 60_000;

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
  let state: AddressCondition["state"] = "probing";
  let cancel: () => void = () => undefined;
  /** What belongs to an earlier attempt must not go on. */
  let attempt = 0;
  let work = Promise.resolve();
  const later = (ms: number, task: () => void) => (cancel = clock.after(ms, task));
  const become = (condition: AddressCondition) => {
    state = condition.state;
    onChange(condition);
  };
  const fail = (error: unknown) => {
    attempt += 1;
    cancel();
    become({ state: "failed", used_by: null, problem: describeError(error) });
    later(RETRY_FAILED_MS, begin);
  };
  const release = () => (work = work.then(deps.release).catch(fail));
  const begin = () => {
    attempt += 1;
    become({ state: "probing", used_by: null, problem: null });
    later(random() * PROBE_WAIT_MS, () => probe(1));
  };
  const probe = (number: number) => {
    deps.sendProbe();
    if (number < PROBE_NUM) later(PROBE_MIN_MS + random() * (PROBE_MAX_MS - PROBE_MIN_MS), () => probe(number + 1));
    else later(ANNOUNCE_WAIT_MS, take);
  };
  const take = () => {
    const own = attempt;
    const run = async () => {
      if (own !== attempt) return;
      await deps.take();
      if (own !== attempt) return;
      become({ state: "taken", used_by: null, problem: null });
      announce(1);
    };
    work = work.then(run).catch(fail);
  };
  const announce = (number: number) => {
    deps.sendAnnouncement();
    if (number < ANNOUNCE_NUM) later(ANNOUNCE_INTERVAL_MS, () => announce(number + 1));
  };
  const giveUp = (owner: Uint8Array) => {
    attempt += 1;
    cancel();
    become({ state: "in_use", used_by: formatMac(owner), problem: null });
    void release();
    later(RETRY_MS * (1 + random() / 10), begin);
  };
  begin();
  return {
    onArp(arp) {
      const { operation, senderHardwareAddress: sender, senderProtocolAddress: claimed, targetProtocolAddress: target } = arp;
      if ((state !== "probing" && state !== "taken") || equalBytes(sender, mac)) return;
      if (equalBytes(claimed, ip)) giveUp(sender);
      else if (!equalBytes(target, ip) || operation !== ARP_OPERATION.request) return;
      else if (!isArpProbe(arp)) {
        if (state === "taken") deps.answer(arp);
      } else if (!deps.isOurs(sender)) giveUp(sender);
    },
    close() {
      attempt += 1;
      cancel();
      return release();
    },
  };
}
