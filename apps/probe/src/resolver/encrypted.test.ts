import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { decodeDns, DNS_TYPE, encodeDns } from "@lanthorn/packets";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createMessageSplitter, withLength } from "./messages/stream-messages.ts";
import { ask } from "./testing/ask.ts";
import { makeCertificate } from "./testing/certificate.ts";
import { address, createOpened, edns, lastOf, NAME, question } from "./testing/opened.ts";

const opened = createOpened();
const folder = mkdtempSync(join(tmpdir(), "lanthorn-dns-"));
const tls = { name: "dns.example.net", certificate_file: join(folder, "certificate.pem"), key_file: join(folder, "key.pem"), port: 0, https_port: 0 };
let authorities = "";
beforeAll(async () => {
  const made = await makeCertificate(tls.name);
  authorities = made.certificate;
  writeFileSync(tls.certificate_file, made.certificate);
  writeFileSync(tls.key_file, made.key);
});
afterEach(() => opened.close());
afterAll(() => rmSync(folder, { recursive: true }));

/** A resolver that speaks everything, over a server that knows one address. */
async function encrypted() {
  const upstream = await opened.server(() => ({ answers: [address(1, 60)] }));
  const resolver = await opened.resolverOver([upstream], { tls });
  const portOf = (protocol: string) => resolver.listeners.find(({ label }) => label.startsWith(protocol))?.port as number;
  return { ...resolver, upstream, tlsPort: portOf("tls"), httpsPort: portOf("https") };
}

describe("a resolver that asks another one", () => {
  test.each(["tls", "https"] as const)("by %s gets its answers, over one connection", async (protocol) => {
    const behind = await encrypted();
    const port = protocol === "tls" ? behind.tlsPort : behind.httpsPort;
    const front = await opened.resolverOver([], { upstreams: [{ address: "127.0.0.1", port, protocol, name: tls.name, authorities }] });
    const names = Array.from({ length: 20 }, (_, index) => `n${index}.example.com`);
    const answers = await Promise.all(names.map((name) => ask(front.port, { questions: [{ name, type: DNS_TYPE.a }] })));
    expect(answers.map(lastOf)).toEqual(names.map(() => [1]));
    expect(front.upstreams[0]?.counts).toMatchObject({ asked: 20, answered: 20, failed: 0 });
  });

  test.each(["tls", "https"] as const)("by %s does not believe who has no certificate for the name", async (protocol) => {
    const behind = await encrypted();
    const port = protocol === "tls" ? behind.tlsPort : behind.httpsPort;
    for (const wrong of [{ name: "other.example.net", authorities }, { name: tls.name }]) {
      const front = await opened.resolverOver([], { upstreams: [{ address: "127.0.0.1", port, protocol, ...wrong }] });
      expect((await ask(front.port, { questions: [question] })).responseCode).toBe(2);
    }
    expect(behind.upstream.asked).toEqual([]);
  });
});

test("a telephone's manner: no name in its hello, no look at the certificate, padded questions in pieces over one connection", async () => {
  const { tlsPort } = await encrypted();
  const padding = edns([{ code: 12, value: new Uint8Array(60) }]);
  const ids = Array.from({ length: 24 }, (_, index) => index + 1);
  const queries = ids.map((id) => withLength(encodeDns({ id, isRecursionDesired: true, questions: [{ name: `x${id}-dnsotls-ds.metric.example.com`, type: id % 2 ? DNS_TYPE.a : DNS_TYPE.aaaa }], additionals: [padding] })));
  const bytes = Buffer.concat(queries);
  const socket = connectTls({ host: "127.0.0.1", port: tlsPort, rejectUnauthorized: false });
  const lengths: number[] = [];
  const answered = new Set<number>();
  const all = new Promise<void>((resolve, reject) => {
    socket.on("error", reject).on("data", createMessageSplitter((message) => {
      lengths.push(message.length);
      answered.add(((message[0] as number) << 8) | (message[1] as number));
      if (answered.size === ids.length) resolve();
    }));
  });
  for (let at = 0; at < bytes.length; at += 97) socket.write(bytes.subarray(at, at + 97));
  await all;
  socket.destroy();
  expect([...answered].toSorted((a, b) => a - b)).toEqual(ids);
  expect(new Set(lengths)).toEqual(new Set([468]));
});

describe("by HTTPS", () => {
  const query = encodeDns({ id: 0, isRecursionDesired: true, questions: [question] });

  async function request(port: number, headers: Record<string, string>, body: Uint8Array | null) {
    const session = connect(`https://127.0.0.1:${port}`, { ca: authorities });
    const stream = session.request(headers, { endStream: body === null });
    if (body) stream.end(body);
    const status = await new Promise<Record<string, unknown>>((resolve, reject) => stream.on("response", resolve).on("error", reject));
    const pieces: Uint8Array[] = [];
    for await (const piece of stream as AsyncIterable<Uint8Array>) pieces.push(piece);
    session.close();
    return { headers: status, body: Buffer.concat(pieces) };
  }

  test("GET and POST give the same answer, with how long it may be kept", async () => {
    const { httpsPort } = await encrypted();
    const posted = await request(httpsPort, { ":method": "POST", ":path": "/dns-query", "content-type": "application/dns-message" }, query);
    const got = await request(httpsPort, { ":method": "GET", ":path": `/dns-query?dns=${Buffer.from(query).toString("base64url")}` }, null);
    for (const { headers, body } of [posted, got]) {
      expect(headers).toMatchObject({ ":status": 200, "content-type": "application/dns-message", "cache-control": expect.stringMatching(/^max-age=(?:60|59)$/) });
      expect(decodeDns(body)).toMatchObject({ ok: true, value: { questions: [{ name: NAME }], answers: [{ type: DNS_TYPE.a }] } });
    }
  });

  test.each([
    [404, { ":method": "GET", ":path": "/other" }, null],
    [400, { ":method": "GET", ":path": "/dns-query?dns=a%20b" }, null],
    [400, { ":method": "GET", ":path": "/dns-query" }, null],
    [405, { ":method": "PUT", ":path": "/dns-query" }, query],
    [415, { ":method": "POST", ":path": "/dns-query", "content-type": "text/plain" }, query],
    [413, { ":method": "POST", ":path": "/dns-query", "content-type": "application/dns-message" }, new Uint8Array(5000)],
  ] as const)("what is no query gets %i", async (status, headers, body) => {
    const { httpsPort } = await encrypted();
    expect((await request(httpsPort, headers, body)).headers[":status"]).toBe(status);
  });
});

test("a client that knows the address only learns of the encrypted ways, and nobody else is asked of them", async () => {
  const { port, upstream } = await encrypted();
  const designated = await ask(port, { questions: [{ name: "_dns.resolver.arpa", type: DNS_TYPE.svcb }] });
  expect(designated.answers.map(({ data }) => data)).toMatchObject([
    { kind: "svcb", priority: 1, target: tls.name, parameters: [{ key: 1 }, { key: 3 }, { key: 7 }] },
    { kind: "svcb", priority: 2, target: tls.name, parameters: [{ key: 1 }, { key: 3 }] },
  ]);
  expect((await ask(port, { questions: [{ name: "resolver.arpa", type: DNS_TYPE.a }] })).answers).toEqual([]);
  expect(upstream.asked).toEqual([]);
});
