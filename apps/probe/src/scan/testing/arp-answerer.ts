/**
 * Answers ARP for many hosts, each with a MAC of its own (02:00 and its address), some of them late. For tests and benches only.
 * Arguments, as JSON: `{ live: [[first, count]], late: [[address, milliseconds]] }`, addresses as numbers. Prints `ready`.
 */
import { openPacketRing, openRawSender } from "@lanthorn/packet-io";
import { ipv4Number } from "@lanthorn/packets";

const { live, late } = JSON.parse(process.argv[2] ?? "") as {
  readonly live: readonly (readonly [number, number])[]; readonly late: readonly (readonly [number, number])[];
};
/** The hosts are machines of their own: what they cost here must be little beside the scanner. So they are looked up by one read. */
const first = Math.min(...live.map(([ip]) => ip), ...late.map(([ip]) => ip));
const end = Math.max(...live.map(([ip, count]) => ip + count), ...late.map(([ip]) => ip + 1));
const [SILENT, AT_ONCE, LATE] = [0, 1, 2];
const hosts = new Uint8Array(Math.max(0, end - first));
for (const [ip, count] of live) hosts.fill(AT_ONCE, ip - first, ip - first + count);
for (const [ip] of late) hosts[ip - first] = LATE;
const lateBy = new Map(late);
const ring = openPacketRing({ interface: "lan0", port: 1 });
const sender = openRawSender({ interface: "lan0", excluded: () => ({ holds: () => false, hasIpv6: false }) });
const reply = new Uint8Array(42);
reply.set([0x08, 0x06, 0, 1, 0x08, 0, 6, 4, 0, 2], 12);

/** @param bytes Holds the request from `from` on. */
function answer(ip: number, bytes: Uint8Array, from: number): void {
  let at = sender.place();
  if (at < 0) {
    sender.flush();
    at = sender.place();
  }
  if (at < 0) return;
  const out = sender.bytes;
  out.set(reply, at);
  for (let index = 0; index < 6; index += 1) out[at + index] = out[at + 32 + index] = bytes[from + 22 + index] as number;
  for (let index = 0; index < 4; index += 1) {
    out[at + 38 + index] = bytes[from + 28 + index] as number;
    out[at + 8 + index] = out[at + 24 + index] = out[at + 28 + index] = (ip >>> (24 - index * 8)) & 255;
  }
  out[at + 6] = out[at + 22] = 0x02;
  out[at + 7] = out[at + 23] = 0x00;
  sender.commit(reply.length);
}

function answerLate(ip: number, request: Uint8Array): void {
  setTimeout(() => {
    answer(ip, request, 0);
    sender.flush();
  }, lateBy.get(ip) ?? 0);
}

function take(bytes: Uint8Array, offset: number, length: number): void {
  if (length < 42 || bytes[offset + 12] !== 0x08 || bytes[offset + 13] !== 0x06 || bytes[offset + 21] !== 1) return;
  const ip = ipv4Number(bytes, offset + 38);
  const host = hosts[ip - first] ?? SILENT;
  if (host === AT_ONCE) answer(ip, bytes, offset);
  else if (host === LATE) answerLate(ip, bytes.slice(offset, offset + 42));
}

function look(): void {
  const count = ring.read(take);
  sender.flush();
  if (count > 0) setImmediate(look);
  else setTimeout(look, 1);
}

look();
process.stdout.write("ready\n");
