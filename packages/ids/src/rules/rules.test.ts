import { describe, expect, test } from "vitest";
import type { Rule } from "./rule.ts";
import { readRefusal, readRule } from "./testing/rule-text.ts";

const bytes = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
const content = (text: string, more: object = {}) =>
  ({ kind: "content", bytes: bytes(text), isNegated: false, ignoreCase: false, offset: null, depth: null, distance: null, within: null, endsWith: false, ...more });
const group = (buffer: string, ...matches: readonly object[]) => ({ buffer, transforms: [], matches });
const flags = { ignoreCase: false, dotAll: false, multiline: false, extended: false, anchored: false, dollarEndOnly: false, ungreedy: false };
const pcre = (source: string, more: object = {}) => ({ kind: "pcre", source, isNegated: false, isRelative: false, flags, captures: [], ...more });
const binary = { byteOrder: "big", digits: null };
const number = (field: string, test: object) => ({ kind: "number", field, test });

/** Options of a rule → what of the rule they mean. */
const MEANINGS: readonly (readonly [options: string, meaning: Partial<Record<keyof Rule, unknown>>])[] = [
  // Contents: escapes, bytes, places.
  ["content:\"GET\";", { buffers: [group("payload", content("GET"))] }],
  ["content:\"a|0D 0a|b|20|\";", { buffers: [group("payload", content("a\r\nb "))] }],
  ["content:\"a\\;b\\\"c\\\\d\\:e\";", { buffers: [group("payload", content("a;b\"c\\d:e"))] }],
  ["content:!\"X\"; nocase;", { buffers: [group("payload", content("x", { isNegated: true, ignoreCase: true }))] }],
  ["content:\"abc\"; offset:3; depth:9;", { buffers: [group("payload", content("abc", { offset: 3, depth: 9 }))] }],
  ["content:\"a\"; content:\"b\"; distance:-1; within:4;", { buffers: [group("payload", content("a"), content("b", { distance: -1, within: 4 }))] }],
  ["content:\"abc\"; startswith;", { buffers: [group("payload", content("abc", { offset: 0, depth: 3 }))] }],
  ["content:\".php\"; endswith; fast_pattern;", { buffers: [group("payload", content(".php", { endsWith: true }))], fastPattern: { group: 0, match: 0, offset: 0, length: 4, isOnly: false } }],
  ["content:\"abcdef\"; fast_pattern:1,3;", { fastPattern: { group: 0, match: 0, offset: 1, length: 3, isOnly: false } }],
  ["content:\"abcdef\"; fast_pattern:only;", { fastPattern: { group: 0, match: 0, offset: 0, length: 6, isOnly: true } }],
  // Buffers: sticky, old, mixed, back to the payload, with transforms.
  ["http.uri; content:\"/a\"; http.method; content:\"GET\"; http.uri; content:\"b\";", { buffers: [group("http.uri", content("/a"), content("b")), group("http.method", content("GET"))] }],
  ["content:\"/a\"; http_uri; nocase; content:\"raw\";", { buffers: [group("payload", content("raw")), group("http.uri", content("/a", { ignoreCase: true }))] }],
  ["uricontent:\"/a\";", { buffers: [group("http.uri", content("/a"))] }],
  ["file_data; content:\"MZ\"; pkt_data; content:\"x\";", { buffers: [group("file.data", content("MZ")), group("payload", content("x"))] }],
  ["dns.query; content:\"a\"; dns.query; content:\"b\";", { buffers: [group("dns.query", content("a")), group("dns.query", content("b"))] }],
  ["dns.query; dotprefix; content:\".a.com\"; endswith;", { buffers: [{ buffer: "dns.query", transforms: [{ kind: "dot-prefix" }], matches: [content(".a.com", { endsWith: true })] }] }],
  ["http.host; to_md5; content:\"|00|\"; http.host; content:\"h\";", { buffers: [{ buffer: "http.host", transforms: [{ kind: "to-md5" }], matches: [content("\0")] }, group("http.host", content("h"))] }],
  ["http.request_body; xor:\"0d0a\"; content:\"a\";", { buffers: [{ buffer: "http.request_body", transforms: [{ kind: "xor", key: bytes("\r\n") }], matches: [content("a")] }] }],
  ["tls.subject:!\"CN=a\";", { buffers: [group("tls.cert_subject", content("CN=a", { isNegated: true }))] }],
  ["fileext:\"EXE\";", { buffers: [group("file.name", content(".exe", { ignoreCase: true, endsWith: true }))] }],
  ["tls.sni; bsize:3<>9;", { buffers: [group("tls.sni", { kind: "size", test: { operator: "between", low: 3, high: 9 } })] }],
  ["urilen:>10;", { buffers: [group("http.uri.raw", { kind: "size", test: { operator: ">", value: 10 } })] }],
  ["urilen:5,norm;", { buffers: [group("http.uri", { kind: "size", test: { operator: "=", value: 5 } })] }],
  ["http.referer; absent:or_else; content:!\"abc\";", { buffers: [group("http.referer", { kind: "absent", orElse: true }, content("abc", { isNegated: true }))] }],
  ["content:\"x\"; base64_decode:bytes 4, offset 2, relative; base64_data; content:\"y\";", {
    buffers: [group("payload", content("x"), { kind: "base64-decode", bytes: 4, offset: 2, isRelative: true }), group("base64_data", content("y"))],
  }],
  // Which way and which protocol the buffers ask for.
  ["http.method; content:\"GET\";", { flow: { direction: "to-server", state: null, stream: null, fragments: null } }],
  ["http.stat_code; content:\"200\";", { flow: { direction: "to-client", state: null, stream: null, fragments: null } }],
  ["flow:established,from_server;", { flow: { direction: "to-client", state: "established", stream: null, fragments: null } }],
  ["flow:to_server,not_established,no_stream,only_frag;", { flow: { direction: "to-server", state: "not-established", stream: "none", fragments: "only" } }],
  // Expressions.
  ["pcre:\"/^a\\/b[^\\x22]$/Rsmi\";", { buffers: [group("payload", pcre("^a\\/b[^\\x22]$", { isRelative: true, flags: { ...flags, dotAll: true, multiline: true, ignoreCase: true } }))] }],
  ["pcre:!\"/a/xAEG\";", { buffers: [group("payload", pcre("a", { isNegated: true, flags: { ...flags, extended: true, anchored: true, dollarEndOnly: true, ungreedy: true } }))] }],
  ["content:\"a\"; http_header; pcre:\"/b/HR\";", { buffers: [group("http.header", content("a"), pcre("b", { isRelative: true }))] }],
  ["http.uri; content:\"a\"; pcre:\"/b/UR\";", { buffers: [group("http.uri", content("a"), pcre("b", { isRelative: true }))] }],
  ["pcre:\"/(a)\\/(b)/, flow:x/y,pkt:z\";", { buffers: [group("payload", pcre("(a)\\/(b)", { captures: [{ scope: "flow", name: "x/y" }, { scope: "packet", name: "z" }] }))] }],
  // Numbers in buffers.
  ["byte_test:2,!>=,0x10,-4,relative,little;", { buffers: [group("payload", {
    kind: "byte-test", count: 2, offset: -4, isRelative: true, form: { byteOrder: "little", digits: null }, bitmask: null, operator: ">=", isNegated: true, value: 16n,
  })] }],
  ["byte_test:0,>,1000,0,string,dec;", { buffers: [group("payload", {
    kind: "byte-test", count: 0, offset: 0, isRelative: false, form: { byteOrder: "big", digits: 10 }, bitmask: null, operator: ">", isNegated: false, value: 1000n,
  })] }],
  ["byte_jump:2,0,relative,multiplier 2,align,from_beginning,post_offset -1,bitmask 0xf0;", { buffers: [group("payload", {
    kind: "byte-jump", count: 2, offset: 0, isRelative: true, form: binary, bitmask: 240n, multiplier: 2, isAligned: true, from: "beginning", postOffset: -1,
  })] }],
  ["byte_extract:1,0,size; content:\"a\"; distance:size; isdataat:!size,relative;", {
    variables: ["size"],
    buffers: [group("payload", { kind: "byte-extract", count: 1, offset: 0, isRelative: false, form: binary, multiplier: 1, align: 0, bitmask: null, result: { variable: 0 } },
      content("a", { distance: { variable: 0 } }), { kind: "is-data-at", at: { variable: 0 }, isRelative: true, isNegated: true })],
  }],
  ["byte_math:bytes 4, offset 0, oper +, rvalue 248, result v, relative, string hex;", { variables: ["v"], buffers: [group("payload", {
    kind: "byte-math", count: 4, offset: 0, isRelative: true, form: { byteOrder: "big", digits: 16 }, bitmask: null, operator: "+", value: 248n, result: { variable: 0 },
  })] }],
  // Packets.
  ["dsize:!9; ttl:<=5; itype:8; id:0x1f;", { conditions: [
    number("dsize", { operator: "!=", value: 9 }), number("ip.ttl", { operator: "<=", value: 5 }), number("icmp.type", { operator: "=", value: 8 }), number("ip.id", { operator: "=", value: 31 }),
  ] }],
  ["dsize:10<>20; icode:!1-4;", { conditions: [number("dsize", { operator: "between", low: 10, high: 20 }), number("icmp.code", { operator: "outside", low: 1, high: 4 })] }],
  ["flags:S,12; fragbits:!MD; ipopts:lsrr; sameip;", { conditions: [
    { kind: "tcp-flags", operator: "exactly", bits: 2, ignored: 192 }, { kind: "fragment-bits", operator: "not", bits: 3 }, { kind: "ip-option", option: "lsrr" },
    { kind: "fact", fact: "same-ip", isNegated: false },
  ] }],
  ["flags:FPU+;", { conditions: [{ kind: "tcp-flags", operator: "all", bits: 41, ignored: 0 }] }],
  ["ip_proto:!PIM; stream_size:server,<,6;", { conditions: [number("ip.protocol", { operator: "!=", value: 103 }), { kind: "stream-size", side: "server", operator: "<", value: 6 }] }],
  ["dns.opcode:!query; dns.rcode:NXDOMAIN;", { conditions: [number("dns.opcode", { operator: "!=", value: 0 }), number("dns.rcode", { operator: "=", value: 3 })] }],
  ["app-layer-protocol:!http,final;", { conditions: [{ kind: "application", application: "http", isNegated: true, side: "final" }] }],
  ["ssl_state:client_hello,server_hello;", { conditions: [{ kind: "word", field: "ssl.state", words: ["client_hello", "server_hello"], isNegated: false }] }],
  // What is remembered.
  ["flowbits:set,a.b; flowbits:isset,c|d; flowbits:noalert;", {
    noAlert: true, states: [{ kind: "flow-bit", operation: "set", names: ["a.b"] }, { kind: "flow-bit", operation: "is-set", names: ["c", "d"] }],
  }],
  ["xbits:set,x,track ip_pair,expire 60; flowint:n,+,1; flowint:n,notset; flowint:n,==,m;", { states: [
    { kind: "host-bit", operation: "set", name: "x", track: "pair", seconds: 60 }, { kind: "flow-number", name: "n", operation: "add", value: 1 },
    { kind: "flow-number", name: "n", operation: "is-not-set", value: null }, { kind: "flow-number", name: "n", operation: "=", value: "m" },
  ] }],
  // Alerts.
  ["threshold:type both, track by_src, seconds 60, count 5;", { threshold: { kind: "both", track: "source", count: 5, seconds: 60, multiplier: 0 } }],
  ["threshold:type backoff, track by_flow, count 1, multiplier 10;", { threshold: { kind: "backoff", track: "flow", count: 1, seconds: 0, multiplier: 10 } }],
  ["detection_filter:track by_dst,count 15,seconds 2;", { detectionFilter: { track: "destination", count: 15, seconds: 2 } }],
  ["tag:host,100,packets,src;", { tag: { scope: "host", count: 100, unit: "packets", host: "source" } }],
  ["tag:session;", { tag: { scope: "session", count: 256, unit: "packets", host: null } }],
  ["msg:\"a\\; \\\"b\\\" caf\u00e9\"; rev:7; gid:3; priority:2; target:dest_ip;", { message: "a; \"b\" caf\u00e9", revision: 7, gid: 3, priority: 2, target: "destination", severity: "medium" }],
  ["reference:url,example.com/a; reference:cve,2014-1234;", { references: [{ system: "url", id: "example.com/a", url: "http://example.com/a" }, { system: "cve", id: "2014-1234", url: null }] }],
  ["metadata:signature_severity Major, mitre_technique_id T1071.001, mitre_technique_id T1071.001, tag a b;", {
    severity: "high", techniques: ["T1071.001"],
    metadata: [["signature_severity", "Major"], ["mitre_technique_id", "T1071.001"], ["mitre_technique_id", "T1071.001"], ["tag", "a b"]],
  }],
];

