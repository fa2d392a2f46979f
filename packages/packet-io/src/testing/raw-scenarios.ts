import { TCP_FLAG } from "@lanthorn/packets";
import { readFileSync } from "node:fs";
import { openPacketRing } from "../capture/packet-ring.ts";
import { takeQuietPort } from "../send/quiet-port.ts";
import { openRawSender, RAW_FRAME_OCTETS, type RawSender } from "../send/raw-sender.ts";
import { arpFrame, tcpFrame, US, udpFrame } from "./raw-frames.ts";
import { codeOf, ip, keepCapture, lostByVeth, until } from "./wire.ts";

const NOBODY = { holds: () => false, hasIpv6: false };

/** @returns Whether the frame was taken. */
function put(sender: RawSender, frame: Uint8Array): boolean {
  let at = sender.place();
  if (at < 0 && sender.flush()) at = sender.place();
  sender.bytes.set(frame, at);
  return sender.commit(frame.length);
}

const isOwn = (frame: Uint8Array) => frame[11] === US[5] && frame[6] === 2;

async function rawSending() {
  const excluded = {
    holds: (bytes: Uint8Array, offset: number, length: number) => length === 4 && bytes[offset + 3] === 9, hasIpv6: false,
  };
  const capture = keepCapture({ interface: "va", filter: "arp or tcp" });
  const sender = openRawSender({ interface: "vb", excluded: () => excluded });
  // Fewer than the 1000 that a veth holds while its other end does not run.
  for (let n = 0; n < 700; n += 1) put(sender, arpFrame(`10.9.${n >> 8}.${n & 255}`));
  const print = put(sender, tcpFrame({ ip: "10.9.0.1", port: 9100 }));
  const tooLong = sender.commit(RAW_FRAME_OCTETS + 1);
  sender.flush();
  const counters = sender.counters();
  await until(() => capture.frames.filter(({ bytes }) => isOwn(bytes)).length >= counters.sent);
  const targets = capture.frames.filter(({ bytes }) => isOwn(bytes)).map(({ bytes }) => (bytes[40] ?? 0) * 256 + (bytes[41] ?? 0));
  ip("link", "set", "vb", "down");
  put(sender, arpFrame("10.9.0.1"));
  const whileDown = await codeOf(() => sender.flush());
  sender.close();
  return {
    print, tooLong, counters, whileDown, afterClose: await codeOf(() => sender.flush()), lowestByte9: targets.some((n) => (n & 255) === 9),
    inOrder: targets.every((n, index) => index === 0 || n > (targets[index - 1] ?? n)), arrived: targets.length,
    missing: await codeOf(() => openRawSender({ interface: "nosuch", excluded: () => NOBODY })),
  };
}

async function ringTakesAnswers() {
  const ring = openPacketRing({ interface: "va", port: 61_005 });
  const own = openRawSender({ interface: "va", excluded: () => NOBODY });
  const sender = openRawSender({ interface: "vb", excluded: () => NOBODY });
  put(own, arpFrame("10.9.0.77"));
  own.flush();
  const wanted = [
    arpFrame("10.9.0.1"), tcpFrame({ ip: "10.9.0.1", port: 61_005 }), udpFrame({ ip: "10.9.0.1", port: 61_005 }),
    tcpFrame({ ip: "fd00::1", port: 61_005 }),
  ];
  const unwanted = [
    tcpFrame({ ip: "10.9.0.1", port: 61_006 }), udpFrame({ ip: "fd00::1", port: 1 }), tcpFrame({ ip: "10.9.0.1", port: 22 }),
  ];
  const seen: string[] = [];
  const text = (frame: Uint8Array) => Buffer.from(frame).toString("hex");
  for (const frame of [...unwanted, ...wanted, ...unwanted, ...wanted]) put(sender, frame);
  sender.flush();
  await until(() => {
    ring.read((bytes, offset, length) => void (isOwn(bytes.subarray(offset)) && seen.push(text(bytes.subarray(offset, offset + length)))));
    return seen.length >= wanted.length * 2;
  });
  for (let n = 0; n < 40_000; n += 1) put(sender, wanted[1] as Uint8Array);
  sender.flush();
  let read = 0;
  for (let more = -1; more !== 0; read += more) more = ring.read(() => undefined);
  const dropped = ring.dropped();
  ring.close();
  ring.close();
  return {
    same: seen.join() === [...wanted, ...wanted].map(text).join(), read, lost: 40_000 - read - dropped - lostByVeth(),
    afterClose: ring.read(() => undefined),
  };
}

/** Whether the kernel asks for the MAC of who sent a SYN-ACK to a port of ours, which it does in order to answer it. */
async function kernelStaysSilent() {
  ip("addr", "add", "10.9.0.1/24", "dev", "va");
  const mac = Uint8Array.from(readFileSync("/sys/class/net/va/address", "latin1").trim().split(":"), (part) => Number.parseInt(part, 16));
  const capture = keepCapture({ interface: "vb", filter: "arp" });
  const sender = openRawSender({ interface: "vb", excluded: () => NOBODY });
  const asked = () => new Set(capture.frames.map(({ bytes }) => bytes[41]));
  const answer = (from: string, port: number) =>
    put(sender, tcpFrame({ ip: "10.9.0.1", port }, { from, fromPort: 80, mac, flags: TCP_FLAG.syn | TCP_FLAG.ack }));
  const quiet = takeQuietPort(() => 0.5);
  const other = takeQuietPort(() => Math.random());
  answer("10.9.0.50", quiet.port);
  put(sender, udpFrame({ ip: "10.9.0.1", port: quiet.port }, { from: "10.9.0.51", mac }));
  answer("10.9.0.52", other.port);
  // What nobody took: the last, so that the others had their time.
  answer("10.9.0.60", 60_999);
  sender.flush();
  await until(() => asked().has(60));
  const ports = [quiet.port !== other.port, quiet.port > 60_999];
  quiet.close();
  const again = takeQuietPort(() => 0.5);
  return { asked: [...asked()], ports, freed: again.port === quiet.port };
}

/** As `captureScenarios`, of the raw sender and the ring. */
export const rawScenarios = { rawSending, ringTakesAnswers, kernelStaysSilent };
