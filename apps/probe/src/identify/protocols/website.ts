// What a web server tells: by its fields, its start page, where that leads on the same host, and the picture that browsers show.
import { createHash } from "node:crypto";
import type { AnswerKind, Claim } from "@lanthorn/fingerprints";
import type { FindingText } from "../finding.ts";
import { claims, learned, type Learned, printable, type Target } from "../protocol.ts";
import { encodePost, type HttpAnswer, writeHost } from "./http-message.ts";
import { headerClaims, productOf, versionPathOf, type WebProduct } from "./web-products.ts";
import { decodePrinterAttributes, encodePrinterQuestion } from "./ipp.ts";
import { murmur3 } from "./murmur3.ts";

/** Asks for a path, or with a message of its own. @returns Null without an answer. */
export type AskPage = (path: string, message?: Uint8Array | string) => Promise<HttpAnswer | null>;

const MAX_REDIRECTS = 3;
const IPP_PORT = 631;
/** Of a page: pictures are named in its head. */
const MAX_SEARCHED = 32_768;

/** @param start The answer to `/`. */
export async function learnWebsite(start: HttpAnswer, ask: AskPage, target: Target): Promise<Learned> {
  const { page, path } = await follow(start, ask, target);
  const product = productOf(page) ?? (await askVersion(start, page, ask, target.port));
  const isMachine = product !== null || isProxy(start);
  const picture = isMachine ? null : await findPicture({ page, path }, ask, target);
  const printer = isPrinting(start, target) ? await askPrinter(ask, target) : null;
  const title = titleOf(page.body);
  const realm = realmOf(start.headers["www-authenticate"] ?? "");
  const answers: readonly (readonly [AnswerKind, string])[] = [
    ["http-server", page.headers["server"] ?? start.headers["server"] ?? ""], ["http-title", title], ["http-realm", realm],
  ];
  const texts: readonly FindingText[] = [
    { kind: "http-cookie", text: (start.headers["set-cookie"] ?? page.headers["set-cookie"] ?? "").split(";")[0] ?? "" },
    ...(picture?.texts ?? []),
  ];
  const shown = ["server", "x-powered-by", "www-authenticate", "location", "via"]
    .flatMap((name) => (start.headers[name] === undefined ? [] : [`${name}: ${start.headers[name]}`]));
  const found = [title === "" ? "" : `title: ${title}`, picture?.banner ?? "", printer?.banner ?? ""].filter((line) => line !== "");
  return learned(product?.service ?? (target.isSecure ? "https" : serviceOf(start)), {
    answers: answers.filter(([, text]) => text !== "").map(([kind, text]) => ({ kind, text })),
    texts: texts.filter(({ text }) => text !== ""),
    claims: [...(product?.claims ?? []), ...(printer?.claims ?? []), ...proxyClaims(start), ...headerClaims(start)],
    banner: printable([start.statusLine, ...shown, ...found].join("\n")),
  });
}

async function follow(start: HttpAnswer, ask: AskPage, target: Target): Promise<{ readonly page: HttpAnswer; readonly path: string }> {
  let [page, path] = [start, "/"];
  for (let redirects = 0; redirects < MAX_REDIRECTS; redirects += 1) {
    const next = redirectOf(page, path, target);
    const answer = next === null ? null : await ask(next);
    if (next === null || !answer) break;
    [page, path] = [answer, next];
  }
  return { page, path };
}

async function askVersion(start: HttpAnswer, page: HttpAnswer, ask: AskPage, port: number): Promise<WebProduct | null> {
  const path = versionPathOf(start, page, port);
  const answer = path === null ? null : await ask(path);
  return answer && productOf(answer);
}

function serviceOf(start: HttpAnswer): string {
  if (/^CUPS|IPP\//.test(start.headers["server"] ?? "")) return "ipp";
  return isProxy(start) ? "http-proxy" : "http";
}

function isProxy(start: HttpAnswer): boolean {
  return start.headers["x-squid-error"] !== undefined || /^squid/i.test(start.headers["server"] ?? "");
}

function proxyClaims(start: HttpAnswer): readonly Claim[] {
  // HAProxy names itself in nothing but the pages that it makes itself.
  const isHaproxy = start.headers["server"] === undefined
    && /^<html><body><h1>\d{3} [A-Z][\w ]+<\/h1>\n.{1,120}\n<\/body><\/html>\s*$/s.test(start.body);
  return isHaproxy ? claims("http-page", 0.7, { product: "HAProxy http proxy", vendor: "HAProxy" }) : [];
}

function titleOf(body: string): string {
  return decodeEntities((/<title[^<>]{0,200}>([^<]{0,300})/i.exec(body)?.[1] ?? "").replaceAll(/\s+/g, " ").trim());
}

function decodeEntities(text: string): string {
  const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: " ", reg: "®", trade: "™" };
  return text.replaceAll(/&(?:#(\d{1,6})|([a-z]{2,6}));/g, (whole, number: string | undefined, name: string | undefined) => {
    const code = Number(number ?? 0);
    return name === undefined ? (code > 31 && code < 0x11_0000 ? String.fromCodePoint(code) : " ") : (named[name] ?? whole);
  });
}

