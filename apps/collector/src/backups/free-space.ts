import { statfsSync } from "node:fs";
import { CollectorError } from "../errors.ts";

/** @throws CollectorError `backup-failed` where a directory has not that many bytes left. */
export function requireFreeSpace(directory: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(directory);
  if (bavail * bsize >= bytes) return;
  const megabytes = (count: number) => Math.ceil(count / 1e6);
  throw new CollectorError(
    "backup-failed", `there is no room: ${megabytes(bytes)} MB are needed in ${directory}, ${megabytes(bavail * bsize)} MB are free`,
  );
}
