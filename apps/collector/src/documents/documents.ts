import { STREAM_PATH } from "@lanthorn/contract";
import { SERVICE_NAMES, type ServiceName, type ServiceRoutes, SERVICES } from "../gateway/services.ts";
import { createComponents } from "./components.ts";
import { errorResponses, GENERAL_REFUSALS, HEADERS } from "./errors.ts";
import type { Components, OpenApiDocument, Operation, Tag } from "./openapi.ts";
import { completeOperation, withBodyExample } from "./operations.ts";
import { pathsOf } from "./paths.ts";
import { STREAM_SECURITY_SCHEMES, streamOperation } from "./stream.ts";
import { webhooksOf } from "./webhooks.ts";

/** The documents of this deployment. */
export interface Documents {
  of(service: ServiceName): OpenApiDocument;
  /** All services in one. */
  merged(): OpenApiDocument;
}

const INTRODUCTION = `Lanthorn discovers what is on a network and watches over it.

Send \`Authorization: Bearer <access_token>\` with a token of \`POST /api/auth/login\`, or \`X-API-Key: <key>\` with a key of
\`POST /api/v1/auth/keys\`. Every path answers below \`/api/v1\` and below \`/api\`. Lists answer \`{ data, meta }\`; errors
\`{ error: { code, message, details } }\` with one of nine codes. The number of requests a minute is limited; the
headers \`X-RateLimit-*\` say how many are left.`;

const DESCRIPTION = `${INTRODUCTION}

Beside the statuses that an operation lists, any request may be answered:

${Object.entries(GENERAL_REFUSALS).map(([status, meaning]) => `- \`${status}\`: ${meaning}`).join("\n")}`;

const SECURITY_SCHEMES = {
  bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "A token of `POST /api/auth/login`." },
  apiKey: {
    type: "apiKey", in: "header", name: "X-API-Key", description: "`svc_live_` and 48 hexadecimal characters, with scopes of its own.",
  },
  certificate: { type: "mutualTLS", description: "The client certificate that an enrolled probe has." },
  ...STREAM_SECURITY_SCHEMES,
};

/** What each resource of the gateway is about; the other services have one tag each. */
const TAGS: Readonly<Record<string, string>> = {
  alerts: "Alerts, and mutes that silence them.",
  audit: "The audit log: who changed what.",
  auth: "Tokens, passwords and API keys.",
  backups: "Copies of the whole deployment.",
  cve: "Known vulnerabilities of devices.",
  devices: "The inventory: devices, their ports and their history.",
  dns: "The filtering resolver: block lists, policies, what is allowed for a while, and why a name is blocked.",
  events: "The event log, in order.",
  health: "Whether the collector works.",
  ids: "Intrusion detection: rules, what is changed and suppressed, and how much there is.",
  me: "The caller: the user or API key of the request.",
  scans: "Scans of networks on demand.",
  sites: "Sites that probes watch, and their settings.",
  topology: "How devices are linked.",
  users: "Users, who may log in.",
  ws: "The live stream of events, by WebSocket.",
};

/** Writes the documents out of the routes' own declarations, each once and when it is first asked for. */
export function createDocuments(deps: { readonly routes: ServiceRoutes; readonly version: string }): Documents {
  const kept = new Map<ServiceName | "merged", OpenApiDocument>();
  const keep = (key: ServiceName | "merged", names: readonly ServiceName[]): OpenApiDocument => {
    const document = kept.get(key) ?? write(names, deps);
    kept.set(key, document);
    return document;
  };
  return { of: (service) => keep(service, [service]), merged: () => keep("merged", SERVICE_NAMES) };
}

function write(
  names: readonly ServiceName[], { routes, version }: { readonly routes: ServiceRoutes; readonly version: string },
): OpenApiDocument {
  const components = createComponents();
  const services = names.map((name) => [name, components.refer(operationsOf(name, routes))] as const);
  const announced = names.includes("diplomat") ? components.refer(webhooksOf("diplomat")) : {};
  const envelope = components.named("ErrorEnvelope");
  const schemas = components.used();
  const tags = new Map<string, Tag>();
  const groups: { readonly name: string; readonly tags: readonly string[] }[] = [];
  const paths: Record<string, Record<string, Operation>> = {};
  for (const [name, operations] of services) {
    const before = new Set(tags.keys());
    for (const [path, methods] of Object.entries(operations)) {
      const tag = tagOf(name, path);
      tags.set(tag.name, tag);
      paths[path] = Object.fromEntries(Object.entries(methods).map(([method, operation]) =>
        [method, completeOperation(operation, { method, path, tag: tag.name, isRemote: name !== "gateway", schemas })]));
    }
    const added = [...tags.keys()].filter((tag) => !before.has(tag));
    if (added.length > 0) groups.push({ name: SERVICES[name].title, tags: added });
  }
  const webhooks = Object.fromEntries(Object.entries(announced).map(([event, { post }]) =>
    [event, post ? { post: withBodyExample(post, schemas) } : {}]));
  const [only] = names;
  const one = names.length === 1 && only !== undefined ? SERVICES[only] : null;
  return {
    openapi: "3.1.0",
    info: {
      title: one ? `Lanthorn: ${one.title}` : "Lanthorn", version, description: one ? `${one.description}\n\n${DESCRIPTION}` : DESCRIPTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "The collector that this document came from" }],
    tags: [...tags.values()],
    ...(one ? {} : { "x-tagGroups": groups }),
    paths,
    ...(names.includes("diplomat") ? { webhooks } : {}),
    components: usedBy(paths, { schemas, responses: errorResponses(envelope), headers: HEADERS, securitySchemes: SECURITY_SCHEMES }),
  };
}

/** What a service's routes answer, and of the gateway the stream, which is no route. */
function operationsOf(name: ServiceName, routes: ServiceRoutes): OpenApiDocument["paths"] {
  const paths = pathsOf(name, routes);
  return name === "gateway" ? { ...paths, [STREAM_PATH]: { get: streamOperation() } } : paths;
}

/** Without what no path needs: a document should not tell of what is not there. */
function usedBy(paths: OpenApiDocument["paths"], { schemas, responses, headers, securitySchemes }: Components): Components {
  const only = <T>(all: Readonly<Record<string, T>>, isUsed: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => isUsed(name)));
  const pathText = JSON.stringify(paths);
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const security = new Set(operations.flatMap((operation) => operation.security ?? []).flatMap(Object.keys));
  const usedResponses = only(responses, (name) => pathText.includes(`"#/components/responses/${name}"`));
  const text = pathText + JSON.stringify(usedResponses);
  return {
    schemas: Object.keys(usedResponses).length > 0 ? schemas : {},
    responses: usedResponses,
    headers: only(headers, (name) => text.includes(`"#/components/headers/${name}"`)),
    securitySchemes: only(securitySchemes, (name) => security.has(name)),
  };
}

function tagOf(service: ServiceName, path: string): Tag {
  if (service !== "gateway") return { name: service, description: SERVICES[service].description };
  const name = path.split("/").find((segment) => segment !== "" && segment !== "api" && segment !== "v1") ?? "gateway";
  return { name, description: TAGS[name] ?? `Everything below /api/v1/${name}.` };
}
