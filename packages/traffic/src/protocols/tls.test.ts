import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, createServer, type SecureVersion, type TlsOptions } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand } from "../../../../test/lab/run-command.ts";
import { seededMutations } from "../../../packets/src/testing/hostile.ts";
import { unpackOrSay } from "../../../packets/src/testing/tshark.ts";
import { play, type Turn, turn } from "../testing/conversation.ts";
import { expectHarmless, expectSameHoweverCut } from "../testing/expect-conversation.ts";
import { recordThrough } from "../testing/relay.ts";
import { askTsharkOf, valuesOfField } from "../testing/tshark-conversation.ts";
import { decodeCertificate } from "./tls/certificate.ts";
import { decodeClientHello } from "./tls/client-hello.ts";
import { ja3OfClient } from "./tls/ja3.ts";
import { ja4OfClient } from "./tls/ja4.ts";
import type { TlsMessage } from "./tls.ts";

const tshark = await unpackOrSay(["tshark"], "comparison of TLS with tshark");

const CONFIG = ["/C=DE/ST=Bayern/O=Lanthorn Test/OU=Ünit/CN=shop.example", "subjectAltName=DNS:shop.example,DNS:*.shop.example,IP:192.0.2.7"] as const;

let folder = "";
let certificate: { readonly key: Buffer; readonly cert: Buffer } = { key: Buffer.alloc(0), cert: Buffer.alloc(0) };
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lanthorn-tls-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const [subject, names] = CONFIG;
  await runCommand("openssl", [
    "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-utf8", "-keyout", key, "-out", cert, "-days", "9000", "-set_serial", "0x00c0ffee1234", "-subj", subject, "-addext", names,
  ]);
  certificate = { key: await readFile(key), cert: await readFile(cert) };
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Lets a client of Node speak to a server of Node. */
async function handshake(version: SecureVersion, options: TlsOptions = {}): Promise<Turn[]> {
  const server = createServer({ ...certificate, minVersion: version, maxVersion: version, ALPNProtocols: ["h2", "http/1.1"], ...options }, (socket) => {
    socket.end("welcome");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const [turns = []] = await recordThrough((server.address() as AddressInfo).port, async (port) => {
    const socket = connect({ port, host: "127.0.0.1", servername: "shop.example", ALPNProtocols: ["h2", "http/1.1"], rejectUnauthorized: false });
    socket.resume();
    await once(socket, "end");
  });
  server.close();
  return turns;
}

function tlsOf(turns: readonly Turn[]): readonly TlsMessage[] {
  const { messages, service } = play(turns);
  expect(service).toBe("tls");
  return messages.filter((message): message is TlsMessage => message.protocol === "tls");
}

const FIELDS = [
  "tls.handshake.ja3", "tls.handshake.ja3_full", "tls.handshake.ja3s", "tls.handshake.ja3s_full", "tls.handshake.extensions_server_name", "tls.handshake.certificate",
  "x509af.serialNumber",
];

describe("a handshake of real programs", () => {
  test.each<[SecureVersion, number]>([["TLSv1.3", 0x0304], ["TLSv1.2", 0x0303]])("is read as tshark reads it: %s", async (version, number) => {
    const turns = await handshake(version);
    const messages = tlsOf(turns);
    const client = messages.find((message) => message.kind === "client-hello");
    const server = messages.find((message) => message.kind === "server-hello");
    if (client?.kind !== "client-hello" || server?.kind !== "server-hello") throw new Error("no hellos");
    expect(client).toMatchObject({ side: 0, hello: { serverName: "shop.example", alpn: ["h2", "http/1.1"], hasEncryptedClientHello: false } });
    expect(server).toMatchObject({ side: 1, hello: { version: number, isHelloRetryRequest: false, alpn: version === "TLSv1.2" ? "h2" : null } });
    expect(client.hello.ja4).toMatch(/^t1[23]d\d{4}h2_[0-9a-f]{12}_[0-9a-f]{12}$/);
    if (!tshark) return;
    const theirs = await askTsharkOf(tshark, turns, FIELDS, { port: 443, as: "tls" });
    expect(valuesOfField(theirs, "tls.handshake.ja3")).toEqual([client.hello.ja3]);
    expect(valuesOfField(theirs, "tls.handshake.ja3_full")).toEqual([client.hello.ja3Text]);
    expect(valuesOfField(theirs, "tls.handshake.ja3s")).toEqual([server.hello.ja3s]);
    expect(valuesOfField(theirs, "tls.handshake.ja3s_full")).toEqual([server.hello.ja3sText]);
  });

  test("shows the certificate of TLS 1.2", async () => {
    const turns = await handshake("TLSv1.2");
    const found = tlsOf(turns).find((message) => message.kind === "certificates");
    const der = Buffer.from(certificate.cert.toString().replaceAll(/-----[A-Z ]+-----|\s/g, ""), "base64");
    expect(found).toMatchObject({
      side: 1,
      certificates: [{
        sha256: createHash("sha256").update(der).digest("hex"),
        subject: "C=DE, ST=Bayern, O=Lanthorn Test, OU=Ünit, CN=shop.example",
        issuer: "C=DE, ST=Bayern, O=Lanthorn Test, OU=Ünit, CN=shop.example",
        serialNumber: "c0ffee1234",
        names: ["shop.example", "*.shop.example", "192.0.2.7"],
      }],
    });
    const [one] = found?.kind === "certificates" ? found.certificates : [];
    const text = await runCommand("openssl", ["x509", "-in", join(folder, "cert.pem"), "-noout", "-dates"]);
    const [, from = "", to = ""] = /notBefore=(.*)\nnotAfter=(.*)/.exec(text) ?? [];
    expect([one?.notBefore, one?.notAfter]).toEqual([Date.parse(from) / 1000, Date.parse(to) / 1000]);
  });

  test("wants nothing more once it is encrypted", async () => {
    const turns = await handshake("TLSv1.3");
    const played = play([...turns, turn(0, new Uint8Array(50_000)), turn(1, new Uint8Array(50_000))]);
    expect([played.isDone, played.counters.heldBytes]).toEqual([true, 0]);
  });

  test("is the same however it is cut, and harmless when damaged", async () => {
    const turns = await handshake("TLSv1.2");
    expectSameHoweverCut(turns);
    expectHarmless(turns, seededMutations);
  });

  test("takes a second hello after a HelloRetryRequest", async () => {
    const turns = await handshake("TLSv1.3", { ecdhCurve: "P-521" });
    const messages = tlsOf(turns);
    expect(messages.map(({ kind }) => kind)).toEqual(["client-hello", "server-hello", "client-hello", "server-hello"]);
    expect(messages.map((message) => message.kind === "server-hello" && message.hello.isHelloRetryRequest)).toEqual([false, true, false, false]);
    if (!tshark) return;
    const theirs = await askTsharkOf(tshark, turns, FIELDS, { port: 443, as: "tls" });
    expect(valuesOfField(theirs, "tls.handshake.ja3")).toEqual(messages.flatMap((message) => (message.kind === "client-hello" ? [message.hello.ja3] : [])));
  });
});

describe("fingerprints", () => {
  test("JA3 of its published examples", () => {
    const text = "769,47-53-5-10-49161-49162-49171-49172-50-56-19-4,0-10-11,23-24-25,0";
    const [version = "", ciphers = "", extensions = "", groups = "", formats = ""] = text.split(",");
    const numbers = (list: string) => list.split("-").map(Number);
    const found = ja3OfClient({
      legacyVersion: Number(version), cipherSuites: [0x0a0a, ...numbers(ciphers)], extensions: [...numbers(extensions), 0xdada],
      supportedGroups: [0x3a3a, ...numbers(groups)], ecPointFormats: numbers(formats),
    });
    expect(found).toEqual({ ja3: "ada70206e40642a3e4461f35503241d5", ja3Text: text });
    const empty = ja3OfClient({ legacyVersion: 769, cipherSuites: numbers("4-5-10-9-100-98-3-6-19-18-99"), extensions: [], supportedGroups: [], ecPointFormats: [] });
    expect(empty.ja3).toBe("de350869b8c85de67a350c8d186f11e6");
  });

  test("JA4 of its published example", () => {
    const hex = (list: string) => list.split(",").map((digits) => Number.parseInt(digits, 16));
    const facts = {
      version: 0x0304,
      cipherSuites: [0x1a1a, ...hex("1301,1302,1303,c02b,c02f,c02c,c030,cca9,cca8,c013,c014,009c,009d,002f,0035")],
      extensions: [0x2a2a, ...hex("001b,0000,0033,0010,4469,0017,002d,000d,0005,0023,0012,002b,ff01,000b,000a,0015"), 0x3a3a],
      signatureAlgorithms: hex("0403,0804,0401,0503,0805,0501,0806,0601"),
      serverName: "example.com",
      firstAlpn: new Uint8Array(Buffer.from("h2")),
    };
    expect(ja4OfClient(facts, "tcp")).toBe("t13d1516h2_8daaf6152771_e5627efa2ab1");
    expect(ja4OfClient({ ...facts, extensions: [], cipherSuites: [], firstAlpn: Uint8Array.of(0xab, 0xcd), version: 0x0303 }, "quic"))
      .toBe("q12i0000ad_000000000000_000000000000");
  });
});

test("a hello that is full of cipher suites costs no more than others", () => {
  const suites = Buffer.alloc(60_000, 0x13);
  const body = Buffer.concat([Buffer.from("0303", "hex"), Buffer.alloc(33), Buffer.from([suites.length >> 8, suites.length & 0xff]), suites, Buffer.from("0100", "hex")]);
  const hello = decodeClientHello(new Uint8Array(body), "tcp");
  expect(hello?.cipherSuites).toHaveLength(512);
  expect(hello?.ja4.slice(0, 10)).toBe("t12i990000");
});

describe("a certificate", () => {
  test("that is none has its hash alone", () => {
    expect(decodeCertificate(Uint8Array.of(1, 2, 3))).toMatchObject({ subject: "", serialNumber: "", notBefore: null, names: [] });
    expect(decodeCertificate(Uint8Array.of(1, 2, 3)).sha256).toBe(createHash("sha256").update(Uint8Array.of(1, 2, 3)).digest("hex"));
  });

  test("harms nobody, however damaged", () => {
    const der = Buffer.from(certificate.cert.toString().replaceAll(/-----[A-Z ]+-----|\s/g, ""), "base64");
    let read = 0;
    for (const damaged of seededMutations(new Uint8Array(der), 5000, 3)) if (decodeCertificate(damaged).subject !== "") read += 1;
    expect(read).toBeGreaterThan(100);
  });
});
