import { deflateSync, gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BufferName } from "../../rules/buffer-names.ts";
import { keyOf, playApplication, type PlayOptions, type Said } from "../testing/play-conversation.ts";
import { HTTP_APPLICATION } from "./http.ts";

const play = (said: readonly Said[], options?: PlayOptions) => playApplication(HTTP_APPLICATION, said, options);
const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

function seen(said: readonly Said[], buffer: BufferName, direction: "to-server" | "to-client", index = 0): readonly string[] | undefined {
  return play(said).transactions[index]?.buffers.get(keyOf(buffer, direction));
}

const inRequest = (head: string, buffer: BufferName) => seen([[">", `${head}\r\n`]], buffer, "to-server")?.[0];
const inResponse = (response: string, buffer: BufferName) => seen([[">", "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"], ["<", response]], buffer, "to-client")?.[0];

// Suricata 7.0.10 was asked for each of these.
describe("a request", () => {
  test("fills the buffers of its line and its fields", () => {
    const request = "POST /a/../b//c%20d+e?x=%41&y=1+2 HTTP/1.1\r\nHost: ExAmple.com\r\nUser-Agent: ua\r\nCookie: c=1; d=2\r\nX-A: 1\r\nx-a: 2\r\nFold: a\r\n  b\r\n"
      + "Accept: */*\r\nAccept-Encoding: gzip\r\nAccept-Language: de\r\nReferer: http://r/\r\nConnection: close, TE\r\nContent-Type: x/y\r\nContent-Length: 3\r\n\r\nabc";
    const [transaction] = play([[">", request], ["<", OK]]).transactions;
    const found = Object.fromEntries([...transaction?.buffers ?? []].filter(([key]) => key.endsWith(" to-server") && !/request_header|start|header\.raw/.test(key)));
    expect(found).toEqual({
      "http.uri to-server": ["/b/c d+e?x=A&y=1+2"], "http.uri.raw to-server": ["/a/../b//c%20d+e?x=%41&y=1+2"], "http.method to-server": ["POST"],
      "http.request_line to-server": ["POST /a/../b//c%20d+e?x=%41&y=1+2 HTTP/1.1"], "http.protocol to-server": ["HTTP/1.1"], "http.request_body to-server": ["abc"],
      "http.user_agent to-server": ["ua"], "http.host to-server": ["example.com"], "http.host.raw to-server": ["ExAmple.com"], "http.cookie to-server": ["c=1; d=2"],
      "http.accept to-server": ["*/*"], "http.accept_enc to-server": ["gzip"], "http.accept_lang to-server": ["de"], "http.referer to-server": ["http://r/"],
      "http.connection to-server": ["close, TE"], "http.content_type to-server": ["x/y"], "http.content_len to-server": ["3"],
      "http.header to-server": ["Host: ExAmple.com\r\nUser-Agent: ua\r\nX-A: 1, 2\r\nFold: a  b\r\nAccept: */*\r\nAccept-Encoding: gzip\r\nAccept-Language: de\r\nReferer: http://r/\r\n"
        + "Connection: close, TE\r\nContent-Type: x/y\r\nContent-Length: 3\r\n"],
      "http.header_names to-server": ["\r\nHost\r\nUser-Agent\r\nCookie\r\nX-A\r\nFold\r\nAccept\r\nAccept-Encoding\r\nAccept-Language\r\nReferer\r\nConnection\r\nContent-Type\r\n"
        + "Content-Length\r\n\r\n"],
      "file.data to-server": ["abc"], "file.name to-server": ["/b/c d+e"],
    });
  });

  test.each([
    ["GET /a", "GET", "/a", undefined], ["GET /a b c HTTP/1.1", "GET", "/a", "b c HTTP/1.1"], ["GET  /a  HTTP/1.1", "GET", "/a", "HTTP/1.1"],
    ["GET\t/a\tHTTP/1.1", "GET", "/a", "HTTP/1.1"], ["get /a http/1.1", "get", "/a", "http/1.1"], ["GET /a HTTP/1.1 ", "GET", "/a", "HTTP/1.1 "],
    ["GET /a\fb HTTP/1.1", "GET", "/a\fb", "HTTP/1.1"], ["GET ", "GET", "", undefined], ["GET /a\0b HTTP/1.1", "GET", "/a\0b", "HTTP/1.1"],
  ])("of the line %j is read leniently", (line, method, uri, protocol) => {
    const head = `${line}\r\nHost: h\r\n`;
    expect([inRequest(head, "http.method"), inRequest(head, "http.uri"), inRequest(head, "http.protocol")]).toEqual([method, uri, protocol]);
  });

  test.each([
    ["Empty:\r\n", "Empty: \r\n", "\r\nHost\r\nEmpty\r\n\r\n"], ["NoColon\r\nB: c\r\n", ": NoColon\r\nB: c\r\n", "\r\nHost\r\n\r\nB\r\n\r\n"], [": x\r\n", ": x\r\n", "\r\nHost\r\n\r\n\r\n"],
    ["Sp : v\r\n", "Sp: v\r\n", "\r\nHost\r\nSp\r\n\r\n"], ["T:\t v \t\r\n", "T: v\r\n", "\r\nHost\r\nT\r\n\r\n"], ["A: 1\r\nB: 2\r\na: 3\r\n", "A: 1, 3\r\nB: 2\r\n", "\r\nHost\r\nA\r\nB\r\n\r\n"],
    ["Cookie: a\r\nCookie: b\r\n", "", "\r\nHost\r\nCookie\r\n\r\n"], ["C: a\rb\r\n", "C: a\rb\r\n", "\r\nHost\r\nC\r\n\r\n"], ["A:: b\r\n", "A: : b\r\n", "\r\nHost\r\nA\r\n\r\n"],
    ["A\0: b\r\n", ": A\0: b\r\n", "\r\nHost\r\n\r\n\r\n"], ["A: \r\n b\r\n", "A: b\r\n", "\r\nHost\r\nA\r\n\r\n"], ["Fold: a \r\n b \r\n", "Fold: a  b\r\n", "\r\nHost\r\nFold\r\n\r\n"],
    ["A: b\n\rC: d\r\n", "A: b\r\n\rC: d\r\n", "\r\nHost\r\nA\r\n\rC\r\n\r\n"], ["A: b\r\n c: d\r\n", "A: b c: d\r\n", "\r\nHost\r\nA\r\n\r\n"],
    ["Content-Length: 3\r\nContent-Length: 3\r\n", "Content-Length: 3\r\n", "\r\nHost\r\nContent-Length\r\n\r\n"],
  ])("with the fields %j", (fields, header, names) => {
    const head = `GET /a HTTP/1.1\r\nHost: h\r\n${fields}`;
    expect(inRequest(head, "http.header")).toBe(`Host: h\r\n${header}`);
    expect(inRequest(head, "http.header_names")).toBe(names);
    expect(inRequest(head, "http.header.raw")).toBe(`Host: h\r\n${fields}\r\n`);
  });

  test.each([
    ["GET /a HTTP/1.1\r\nHost: a.com\r\nHost: b.com\r\n", "a.com, b.com", "a.com, b.com", ["request_header_host_invalid"]],
    ["GET http://Foo.com:81/a HTTP/1.1\r\nHost: Bar.com:82\r\n", "foo.com", "foo.com", ["host_header_ambiguous"]], ["GET /a HTTP/1.1\r\n", undefined, undefined, ["missing_host_header"]],
    ["GET /a HTTP/1.1\r\nHost: [::1]:80\r\n", "[::1]", "[::1]:80", []], ["GET /a HTTP/1.1\r\nHost: WWW.a.com.\r\n", "www.a.com.", "WWW.a.com.", []],
    ["GET /a HTTP/1.1\r\nHost: A.com:8080\r\n", "A.com", "A.com:8080", []], ["GET /a HTTP/1.1\r\nHost: a.com:\r\n", "a.com", "a.com:", ["request_header_host_invalid"]],
    ["GET /a HTTP/1.1\r\nHost: \r\n", undefined, "", ["request_header_host_invalid"]], ["GET /a HTTP/1.0\r\n", undefined, undefined, []],
  ])("%j has a host", (head, host, raw, events) => {
    expect([inRequest(head, "http.host"), inRequest(head, "http.host.raw")]).toEqual([host, raw]);
    expect(play([[">", `${head}\r\n`]]).transactions[0]?.events).toEqual(events);
  });

  test.each([
    ["GET /a HTTP/1.1\r\n", "GET /a HTTP/1.1\r\n"], ["GET /a HTTP/1.1\r\nCookie: a\r\nA:b\r\n", "GET /a HTTP/1.1\r\nCookie: a\r\nA: b\r\n\r\n"], ["GET /a\nA: b\n", "GET /a\r\nA: b\r\n\r\n"],
  ])("%j has a beginning", (head, start) => {
    expect(inRequest(head, "http.start")).toBe(start);
  });

  test.each([
    ["Transfer-Encoding: foo\r\n", "invalid_transfer_encoding_value_in_request"], ["Content-Length: x\r\n", "invalid_content_length_field_in_request"],
    ["Authorization: NTLM abc\r\n", "request_auth_unrecognized"], ["Foo Bar: x\r\n", "request_header_invalid"], ["Foo\r\n", "request_field_missing_colon"],
  ])("with %j raises %s", (field, event) => {
    expect(play([[">", `POST /a HTTP/1.1\r\nHost: h\r\n${field}\r\nabc`]]).transactions[0]?.events).toContain(event);
  });
});

