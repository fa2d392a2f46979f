import { webcrypto } from "node:crypto";
import { createServer } from "node:tls";
import "reflect-metadata";
import { DHCP_MESSAGE_TYPE, DHCP_OP, DHCP_OPTION, encodeDhcp, encodeInteger, encodeObjectIdentifier, encodeTlv } from "@lanthorn/packets";
import { processorMs, watchLoop } from "@lanthorn/runtime";
import { SubjectAlternativeNameExtension, X509CertificateGenerator } from "@peculiar/x509";
import { afterEach, describe, expect, test } from "vitest";
import { createFakeLan, type FakeLan } from "../discover/testing/fake-lan.ts";
import { HOST, mac, udpFrame } from "../observe/testing/frames.ts";
import { NO_SNMP } from "./over-udp.ts";
import { snmp } from "./protocols/snmp.ts";
import { createTestServers, identifyAt } from "./testing/test-servers.ts";

/** A loop that must not stand still for 20 ms; a busy machine does for longer. */
const HANG_MS = 500;
/** What a capture with offloading hands over at most. */
const LENGTH = 60_000;
const ADDRESS = "192.168.1.50";
const latin1 = (text: string) => Buffer.from(text, "latin1");
const u16 = (value: number) => Buffer.of(value >> 8, value & 255);

const repeat = (piece: Uint8Array, length = LENGTH) => Buffer.alloc(Math.floor(length / piece.length) * piece.length, piece);

/** A response to all that begins with one name of 127 labels; records after it point there. */
function mdnsOf(record: Uint8Array, length = LENGTH): Buffer {
  const name = Buffer.concat([repeat(Buffer.of(1, 0x61), 240), Buffer.of(5), latin1("local"), Buffer.of(0)]);
  const a = Buffer.concat([name, u16(1), u16(1), Buffer.of(0, 0, 0, 120), u16(4), Buffer.of(192, 168, 1, 50)]);
  const records = repeat(record, length - 12 - a.length);
  const count = records.length / record.length + 1;
  return Buffer.concat([u16(0), u16(0x8400), u16(0), u16(Math.min(count, 65_535)), u16(0), u16(0), a, records]);
}
const TO_NAME = Buffer.of(0xc0, 12);
const answer = (type: number, data: Uint8Array) =>
  Buffer.concat([TO_NAME, u16(type), u16(1), Buffer.of(0, 0, 0, 120), u16(data.length), data]);

function dhcpOf(option: number, piece: Uint8Array): Buffer {
  const message = encodeDhcp({
    op: DHCP_OP.bootRequest, xid: 7, chaddr: mac(HOST), options: new Map([[DHCP_OPTION.dhcpMessageType, Uint8Array.of(DHCP_MESSAGE_TYPE.request)]]),
  });
  const end = message.lastIndexOf(255);
  const pieces = Buffer.concat([Buffer.of(option, 255), Buffer.alloc(255, piece)]);
  return Buffer.concat([message.subarray(0, end), repeat(pieces), Buffer.of(255)]);
}

const TEXTS = ["a.", "-", " ", "1.1.", "U6-", "%00", "\u00ff", "=", "MSFT 5.0 ", "\\.", "(((", "Linux/"];
const MDNS: readonly (readonly [string, Buffer])[] = [
  ["names that end in themselves", mdnsOf(answer(12, TO_NAME))],
  ["as many of them as a message may have", mdnsOf(answer(12, TO_NAME), 9000)],
  ["services at the long name", mdnsOf(answer(33, Buffer.concat([u16(0), u16(0), u16(9), TO_NAME])), 9000)],
  ["empty texts", mdnsOf(answer(16, Buffer.of(0)), 9000)],
  ["one text of empty strings", mdnsOf(answer(16, Buffer.alloc(8000)), 9000)],
  ["one text of equal signs", mdnsOf(answer(16, repeat(Buffer.of(2, 0x61, 0x3d), 7999)), 9000)],
  ["addresses", mdnsOf(answer(1, Buffer.of(192, 168, 1, 50)), 9000)],
  ["type bitmaps", mdnsOf(answer(47, Buffer.concat([TO_NAME, Buffer.of(0, 1, 0x40)])), 9000)],
  ["nothing but pointers", mdnsOf(TO_NAME)],
];

let lan: FakeLan | null = null;
const servers = createTestServers();
afterEach(async () => {
  servers.closeAll();
  await lan?.close();
  lan = null;
});

/** Delivers a frame again and again, and lets what follows from it happen. */
async function worstOf(ports: readonly [number, number], payload: Uint8Array): Promise<number> {
  lan = createFakeLan();
  lan.start();
  let worst = 0;
  for (let time = 0; time < 3; time += 1) {
    const frame = udpFrame(ADDRESS, "224.0.0.251", ports, payload);
    worst = Math.max(worst, processorMs(() => lan?.deliver(frame)));
    await lan.clock.advance(3000);
  }
  return worst;
}

