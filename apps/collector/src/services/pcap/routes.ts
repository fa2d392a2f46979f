import { Readable } from "node:stream";
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { PcapFetching, pcapOperations } from "@lanthorn/contract";
import { endpointsOf } from "../../gateway/endpoint.ts";
import { actorOf, type GatewayEnvironment, identityOf, isIdentity } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { json } from "../../gateway/route.ts";
import type { DownloadRequest, PcapDownload, PcapDownloads } from "./downloads.ts";
import { isNoted } from "./refusals.ts";
import type { PcapRequests } from "./requests.ts";
import type { PcapsService } from "./service.ts";
import type { SiteCaptureSettings } from "./site-settings.ts";
import type { PcapWatches } from "./watches.ts";

/** What the routes of captures use. */
interface PcapParts {
  readonly pcaps: PcapsService;
  readonly requests: PcapRequests;
  readonly downloads: PcapDownloads;
  readonly watches: PcapWatches;
  readonly settings: SiteCaptureSettings;
}

const { endpoint, routes } = endpointsOf<PcapParts>();
const RETRY_SECONDS = "3";
const REFUSALS = "What the probe refuses is answered 400 with its words, as those of the filter's compiler; 409 where its configuration does not allow it; 503 while no probe is there.";

/** Notes each try that was refused or failed, whatever refused it. Lists and records without packets are none. */
function noteRefusals(router: OpenAPIHono<GatewayEnvironment>, { downloads }: PcapParts): void {
  router.use("/pcap/*", async (c, next) => {
    await next();
    const { status } = c.res;
    if (status < 400 || !isIdentity(c.var.identity) || isNoted(c.error)) return;
    const [first = "", second = ""] = c.req.path.split("/pcap/")[1]?.split("/") ?? [];
    const verb = verbOf(c.req.method, first, second);
    if (verb === null) return;
    const id = z.uuid().safeParse(["watch", "settings"].includes(first) ? second : first).data ?? "";
    const reason = (c.req.query("reason") ?? c.req.header("x-reason"))?.slice(0, 255) ?? null;
    await downloads.refused(actorOf(c), { action: `pcap.${verb}.refused`, id, status, reason });
  });
}

/** @returns Null for a read without packets. */
function verbOf(method: string, first: string, second: string): string | null {
  if (first === "watch") return "watch";
  if (method === "GET" || method === "HEAD") return second === "download" ? "download" : null;
  if (first === "settings") return "configure";
  if (first === "export") return "export";
  if (method === "DELETE") return "delete";
  if (first === "") return "start";
  return ["lock", "unlock", "stop"].includes(second) ? second : null;
}

