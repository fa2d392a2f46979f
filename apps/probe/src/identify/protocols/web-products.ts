// Products that say in JSON, or in a field of their own, what they are.
import { type Claim, formatCpe } from "@lanthorn/fingerprints";
import { parseJson } from "@lanthorn/runtime";
import { claims } from "../protocol.ts";
import type { HttpAnswer } from "./http-message.ts";

/** `service` replaces `http` in the finding. */
export interface WebProduct {
  readonly service: string;
  readonly claims: readonly Claim[];
}

/** Where servers tell their version to everybody, by port; asked only where the start page does not tell. */
const VERSION_PATHS: Readonly<Record<number, string>> = {
  2375: "/version", 2376: "/version", 2379: "/version", 2380: "/version", 3000: "/api/health", 6443: "/version", 8001: "/version",
  8500: "/v1/agent/self", 9090: "/api/v1/status/buildinfo", 10_250: "/version", 8006: "/api2/json/version",
};

/** @returns Null where there is no reason to ask. */
export function versionPathOf(start: HttpAnswer, page: HttpAnswer, port: number): string | null {
  // A registry of images is empty everywhere but under /v2/.
  if (port === 5000 && start.status === 200 && start.bytes.length === 0) return "/v2/";
  if (/<title>Prometheus/i.test(page.body)) return "/api/v1/status/buildinfo";
  if (/<title>Grafana/i.test(page.body)) return "/api/health";
  return VERSION_PATHS[port] ?? null;
}

type Json = Readonly<Record<string, unknown>>;

/** By the JSON of a page, as Elasticsearch or CouchDB answer, or Docker's registry by a header. @returns Null for any other page. */
export function productOf(page: HttpAnswer): WebProduct | null {
  if (page.headers["docker-distribution-api-version"]?.startsWith("registry/2") === true) {
    return say("docker-registry", { product: "Docker Registry", vendor: "Docker" });
  }
  const json = readJson(page.body);
  if (!json) return null;
  const version = json["version"];
  if (json["couchdb"] === "Welcome") {
    return say("couchdb", { product: "CouchDB", vendor: "Apache", version: text(version), cpe: cpe("apache:couchdb", text(version)) });
  }
  if (isJson(version) && "number" in version) {
    const number = text(version["number"]);
    return say("elasticsearch", version["distribution"] === "opensearch" ? { product: "OpenSearch", version: number }
      : { product: "Elasticsearch", vendor: "Elastic", version: number, cpe: cpe("elastic:elasticsearch", number) });
  }
  if (typeof json["etcdserver"] === "string") {
    return say("etcd", {
      product: "etcd", vendor: "etcd", version: text(json["etcdserver"]), cpe: cpe("etcd:etcd", text(json["etcdserver"])),
    });
  }
  if (typeof json["ApiVersion"] === "string" && typeof json["Version"] === "string") {
    return say("docker", {
      product: "Docker Engine", vendor: "Docker", version: text(json["Version"]), cpe: cpe("docker:docker", text(json["Version"])),
    });
  }
  if (typeof json["gitVersion"] === "string") {
    return say("kubernetes", {
      product: "Kubernetes", vendor: "Kubernetes", version: text(json["gitVersion"]).replace(/^v/, ""), device_type: "server",
    });
  }
  if (json["kind"] === "Status" && json["apiVersion"] === "v1") {
    return say("kubernetes", { product: "Kubernetes", vendor: "Kubernetes", device_type: "server" });
  }
  if (typeof json["database"] === "string" && typeof json["commit"] === "string") {
    return say("http", { product: "Grafana", vendor: "Grafana Labs", version: text(version), cpe: cpe("grafana:grafana", text(version)) });
  }
  const data = json["data"];
  if (json["status"] === "success" && isJson(data) && typeof data["goVersion"] === "string") {
    return say("http", {
      product: "Prometheus", vendor: "Prometheus", version: text(data["version"]), cpe: cpe("prometheus:prometheus", text(data["version"])),
    });
  }
  return null;
}

/** Fields that name a product and its version. */
const HEADERS: readonly { readonly header: string; readonly pattern: RegExp; readonly product: string; readonly vendor: string }[] = [
  { header: "x-jenkins", pattern: /^(\d[\w.]*)/, product: "Jenkins", vendor: "Jenkins" },
  { header: "x-influxdb-version", pattern: /^v?(\d[\w.]*)/, product: "InfluxDB", vendor: "InfluxData" },
  { header: "x-plex-protocol", pattern: /^()/, product: "Plex Media Server", vendor: "Plex" },
  { header: "server", pattern: /^Transmission$()/, product: "Transmission", vendor: "Transmission" },
  { header: "x-varnish", pattern: /^()/, product: "Varnish", vendor: "Varnish" },
];

/** What single header fields name, as `x-jenkins`. Empty for fields that no rule knows. */
export function headerClaims(start: HttpAnswer): readonly Claim[] {
  return HEADERS.flatMap(({ header, pattern, product, vendor }) => {
    const value = start.headers[header];
    const match = value === undefined ? null : pattern.exec(value);
    return match ? claims(`http-${header}`, 0.8, { product, vendor, version: match[1] }) : [];
  });
}

function say(service: string, said: Parameters<typeof claims>[2]): WebProduct {
  return { service, claims: claims("http-json", 0.95, said) };
}

function text(value: unknown): string {
  return typeof value === "string" && /^v?\d[\w.+-]{0,40}$/.test(value) ? value : "";
}

function cpe(name: string, version: string): string {
  return version && formatCpe(["a", ...name.split(":"), version]);
}

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readJson(body: string): Json | null {
  if (!body.trimStart().startsWith("{")) return null;
  const parsed = parseJson(body);
  return isJson(parsed) ? parsed : null;
}
