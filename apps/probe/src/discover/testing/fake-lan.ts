/** A link that lives in memory and on a fake clock: hosts answer ARP as a test sets it. For tests only. */
import { EVENTS, type EventData, type EventType, parseProbeEvent, type ProbeEvent } from "@lanthorn/contract/uplink";
import { createPacedSender } from "@lanthorn/packet-io";
import {
  ARP_OPERATION,
  BROADCAST_MAC,
  decodeArp,
  decodeFrame,
  decodeIcmpv6,
  encodeArp,
  encodeEthernet,
  equalBytes,
  ETHER_TYPE,
  formatIp,
  formatIpv4,
  formatMac,
  NDP_TYPE,
  parseIpv4,
  parseMac,
} from "@lanthorn/packets";
import { createFakeClock, type FakeClock, silentLog } from "@lanthorn/runtime";
import type { LinkFacts } from "../../capture/link.ts";
import { openProbeDatabase } from "../../queue/database.ts";
import { createEgressPolicy, type EgressSettings } from "../../egress/policy.ts";
import { createLiveClock } from "../../bus/bus-clock.ts";
import { createFrameBus } from "../../bus/frame-bus.ts";
import { createOutbox, type Outbox } from "../../queue/outbox.ts";
import { neighborAdvertisementFrame } from "./frames.ts";
import { createHostDiscovery, type HostDiscovery } from "../host-discovery.ts";
import type { HostDiscoveryDeps } from "../parts.ts";

/** The probe's own on the fake link. */
export const OWN_MAC = "02:00:00:00:00:01";

/** Six bytes of the text, which is trusted to be a MAC. */
export function mac(text: string): Uint8Array {
  return parseMac(text) as Uint8Array;
}

/** Four bytes of the text, which is trusted to be an IPv4 address. */
export function ip(text: string): Uint8Array {
  return parseIpv4(text) as Uint8Array;
}

/** An ARP packet in a frame; to everyone unless `to` says whom. */
export function arpFrame(arp: {
  readonly op: "request" | "reply";
  readonly from: string;
  readonly spa: string;
  readonly tpa: string;
  readonly to?: string;
}): Uint8Array {
  return encodeEthernet({
    destination: arp.to ? mac(arp.to) : BROADCAST_MAC,
    source: mac(arp.from),
    etherType: ETHER_TYPE.arp,
    payload: encodeArp({
      operation: ARP_OPERATION[arp.op],
      senderHardwareAddress: mac(arp.from),
      senderProtocolAddress: ip(arp.spa),
      targetHardwareAddress: arp.to ? mac(arp.to) : new Uint8Array(6),
      targetProtocolAddress: ip(arp.tpa),
    }),
  });
}

/** A host that answers ARP for `ips`. Tests change it in place. */
export interface FakeHost {
  readonly mac: string;
  ips: readonly string[];
  /** Milliseconds until it answers a question, or null when it does not. */
  answer: (question: { readonly isDirected: boolean }) => number | null;
}

/** The link, the discovery on it, and what both have done. Times are of `clock`, which only the test moves. */
export interface FakeLan {
  readonly clock: FakeClock;
  readonly discovery: HostDiscovery;
  /** Starts the discovery on its frame bus. */
  start(): void;
  readonly hosts: Map<string, FakeHost>;
  /** The real queue, where the options gave it a budget; nobody takes from it. */
  readonly queue: Outbox | null;
  /** How many rows a table of the probe's database has. */
  rowsOf(table: "hosts" | "host_addresses" | "outbox"): number;
  /** Every frame that left, with its monotonic time. */
  readonly sent: { readonly at: number; readonly bytes: Uint8Array }[];
  facts: LinkFacts | null;
  /** Thrown by the interface instead of sending. */
  failure: Error | null;
  /** The disk takes no events. */
  storageFault: boolean;
  join(mac: string, ips: readonly string[], answer?: FakeHost["answer"]): FakeHost;
  /** What was written, in order; each is checked against the contract. */
  events(): readonly ProbeEvent[];
  eventsOf<T extends EventType>(type: T): readonly EventData<T>[];
  /** How often an address was asked for by ARP. */
  asked(address: string): number;
  deliver(...frames: readonly Uint8Array[]): void;
  /** The same link and database with a new process: the old one is closed first, or just forgotten. */
  restart(how: "closed" | "killed"): Promise<void>;
  close(): Promise<void>;
}

/** `addresses` are the probe's own, as prefixes; with `queueBytes` events go through the real queue. */
export type FakeLanOptions = { readonly addresses?: readonly string[]; readonly clockStart?: number; readonly queueBytes?: number } & Partial<
  Pick<HostDiscoveryDeps, "reverseNames" | "vendorOf" | "openScanLink" | "identify" | "nmap"> & { readonly settings: LanSettings }
>;

/** What the probe's file says. */
export type LanSettings = EgressSettings & Pick<HostDiscoveryDeps, "maxHosts" | "unasked">;

/** A sweep each five minutes at 200 packets/s, nothing excluded. */
export const SETTINGS: LanSettings = {
  sweep: { enabled: true, intervalSeconds: 300, packetsPerSecond: 200, networks: [] },
  scanPacketsPerSecond: 100_000,
  excluded: [],
  maxHosts: 65_536,
};

