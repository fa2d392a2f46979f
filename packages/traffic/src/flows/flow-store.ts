import { type Frame, IP_PROTOCOL, TCP_FLAG } from "@lanthorn/packets";
import { IdleLists } from "../tables/idle-lists.ts";
import { KeyIndex } from "../tables/key-index.ts";
import { Flow, type FlowEnding } from "./flow.ts";
import type { FlowKey } from "./flow-key.ts";
import type { FlowLimits } from "./flow-limits.ts";
import { type FlowRecord, isClosed, writeFlowRecord } from "./flow-record.ts";
import type { FlowSide } from "./flow-side.ts";
import { endInspection } from "./inspect-flow.ts";
import { isFirstFromResponder } from "./originator.ts";
import type { PacketFacts } from "./packet-facts.ts";
import { fillKey, fillPacketKey, flowId, keyOfEntry } from "./packet-key.ts";

/** What an idle flow waits for. */
const LIST = { opening: 0, open: 1, closed: 2, udp: 3, other: 4 } as const;
const LISTS = Object.values(LIST);

/** What the table has seen. */
export interface FlowCounters {
  readonly opened: number;
  readonly open: number;
  /** Ended before their time, as the table was full. */
  readonly evicted: number;
  readonly records: number;
}

/** The flows that are open, by their key, and by the time of their last packet. */
export class FlowStore {
  private readonly index: KeyIndex;
  private readonly lists = new IdleLists(LISTS.length);
  private readonly flows: Flow[] = [];
  private readonly prefix: string;
  private readonly onFlow: (record: FlowRecord) => void;
  private readonly idleMicroseconds: readonly number[];
  private opened = 0;
  private evicted = 0;
  private records = 0;
  /** Whether the sender of the last packet is the lower end of its key. */
  private isSourceLow = true;

  /** @param random From 0 to below 1: keys the hashes, and makes ids unique among runs. */
  constructor(limits: FlowLimits, random: () => number, onFlow: (record: FlowRecord) => void) {
    this.index = new KeyIndex(limits.maxFlows, random);
    this.prefix = Math.floor(random() * 36 ** 6).toString(36).padStart(6, "0");
    this.onFlow = onFlow;
    this.idleMicroseconds = [limits.openingSeconds, limits.tcpIdleSeconds, limits.closedSeconds, limits.udpIdleSeconds, limits.otherIdleSeconds]
      .map((seconds) => seconds * 1e6);
  }

  /** The flow of a packet, in either direction; null where it is the first one. */
  find(facts: PacketFacts, frame: Frame): Flow | null {
    this.isSourceLow = fillPacketKey(this.index.key, facts, frame);
    const entry = this.index.find();
    return entry < 0 ? null : (this.flows[entry] as Flow);
  }

  /** The same for a packet without tags whose addresses lie at `sourceIpOffset` of longer memory. */
  findPlain(facts: PacketFacts, bytes: Uint8Array, sourceIpOffset: number): Flow | null {
    this.isSourceLow = fillKey(this.index.key, facts, bytes, sourceIpOffset, 0);
    const entry = this.index.find();
    return entry < 0 ? null : (this.flows[entry] as Flow);
  }

  /** Whether the packet that was looked up last is of the originator. */
  isFromOriginator(flow: Flow): boolean {
    return this.isSourceLow === flow.isLowOriginator;
  }

  /** Opens a flow for the packet that `find` has just not found. Where the table is full, the flow that was seen least recently ends. */
  open(facts: PacketFacts, frame: Frame): Flow {
    if (this.index.isFull) this.evictOldest();
    const entry = this.index.add();
    const flow = (this.flows[entry] ??= new Flow());
    const isSwapped = isFirstFromResponder(facts, frame);
    flow.entry = entry;
    flow.number = ++this.opened;
    flow.protocol = facts.protocol;
    flow.isTcp = facts.isTcp;
    flow.isLowOriginator = this.isSourceLow !== isSwapped;
    flow.originatorPort = isSwapped ? facts.destinationPort : facts.sourcePort;
    flow.responderPort = isSwapped ? facts.sourcePort : facts.destinationPort;
    flow.icmpId = facts.icmpId;
    flow.startedAt = facts.at;
    flow.lastAt = facts.at;
    flow.isMidstream = facts.isTcp && (facts.flags & TCP_FLAG.syn) === 0;
    // Zeek's mark for ends that were swapped.
    if (isSwapped) flow.history = "^";
    keepMac(isSwapped ? flow.originator : flow.responder, frame, frame.destinationMacOffset);
    this.lists.add(entry, listFor(flow));
    return flow;
  }