describe("a rule's options", () => {
  test.each(MEANINGS)("%s", (options, meaning) => {
    const rule = readRule(options, "alert ip any any -> any any");
    expect(Object.fromEntries(Object.keys(meaning).map((key) => [key, rule[key as keyof Rule]]))).toEqual(meaning);
  });

  test("take their class and its priority from the configuration", () => {
    const classes = new Map([["web-attack", { name: "web-attack", description: "An attack", priority: 1 }]]);
    expect(readRule("classtype:web-attack;", undefined, { classes })).toMatchObject({ class: { description: "An attack" }, priority: 1, severity: "high" });
    expect(readRule("classtype:web-attack; priority:4;", undefined, { classes })).toMatchObject({ priority: 4, severity: "info" });
    expect(readRule("classtype:other;", undefined, { classes })).toMatchObject({ class: { name: "other" }, priority: 3, severity: "low" });
  });

  test("narrow the protocols of the application", () => {
    expect(readRule("http.uri; content:\"a\";").protocol).toMatchObject({ name: "tcp", numbers: [6], applications: ["http", "http2"] });
    expect(readRule("file.data; content:\"a\";", "alert smb any any -> any any").protocol.applications).toEqual(["smb"]);
    expect(readRule("content:\"a\";").protocol.applications).toBeNull();
  });
});

