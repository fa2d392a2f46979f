import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { runCommand } from "../../../../test/lab/run-command.ts";
import { seededMutations } from "../../../packets/src/testing/hostile.ts";
import { unpackOrSay } from "../../../packets/src/testing/tshark.ts";
import { play, playSegments, segmentsOf, type Turn, turn } from "../testing/conversation.ts";
import { expectHarmless, expectSameHoweverCut } from "../testing/expect-conversation.ts";
import { recordThrough } from "../testing/relay.ts";
import { askTsharkOf, valuesOfField } from "../testing/tshark-conversation.ts";
import type { TrafficMessage } from "../traffic-message.ts";
import type { HttpMessage } from "./http.ts";

const tshark = await unpackOrSay(["tshark"], "comparison of HTTP with tshark");

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");
const isHttp = (message: TrafficMessage): message is HttpMessage => message.protocol === "http";

/** Messages in a word each. */
function words(messages: readonly TrafficMessage[]): readonly string[] {
  return messages.filter(isHttp).map((message) => {
    if (message.kind === "request") return `${message.method} ${message.target}`;
    if (message.kind === "response") return `${message.status} to ${message.request?.target ?? "?"}`;
    return `${message.of} ${text(message.bytes)}${message.isWhole ? "" : "…"}`;
  });
}

