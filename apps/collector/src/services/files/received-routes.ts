import { Readable } from "node:stream";
import { z } from "@hono/zod-openapi";
import { filesOperations } from "@lanthorn/contract";
import { endpointsOf } from "../../gateway/endpoint.ts";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import type { ReceivedFiles } from "./received.ts";

const { endpoint, routes } = endpointsOf<ReceivedFiles>();

/** `/agents/probes/{probe_id}/files…`: what probes have sent, for operators. */
export const receivedRoutes = routes(
  endpoint("agents:read", filesOperations.listProbeFiles, {
    summary: "List the files of a probe",
    description: "Captures and transcripts that the probe has sent or is sending, without their content.",
    answer: "Files, in the order of their ids",
  }, async (c, service) =>
    c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("param").probe_id, c.req.valid("query"))), 200)),
  endpoint("agents:write", filesOperations.downloadProbeFile, {
    summary: "Download a file of a probe",
    description: "A whole file. It may hold what hosts of the site sent, so this needs more than the list does, and each download is in the "
      + "audit log. Captures are not given out here, but at `/pcap/{pcap_id}/download`. `Repr-Digest` has its SHA-256 (RFC 9530).",
    answer: [200, "The file", { "application/octet-stream": { schema: z.string() } }],
  }, async (c, service) => {
    const { probe_id: probeId, file_id: id } = c.req.valid("param");
    const { content, file } = await service.open(actorOf(c), probeId, id);
    return c.body(Readable.toWeb(Readable.from(content)) as ReadableStream<Uint8Array>, 200, {
      "content-type": "application/octet-stream", "content-length": String(file.size),
      "content-disposition": `attachment; filename="lanthorn-${file.kind}-${file.id}"`,
      "repr-digest": `sha-256=:${Buffer.from(file.sha256, "hex").toString("base64")}:`,
    });
  }),
);
