import { createCipheriv } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findFreePort } from "../../../../test/lab/free-port.ts";
import { runCommand, tryCommand } from "../../../../test/lab/run-command.ts";
import { fromHex } from "../../../packets/src/testing/bytes.ts";
import { seededMutations, seededRandom } from "../../../packets/src/testing/hostile.ts";
import { unpackOrSay } from "../../../packets/src/testing/tshark.ts";
import { createInspection } from "../inspector.ts";
import type { Turn } from "../testing/conversation.ts";
import { playDatagrams } from "../testing/datagrams.ts";
import { recordDatagrams, startUntil } from "../testing/relay.ts";
import { askTsharkOf, valuesOfField } from "../testing/tshark-conversation.ts";
import { decryptInitial } from "./quic/decrypt.ts";
import { deriveInitialKeys, type InitialKeys } from "./quic/initial-keys.ts";
import { splitLongPackets } from "./quic/long-packet.ts";

const tshark = await unpackOrSay(["tshark"], "comparison of QUIC with tshark");
const ngtcp2 = await unpackOrSay(["ngtcp2-client", "ngtcp2-server"], "QUIC of ngtcp2");

const CONNECTION_ID = fromHex("8394c8f03e515708");
const V1 = 1;
const V2 = 0x6b3343cf;

/** The ClientHello of RFC 9001 appendix A.2. */
const CLIENT_HELLO = fromHex(`
  010000ed0303ebf8fa56f12939b9584a3896472ec40bb863cfd3e86804fe3a47f06a2b69484c00000413011302010000c000000010000e00000b6578616d706c652e636f6d
  ff01000100000a00080006001d0017001800100007000504616c706e000500050100000000003300260024001d00209370b2c9caa47fbabaf4559fedba753de171fa71f50f
  1ce15d43e994ec74d748002b0003020304000d0010000e0403050306030203080408050806002d00020101001c00024001003900320408ffffffffffffffff05048000ffff
  07048000ffff0801100104800075300901100f088394c8f03e51570806048000ffff
`);

/** The protected packet of RFC 9001 appendix A.3. */
const SERVER_INITIAL = fromHex(`
  cf000000010008f067a5502a4262b5004075c0d95a482cd0991cd25b0aac406a5816b6394100f37a1c69797554780bb38cc5a99f5ede4cf73c3ec2493a1839b3dbcba3f6ea
  46c5b7684df3548e7ddeb9c3bf9c73cc3f3bded74b562bfb19fb84022f8ef4cdd93795d77d06edbb7aaf2f58891850abbdca3d20398c276456cbc42158407dd074ee
`);

/** CRYPTO frames of stretches of the handshake, in the given order. */
function cryptoFrames(handshake: Uint8Array, stretches: readonly (readonly [number, number])[]): Buffer {
  const two = (value: number) => Buffer.from([0x40 | (value >> 8), value & 0xff]);
  return Buffer.concat(stretches.flatMap(([from, to]) => [Buffer.from([6]), two(from), two(to - from), handshake.subarray(from, to)]));
}

/** An Initial packet of 1200 bytes, protected as RFC 9001 section 5 has it; a second implementation, on purpose the other way round. */
function protect(frames: Uint8Array, keys: InitialKeys, options: { version?: number; number?: number; id?: Uint8Array; size?: number } = {}): Uint8Array {
  const { version = V1, number = 2, id = CONNECTION_ID, size = 1200 } = options;
  const head = Buffer.concat([Buffer.from([version === V2 ? 0xd3 : 0xc3]), Buffer.alloc(4), Buffer.from([id.length]), id, Buffer.from([0, 0])]);
  head.writeUInt32BE(version, 1);
  const length = size - head.length - 2;
  const header = Buffer.concat([head, Buffer.from([0x40 | (length >> 8), length & 0xff]), Buffer.alloc(4)]);
  header.writeUInt32BE(number, header.length - 4);
  const nonce = Buffer.from(keys.iv);
  nonce.writeUInt32BE((nonce.readUInt32BE(8) ^ number) >>> 0, 8);
  const cipher = createCipheriv("aes-128-gcm", keys.key, nonce);
  cipher.setAAD(header);
  const plain = Buffer.concat([frames, Buffer.alloc(length - 4 - 16 - frames.length)]);
  const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  const mask = createCipheriv("aes-128-ecb", keys.hp, null).update(sealed.subarray(0, 16));
  header[0] = (header[0] as number) ^ ((mask[0] as number) & 0x0f);
  for (let index = 0; index < 4; index += 1) header[header.length - 4 + index] = (header[header.length - 4 + index] as number) ^ (mask[index + 1] as number);
  return new Uint8Array(Buffer.concat([header, sealed]));
}

