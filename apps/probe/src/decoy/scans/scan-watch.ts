/**
 * Notices scans at decoys' addresses by their frames, and by how this machine answers: a port that was looked at and not used. Connections are the decoys'
 * process's own to report.
 */
import { decodeFrame, DHCP_PORT, type Frame, formatIp, LINK_TYPE, TCP_FLAG } from "@lanthorn/packets";
import { createBoundedMap } from "../../bounded-map.ts";
import { createLookTable, type LookTable } from "./look-table.ts";
import { createPortCount } from "./port-count.ts";
import { FIRST_CLIENT_PORT, LAST_SYSTEM_PORT } from "./scan-filter.ts";
import type { ScanKind, ScanLook } from "./scan-look.ts";

/** What watches. Its only time is that of the frames, and of `tick`. */
export interface ScanWatch {
  /** @param frame As much of it as was kept; nothing of it is kept here. */
  onFrame(frame: { readonly bytes: Uint8Array; readonly wireLength: number; readonly atMicroseconds: number }): void;
  /** Some times in a second. @param nowMs Since the epoch. */
  tick(nowMs: number): void;
  take(limit: number): readonly ScanLook[];
  /** Frames that were passed over in a flood, and looks that there was no room for. */
  counts(): { readonly passedOver: number; readonly leftOut: number };
}

/** Read in each second; of what comes beyond, one of some at random, so that a flood does not hide who comes meanwhile. */
const MAX_FRAMES_A_SECOND = 4000;
const SAMPLE = 16;
/** Segments and connections that are remembered: those of a fast scan of all ports for its last seconds. */
const MAX_REMEMBERED = 4096;
/** Whoever began a connection and did not go on. */
const UNANSWERED_MS = 3000;
/** A half-open connection that is answered so often is one that nobody wants: the system asks again after one second and three. */
const ANSWERS = 3;
const REMEMBERED_MS = 60_000;
/** One segment that belongs to nothing may be left of a connection; one of each of several ports within this time is not. */
const STRAY_MS = 10_000;
const MIN_ACK_PORTS = 2;
const MIN_UDP_PORTS = 3;
const UDP_MS = 60_000;
const PINGS_IPV4: ReadonlySet<number> = new Set([8, 13, 15, 17]);
const PING_IPV6 = 128;
const ICMP_HEADER = 8;
const FLAGS = TCP_FLAG.fin | TCP_FLAG.syn | TCP_FLAG.rst | TCP_FLAG.psh | TCP_FLAG.ack | TCP_FLAG.urg;

/** An answer of a DHCP server: the probe asks for servers in frames, so that nobody of this machine listens for it. RFC 2131 section 4.1, RFC 8415 section 7.2. */
const LEASES: Readonly<Record<number, number>> = { [DHCP_PORT.server]: DHCP_PORT.client, 547: 546 };

function isLease(sourcePort: number, port: number): boolean {
  return LEASES[sourcePort] === port;
}

/** A source's end and a decoy's, without ports in its key. */
interface Ends {
  readonly source: string;
  readonly address: string;
}

interface Begun extends Ends {
  readonly sourcePort: number;
  readonly port: number;
  readonly sequence: number;
  readonly atMs: number;
  /** `looked`: it was no SYN, and was reported. */
  state: "asked" | "answered" | "looked";
  answers: number;
}

/** @param deps.addresses Of decoys now. @param deps.random From 0 to below 1. */
export function createScanWatch({ addresses, random }: { readonly addresses: () => ReadonlySet<string>; readonly random: () => number }): ScanWatch {
  const looks = createLookTable();
  const tcp = createTcpScans(looks);
  const udp = createPortCount(MIN_UDP_PORTS, UDP_MS);
  let [second, framesOfSecond, passedOver] = [0, 0, 0];

  const isPassedOver = (atMs: number): boolean => {
    if (Math.floor(atMs / 1000) !== second) [second, framesOfSecond] = [Math.floor(atMs / 1000), 0];
    framesOfSecond += 1;
    return framesOfSecond > MAX_FRAMES_A_SECOND && random() * SAMPLE >= 1;
  };
  const incoming = (frame: Frame, ends: Ends, atMs: number) => {
    if (frame.transport === "tcp") return tcp.incoming(frame, ends, atMs);
    const isPing = frame.transport === "icmpv4" ? PINGS_IPV4.has(frame.icmpType) : frame.transport === "icmpv6" && frame.icmpType === PING_IPV6;
    if (isPing) return looks.add({ ...ends, kind: "ping", sourcePort: 0, port: 0 }, atMs);
    if (frame.transport !== "udp" || frame.destinationPort > LAST_SYSTEM_PORT || isLease(frame.sourcePort, frame.destinationPort)) return;
    for (const port of udp.add(ends, frame.destinationPort, atMs)) looks.add({ ...ends, kind: "udp-scan", sourcePort: frame.sourcePort, port }, atMs);
  };
  const outgoing = (frame: Frame, ends: Ends, atMs: number) => {
    if (frame.transport === "tcp") return tcp.outgoing(frame, ends, atMs);
    const refused = frame.transport === "icmpv4" || frame.transport === "icmpv6" ? readRefused(frame) : null;
    // What comes too late is an answer to a question of this machine's own.
    if (refused && refused.port < FIRST_CLIENT_PORT && !isLease(refused.sourcePort, refused.port)) looks.add({ ...ends, kind: "udp-scan", ...refused }, atMs);
  };
  return {
    onFrame({ bytes, wireLength, atMicroseconds }) {
      const atMs = atMicroseconds / 1000;
      if (isPassedOver(atMs)) {
        passedOver += 1;
        return;
      }
      const decoded = decodeFrame(bytes, { wireLength });
      if (!decoded.ok || !decoded.value.sourceIp || !decoded.value.destinationIp) return;
      const [source, destination] = [formatIp(decoded.value.sourceIp), formatIp(decoded.value.destinationIp)];
      const decoys = addresses();
      if (decoys.has(destination)) {
        if (!decoys.has(source)) incoming(decoded.value, { source, address: destination }, atMs);
      } else if (decoys.has(source)) outgoing(decoded.value, { source: destination, address: source }, atMs);
    },
    tick: tcp.tick,
    take: looks.take,
    counts: () => ({ passedOver, leftOut: looks.leftOut }),
  };
}

