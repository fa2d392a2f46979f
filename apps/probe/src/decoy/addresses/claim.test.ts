import { type ArpPacket, ARP_OPERATION, parseIp, parseMac } from "@lanthorn/packets";
import { createFakeClock } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import type { AddressCondition } from "./address-state.ts";
import { claimAddress } from "./claim.ts";
import { claimIpv6Address } from "./claim-ipv6.ts";

const bytes = (read: (text: string) => Uint8Array | null, text: string) => read(text) ?? new Uint8Array();
const [IP, OTHER_IP, NONE] = [bytes(parseIp, "192.0.2.50"), bytes(parseIp, "192.0.2.7"), bytes(parseIp, "0.0.0.0")];
const [MAC, HOST, OWNER] = [bytes(parseMac, "00:11:32:00:00:01"), bytes(parseMac, "52:54:00:00:00:01"), bytes(parseMac, "52:54:00:00:00:99")];
const NO_MAC = new Uint8Array(6);

const arp = (operation: "request" | "reply", sender: Uint8Array, claimed: Uint8Array, target: Uint8Array): ArpPacket => ({
  hardwareType: 1, protocolType: 0x0800, operation: ARP_OPERATION[operation], senderHardwareAddress: sender, senderProtocolAddress: claimed, targetHardwareAddress: NO_MAC, targetProtocolAddress: target,
});

function open(random = 0.5, take: () => Promise<void> = () => Promise.resolve(), release: () => Promise<void> = () => Promise.resolve()) {
  const clock = createFakeClock();
  const done: string[] = [];
  const states: AddressCondition[] = [];
  const note = (what: string) => done.push(`${what} ${clock.monotonic()}`);
  const claim = claimAddress({
    ip: IP, mac: MAC, isOurs: (mac) => mac === HOST || mac === MAC, sendProbe: () => note("probe"), sendAnnouncement: () => note("announce"), answer: () => note("answer"),
    take: () => take().then(() => void note("take")), release: () => release().then(() => void note("release")), onChange: (condition) => states.push(condition), random: () => random, clock,
  });
  return { clock, done, states, claim, state: () => states.at(-1) };
}

