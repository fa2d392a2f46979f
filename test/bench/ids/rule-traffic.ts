/** Traffic that rules may match: for each rule one conversation that says what it looks for, as far as contents go. */
import type { AddressSet, BufferGroup, Content, PortSet, Rule } from "@lanthorn/ids";
import type { CapturedFrame } from "./capture-frames.ts";
import { createTcpDialogue, datagram, type DialogueEnds, type TimedFrame } from "./dialogue.ts";

const BEGIN = 1_700_000_000_000_000;
const SECONDS_APART = 0.05;
const HOME = "10.0.0.5";
const OUTSIDE = "203.0.113.9";
const ETHERNET = 1;
const LONGEST = 4000;

/** @returns A conversation for each rule of HTTP, DNS, TLS, TCP and UDP, one after the other, each on a port of its own. */
export function makeRuleTraffic(rules: readonly Rule[]): readonly CapturedFrame[] {
  return rules.flatMap((rule, index) => framesFor(rule, index).map(({ at, bytes }) => ({ at, bytes, linkType: ETHERNET })));
}

function framesFor(rule: Rule, index: number): readonly TimedFrame[] {
  const { numbers, applications } = rule.protocol;
  const isUp = rule.flow.direction !== "to-client";
  const has = (name: string) => applications?.includes(name) ?? false;
  const at = BEGIN + Math.round(index * SECONDS_APART * 1e6);
  const standard = has("http") ? 80 : has("tls") ? 443 : has("dns") ? 53 : has("smtp") ? 25 : has("ftp") ? 21 : has("ssh") ? 22 : 4000;
  const [from, to] = isUp ? [rule.source, rule.destination] : [rule.destination, rule.source];
  const ends: DialogueEnds = {
    client: addressIn(from.addresses, HOME), server: addressIn(to.addresses, OUTSIDE), clientPort: portIn(from.ports, 20_000 + (index % 40_000)), serverPort: portIn(to.ports, standard),
  };
  if (ends.client === ends.server) return [];
  if (has("http")) return speakHttp(rule, ends, at);
  if (has("dns")) return speakDns(rule, ends, at);
  if (has("tls")) return speakTls(rule, ends, at);
  const payload = Buffer.from(textOf(rule.buffers.find(({ buffer }) => buffer === "payload")), "latin1");
  if (payload.length === 0) return [];
  if (numbers?.includes(6) ?? false) {
    const dialogue = createTcpDialogue(ends, at).handshake();
    return (isUp ? dialogue.up(payload) : dialogue.up("x").down(payload)).close().frames;
  }
  if (!(numbers?.includes(17) ?? false)) return [];
  return isUp ? [datagram(true, payload, at, ends), datagram(false, "x", at + 1000, ends), datagram(true, payload, at + 2000, ends)] : [datagram(true, "x", at, ends), datagram(false, payload, at + 1000, ends)];
}

function speakHttp(rule: Rule, ends: DialogueEnds, at: number): readonly TimedFrame[] {
  const said = (...names: readonly string[]) => names.map((name) => textOf(rule.buffers.find(({ buffer }) => buffer === name))).find((text) => text !== "") ?? "";
  const isAnswer = rule.flow.direction === "to-client";
  const uri = said("http.uri", "http.uri.raw") || "/";
  const headers = [
    field("Host", said("http.host", "http.host.raw") || "www.example.com"), field("User-Agent", said("http.user_agent")), field("Cookie", isAnswer ? "" : said("http.cookie")), field("Referer", said("http.referer")),
    field("Accept", said("http.accept")), field("Content-Type", isAnswer ? "" : said("http.content_type")), isAnswer ? "" : linesOf(said("http.header", "http.header.raw", "http.request_header")),
  ].join("");
  const body = said("http.request_body");
  const request = said("http.request_line", "http.start") || `${said("http.method") || (body === "" ? "GET" : "POST")} ${uri.startsWith("/") ? "" : "/"}${uri} ${isAnswer ? "HTTP/1.1" : said("http.protocol") || "HTTP/1.1"}`;
  const page = said("http.response_body", "file.data") || "<html>nothing</html>";
  const answerHeaders = isAnswer ? [field("Server", said("http.server")), field("Location", said("http.location")), field("Set-Cookie", said("http.cookie")), field("Content-Type", said("http.content_type")), linesOf(said("http.header", "http.header.raw", "http.response_header"))].join("") : "";
  return createTcpDialogue(ends, at).handshake()
    .up(`${request.trimEnd()}\r\n${headers}${body === "" ? "" : `Content-Length: ${body.length}\r\n`}\r\n${body}`)
    .down(`HTTP/1.1 ${said("http.stat_code") || "200"} ${said("http.stat_msg") || "OK"}\r\n${answerHeaders}Content-Length: ${page.length}\r\n\r\n${page}`).close().frames;
}

