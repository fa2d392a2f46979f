import type { AnswerKind, Claim } from "@lanthorn/fingerprints";
import type { Connection } from "../connection.ts";
import { beginsWith, claims, learned, type Learned, printable, type Target, type TcpProtocol } from "../protocol.ts";
import { encodeRequest, type HttpAnswer, readAnswerTo, request } from "./http-message.ts";

const ANSWER_MS = 3000;

/** HTTP/1.1, and what answers in it: its server, title, realm, and products that are known by their start page or version page. */
export const http: TcpProtocol = {
  name: "http",
  ports: [
    80, 81, 443, 591, 593, 631, 2375, 2376, 2379, 2380, 3000, 3128, 4443, 5000, 5001, 5357, 5601, 5984, 5985, 5986, 6443, 7001, 8000, 8001, 8008, 8009, 8080, 8081, 8086, 8088,
    8123, 8200, 8443, 8500, 8888, 9000, 9090, 9091, 9200, 9443, 9999, 10000, 10250, 15672, 32400, 49152,
  ],
  hello: (target) => encodeRequest(target, "/"),
  recognise: (bytes) => beginsWith(bytes, "HTTP/1.", "HTTP/0."),
  async learn(first, connection, target) {
    const answer = await readAnswerTo(first, connection, ANSWER_MS);
    return answer && describe(answer, connection, target);
  },
};

async function describe(start: HttpAnswer, connection: Connection, target: Target): Promise<Learned> {
  let page = start;
  const next = redirectOf(start, target);
  if (next !== null && page.staysOpen) page = (await request(connection, target, next, ANSWER_MS)) ?? page;
  const product = await findProduct(page, connection, target);
  const texts: readonly (readonly [AnswerKind, string])[] = [
    ["http-server", page.headers["server"] ?? start.headers["server"] ?? ""],
    ["http-title", titleOf(page.body)],
    ["http-realm", /realm="([^"]{1,200})"/i.exec(start.headers["www-authenticate"] ?? "")?.[1] ?? ""],
  ];
  const shown = ["server", "x-powered-by", "www-authenticate", "location", "via"].flatMap((name) => (start.headers[name] === undefined ? [] : [`${name}: ${start.headers[name]}`]));
  const title = titleOf(page.body);
  return learned(product?.service ?? (target.isSecure ? "https" : serviceOf(start)), {
    answers: texts.filter(([, text]) => text !== "").map(([kind, text]) => ({ kind, text })),
    claims: [...(product?.claims ?? []), ...proxyClaims(start)],
    banner: printable([start.statusLine, ...shown, ...(title === "" ? [] : [`title: ${title}`])].join("\n")),
  });
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
  const isHaproxy = start.headers["server"] === undefined && /^<html><body><h1>\d{3} [A-Z][\w ]+<\/h1>\n.{1,120}\n<\/body><\/html>\s*$/s.test(start.body);
  return isHaproxy ? claims("http-page", 0.7, { product: "HAProxy http proxy", vendor: "HAProxy" }) : [];
}

function titleOf(body: string): string {
  return (/<title[^>]{0,200}>([^<]{0,300})/i.exec(body)?.[1] ?? "").replaceAll(/\s+/g, " ").trim();
}

/** A path of the same server, where it sends its visitors; null for anywhere else. */
function redirectOf(answer: HttpAnswer, target: Target): string | null {
  if (answer.status < 300 || answer.status > 399) return null;
  try {
    const base = `${target.isSecure ? "https" : "http"}://${target.ip.includes(":") ? `[${target.ip}]` : target.ip}:${target.port}/`;
    const url = new URL(answer.headers["location"] ?? "", base);
    return url.origin === new URL(base).origin && url.href !== base ? `${url.pathname}${url.search}` : null;
  } catch {
    return null;
  }
}

interface Product {
  readonly service: string;
  readonly claims: readonly Claim[];
}

/** Products that say in JSON what they are. */
async function findProduct(page: HttpAnswer, connection: Connection, target: Target): Promise<Product | null> {
  const found = productOf(page);
  if (found) return found;
  const wantsVersion = [2375, 2376, 2379, 6443, 8001, 10250].includes(target.port) && page.staysOpen;
  const version = wantsVersion ? await request(connection, target, "/version", ANSWER_MS) : null;
  return version && productOf(version);
}

function productOf(page: HttpAnswer): Product | null {
  const json = parseJson(page.body);
  if (!json) return null;
  const say = (service: string, said: Parameters<typeof claims>[2]) => ({ service, claims: claims("http-json", 0.95, said) });
  const text = (value: unknown) => (typeof value === "string" && /^v?\d[\w.+-]{0,40}$/.test(value) ? value : "");
  const version = json["version"];
  if (json["couchdb"] === "Welcome") return say("couchdb", { product: "CouchDB", vendor: "Apache", version: text(version), cpe: cpe("apache:couchdb", text(version)) });
  if (typeof version === "object" && version !== null && "number" in version) {
    const number = text((version as { readonly number?: unknown }).number);
    const isOpen = (version as { readonly distribution?: unknown }).distribution === "opensearch";
    return say("elasticsearch", isOpen ? { product: "OpenSearch", version: number } : { product: "Elasticsearch", vendor: "Elastic", version: number, cpe: cpe("elastic:elasticsearch", number) });
  }
  if (typeof json["etcdserver"] === "string") return say("etcd", { product: "etcd", vendor: "etcd", version: text(json["etcdserver"]), cpe: cpe("etcd:etcd", text(json["etcdserver"])) });
  if (typeof json["ApiVersion"] === "string" && typeof json["Version"] === "string") {
    return say("docker", { product: "Docker Engine", vendor: "Docker", version: text(json["Version"]), cpe: cpe("docker:docker", text(json["Version"])) });
  }
  if (typeof json["gitVersion"] === "string") return say("kubernetes", { product: "Kubernetes", vendor: "Kubernetes", version: text(json["gitVersion"]).replace(/^v/, ""), device_type: "server" });
  if (json["kind"] === "Status" && json["apiVersion"] === "v1") return say("kubernetes", { product: "Kubernetes", vendor: "Kubernetes", device_type: "server" });
  return null;
}

function cpe(name: string, version: string): string {
  return version === "" ? "" : `cpe:2.3:a:${name}:${version.replaceAll(/[^a-z0-9_.]/gi, (letter) => `\\${letter}`)}:*:*:*:*:*:*:*`;
}

function parseJson(body: string): Readonly<Record<string, unknown>> | null {
  if (!body.trimStart().startsWith("{")) return null;
  try {
    return JSON.parse(body) as Readonly<Record<string, unknown>>;
  } catch {
    return null;
  }
}