/** `/pcap…`: captures of packets, live views, and what sites have set for them. */
export const pcapRoutes = routes(
  noteRefusals,
  endpoint("pcap:read", pcapOperations.readSiteCaptures, {
    summary: "Read what a site's probes record",
    description: "Whether packets around alerts are kept, what is left out for privacy, and how much is stored here.", answer: "The settings",
  }, async (c, { settings }) => c.json(await settings.read(identityOf(c).tenantId, c.req.valid("param").site_id), 200)),
  endpoint("agents:write", pcapOperations.updateSiteCaptures, {
    summary: "Change what a site's probes record",
    description: "Fields left out stay. The site's probes get the settings at once, or when they reconnect. They can only narrow what a probe's own file allows.",
    example: { upload: "on_demand", headers_only_networks: ["192.0.2.0/28"], require_reason: true }, answer: "The settings",
  }, async (c, { settings }) => c.json(await settings.update(actorOf(c), c.req.valid("param").site_id, c.req.valid("json")), 200)),
  endpoint("pcap:write", pcapOperations.startPcap, {
    summary: "Start a capture", description: `It ends at the first of \`seconds\`, \`packets\` and \`bytes\`. ${REFUSALS}`,
    example: { site_id: "01939f6e-2a10-7c3e-8f00-000000000004", filter: "host 192.0.2.7 and tcp port 443", seconds: 60 }, answer: "The capture runs",
  }, async (c, { requests }) => {
    const pcap = await requests.start(actorOf(c), c.req.valid("json"));
    c.header("location", `/api/v1/pcap/${pcap.id}`);
    return c.json(pcap, 201);
  }),
  endpoint("pcap:write", pcapOperations.exportPcap, {
    summary: "Cut a file from what a probe records continuously",
    description: `By time, host, pair and side. The probe makes the file with less haste than it records. ${REFUSALS}`,
    example: { site_id: "01939f6e-2a10-7c3e-8f00-000000000004", from: "2026-11-20T08:00:00.000Z", to: "2026-11-20T09:00:00.000Z", host: "192.0.2.7", peer: "192.0.2.1" }, answer: "The probe makes the file",
  }, async (c, { requests }) => c.json(await requests.export(actorOf(c), c.req.valid("json")), 202)),
  endpoint("pcap:download", pcapOperations.startPcapWatch, {
    summary: "Begin a live view of packets",
    description: `Shows packets while they are seen, for as long as it is read: it ends half a minute after the last time. The audit log records it. ${REFUSALS}`,
    example: { site_id: "01939f6e-2a10-7c3e-8f00-000000000004", filter: "udp port 53", snap_length: 128 }, answer: "The live view, with its first frames",
  }, async (c, { watches }) => c.json(await watches.start(actorOf(c), c.req.valid("json")), 201)),
  endpoint("pcap:download", pcapOperations.readPcapWatch, {
    summary: "Read a live view", description: "The frames after `after`. Only who has begun it can read it.", answer: "Frames",
  }, async (c, { watches }) => c.json(await watches.read(actorOf(c), c.req.valid("param").watch_id, c.req.valid("query")), 200)),
  endpoint("pcap:download", pcapOperations.endPcapWatch, { summary: "End a live view", answer: "It is over" }, async (c, { watches }) => {
    await watches.end(actorOf(c), c.req.valid("param").watch_id);
    return c.body(null, 204);
  }),
  endpoint("pcap:read", pcapOperations.listPcaps, {
    summary: "List captures",
    description: "Captures of alerts, requests and exports. `alert_id` finds the evidence of an alert, also where another probe's report has raised it.",
    answer: "Captures, newest first",
  }, async (c, { pcaps }) => c.json(toAnswer(await pcaps.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("pcap:read", pcapOperations.readPcap, { summary: "Read a capture", answer: "The capture, without its packets" },
    async (c, { pcaps }) => c.json(await pcaps.read(identityOf(c).tenantId, c.req.valid("param").pcap_id), 200)),
  endpoint("pcap:read", pcapOperations.readPcapSummary, {
    summary: "Read what is in a capture", description: "Protocols, talkers, conversations and packets over time, without any packet.", answer: "What is in it",
  }, async (c, { pcaps }) => c.json(await pcaps.summary(identityOf(c).tenantId, c.req.valid("param").pcap_id), 200)),
  endpoint("pcap:download", pcapOperations.downloadPcap, {
    summary: "Download a capture",
    description: "The file as pcapng. `Range` gets one range, answered 206; `If-Range` takes the `ETag`, which is the file's SHA-256. `Repr-Digest` has it too "
      + "(RFC 9530). A file that lies at the probe is sent for and answered 202: ask again after `Retry-After`. A site may demand a reason, in `reason` or in the "
      + "header `X-Reason`. Each download and each failed try is in the audit log.",
    answer: [200, "The file", { "application/octet-stream": { schema: z.string() } }],
    also: {
      202: { description: "The file is on its way from the probe", content: json(PcapFetching) },
      206: { description: "A range of the file", content: { "application/octet-stream": { schema: z.string() } } },
    },
  }, async (c, { downloads }) => {
    const answer = await downloads.open(actorOf(c), c.req.valid("param").pcap_id, requestOf(c.req, c.req.valid("query").reason));
    if ("fetching" in answer) return c.json(answer.fetching, 202, { "retry-after": RETRY_SECONDS });
    c.set("isPlain", true);
    return c.body(Readable.toWeb(Readable.from(answer.bytes)) as ReadableStream<Uint8Array>, answer.range ? 206 : 200, headersOf(answer));
  }),
  endpoint("pcap:write", pcapOperations.stopPcap, {
    summary: "Stop a capture", description: "What it has so far becomes its file; an export is cut then.", answer: "The probe has stopped it",
  }, async (c, { requests }) => c.json(await requests.stop(actorOf(c), c.req.valid("param").pcap_id), 202)),
  endpoint("pcap:write", pcapOperations.lockPcap, {
    summary: "Lock a capture", description: "It is kept as evidence: neither its age nor missing room removes it, and it cannot be deleted.",
    example: { reason: "case 2026-117" }, answer: "The capture",
  }, async (c, { pcaps }) => c.json(await pcaps.lock(actorOf(c), c.req.valid("param").pcap_id, c.req.valid("json").reason), 200)),
  endpoint("pcap:write", pcapOperations.unlockPcap, { summary: "Unlock a capture", answer: "The capture" },
    async (c, { pcaps }) => c.json(await pcaps.unlock(actorOf(c), c.req.valid("param").pcap_id), 200)),
  endpoint("pcap:write", pcapOperations.deletePcap, {
    summary: "Delete a capture", description: "Its file is removed here and at the probe; a probe that is away removes it when it reconnects. 409 for a locked one.",
    answer: "It is deleted",
  }, async (c, { pcaps }) => {
    await pcaps.delete(actorOf(c), c.req.valid("param").pcap_id);
    return c.body(null, 204);
  }),
);

function requestOf(request: { header(name: string): string | undefined }, reason: string | undefined): DownloadRequest {
  const stated = reason ?? (request.header("x-reason")?.trim().slice(0, 255) || undefined);
  return { reason: stated, range: request.header("range"), ifRange: request.header("if-range") };
}

function headersOf({ name, size, sha256, range }: PcapDownload): Record<string, string> {
  return {
    "content-type": "application/octet-stream", "content-length": String(range ? range.to - range.from : size), "accept-ranges": "bytes",
    "content-disposition": `attachment; filename="${name}"`, etag: `"${sha256}"`, "cache-control": "private, no-store",
    "repr-digest": `sha-256=:${Buffer.from(sha256, "hex").toString("base64")}:`,
    ...(range && { "content-range": `bytes ${range.from}-${range.to - 1}/${size}` }),
  };
}