/** Nothing runs before `start`. The database is in memory. */
export function createFakeLan(options: FakeLanOptions = {}): FakeLan {
  const clock = createFakeClock(options.clockStart);
  const busClock = createLiveClock(clock);
  const { db } = openProbeDatabase(":memory:", { clock, log: silentLog });
  const queue = options.queueBytes === undefined
    ? null
    : createOutbox({ db, clock, log: silentLog, budgetBytes: options.queueBytes, onAppended: () => undefined });
  db.exec("CREATE TABLE events (seq INTEGER PRIMARY KEY, event TEXT NOT NULL)");
  const insert = db.prepare("INSERT INTO events (event) VALUES (?)");
  let random = 1;
  const answerArp = (frame: Uint8Array) => {
    const arp = decodeArp(frame.subarray(14));
    if (!arp.ok) return;
    const target = formatIpv4(arp.value.targetProtocolAddress);
    for (const host of lan.hosts.values()) {
      if (!host.ips.includes(target)) continue;
      const isDirected = !equalBytes(frame.subarray(0, 6), BROADCAST_MAC);
      if (isDirected && formatMac(frame) !== host.mac) continue;
      const delay = host.answer({ isDirected });
      if (delay === null) continue;
      const reply = arpFrame({ op: "reply", from: host.mac, spa: target, tpa: formatIpv4(arp.value.senderProtocolAddress), to: OWN_MAC });
      clock.after(delay, () => lan.deliver(reply));
    }
  };
  const answerNdp = (frame: Uint8Array) => {
    const decoded = decodeFrame(frame);
    const message =
      decoded.ok && decoded.value.icmpType === NDP_TYPE.neighborSolicitation ? decodeIcmpv6(decoded.value.transportBytes) : null;
    if (!decoded.ok || !message?.ok || message.value.kind !== "neighbor-solicitation") return;
    const { target } = message.value;
    const isDirected = decoded.value.audience === "unicast";
    for (const host of lan.hosts.values()) {
      if (!host.ips.includes(formatIp(target)) || (isDirected && formatMac(frame) !== host.mac)) continue;
      const delay = host.answer({ isDirected });
      const reply = neighborAdvertisementFrame(host.mac, target, OWN_MAC, decoded.value.sourceIp as Uint8Array);
      if (delay !== null) clock.after(delay, () => lan.deliver(reply));
    }
  };
  const injector = {
    async send(frames: Iterable<Uint8Array>) {
      for (const bytes of frames) {
        if (lan.failure) throw lan.failure;
        lan.sent.push({ at: clock.monotonic(), bytes });
        if (bytes[12] === 0x08 && bytes[13] === 0x06) answerArp(bytes);
        else answerNdp(bytes);
      }
    },
  };
  const create = () =>
    createHostDiscovery({
      db,
      outbox: {
        append(events) {
          if (lan.storageFault) throw new Error("database or disk is full");
          for (const event of events) insert.run(JSON.stringify(event));
          queue?.append(events);
        },
      },
      clock: busClock,
      random: () => (random = (random * 48_271) % 2_147_483_647) / 2_147_483_647,
      log: silentLog,
      interfaceFacts: () => lan.facts,
      ...(options.settings ?? SETTINGS),
      policy: createEgressPolicy(options.settings ?? SETTINGS),
      sender: createPacedSender({ injector, clock }),
      vendorOf: options.vendorOf ?? (() => ""),
      reverseNames: options.reverseNames ?? null,
      interfaceName: "lan0",
      openScanLink: options.openScanLink ?? null,
      routeTo: async () => null,
      identify: options.identify ?? null,
      nmap: options.nmap ?? null,
    });
  const own = (options.addresses ?? ["192.168.1.2/24"]).map((text) => ({
    ip: text.split("/")[0] as string,
    prefixLength: Number(text.split("/")[1]),
  }));
  const plug = (made: HostDiscovery) => ({ discovery: made, bus: createFrameBus({ modules: [made], clock: busClock, log: silentLog }) });
  let { discovery, bus } = plug(create());
  const lan: FakeLan = {
    clock,
    get discovery() {
      return discovery;
    },
    start: () => bus.start(),
    hosts: new Map(),
    queue,
    rowsOf: (table) => db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0,
    sent: [],
    facts: { mac: OWN_MAC, up: true, addresses: own },
    failure: null,
    storageFault: false,
    join(mac, ips, answer = () => 1) {
      const host = { mac, ips, answer };
      lan.hosts.set(mac, host);
      return host;
    },
    events() {
      const rows = db.prepare<[], { readonly event: string }>("SELECT event FROM events ORDER BY seq").all();
      return rows.map(({ event }) => {
        const parsed = parseProbeEvent(JSON.parse(event));
        if (!parsed.ok) throw new Error(parsed.message);
        return parsed.event;
      });
    },
    eventsOf<T extends EventType>(type: T) {
      if (EVENTS[type].from !== "probe") throw new Error(`${type} is no event of a probe`);
      return lan
        .events()
        .filter((event) => event.type === type)
        .map(({ data }) => data as EventData<T>);
    },
    asked(address) {
      const target = ip(address);
      return lan.sent.filter(({ bytes }) => bytes[12] === 0x08 && bytes[13] === 0x06 && equalBytes(bytes.subarray(38, 42), target)).length;
    },
    deliver(...frames) {
      bus.onFrames(frames.map((bytes) => ({ bytes, wireLength: bytes.length, atMicroseconds: clock.now() * 1000 })));
    },
    async restart(how) {
      const before = discovery;
      bus.close();
      if (how === "closed") await finish(clock, before.close());
      ({ discovery, bus } = plug(create()));
      bus.start();
    },
    async close() {
      bus.close();
      await finish(clock, discovery.close());
      db.close();
    },
  };
  return lan;
}

/** A close waits for the paced sender, which waits for the clock. */
async function finish(clock: FakeClock, closing: Promise<void>): Promise<void> {
  const state = { isOver: false };
  const end = closing.finally(() => {
    state.isOver = true;
  });
  while (!state.isOver) await clock.advance(10);
  await end;
}
