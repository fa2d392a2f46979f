import { z } from "@hono/zod-openapi";
import { filesOperations } from "@lanthorn/contract";
import type { Context } from "hono";
import { type GatewayEnvironment, probeOf } from "../../gateway/environment.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import type { Sender } from "./probe-turns.ts";
import type { FilesService } from "./service.ts";

const QUOTAS = " 413, 429 and 503 say in `details.reason` which limit was met, and in `Retry-After` when to try again.";

const { endpoint, routes } = endpointsOf<FilesService>();

/** `/agents/files…`: files that probes send up, each under its own certificate. */
export const filesRoutes = routes(
  endpoint("probe", filesOperations.beginProbeFile, {
    summary: "Begin to send a file, or go on with it",
    description: `The answer says how much of the file is here; the first piece to send begins there.${QUOTAS}`,
    answer: "How far the file is",
  }, async (c, service) => c.json(await service.begin(senderOf(c), c.req.valid("json")), 200)),
  endpoint("probe", filesOperations.sendProbeFilePiece, {
    summary: "Send a piece of a file",
    description: "At most 1 MiB. It is on the disk when it is answered. A piece that begins elsewhere than where the file ends is answered 409; "
    + "`details.offset` says where to go on.",
    body: { required: true, content: { "application/octet-stream": { schema: z.string().meta({ format: "binary" }) } } },
    answer: "How far the file is",
  }, async (c, service) => {
    const body = async () => new Uint8Array(await c.req.arrayBuffer());
    return c.json(await service.piece(senderOf(c), c.req.valid("param").file_id, c.req.valid("query"), body), 200);
  }),
  endpoint("probe", filesOperations.finishProbeFile, {
    summary: "Say that all of a file was sent",
    description: "The whole is compared with its SHA-256 and kept. Asked again, it answers the same. 409 says in `details.offset` where to go on.",
    answer: "The file is whole and verified",
  }, async (c, service) => c.json(await service.finish(senderOf(c), c.req.valid("param").file_id), 200)),
);

function senderOf(c: Context<GatewayEnvironment>): Sender {
  return { id: probeOf(c), key: c.env.peer.probePublicKey };
}
