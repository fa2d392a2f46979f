import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";
import { saveFile } from "../save-file.ts";

/** The files that a probe has sent or is sending. */
export async function listProbeFiles({ rest }: Connection, probeId: string): Promise<Answer> {
  const files = await collect((query) => rest.listProbeFiles(probeId, query));
  return {
    json: files,
    table: {
      heading: ["ID", "KIND", "STATE", "RECEIVED", "BYTES", "BEGUN"],
      rows: files.map(({ id, kind, state, received, size, created_at: at }) => [id, kind, state, String(received), String(size), at]),
    },
  };
}

/** @param options.out The file that is written, which may not be there; without it, one named after the probe's. */
export async function downloadProbeFile(
  { rest }: Connection, probeId: string, id: string, { out }: { readonly out?: string },
): Promise<Answer> {
  const file = out ?? `lanthorn-${id}`;
  await saveFile(file, await rest.downloadProbeFile(probeId, id));
  return { json: { id, file }, text: file };
}