  /** Says that a packet of the flow has come. */
  touch(flow: Flow): void {
    this.lists.touch(flow.entry, listFor(flow));
  }

  /** The key of a flow that is open. */
  keyOf(flow: Flow): FlowKey {
    flow.key ??= keyOfEntry(this.index, flow, this.prefix);
    return flow.key;
  }

  /** What stands for the flow in records. */
  idOf(flow: Flow): string {
    return flowId(this.prefix, flow.number);
  }

  /** Records a flow as far as it has come. */
  write(flow: Flow, endedBy: FlowEnding): void {
    if (flow.part > 0 && flow.originator.packets + flow.responder.packets === 0) return;
    this.records += 1;
    this.onFlow(writeFlowRecord(flow, this.index, this.idOf(flow), endedBy));
  }

  /** Ends a flow, with a record. */
  close(flow: Flow, endedBy: FlowEnding): void {
    endInspection(flow);
    flow.watch?.end();
    this.write(flow, endedBy);
    this.lists.remove(flow.entry);
    this.index.remove(flow.entry);
    flow.reset();
  }

  /** Ends what has been idle for too long. @param at Packet time in microseconds. @param atMost So many flows. @returns False where more is idle. */
  expire(at: number, atMost: number): boolean {
    let left = atMost;
    for (const list of LISTS) {
      const before = at - (this.idleMicroseconds[list] as number);
      for (let entry = this.lists.last(list); entry >= 0; entry = this.lists.last(list)) {
        const flow = this.flows[entry] as Flow;
        if (flow.lastAt >= before) break;
        if (left <= 0) return false;
        left -= 1;
        this.close(flow, list === LIST.closed ? "closed" : "idle");
      }
    }
    return true;
  }

  /** Ends all. @param atMost So many flows. @returns False where more are open. */
  flush(atMost: number): boolean {
    let left = atMost;
    for (const list of LISTS) {
      for (let entry = this.lists.last(list); entry >= 0; entry = this.lists.last(list)) {
        if (left <= 0) return false;
        left -= 1;
        this.close(this.flows[entry] as Flow, list === LIST.closed ? "closed" : "end");
      }
    }
    return true;
  }

  /** What was seen. */
  counters(): FlowCounters {
    return { opened: this.opened, open: this.index.size, evicted: this.evicted, records: this.records };
  }

  private evictOldest(): void {
    let oldest: Flow | null = null;
    for (const list of LISTS) {
      const entry = this.lists.last(list);
      if (entry < 0) continue;
      const flow = this.flows[entry] as Flow;
      if (oldest === null || flow.lastAt < oldest.lastAt) oldest = flow;
    }
    if (oldest === null) return;
    this.evicted += 1;
    this.close(oldest, "evicted");
  }
}

/** Keeps the address at `offset` of the frame; nothing where that is below 0. */
export function keepMac(side: FlowSide, { bytes }: Frame, offset: number): void {
  if (offset < 0) return;
  side.macHigh = ((bytes[offset] as number) << 16) | ((bytes[offset + 1] as number) << 8) | (bytes[offset + 2] as number);
  side.macLow = ((bytes[offset + 3] as number) << 16) | ((bytes[offset + 4] as number) << 8) | (bytes[offset + 5] as number);
}

function listFor(flow: Flow): number {
  if (!flow.isTcp) return flow.protocol === IP_PROTOCOL.udp ? LIST.udp : LIST.other;
  if (isClosed(flow)) return LIST.closed;
  const { originator, responder } = flow;
  // One that carries bytes is open, though the capture may have one side of it only.
  return (originator.packets > 0 && responder.packets > 0) || originator.payloadBytes + responder.payloadBytes > 0 ? LIST.open : LIST.opening;
}
