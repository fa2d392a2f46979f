import { z } from "@hono/zod-openapi";
import { FileBegin, FilePieceQuery, FileProgress, Id } from "@lanthorn/contract";
import type { Context } from "hono";
import { type GatewayEnvironment, probeOf } from "../../gateway/environment.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import { jsonBody } from "../../gateway/route.ts";
import type { Sender } from "./probe-turns.ts";
import type { FilesService } from "./service.ts";

const QUOTAS = " 413, 429 and 503 say in `details.reason` which limit was met, and in `Retry-After` when to try again.";

const Params = z.object({ file_id: Id });

const { endpoint, routes } = endpointsOf<FilesService>();

/** `/agents/files…`: files that probes send up, each under its own certificate. */
export const filesRoutes = routes(
  endpoint("probe", "POST /agents/files", {
    operationId: "beginProbeFile", summary: "Begin to send a file, or go on with it",
    description: `The answer says how much of the file is here; the first piece to send begins there.${QUOTAS}`, body: jsonBody(FileBegin),
    answer: [200, "How far the file is", FileProgress],
  }, async (c, service) => c.json(await service.begin(senderOf(c), c.req.valid("json")), 200)),
  endpoint("probe", "PUT /agents/files/{file_id}/content", {
    operationId: "sendProbeFilePiece", summary: "Send a piece of a file",
    description: "At most 1 MiB. It is on the disk when it is answered. A piece that begins elsewhere than where the file ends is answered 409; "
    + "`details.offset` says where to go on.",
    params: Params, query: FilePieceQuery,
    body: { required: true, content: { "application/octet-stream": { schema: z.string().meta({ format: "binary" }) } } },
    answer: [200, "How far the file is", FileProgress],
  }, async (c, service) => {
    const body = async () => new Uint8Array(await c.req.arrayBuffer());
    return c.json(await service.piece(senderOf(c), c.req.valid("param").file_id, c.req.valid("query"), body), 200);
  }),
  endpoint("probe", "POST /agents/files/{file_id}/finish", {
    operationId: "finishProbeFile", summary: "Say that all of a file was sent",
    description: "The whole is compared with its SHA-256 and kept. Asked again, it answers the same. 409 says in `details.offset` where to go on.",
    params: Params, answer: [200, "The file is whole and verified", FileProgress],
  }, async (c, service) => c.json(await service.finish(senderOf(c), c.req.valid("param").file_id), 200)),
);

function senderOf(c: Context<GatewayEnvironment>): Sender {
  return { id: probeOf(c), key: c.env.peer.probePublicKey };
}
