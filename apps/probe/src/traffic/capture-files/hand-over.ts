import { stat } from "node:fs/promises";
import type { Spool } from "../../files/spool.ts";
import { filePath, removeCaptureFile } from "./facts.ts";
import { filesFolder } from "./repair.ts";

/**
 * Moves a finished capture file to those that go to the collector, under its own id, and takes away its note. Call it when its facts are in
 * the queue; called again after a crash it does what is left.
 * @param deps.id The capture's.
 * @returns False where there is no such file, here or there.
 * @throws ProbeError `file-refused` where it does not fit there: it stays here.
 */
export async function handOver(deps: { readonly spool: Pick<Spool, "add" | "find">; readonly dataDir: string; readonly id: string }): Promise<boolean> {
  const folder = filesFolder(deps.dataDir);
  const path = filePath(folder, deps.id);
  const isHere = await stat(path).then((found) => found.isFile(), () => false);
  if (isHere) await deps.spool.add(path, "capture", { id: deps.id, move: true });
  else if ((await deps.spool.find(deps.id)) === null) return false;
  await removeCaptureFile(folder, deps.id);
  return true;
}