/** curl asks a server of Node: lengths, chunks, HEAD, uploads, an expectation, several requests on one connection. */
async function recordCurl(): Promise<Turn[][]> {
  const server = createServer((request, response) => {
    if (request.url === "/chunks") {
      response.write("one");
      setImmediate(() => response.end("two".repeat(1000)));
    } else if (request.url === "/gzip") response.setHeader("content-encoding", "gzip").end(gzipSync("hello"));
    else if (request.url === "/none") response.writeHead(204).end();
    else request.resume().on("end", () => response.setHeader("x-folded", "a").end(`${request.method} was here`));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const turns = await recordThrough((server.address() as AddressInfo).port, async (port) => {
    const url = (path: string) => `http://127.0.0.1:${port}${path}`;
    await runCommand("curl", [
      "-s", "-A", "lanthorn-test", "-u", "alice:secret", url("/chunks"), "--next", "-s", "-I", url("/head"), "--next", "-s", url("/none"), "--next", "-s", "-d", "a=1&b=2",
      url("/form"), "--next", "-s", "-H", "Expect: 100-continue", "-H", "Transfer-Encoding: chunked", "-T", "/etc/hostname", url("/upload"), "--next", "-s", url("/gzip"),
    ]);
  });
  server.closeAllConnections();
  server.close();
  return turns;
}

const recorded = await recordCurl();

describe("what curl and a server of Node say", () => {
  test("is read as tshark reads it", async () => {
    const all = recorded.flatMap((turns) => play(turns).messages.filter(isHttp));
    expect(words(all)).toEqual([
      "GET /chunks", "200 to /chunks", "HEAD /head", "200 to /head", "GET /none", "204 to /none", "POST /form", "200 to /form", "PUT /upload", "100 to /upload",
      "200 to /upload", "GET /gzip", "200 to /gzip",
    ]);
    const [first] = all;
    expect(first).toMatchObject({ side: 0, version: "1.1", host: "127.0.0.1", hasCredentials: true });
    expect(JSON.stringify(all)).not.toContain("YWxpY2U6c2VjcmV0");
    for (const turns of tshark ? recorded : []) {
      const theirs = await askTsharkOf(tshark as NonNullable<typeof tshark>, turns, ["http.request.uri", "http.request.method", "http.response.code", "http.user_agent"], { port: 80, as: "http" });
      const ours = play(turns).messages.filter(isHttp);
      expect(valuesOfField(theirs, "http.request.uri")).toEqual(ours.flatMap((message) => (message.kind === "request" ? [message.target] : [])));
      expect(valuesOfField(theirs, "http.request.method")).toEqual(ours.flatMap((message) => (message.kind === "request" ? [message.method] : [])));
      expect(valuesOfField(theirs, "http.response.code")).toEqual(ours.flatMap((message) => (message.kind === "response" ? [String(message.status)] : [])));
    }
  });

  test("is the same however it is cut, bodies too, and harmless when damaged", () => {
    for (const turns of recorded) {
      expectSameHoweverCut(turns, { httpBody: 100 });
      expectHarmless(turns, seededMutations, 25);
    }
  });
});

const HEAD = "GET /a HTTP/1.1\r\nHost: Example.COM:8080\r\n\r\n";

describe("HTTP", () => {
  test("pairs answers with pipelined requests, and knows which have no body", () => {
    const { messages } = play([
      turn(0, "HEAD /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\nPOST /3 HTTP/1.0\r\nContent-Length: 3\r\n\r\nabcGET /4 HTTP/1.1\n\n"),
      turn(1, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nHTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"),
      turn(1, "HTTP/1.1 500 Oh no\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2;x=y\r\nhi\r\n0\r\nTrailer: 1\r\n\r\nHTTP/1.0 200\r\n\r\nto the end"),
    ], {}, { httpBody: 64 });
    expect(words(messages)).toEqual([
      "HEAD /1", "GET /2", "POST /3", "request abc", "GET /4", "200 to /1", "304 to /2", "100 to /3", "500 to /3", "response hi", "200 to /4", "response to the end",
    ]);
  });

  test("hands on the beginning of a body only where it is asked for", () => {
    const answer = [turn(0, HEAD), turn(1, `HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n${"x".repeat(5000)}HTTP/1.1 404 Gone\r\n\r\n`)];
    expect(words(play(answer).messages)).toEqual(["GET /a", "200 to /a", "404 to ?"]);
    expect(words(play(answer, {}, { httpBody: 8 }).messages)).toEqual(["GET /a", "200 to /a", "response xxxxxxxx…", "404 to ?"]);
    // The conversation itself and the request that waits.
    expect(play(answer).peakBytes).toBeLessThan(4096);
  });

  test("names the host in lower case and without port: of the target, then of the field", () => {
    const host = (head: string) => play([turn(0, head)]).messages.map((message) => isHttp(message) && message.kind === "request" && message.host);
    expect(host(HEAD)).toEqual(["example.com"]);
    expect(host("GET http://Proxy.example:81/x HTTP/1.1\r\nHost: other\r\n\r\n")).toEqual(["proxy.example"]);
    expect(host("CONNECT Shop.example:443 HTTP/1.1\r\nHost: other\r\n\r\n")).toEqual(["shop.example"]);
    expect(host("GET / HTTP/1.0\r\n\r\n")).toEqual([null]);
  });

  test("shows no credential, nor keeps it in the raw head", () => {
    const secrets = "GET http://bob:hunter2@host/ HTTP/1.1\r\nauthorization:  Basic c2VjcmV0\r\nProxy-Authorization: c2VjcmV0Mg\r\nX: y\r\n z\r\nAuthorization: Digest a=b,\r\n c=hidden\r\n\r\n";
    const message = play([turn(0, secrets)]).messages.find(isHttp);
    if (message?.kind !== "request") throw new Error("no request");
    expect(message.hasCredentials).toBe(true);
    expect(message.raw).toHaveLength(secrets.length);
    const shown = `${JSON.stringify({ ...message, raw: null })} ${text(message.raw)}`;
    expect(["hunter2", "c2VjcmV0", "c2VjcmV0Mg", "hidden", "a=b"].filter((secret) => shown.includes(secret))).toEqual([]);
    expect(message.headers.find(({ name }) => name === "authorization")?.value).toBe("Basic ********");
    expect(message.headers.find(({ name }) => name === "X")?.value).toBe("y z");
  });

  test("goes on with the protocol inside of a tunnel", () => {
    const { messages, service } = play([
      turn(0, "CONNECT git.example:22 HTTP/1.1\r\n\r\n"), turn(1, "HTTP/1.1 200 Established\r\n\r\n"), turn(1, "SSH-2.0-inside\r\n"), turn(0, "SSH-2.0-client\r\n"),
    ]);
    expect(service).toBe("ssh");
    expect(messages.map((message) => message.protocol)).toEqual(["http", "http", "ssh", "ssh"]);
  });

  test("lets an upgraded connection go", () => {
    const { service, isDone, messages } = play([
      turn(0, "GET /chat HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"), turn(1, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"),
      ...Array.from({ length: 20 }, () => [turn(1, Uint8Array.of(0x81, 2, 0x68, 0x69)), turn(0, Uint8Array.of(0x81, 0x80, 1, 2, 3, 4))]).flat(),
    ]);
    expect([service, isDone, messages.length]).toEqual(["http", true, 2]);
  });

  test("finds the next head behind a gap", () => {
    const segments = segmentsOf([
      turn(0, "GET /1 HTTP/1.1\r\n\r\n"), turn(1, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"), turn(1, "abcdef"), turn(0, "GET /2 HTTP/1.1\r\n\r\n"),
      turn(1, "HTTP/1.1 201 OK\r\nContent-Length: 0\r\n\r\n"), turn(0, "GET /3 HTTP/1.1\r\n\r\n"),
    ]);
    // The head of the first answer is missing in the capture.
    const { messages, counters } = playSegments(segments.toSpliced(4, 1));
    expect(counters.gaps).toBe(1);
    expect(words(messages)).toEqual(["GET /1", "GET /2", "201 to /2", "GET /3"]);
  });

  test("is joined in the middle, at the beginning of a head, and one side alone is enough", () => {
    const late = [turn(1, "rest of a body"), turn(1, "more of it"), turn(0, HEAD), turn(1, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")];
    expect(words(play(late, { isMidstream: true }).messages)).toEqual(["GET /a", "200 to /a"]);
    expect(words(play([turn(0, HEAD), turn(0, HEAD)]).messages)).toEqual(["GET /a", "GET /a"]);
    expect(words(play([turn(1, "HTTP/1.1 200 OK\r\n\r\n")]).messages)).toEqual(["200 to ?"]);
  });

  test("bounds heads, fields and bodies that never end", () => {
    const long = play([turn(0, `GET / HTTP/1.1\r\nX: ${"x".repeat(200_000)}`)], { size: 100 });
    expect(long.messages).toEqual([]);
    expect(long.peakBytes).toBeLessThan(300_000);
    const many = play([turn(0, `GET / HTTP/1.1\r\n${"X: y\r\n".repeat(1000)}\r\n`)]).messages.find(isHttp);
    expect(many).toMatchObject({ isCut: true });
    expect(many?.kind === "request" && many.headers.length).toBe(200);
    const endless = play([turn(0, HEAD), turn(1, `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${"1\r\nx\r\n".repeat(20_000)}`)], { size: 7 });
    expect(endless.peakBytes).toBeLessThan(5000);
  });
});