const WHOLE = [[0, CLIENT_HELLO.length]] as const;

test("of a flood of first packets as many are opened as can be paid for, and others again a second later", () => {
  const hellos: number[] = [];
  const inspection = createInspection<number>({ limits: { spareWork: 64 * 1024 }, onMessage: (flow) => void hellos.push(flow) });
  const packet = protect(cryptoFrames(CLIENT_HELLO, WHOLE), deriveInitialKeys(V1, CONNECTION_ID).client);
  const see = (flows: number, at: number) => {
    for (let flow = 0; flow < flows; flow += 1) inspection.open(at + flow).datagram(0, packet, at);
  };
  see(1000, 0);
  // 4096 units each, of which 1200 bytes are paid.
  expect(hellos).toHaveLength(Math.floor((64 * 1024) / (4096 - 1200)));
  expect(inspection.counters()).toMatchObject({ recognized: 1000, tooCostly: 1000 - hellos.length });
  see(1, 2e6);
  expect(hellos.at(-1)).toBe(2e6);
});

describe("keys of Initial packets", () => {
  test("are those of RFC 9001 appendix A.1, and of RFC 9369 appendix A.1", () => {
    const { client, server } = deriveInitialKeys(V1, CONNECTION_ID);
    expect([client.key, client.iv, client.hp].map((bytes) => Buffer.from(bytes).toString("hex"))).toEqual([
      "1f369613dd76d5467730efcbe3b1a22d", "fa044b2f42a3fd3b46fb255c", "9f50449e04a0e810283a1e9933adedd2",
    ]);
    expect([server.key, server.iv, server.hp].map((bytes) => Buffer.from(bytes).toString("hex"))).toEqual([
      "cf3a5331653c364c88f0f379b6067e37", "0ac1493ca1905853b0bba03e", "c206b8d9b9f0f37644430b490eeaa314",
    ]);
    const second = deriveInitialKeys(V2, CONNECTION_ID).client;
    expect([second.key, second.iv, second.hp].map((bytes) => Buffer.from(bytes).toString("hex"))).toEqual([
      "8b1a0bc121284290a29e0971b5cd045d", "91f73e2351d8fa91660e909f", "45b95e15235d6f45a6b19cbcb0294ba9",
    ]);
  });

  test("open the packets of RFC 9001 appendices A.2 and A.3", () => {
    const keys = deriveInitialKeys(V1, CONNECTION_ID);
    const ours = protect(Buffer.concat([Buffer.from("060040f1", "hex"), CLIENT_HELLO]), keys.client);
    // The protected header and the tag that the RFC prints.
    expect(Buffer.from(ours.subarray(0, 34)).toString("hex")).toBe("c000000001088394c8f03e5157080000449e7b9aec34d1b1c98dd7689fb8ec11d242");
    expect(Buffer.from(ours.subarray(-16)).toString("hex")).toBe("e221af44860018ab0856972e194cd934");
    const [packet] = splitLongPackets(SERVER_INITIAL);
    const frames = packet ? decryptInitial(packet, keys.server) : null;
    expect(Buffer.from(frames ?? []).toString("hex").slice(0, 20)).toBe("02000000000600405a02");
  });
});