function field(name: string, value: string): string {
  return value === "" ? "" : `${name}: ${value.replaceAll(/[\r\n]+/g, " ")}\r\n`;
}

/** What a rule wants in all fields together: whole lines of it. */
function linesOf(text: string): string {
  const lines = text.split(/\r?\n/).filter((line) => line !== "");
  return lines.map((line) => `${line.includes(":") ? line : `X-Any: ${line}`}\r\n`).join("");
}

function speakDns(rule: Rule, ends: DialogueEnds, at: number): readonly TimedFrame[] {
  const name = textOf(rule.buffers.find(({ buffer }) => buffer === "dns.query" || buffer === "dns.queries.rrname")).replace(/^\./, "www.") || "www.example.com";
  const labels = name.split(".").filter((label) => label !== "" && label.length < 64);
  const question = Buffer.concat([...labels.map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label, "latin1")])), Buffer.of(0, 0, 1, 0, 1)]);
  const query = Buffer.concat([Buffer.of(1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0), question]);
  const answer = Buffer.concat([Buffer.of(1, 2, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0), question, Buffer.of(0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1)]);
  if (labels.length === 0 || question.length > 255) return [];
  return [datagram(true, query, at, ends), datagram(false, answer, at + 1000, ends)];
}

function speakTls(rule: Rule, ends: DialogueEnds, at: number): readonly TimedFrame[] {
  const name = Buffer.from(textOf(rule.buffers.find(({ buffer }) => buffer === "tls.sni")).replace(/^\./, "www.") || "www.example.com", "latin1");
  const short = (value: number) => Buffer.of(value >> 8, value & 255);
  const extension = Buffer.concat([short(0), short(name.length + 5), short(name.length + 3), Buffer.of(0), short(name.length), name]);
  const body = Buffer.concat([Buffer.of(3, 3), Buffer.alloc(32, 7), Buffer.of(0), short(4), Buffer.of(0x13, 1, 0xc0, 0x2f), Buffer.of(1, 0), short(extension.length), extension]);
  const handshake = Buffer.concat([Buffer.of(1, 0), short(body.length), body]);
  return createTcpDialogue(ends, at).handshake().up(Buffer.concat([Buffer.of(22, 3, 1), short(handshake.length), handshake])).down(Buffer.of(21, 3, 3, 0, 2, 2, 40)).close().frames;
}

/** Bytes in which the contents of a group are, where nothing else is asked. */
function textOf(group: BufferGroup | undefined): string {
  const contents = group?.matches.filter((match): match is Content => match.kind === "content" && !match.isNegated) ?? [];
  let text = "";
  let end = 0;
  for (const { bytes, offset, distance, within, depth } of contents) {
    const isRelative = distance !== null || within !== null;
    const place = isRelative ? end + Math.max(amount(distance), 0) : offset === null && depth === null ? text.length : amount(offset);
    if (place + bytes.length > LONGEST) continue;
    const said = Buffer.from(bytes).toString("latin1");
    text = text.padEnd(place, "a");
    text = text.slice(0, place) + said + text.slice(place + said.length);
    end = place + said.length;
  }
  return text;
}

function amount(value: Content["offset"]): number {
  return typeof value === "number" ? value : 0;
}

function addressIn({ isAny, ipv4 }: AddressSet, preferred: string): string {
  const wanted = numberOf(preferred);
  const isIn = (value: number) => isAny || ipv4.some((from, at) => at % 2 === 0 && value >= from && value <= (ipv4[at + 1] ?? -1));
  if (isIn(wanted)) return preferred;
  const other = preferred === HOME ? OUTSIDE : HOME;
  return isIn(numberOf(other)) ? other : textOfNumber(ipv4[0] ?? wanted);
}

function numberOf(address: string): number {
  return address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}

function textOfNumber(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
}

function portIn({ isAny, ranges }: PortSet, preferred: number): number {
  const isIn = ranges.some((from, at) => at % 2 === 0 && preferred >= from && preferred <= (ranges[at + 1] ?? -1));
  return isAny || isIn ? preferred : ranges[0] ?? preferred;
}