describe("a response", () => {
  test.each([
    ["HTTP/1.1 200 OK", "200", "OK", "HTTP/1.1"], ["HTTP/1.1 200", "200", undefined, "HTTP/1.1"], ["HTTP/1.1  200  OK", "200", "OK", "HTTP/1.1"], ["HTTP", undefined, undefined, "HTTP"],
    ["http/1.1 200 ok", "200", "ok", "http/1.1"], [" HTTP/1.1 200 OK", "200", "OK", "HTTP/1.1"], ["\0HTTP/1.1 200 OK", "200", "OK", "\0HTTP/1.1"], ["HTTP/1.1 abc OK", "abc", "OK", "HTTP/1.1"],
    ["HTTP/1.1 200 OK  ", "200", "OK  ", "HTTP/1.1"], ["\r\n\r\nHTTP/1.1 200 OK", "200", "OK", "HTTP/1.1"],
  ])("of the line %j is read leniently", (line, status, reason, protocol) => {
    const response = `${line}\r\nContent-Length: 4\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nX: y\r\n\r\nbody`;
    expect([inResponse(response, "http.stat_code"), inResponse(response, "http.stat_msg"), inResponse(response, "http.protocol")]).toEqual([status, reason, protocol]);
    expect([inResponse(response, "http.cookie"), inResponse(response, "http.header"), inResponse(response, "file.data")]).toEqual(["a, b", "Content-Length: 4\r\nX: y\r\n", "body"]);
  });

  test.each([
    ["HTTP/1.1 200 OK\rA: b\rC: d\r\nE: f\r\n\r\nbody", "A: b\r\nC: d\r\nE: f\r\n", "body"], ["HTTP/1.1 200 OK\nA: b\n\rC: d\r\nE: f\n\r\nbody", "A: b\r\nC: d\r\nE: f\r\n", "body"],
    ["HTTP/1.1 200 OK\r\nA: b\n \nbody: more\r\n", "A: b\r\n", "body: more\r\n"], ["HTTP/1.1 200 OK\r\nA: b\n \n\nbody: more\r\n", "A: b\r\n", "body: more\r\n"],
    ["HTTP/1.1 200 OK\r\nA: b\r\n \r\nbody: more\r\n\r\nx", "A: b\r\nbody: more\r\n", "x"], ["HTTP/1.1 200 OK\r\nA: b\r\n\r\r\nC: d\r\n\r\nx", "A: b\r\n: \r\nC: d\r\n", "x"],
    ["HTTP/1.1 200 OK\r\nA: b\r\n c: d\r\n\r\nx", "A: b\r\nc: d\r\n", "x"], ["HTTP/1.1 200 OK\r\n folded: yes\r\n\r\nx", "folded: yes\r\n", "x"],
  ])("%j ends its lines in many ways", (response, header, body) => {
    expect([inResponse(response, "http.header"), inResponse(response, "http.response_body")]).toEqual([header, body]);
  });

  test.each([
    ["HTTP/1.1 200 OK\r\n\r\nuntil close", "until close"], ["HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nTrail: x\r\n\r\n", "abc"],
    ["HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunkedx\r\n\r\n 3;x=y\nabc\n\r\n2 \r\nde\r\n0", "abcde"],
    ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\nrest of it\r\n", "abczz\r\nrest of it\r\n"],
    ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nX5O!", "X5O!"], ["HTTP/1.1 200 OK\r\nContent-Length:  3x\r\n\r\nrest of it\r\n", "rest of it\r\n"],
    ["HTTP/1.1 200 OK\r\nContent-Length:  3\r\nContent-Length: 5\r\n\r\nrest of it", "rest of it"], ["HTTP/1.1 204 No\r\nContent-Length: 4\r\n\r\nbody", "body"],
    ["FOO 200 OK\r\nA: b\r\n\r\nbody", "FOO 200 OK\r\nA: b\r\nbody"], [" foobar\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", "x"],
  ])("%j has a body", (response, body) => {
    expect(inResponse(response, "http.response_body")).toBe(body);
  });

  test("of another request comes after it, in order", () => {
    const { transactions } = play([[">", "GET /1 HTTP/1.1\r\nHost: h\r\n\r\nHEAD /2 HTTP/1.1\r\nHost: h\r\n\r\nGET /3 HTTP/1.1\r\nHost: h\r\n\r\n"], ["<", `${OK}HTTP/1.1 201 Two\r\nContent-Length: 9\r\n\r\nHTTP/1.1 404 No\r\n\r\nx`]]);
    expect(transactions.map(({ buffers }) => [...buffers.get("http.uri to-server") ?? [], ...buffers.get("http.stat_code to-client") ?? []])).toEqual([["/1", "200"], ["/2", "201"], ["/3", "404"]]);
  });

  test("100 is passed over, 101 and an answer to CONNECT give the connection to what is in it", () => {
    const request = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n";
    expect(seen([[">", request], ["<", "HTTP/1.1 100 Continue\r\nA: b\r\n\r\n"], [">", "abc"], ["<", OK]], "http.header.raw", "to-client")).toEqual(["A: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"]);
    expect(play([[">", "GET /a HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"], ["<", "HTTP/1.1 101 S\r\nUpgrade: websocket\r\n\r\n\x81\x01a"]]).switches).toEqual(["any"]);
    const tunnel = play([[">", "CONNECT a.com:443 HTTP/1.1\r\nHost: B.com\r\n\r\n"], ["<", "HTTP/1.1 200 OK\r\n\r\n"], [">", "\x16\x03\x01"]]);
    expect([tunnel.switches, tunnel.transactions.length, tunnel.heldBytes]).toEqual([["any"], 1, 0]);
    expect(play([[">", "CONNECT a.com:443 HTTP/1.1\r\n\r\n"], ["<", "HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n"]]).switches).toEqual([]);
  });

  test("to CONNECT shows the request's head only where there is no tunnel", () => {
    const request = "CONNECT a.com:443 HTTP/1.1\r\nHost: B.com\r\n\r\n";
    for (const buffer of ["http.start", "http.header", "http.header_names"] as const) {
      expect(seen([[">", request]], buffer, "to-server") ?? []).toEqual([]);
      expect(seen([[">", request], ["<", "HTTP/1.1 200 OK\r\n\r\n"]], buffer, "to-server") ?? []).toEqual([]);
      expect(seen([[">", request], ["<", "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"]], buffer, "to-server")).toHaveLength(1);
    }
    expect(seen([[">", request]], "http.method", "to-server")).toEqual(["CONNECT"]);
  });

  test("without a request is a transaction", () => {
    expect(play([["<", OK]]).transactions[0]?.events).toEqual(["unable_to_match_response_to_request"]);
  });

  test("that cannot be understood ends its side", () => {
    const { transactions } = play([[">", "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"], ["<", "HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\nrest"]]);
    expect(transactions[0]?.events).toEqual(["invalid_content_length_field_in_response"]);
    expect(transactions[0]?.buffers.get("http.header to-client")).toBeUndefined();
  });

  test("with a hole in its body goes on behind it", () => {
    const said: readonly Said[] = [[">", "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"], ["<", "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nabc"], ["<", 10], ["<", `0123456${OK}`]];
    expect(seen(said, "http.response_body", "to-client")).toEqual(["abc0123456"]);
    expect(play(said).transactions).toHaveLength(2);
  });
});