/** @see RFC 9110 section 11.5 */
function realmOf(challenge: string): string {
  return /\brealm="((?:[^"\\]|\\.){1,200})"/i.exec(challenge)?.[1]?.replaceAll(/\\(.)/g, "$1")
    ?? /\brealm=([^\s",]{1,200})/i.exec(challenge)?.[1] ?? "";
}

/** A path of the same server, where it sends its visitors by its fields or its page; null for anywhere else. */
function redirectOf(answer: HttpAnswer, path: string, target: Target): string | null {
  const location = answer.status >= 300 && answer.status <= 399 ? answer.headers["location"]
    : answer.status === 200 && answer.body.length < 2048
      ? /<meta[^<>]{0,80}http-equiv=["']?refresh["']?[^<>]{0,80}url=["']?([^"'>\s]{1,300})/i.exec(answer.body)?.[1]
      : undefined;
  return location === undefined ? null : pathOnHost(location, path, target);
}

function pathOnHost(reference: string, path: string, target: Target): string | null {
  try {
    const origin = `${target.isSecure ? "https" : "http"}://${writeHost(target)}`;
    const url = new URL(reference, `${origin}${path}`);
    const next = `${url.pathname}${url.search}`;
    return url.origin === new URL(origin).origin && next !== path && next.length < 1024 ? next : null;
  } catch {
    return null;
  }
}

async function findPicture(
  from: { readonly page: HttpAnswer; readonly path: string }, ask: AskPage, target: Target,
): Promise<{ readonly texts: readonly FindingText[]; readonly banner: string } | null> {
  const link = /<link\b[^<>]{0,300}\brel=["']?(?:shortcut )?icon\b[^<>]{0,300}>/i.exec(from.page.body.slice(0, MAX_SEARCHED))?.[0] ?? "";
  const reference = /\bhref=["']?([^"'>\s]{1,500})/i.exec(link)?.[1] ?? "/favicon.ico";
  const path = pathOnHost(reference, from.path, target);
  const answer = path === null ? null : await ask(path);
  if (answer?.status !== 200 || answer.bytes.length === 0 || /^text\/html/i.test(answer.headers["content-type"] ?? "")) return null;
  const base64 = Buffer.from(answer.bytes).toString("base64").replaceAll(/.{1,76}/g, "$&\n");
  const mmh3 = String(murmur3(Buffer.from(base64)));
  const hash = (name: string) => createHash(name).update(answer.bytes).digest("hex");
  const sha256 = hash("sha256");
  return {
    texts: [{ kind: "favicon-mmh3", text: mmh3 }, { kind: "favicon-sha256", text: sha256 }, { kind: "favicon-md5", text: hash("md5") }],
    banner: `favicon: ${mmh3} sha256:${sha256}`,
  };
}

function isPrinting(start: HttpAnswer, target: Target): boolean {
  return target.port === IPP_PORT || /\bIPP\//.test(start.headers["server"] ?? "");
}

async function askPrinter(ask: AskPage, target: Target): Promise<{ readonly claims: readonly Claim[]; readonly banner: string } | null> {
  const question = encodePrinterQuestion(`ipp://${writeHost(target)}/ipp/print`);
  const answer = await ask("/ipp/print", encodePost(target, "/ipp/print", "application/ipp", question));
  const attributes = answer?.status === 200 ? decodePrinterAttributes(answer.bytes) : null;
  if (!attributes || attributes.size === 0) return null;
  const model = attributes.get("printer-make-and-model") ?? "";
  return {
    claims: claims("ipp", 0.9, { device_type: "printer", model, hostname: "", version: "" }),
    banner: [...attributes].map(([name, value]) => `${name}: ${value}`).join("\n"),
  };
}