describe("a QUIC handshake", () => {
  const keys = deriveInitialKeys(V1, CONNECTION_ID);

  test("says the client's and the server's hello", async () => {
    const turns: Turn[] = [{ side: 0, bytes: protect(cryptoFrames(CLIENT_HELLO, WHOLE), keys.client) }, { side: 1, bytes: SERVER_INITIAL }];
    const { messages, service, isDone } = playDatagrams(turns);
    expect([service, isDone]).toEqual(["quic", true]);
    expect(messages).toMatchObject([
      { protocol: "quic", kind: "client-hello", version: 1, side: 0, hello: { serverName: "example.com", alpn: ["alpn"], version: 0x0304 } },
      { kind: "server-hello", side: 1, hello: { cipherSuite: 0x1301, version: 0x0304 } },
    ]);
    const [first] = messages;
    expect(first?.protocol === "quic" && first.kind === "client-hello" && first.hello.ja4).toMatch(/^q13d0211an_[0-9a-f]{12}_[0-9a-f]{12}$/);
    if (!tshark) return;
    const theirs = await askTsharkOf(tshark, turns, ["tls.handshake.extensions_server_name", "tls.handshake.ja3", "tls.handshake.ja3s"], { port: 443, as: "quic", carrier: "udp" });
    expect(valuesOfField(theirs, "tls.handshake.extensions_server_name")).toEqual(["example.com"]);
    expect(valuesOfField(theirs, "tls.handshake.ja3")).toEqual([first?.protocol === "quic" && first.kind === "client-hello" && first.hello.ja3]);
    const second = messages[1];
    expect(valuesOfField(theirs, "tls.handshake.ja3s")).toEqual([second?.protocol === "quic" && second.kind === "server-hello" && second.hello.ja3s]);
  });

  test("is put together from shuffled frames over several packets, in version 2 too", () => {
    const random = seededRandom(5);
    for (const version of [V1, V2]) {
      const client = deriveInitialKeys(version, CONNECTION_ID).client;
      for (let round = 0; round < 50; round += 1) {
        const marks = [0, ...Array.from({ length: 6 }, () => random(CLIENT_HELLO.length)).toSorted((a, b) => a - b), CLIENT_HELLO.length];
        const stretches = marks.slice(1).map((to, index) => [marks[index] ?? 0, to] as const).filter(([from, to]) => to > from);
        const shuffled = stretches.map((stretch) => ({ stretch, rank: random(1000) })).toSorted((a, b) => a.rank - b.rank).map(({ stretch }) => stretch);
        const turns = [shuffled.slice(0, 3), shuffled.slice(3)].map((part, number): Turn => {
          return { side: 0, bytes: protect(cryptoFrames(CLIENT_HELLO, part), client, { version, number }) };
        });
        expect(playDatagrams(turns).messages).toMatchObject([{ version, hello: { serverName: "example.com" } }]);
      }
    }
  });

  test("goes on with new keys behind a Retry", () => {
    const newId = fromHex("f067a5502a4262b5");
    const half = protect(cryptoFrames(CLIENT_HELLO, [[0, 100]]), keys.client);
    const retry = new Uint8Array(Buffer.concat([Buffer.from("ff000000010008f067a5502a4262b5746f6b656e", "hex"), Buffer.alloc(40)]));
    const again = protect(cryptoFrames(CLIENT_HELLO, WHOLE), deriveInitialKeys(V1, newId).client, { id: newId, number: 1 });
    expect(playDatagrams([{ side: 0, bytes: half }, { side: 1, bytes: retry }, { side: 0, bytes: again }]).messages).toMatchObject([{ kind: "client-hello" }]);
  });

  test("begins in a datagram of 1200 bytes, in its first packet: no keys are derived for others", () => {
    const first = protect(cryptoFrames(CLIENT_HELLO, WHOLE), keys.client);
    const other = protect(cryptoFrames(CLIENT_HELLO, WHOLE), deriveInitialKeys(V1, fromHex("0011223344556677")).client, { size: 700 });
    expect(playDatagrams([{ side: 0, bytes: protect(cryptoFrames(CLIENT_HELLO, WHOLE), keys.client, { size: 1199 }) }]).messages).toEqual([]);
    expect(playDatagrams([{ side: 0, bytes: new Uint8Array(Buffer.concat([other, first])) }]).messages).toEqual([]);
    expect(playDatagrams([{ side: 0, bytes: new Uint8Array(Buffer.concat([first, other])) }]).messages).toHaveLength(1);
  });

  test("that cannot be opened is given up after a few packets", () => {
    const wrong = protect(cryptoFrames(CLIENT_HELLO, WHOLE), deriveInitialKeys(V1, fromHex("00")).client);
    const { messages, isDone, service } = playDatagrams(Array.from({ length: 70 }, () => ({ side: 0, bytes: wrong })));
    expect([messages.length, isDone, service]).toEqual([0, true, "quic"]);
  });

  test("harms nobody, however damaged, inside and outside", () => {
    const frames = new Uint8Array(cryptoFrames(CLIENT_HELLO, [[0, 60], [60, CLIENT_HELLO.length]]));
    for (const damaged of seededMutations(frames, 1500, 3)) playDatagrams([{ side: 0, bytes: protect(damaged.subarray(0, 1000), keys.client) }]);
    let read = 0;
    for (const damaged of seededMutations(protect(frames, keys.client), 1500, 4)) read += playDatagrams([{ side: 0, bytes: damaged }]).messages.length;
    expect(read).toBeLessThan(200);
  });
});