function createTcpScans(looks: LookTable) {
  const begun = createBoundedMap<string, Begun>(MAX_REMEMBERED);
  const connected = createBoundedMap<string, number>(MAX_REMEMBERED);
  const stray = createPortCount(MIN_ACK_PORTS, STRAY_MS);
  const report = (kind: ScanKind, { source, address, sourcePort, port }: Pick<Begun, "source" | "address" | "sourcePort" | "port">, atMs: number) => looks.add({ kind, source, address, sourcePort, port }, atMs);

  return {
    /** A segment without ACK. */
    incoming(frame: Frame, ends: Ends, atMs: number): void {
      const one = { ...ends, sourcePort: frame.sourcePort, port: frame.destinationPort };
      const key = keyOf(one);
      const flags = frame.tcpFlags & FLAGS;
      const known = begun.get(key);
      if ((flags & TCP_FLAG.ack) !== 0) return;
      if ((flags & TCP_FLAG.rst) !== 0) {
        // The system of who scans half-open does not know of it, and takes back what it is answered.
        if (known?.state !== "answered" || sequenceOf(frame) !== (known.sequence + 1) >>> 0) return;
        begun.delete(key);
        return report("syn-scan", known, known.atMs);
      }
      if (flags === TCP_FLAG.syn) {
        if (!known) begun.put(key, { ...one, sequence: sequenceOf(frame), atMs, state: "asked", answers: 0 });
        return;
      }
      report(kindOf(flags), one, atMs);
      begun.put(key, { ...one, sequence: 0, atMs, state: "looked", answers: 0 });
    },
    /** How this machine answers: RST, or SYN with ACK. */
    outgoing(frame: Frame, ends: Ends, atMs: number): void {
      const one = { ...ends, sourcePort: frame.destinationPort, port: frame.sourcePort };
      const key = keyOf(one);
      const flags = frame.tcpFlags & FLAGS;
      const known = begun.get(key);
      if ((flags & TCP_FLAG.rst) === 0) {
        if (!known || known.state === "looked" || (flags & TCP_FLAG.syn) === 0) return;
        known.state = "answered";
        known.answers += 1;
        connected.put(key, atMs);
        if (known.answers < ANSWERS) return;
        begun.delete(key);
        return report("syn-scan", known, known.atMs);
      }
      if ((flags & TCP_FLAG.ack) === 0) return strayed(key, one, atMs);
      // A reset with the sequence number 0 answers a segment without ACK to a port where nobody is. @see RFC 9293 section 3.10.7.1
      if (sequenceOf(frame) !== 0) return;
      begun.delete(key);
      if (known?.state !== "looked") report(known ? "syn-scan" : "fragment-scan", known ?? one, atMs);
    },
    tick(nowMs: number): void {
      for (const [key, one] of begun) {
        if (nowMs - one.atMs < UNANSWERED_MS) break;
        if (one.state === "answered" && nowMs - one.atMs < REMEMBERED_MS) continue;
        begun.delete(key);
        if (one.state === "asked") report("syn-scan", one, one.atMs);
      }
      for (const [key, atMs] of connected) {
        if (nowMs - atMs < REMEMBERED_MS) break;
        connected.delete(key);
      }
    },
  };

  /** A segment with ACK belongs to no connection. */
  function strayed(key: string, one: Pick<Begun, "source" | "address" | "sourcePort" | "port">, atMs: number): void {
    if (connected.has(key) || one.port >= FIRST_CLIENT_PORT) return;
    for (const port of stray.add(one, one.port, atMs)) report("ack-scan", { ...one, port }, atMs);
  }
}

function kindOf(flags: number): ScanKind {
  if (flags === 0) return "null-scan";
  if (flags === TCP_FLAG.fin) return "fin-scan";
  return flags === (TCP_FLAG.fin | TCP_FLAG.psh | TCP_FLAG.urg) ? "xmas-scan" : "odd-flags-scan";
}

function keyOf({ source, address, sourcePort, port }: Pick<Begun, "source" | "address" | "sourcePort" | "port">): string {
  return `${source} ${sourcePort} ${address} ${port}`;
}

function sequenceOf({ bytes, transportOffset }: Frame): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(transportOffset + 4);
}

/** The datagram that "port unreachable" quotes. */
function readRefused({ bytes, transportOffset }: Frame): { readonly sourcePort: number; readonly port: number } | null {
  const quoted = bytes.subarray(transportOffset + ICMP_HEADER);
  const inner = decodeFrame(quoted, { linkType: LINK_TYPE.rawIp, wireLength: quoted.length + 1 });
  return inner.ok && inner.value.transport === "udp" ? { sourcePort: inner.value.sourcePort, port: inner.value.destinationPort } : null;
}