describe("a body", () => {
  const TEXT = "Hello decompressed world, hello again hello";
  const gzip = gzipSync(TEXT).toString("latin1");
  const response = (encoding: string, body: string) => `HTTP/1.1 200 OK\r\nContent-Encoding: ${encoding}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

  test.each([
    ["gzip", gzip], ["x-gzip", gzip], ["foogzip", gzip], ["identity, gzip", gzip], ["gzip, gzip", gzipSync(Buffer.from(gzip, "latin1")).toString("latin1")], ["gzip,\r\n gzip", gzip], ["br", TEXT],
    ["gzip, deflate", deflateSync(Buffer.from(gzip, "latin1")).toString("latin1")], ["gz\0ip", gzip],
  ])("in %j is decoded", (encoding, body) => {
    expect(inResponse(response(encoding, body), "file.data")).toBe(TEXT);
  });

  test("is seen in steps, up to its bound", () => {
    const said: readonly Said[] = [[">", "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"], ["<", response("gzip", gzipSync(Buffer.alloc(30_000_000, "ab")).toString("latin1"))]];
    const { transactions, peakBytes, heldBytes, changes } = play(said);
    expect(transactions[0]?.buffers.get("http.response_body to-client")?.[0]?.length).toBe(100 * 1024);
    expect([peakBytes < 400_000, heldBytes, changes < 12]).toEqual([true, 0, true]);
    const plain = play([said[0] as Said, ["<", response("identity", "x".repeat(90_000))]]);
    expect(plain.changes).toBeLessThan(12);
  });

  test("of a small response is seen when it ends", () => {
    const { changes } = play([["<", `HTTP/1.1 200 OK\r\nContent-Length: 30000\r\n\r\n${"x".repeat(30_000)}`]]);
    expect(changes).toBe(3);
  });

  const form = '--B\r\nContent-Disposition: form-data; name="f"; filename="up.txt"\r\nContent-Type: text/plain\r\n\r\nfile one\r\n--B\r\nContent-Disposition: form-data; name="x"\r\n\r\nvalue\r\n--B\r\n'
    + 'Content-Disposition: form-data; name="g"; filename="two.bin"\r\n\r\nfile two\r\n--B--\r\n';
  test.each([
    ["POST", "multipart/form-data; boundary=B", form, ["file one", "file two"], ["up.txt", "two.bin"]], ["POST", 'multipart/mixed; boundary="B"', form, ["file one", "file two"], ["up.txt", "two.bin"]],
    ["POST", "multipart/form-data; boundary=C", form, undefined, undefined], ["PUT", "multipart/form-data; boundary=B", form, [form], ["/up/x.php"]],
    ["POST", "application/x-www-form-urlencoded", "a=%41", ["a=%41"], ["/up/x.php"]], ["GET", "text/plain", "abc", undefined, undefined],
  ])("of %s with %s has files", (method, type, body, data, names) => {
    const said: readonly Said[] = [[">", `${method} /up//x.php?q=1 HTTP/1.1\r\nHost: h\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`], ["<", OK]];
    expect([seen(said, "file.data", "to-server"), seen(said, "file.name", "to-server"), seen(said, "http.request_body", "to-server")]).toEqual([data, names, [body]]);
  });

  test.each([["filename=\"my file.exe\"", "my file.exe"], ["filename=my.exe", "my.exe"], ["inline", "/a"]])("of a response with %s has a name", (disposition, name) => {
    expect(inResponse(`HTTP/1.1 200 OK\r\nContent-Disposition: attachment; ${disposition}\r\nContent-Length: 2\r\n\r\nMZ`, "file.name")).toBe(name);
  });
});

