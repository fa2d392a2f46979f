/** Takes zones from servers that give them (AXFR, IXFR), in a thread for each transfer. */
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { startThread } from "@lanthorn/runtime";
import type { FetchFile } from "../../../sources/fetch-source.ts";
import { FileRefused } from "../../../sources/file-refused.ts";
import type { TransferOutcome, TransferTask } from "./transfer-messages.ts";
import type { TsigKey } from "./tsig.ts";
import { zonesFolder } from "./zone-files.ts";

/** What a zone's place begins with: `axfr://ns.example:53/zone.example`. */
export const TRANSFER_SCHEME = "axfr:";

/** What a transfer needs. */
export interface ZoneFetchDependencies {
  /** The addresses of a server, as far as the deployment allows to go there. Throws where it does not. */
  readonly addressesOf: (url: URL) => Promise<readonly string[]>;
  /** Where lists lie: zones of before lie below, so that only their changes are asked for. */
  readonly directory: string;
}

const DNS_PORT = 53;
const MAX_HEAP_MB = 1024;

/**
 * @param list Whose zone it is. @param list.key Null for a server that takes none.
 * @returns As `FetchFile`: the validator of a zone is the number of its version. Refuses as FileRefused what a server does not give.
 */
export function createZoneFetch({ addressesOf, directory }: ZoneFetchDependencies, { id, key }: { readonly id: string; readonly key: TsigKey | null }): FetchFile {
  return async ({ url: text, path, maxBytes, validators, stop }) => {
    const url = new URL(text);
    const folder = zonesFolder(directory);
    await mkdir(folder, { recursive: true, mode: 0o750 });
    const base = join(folder, id);
    const outcome = await runTransfer({
      addresses: await addressesOf(url), port: url.port === "" ? DNS_PORT : Number(url.port), zone: zoneOf(url), key, serial: validators.etag === undefined ? null : Number(validators.etag),
      base, path, maxBytes,
    }, stop);
    if (outcome.kind === "same") return null;
    if (outcome.kind === "fault") throw new FileRefused(outcome.reason);
    return { file: { path }, validators: { etag: String(outcome.serial) } };
  };
}

/** The name of the zone that a place names. */
export function zoneOf(url: URL): string {
  return url.pathname.replace(/^\//, "").replace(/\.$/, "").toLowerCase();
}

async function runTransfer(task: TransferTask, stop: AbortSignal): Promise<TransferOutcome> {
  const thread = startThread("transfer-worker", import.meta.url, { workerData: task, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
  try {
    const [outcome] = await once(thread, "message", { signal: stop }) as [TransferOutcome];
    return outcome;
  } finally {
    await thread.terminate();
  }
}