describe("an address of a decoy's own", () => {
  test("is probed three times, waited for, taken, and announced twice: RFC 5227 section 2", async () => {
    const { clock, done, state } = open();
    expect(state()).toEqual({ state: "probing", used_by: null, problem: null });
    await clock.advance(20_000);
    expect(done).toEqual(["probe 500", "probe 2000", "probe 3500", "take 5500", "announce 5500", "announce 7500"]);
    expect(state()).toMatchObject({ state: "taken" });
  });

  test.each([["soonest", 0, [0, 1000, 2000, 4000]], ["latest", 1, [1000, 3000, 5000, 7000]]] as const)("is probed at the %s as the RFC bounds it", async (_, random, times) => {
    const { clock, done } = open(random);
    await clock.advance(20_000);
    expect(done.slice(0, 4).map((line) => Number(line.split(" ")[1]))).toEqual(times);
  });

  test.each([
    ["answers", arp("reply", OWNER, IP, NONE)], ["asks for another with it", arp("request", OWNER, IP, OTHER_IP)], ["probes for it at the same time", arp("request", OWNER, NONE, IP)],
  ])("is not taken where another host %s, and tried again after ten minutes", async (_, packet) => {
    const { clock, done, claim, state } = open();
    await clock.advance(5000);
    claim.onArp(packet);
    expect(state()).toEqual({ state: "in_use", used_by: "52:54:00:00:00:99", problem: null });
    await clock.advance(600_000);
    expect(done.filter((line) => /take|announce/.test(line))).toEqual([]);
    await clock.advance(60_000);
    expect(state()).toMatchObject({ state: "taken" });
  });

  test("is not its own conflict: probes of this machine, answers of others for others, requests of others for it", async () => {
    const { clock, claim, state } = open();
    await clock.advance(1000);
    for (const packet of [arp("request", MAC, NONE, IP), arp("request", HOST, NONE, IP), arp("reply", OWNER, OTHER_IP, IP), arp("request", OWNER, OTHER_IP, IP), arp("request", MAC, IP, IP)]) claim.onArp(packet);
    await clock.advance(10_000);
    expect(state()).toMatchObject({ state: "taken" });
  });

  test("is answered for while it is taken alone, and never against who probes for it or has it", async () => {
    const { clock, done, claim, state } = open();
    claim.onArp(arp("request", OWNER, OTHER_IP, IP));
    await clock.advance(20_000);
    claim.onArp(arp("request", OWNER, OTHER_IP, IP));
    claim.onArp(arp("request", OWNER, NONE, IP));
    claim.onArp(arp("request", OWNER, OTHER_IP, IP));
    await clock.advance(0);
    expect(done.slice(-2)).toEqual(["answer 20000", "release 20000"]);
    expect(state()).toMatchObject({ state: "in_use", used_by: "52:54:00:00:00:99" });
  });

  test("that its owner takes while the kernel is at it is taken away again", async () => {
    let isTaken = () => undefined as void;
    const { clock, done, claim, state } = open(0, () => new Promise((resolve) => (isTaken = resolve)));
    await clock.advance(4500);
    claim.onArp(arp("reply", OWNER, IP, NONE));
    isTaken();
    await clock.advance(1000);
    expect(done.slice(3).map((line) => line.split(" ")[0])).toEqual(["take", "release"]);
    expect(state()).toMatchObject({ state: "in_use" });
  });

  test("that the kernel refuses is tried again after a minute, and the reason is said", async () => {
    let isRefused = true;
    const { clock, claim, done, state } = open(0, () => (isRefused ? Promise.reject(new Error("no such device")) : Promise.resolve()));
    await clock.advance(5000);
    expect(state()).toEqual({ state: "failed", used_by: null, problem: "no such device" });
    isRefused = false;
    await clock.advance(70_000);
    expect(state()).toMatchObject({ state: "taken" });
    await claim.close();
    expect(done.at(-1)).toMatch(/^release/);
  });

  test("does not come back to life once it was closed, whatever the kernel refuses by then", async () => {
    let refuse: (error: Error) => void = () => undefined;
    const { clock, claim, states } = open(0, () => new Promise((_, reject) => (refuse = reject)), () => Promise.reject(new Error("busy")));
    await clock.advance(4500);
    const closed = claim.close();
    refuse(new Error("no such device"));
    await expect(closed).rejects.toThrow("busy");
    claim.onArp(arp("reply", OWNER, IP, NONE));
    await clock.advance(3_600_000);
    expect(states).toEqual([{ state: "probing", used_by: null, problem: null }]);
  });

  test("that could not be given back is given back again each minute, before it is probed anew", async () => {
    let refusals = 2;
    const { clock, claim, done, state } = open(0, () => Promise.resolve(), () => (refusals-- > 0 ? Promise.reject(new Error("busy")) : Promise.resolve()));
    await clock.advance(10_000);
    claim.onArp(arp("reply", OWNER, IP, NONE));
    await clock.advance(0);
    expect(state()).toEqual({ state: "failed", used_by: null, problem: "busy" });
    await clock.advance(130_000);
    expect(done.slice(-7).map((line) => line.split(" ")[0])).toEqual(["release", "probe", "probe", "probe", "take", "announce", "announce"]);
    expect(done.find((line) => line.startsWith("release"))).toBe("release 130000");
  });
});

describe("an IPv6 address of a decoy's own", () => {
  test("does not come back to life once it was closed, whatever the kernel says by then", async () => {
    for (const end of ["ready", "duplicate", "failed"] as const) {
      const clock = createFakeClock();
      const states: AddressCondition["state"][] = [];
      let say: () => void = () => undefined;
      const read = () => new Promise<"ready" | "duplicate">((resolve, reject) => (say = () => (end === "failed" ? reject(new Error("no such device")) : resolve(end))));
      const claim = claimIpv6Address({
        ip: bytes(parseIp, "2001:db8::9"), mac: MAC, take: () => Promise.resolve(), release: () => Promise.resolve(), read, onChange: ({ state }) => states.push(state), random: () => 0, clock,
      });
      await clock.advance(0);
      const closed = claim.close();
      say();
      await closed;
      claim.onClaim({ mac: OWNER, target: bytes(parseIp, "2001:db8::9") });
      await clock.advance(3_600_000);
      expect(states).toEqual(["probing"]);
    }
  });
});
