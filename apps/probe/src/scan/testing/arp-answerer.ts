/**
 * Answers ARP for many hosts, each with a MAC of its own (02:00 and its address), some of them late. For tests and benches only.
 * Arguments, as JSON: `{ live: [[first, count]], late: [[address, milliseconds]] }`, addresses as numbers. Prints `ready`.
 */
import { openPacketRing, openRawSender } from "@lanthorn/packet-io";
import { ipv4Number } from "@lanthorn/packets";

const { live, late } = JSON.parse(process.argv[2] ?? "") as {
  readonly live: readonly (readonly [number, number])[]; readonly late: readonly (readonly [number, number])[];
};
const lateBy = new Map(late);
const ring = openPacketRing({ interface: "lan0", port: 1 });
const sender = openRawSender({ interface: "lan0", excluded: () => ({ holds: () => false, hasIpv6: false }) });
const reply = new Uint8Array(42);
reply.set([0x08, 0x06, 0, 1, 0x08, 0, 6, 4, 0, 2], 12);

function answer(ip: number, requester: { readonly mac: Uint8Array; readonly ip: Uint8Array }): void {
  let at = sender.place();
  if (at < 0) {
    sender.flush();
    at = sender.place();
  }
  if (at < 0) return;
  const mac = [0x02, 0x00, ip >>> 24, ip >>> 16, ip >>> 8, ip];
  sender.bytes.set(reply, at);
  sender.bytes.set(requester.mac, at);
  sender.bytes.set(mac, at + 6);
  sender.bytes.set(mac, at + 22);
  sender.bytes.set([ip >>> 24, ip >>> 16, ip >>> 8, ip], at + 28);
  sender.bytes.set(requester.mac, at + 32);
  sender.bytes.set(requester.ip, at + 38);
  sender.commit(reply.length);
}

function look(): void {
  const count = ring.read((bytes, offset, length) => {
    if (length < 42 || bytes[offset + 12] !== 0x08 || bytes[offset + 13] !== 0x06 || bytes[offset + 21] !== 1) return;
    const ip = ipv4Number(bytes, offset + 38);
    const requester = { mac: bytes.slice(offset + 22, offset + 28), ip: bytes.slice(offset + 28, offset + 32) };
    const delay = lateBy.get(ip);
    if (delay !== undefined) {
      setTimeout(() => {
        answer(ip, requester);
        sender.flush();
      }, delay);
    } else if (live.some(([first, many]) => ip >= first && ip < first + many)) answer(ip, requester);
  });
  sender.flush();
  if (count > 0) setImmediate(look);
  else setTimeout(look, 1);
}

look();
process.stdout.write("ready\n");