/** Options of a rule that cannot be run → the keyword that is at fault. */
const REFUSED: readonly (readonly [options: string, keyword: string])[] = [
  ["nosuch:1;", "nosuch"], ["constructor:1;", "constructor"], ["__proto__;", "__proto__"], ["lua:a.lua;", "lua"], ["filemd5:list;", "filemd5"],
  ["content:abc;", "content"], ["content:\"\";", "content"], ["content:\"|0|\";", "content"], ["content:\"|zz|\";", "content"], ["content:\"|00\";", "content"], ["content:\"a\\b\";", "content"],
  ["nocase;", "nocase"], ["content:\"abc\"; depth:2;", "depth"], ["content:\"abc\"; within:2;", "within"], ["content:\"a\"; offset:1; distance:1;", "distance"],
  ["content:\"a\"; distance:unknown;", "distance"], ["content:\"a\"; distance:2000000;", "distance"], ["content:\"a\"; startswith; depth:5;", "depth"],
  ["content:\"a\"; fast_pattern; content:\"b\"; fast_pattern;", "fast_pattern"], ["content:\"abc\"; fast_pattern:2,4;", "fast_pattern"],
  ["http.uri;", "http.uri"], ["http.uri; http.method; content:\"a\";", "http.method"], ["http.uri; content:\"a\"; strip_whitespace;", "strip_whitespace"], ["dotprefix;", "dotprefix"],
  ["http.uri; content:\"a\"; http_method;", "http_method"], ["http.uri; content:\"a\"; tls.sni; content:\"b\";", "tls.sni"], ["http.uri; content:\"abc\"; bsize:2;", "bsize"], ["bsize:2;", "bsize"],
  ["http.uri; content:\"a\"; http.stat_code; content:\"2\";", "http.stat_code"], ["flow:to_client; http.method; content:\"GET\";", "http.method"],
  ["flow:to_client,to_server;", "flow"], ["flow:sideways;", "flow"], ["pcre:\"abc\";", "pcre"], ["pcre:\"/a/k\";", "pcre"], ["http.uri; content:\"a\"; pcre:\"/a/H\";", "pcre"], ["pcre:\"/a/UH\";", "pcre"],
  ["byte_test:9,=,1,0;", "byte_test"], ["byte_test:0,=,1,0;", "byte_test"], ["byte_test:1,constructor,1,0;", "byte_test"], ["byte_jump:2;", "byte_jump"], ["byte_extract:2,0,1x;", "byte_extract"],
  ["byte_math:bytes 1, offset 0, oper %, rvalue 1, result a;", "byte_math"], ["dsize:70000;", "dsize"], ["dsize:5<>6;", "dsize"], ["ttl:256;", "ttl"], ["flags:Q;", "flags"], ["ipopts:none;", "ipopts"],
  ["flowbits:set;", "flowbits"], ["flowbits:set,a|b;", "flowbits"], ["flowbits:constructor,a;", "flowbits"], ["xbits:set,a;", "xbits"], ["flowint:a,+;", "flowint"],
  ["threshold:type limit, track constructor, count 1, seconds 1;", "threshold"], ["threshold:type limit, track by_src, count 1, seconds 1; detection_filter:track by_src,count 1,seconds 1;", "detection_filter"],
  ["tag:host,1;", "tag"], ["target:both;", "target"], ["priority:0;", "priority"], ["sid:2;", "sid"], ["msg:\"a\"; msg:\"b\";", "msg"], ["requires:version >= x;", "requires"],
];

test.each(REFUSED)("%s is refused for %s", (options, keyword) => {
  expect(readRefusal(options, "alert ip any any -> any any")).toMatchObject({ keyword, line: 1 });
});