describe("any bytes", () => {
  const piece = fc.constantFrom(
    "GET /a HTTP/1.1\r\n", "POST /b%2fc?d HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 200 OK\r\n", "Content-Encoding: gzip\r\n", "Transfer-Encoding: chunked\r\n", "\r\n", "\n", "\r", " ",
    "5\r\nabcde\r\n", "0\r\n\r\n", "Host: x\r\n", "\0", "FOO\r\n", "x".repeat(300), "CONNECT a:1 HTTP/1.1\r\n\r\n", "HTTP/1.1 100 C\r\n\r\n", "\x1f\x8b\x08\0\0\0\0\0\0\0",
  );

  test("never throw, and hold nothing when they are over", () => {
    const said = fc.array(fc.tuple(fc.constantFrom(">" as const, "<" as const), fc.oneof(piece, fc.nat(2000), fc.uint8Array({ maxLength: 60 }))), { maxLength: 40 });
    fc.assert(fc.property(said, fc.integer({ min: 1, max: 200 }), (turns, size) => {
      expect(play(turns, { size }).heldBytes).toBe(0);
    }), { numRuns: 300 });
  });

  test("of whole messages are the same transactions however they are cut", () => {
    const request = fc.constantFrom(
      "GET /a?b=%41 HTTP/1.1\r\nHost: h\r\nFold: x\r\n y\r\n\r\n", "POST /c HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc", "HEAD /h HTTP/1.0\r\n\r\n",
      "POST /d HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\nT: u\r\n\r\n",
    );
    const response = fc.constantFrom(
      "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", "HTTP/1.1 204 No\r\nSet-Cookie: a\r\n\r\n", "HTTP/1.1 100 C\r\n\r\nHTTP/1.1 200 OK\nContent-Length: 1\n\nx",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
    );
    fc.assert(fc.property(fc.array(fc.tuple(request, response), { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: 60 }), (pairs, size) => {
      const said: readonly Said[] = pairs.filter(([one]) => !one.startsWith("HEAD")).flatMap(([one, other]): Said[] => [[">", one], ["<", other]]);
      const [cut, whole] = [play(said, { size }), play(said)];
      expect(cut.transactions).toEqual(whole.transactions);
    }), { numRuns: 100 });
  });

  test("in great number keep to the bounds of a flow", () => {
    const requests = `GET /${"a".repeat(300)} HTTP/1.1\r\nHost: h\r\n\r\n`.repeat(3000);
    const { peakBytes, transactions } = play([[">", requests]], { size: 16_000, limits: { bytesPerFlow: 50_000, transactionsPerFlow: 100 } });
    expect(peakBytes).toBeLessThan(60_000);
    expect(transactions).toHaveLength(3000);
  });

  test("of endless lines and fields end their side", () => {
    expect(play([[">", `GET /${"a".repeat(30_000)}`]]).transactions[0]?.events).toEqual(["request_field_too_long"]);
    expect(play([[">", `GET / HTTP/1.1\r\n${"A: b\r\n".repeat(1100)}`]]).transactions[0]?.events).toEqual(["request_too_many_headers"]);
  });
});

