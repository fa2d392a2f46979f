import * as z from "zod";
import { FileBegin, FilePieceQuery, FileProgress } from "../../uplink/files.ts";
import { Id } from "../../values.ts";
import { IdPageQuery, listEnvelope } from "../envelopes.ts";
import { ProbeFile } from "../agents.ts";
import { operations } from "../operation.ts";

const OfFile = z.object({ file_id: Id });
const OfProbe = z.object({ probe_id: Id });
const OfFilePart = z.object({ probe_id: Id, file_id: Id });

/** Files that probes send, and that operators download. */
export const filesOperations = operations({
  /** Begins to send a file, or goes on with it, with the probe's own certificate; likewise the two below. */
  beginProbeFile: { target: "POST /agents/files", body: FileBegin, status: 200, answer: FileProgress },
  /** At most 1 MiB, from `offset` of the file on. */
  sendProbeFilePiece: {
    target: "PUT /agents/files/{file_id}/content", params: OfFile, query: FilePieceQuery, bytes: true, status: 200, answer: FileProgress,
  },
  finishProbeFile: { target: "POST /agents/files/{file_id}/finish", params: OfFile, status: 200, answer: FileProgress },
  listProbeFiles: {
    target: "GET /agents/probes/{probe_id}/files", params: OfProbe, query: IdPageQuery, status: 200, answer: listEnvelope(ProbeFile),
  },
  downloadProbeFile: {
    target: "GET /agents/probes/{probe_id}/files/{file_id}/content", params: OfFilePart, status: 200, content: "application/octet-stream",
  },
});