/** Whether a port of UDP is bound, as the kernel says it. */
function isBound(port: number): boolean {
  return readFileSync("/proc/net/udp", "utf8").includes(`0100007F:${port.toString(16).toUpperCase().padStart(4, "0")} `);
}

test.skipIf(!ngtcp2)("a handshake of ngtcp2 is read as tshark reads it", async () => {
  if (!ngtcp2) return;
  const folder = await mkdtemp(join(tmpdir(), "lanthorn-quic-"));
  try {
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    await runCommand("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "9000", "-subj", "/CN=quic.example"]);
    await writeFile(join(folder, "index.html"), "hello");
    const port = await findFreePort();
    const server = ngtcp2.command("gtlsserver");
    const stop = await startUntil(server.path, ["-q", "-d", folder, "127.0.0.1", String(port), key, cert], server.env, async () => isBound(port));
    const client = ngtcp2.command("gtlsclient");
    const [turns = []] = await recordDatagrams(port, (relay) => tryCommand(client.path, [
      "-q", "--exit-on-all-streams-close", "--timeout=3s", "127.0.0.1", String(relay), "https://quic.example/index.html",
    ], { env: client.env }));
    await stop();
    const { messages, service } = playDatagrams(turns);
    expect([service, messages.map((message) => message.protocol === "quic" && message.kind)]).toEqual(["quic", ["client-hello", "server-hello"]]);
    expect(messages[0]).toMatchObject({ version: V1, hello: { serverName: "localhost", version: 0x0304, alpn: expect.arrayContaining(["h3"]) as unknown } });
    if (!tshark) return;
    const theirs = await askTsharkOf(tshark, turns, ["tls.handshake.ja3", "tls.handshake.ja3s"], { port: 443, as: "quic", carrier: "udp" });
    const ours = messages.map((message) => (message.protocol === "quic" ? (message.kind === "client-hello" ? message.hello.ja3 : message.hello.ja3s) : ""));
    expect([valuesOfField(theirs, "tls.handshake.ja3")[0], valuesOfField(theirs, "tls.handshake.ja3s")[0]]).toEqual(ours);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