test("what an alert says has no passwords", () => {
  const [transaction] = play([[">", "GET http://user:secret@a.com/x?y HTTP/1.1\r\nHost: a.com\r\nUser-Agent: ua\r\nAuthorization: Basic c2VjcmV0\r\n\r\n"], ["<", OK]]).transactions;
  expect(transaction?.description).toEqual({ hostname: "a.com", url: "http://a.com/x?y", method: "GET", user_agent: "ua", protocol: "HTTP/1.1", status: "200", length: 2 });
  expect(transaction?.numbers).toMatchObject({ "http.urilen to-server": [4], "file.size to-client": [2] });
});

test("is recognized by a method or by a version", () => {
  const flow = { transport: "tcp", clientPort: 1, serverPort: 2 } as const;
  const ask = (direction: "to-server" | "to-client", text: string) => HTTP_APPLICATION.recognize?.({ flow, direction, bytes: Buffer.from(text), other: new Uint8Array(0) });
  expect(["GET /", "get\t/", "GE", "FOO /", " GET /", "GET"].map((text) => ask("to-server", text))).toEqual(["yes", "yes", "more", "no", "no", "more"]);
  expect(["HTTP/1.1 200", "http/0.9", "HTT", "SSH-2.0", "HTTP/2"].map((text) => ask("to-client", text))).toEqual(["yes", "yes", "more", "no", "no"]);
});