describe("a host on the link that speaks to all", () => {
  test.each(MDNS)("by mDNS with %s holds up nobody", async (_, payload) => {
    expect(await worstOf([5353, 5353], payload)).toBeLessThan(HANG_MS);
  });

  test.each(TEXTS)("by SSDP with %j holds up nobody", async (text) => {
    for (const field of ["SERVER: ", "NT: ", "USN: uuid:", "LOCATION: http://"]) {
      expect(await worstOf([1900, 1900], latin1(`NOTIFY * HTTP/1.1\r\n${field}${text.repeat(LENGTH / text.length)}`)), field).toBeLessThan(HANG_MS);
      await lan?.close();
    }
    lan = null;
  });

  test.each([12, 55, 60, 61, 81, 125])("by DHCP with option %i without end holds up nobody", async (option) => {
    for (const text of TEXTS) {
      expect(await worstOf([68, 67], dhcpOf(option, latin1(text))), text).toBeLessThan(HANG_MS);
      await lan?.close();
    }
    lan = null;
  });
});

describe("an SNMP agent", () => {
  const empty = encodeTlv(0x04, Buffer.alloc(0));
  const report = (engine: Uint8Array, rest: Uint8Array) => encodeTlv(0x30, Buffer.concat([
    encodeInteger(3), encodeTlv(0x30, encodeInteger(1)),
    encodeTlv(0x04, encodeTlv(0x30, Buffer.concat([encodeTlv(0x04, engine), encodeInteger(0), encodeInteger(0), empty, empty, empty]))), rest,
  ]));
  const response = (bindings: Uint8Array) => encodeTlv(0x30, Buffer.concat([
    encodeInteger(1), encodeTlv(0x04, latin1("public")),
    encodeTlv(0xa2, Buffer.concat([encodeInteger(1), encodeInteger(0), encodeInteger(0), encodeTlv(0x30, bindings)])),
  ]));
  const binding = (name: string, value: Uint8Array) => encodeTlv(0x30, Buffer.concat([encodeObjectIdentifier(name), value]));

  test.each(TEXTS)("that reports its engine and says %j without end holds up nobody", async (text) => {
    const said = encodeTlv(0x04, repeat(latin1(text), 20_000));
    const names = ["1.3.6.1.2.1.1.1.0", "1.3.6.1.2.1.1.5.0", "1.3.6.1.4.1.2021.100.2.0"];
    const system = response(Buffer.concat(names.map((name) => binding(name, said))));
    const many = response(repeat(binding("1.3.6.1.2.1.1.2.0", encodeTlv(0x06, repeat(Buffer.of(0x81), 20)))));
    for (const asked of [system, many]) {
      const engine = report(Buffer.from("80001f8804", "hex"), repeat(Buffer.of(0x30, 0x00)));
      const asking = { ip: "192.0.2.1", snmp: NO_SNMP, ask: () => Promise.resolve(asked), connect: () => Promise.resolve(null) };
      const stop = watchLoop();
      await snmp.learn(engine, asking);
      expect(stop()).toBeLessThan(HANG_MS);
    }
  });
});

describe("a server inside TLS", () => {
  test.each([["names", 3000], ["one attribute of its subject", 0]])("whose certificate has thousands of %s holds up nobody", async (_, alternatives) => {
    const keys = await webcrypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
    const certificate = await X509CertificateGenerator.createSelfSigned({
      serialNumber: "01", notAfter: new Date(Date.now() + 86_400_000), keys, signingAlgorithm: { name: "ECDSA", hash: "SHA-256" },
      name: Array.from({ length: alternatives > 0 ? 1 : 3000 }, (_one, index) => `CN=n${index}`).join(","),
      extensions: alternatives === 0 ? []
        : [new SubjectAlternativeNameExtension(Array.from({ length: alternatives }, (_one, index) => ({ type: "dns" as const, value: `n${index}.lab.test` })))],
    });
    const key = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey)).toString("base64");
    const options = { cert: certificate.toString("pem"), key: `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n` };
    const { port } = await servers.serve((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\n"), (onConnection) => createServer(options, onConnection));
    const stop = watchLoop();
    const found = await identifyAt(443, port);
    expect(stop()).toBeLessThan(HANG_MS);
    expect(found?.tls?.certificate?.names.length ?? 0).toBeLessThanOrEqual(32);
    expect(found?.tls?.certificate?.subjectText.length ?? 0).toBeLessThanOrEqual(1024);
  });
});
