/** One IPv4 address of a decoy on its interface: its claim, and whether its MAC address gets through. */
import { type ArpPacket, parseIp, parseMac } from "@lanthorn/packets";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import { createTokenBucket, fillBucket } from "../../token-bucket.ts";
import type { AddressCondition } from "./address-state.ts";
import { arpAnswer, arpRequest } from "./arp-frames.ts";
import { claimAddress } from "./claim.ts";
import { type AskingHost, checkMac, type MacCheck } from "./mac-check.ts";
import type { OwnDecoy } from "./own-decoys.ts";

const FIRST_CHECK_MS = 3000;
const CHECK_MS = 300_000;
/** Whoever allows it waits for this to be said. */
const CHECK_REFUSED_MS = 60_000;
/** Answers at once, and each second: no reflector, and quick enough for every host of a network. */
const ANSWERS = { burst: 100, perSecond: 50 };

/** An address that is kept until it is closed. */
export interface KeptAddress<Packet> {
  hear(packet: Packet): void;
  close(): Promise<void>;
}

/** @param deps.host The interface's own addresses. @param deps.neighbors Hosts that may answer, gateways first. */
export function keepIpv4(decoy: OwnDecoy, deps: {
  readonly host: AskingHost; readonly neighbors: () => Promise<readonly Uint8Array[]>; readonly isOurs: (mac: Uint8Array) => boolean; readonly send: (frame: Uint8Array) => void;
  readonly take: () => Promise<void>; readonly release: () => Promise<void>;
  readonly onChange: (condition: AddressCondition) => void; readonly onMac: (isRefused: boolean | null) => void;
  readonly random: () => number; readonly clock: Clock; readonly log: Pick<Log, "warn">;
}): KeptAddress<ArpPacket> {
  const { send, host, clock, log } = deps;
  const [mac, ip] = [parseMac(decoy.mac), parseIp(decoy.ip)];
  if (!mac || !ip) throw new Error(`${decoy.mac} or ${decoy.ip} is no address`);
  const own = { mac, ip };
  const answers = createTokenBucket(ANSWERS.perSecond, ANSWERS.burst, clock.monotonic());
  let check: MacCheck | null = null;
  let cancelCheck: () => void = () => undefined;
  const look = async () => {
    const current = checkMac({ own: host, decoy: own, targets: await deps.neighbors(), ask: (from, target) => send(arpRequest(from, target)), clock });
    check = current;
    const isRefused = await current.result;
    if (check !== current) return;
    check = null;
    deps.onMac(isRefused);
    lookAfter(isRefused === true ? CHECK_REFUSED_MS : CHECK_MS);
  };
  const lookAfter = (ms: number) => {
    cancelCheck();
    cancelCheck = clock.after(ms, () => void look().catch((error: unknown) => {
      log.warn({ decoy: decoy.name, reason: describeError(error) }, "cannot find out whether the decoy's MAC address gets through");
      lookAfter(CHECK_MS);
    }));
  };
  const endCheck = () => {
    cancelCheck();
    check = null;
  };
  const claim = claimAddress({
    ...own, isOurs: deps.isOurs, take: deps.take, release: deps.release, random: deps.random, clock,
    // Also from the interface's own address, which gets through where the decoy's does not: the owner's answer must be heard in any case.
    sendProbe() {
      send(arpRequest({ mac }, ip));
      send(arpRequest({ mac: host.mac }, ip));
    },
    sendAnnouncement: () => send(arpRequest(own, ip)),
    answer(request) {
      if (fillBucket(answers, clock.monotonic()) < 1) return;
      answers.tokens -= 1;
      send(arpAnswer(own, request));
    },
    onChange(condition) {
      if (condition.state === "taken") lookAfter(FIRST_CHECK_MS);
      else endCheck();
      deps.onChange(condition);
    },
  });
  return {
    hear(arp) {
      claim.onArp(arp);
      check?.onArp(arp);
    },
    close() {
      endCheck();
      return claim.close();
    },
  };
}
