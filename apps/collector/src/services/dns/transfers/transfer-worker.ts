// The thread in which a zone is transferred: a million records take seconds to be read, and some hundred megabytes.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { ChangesDoNotFit, type KnownZone, TransferFault, type TransferReader } from "@lanthorn/dns";
import { openSession, type TransferSession } from "./transfer-session.ts";
import type { TransferOutcome, TransferTask } from "./transfer-messages.ts";

/** The first line of a zone that was transferred. */
const HEAD = /^; serial (\d{1,10})$/;

const outcome = await run(workerData as TransferTask).catch((error: unknown): TransferOutcome => {
  if (error instanceof TransferFault) return { kind: "fault", reason: error.message };
  throw error;
});
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
parentPort?.postMessage(outcome);

async function run({ addresses, port, zone, key, serial, base, path, maxBytes }: TransferTask): Promise<TransferOutcome> {
  /** A connection of its own for each question: what is left of an answer that was given up is nobody's. */
  const ask = async <T>(question: (session: TransferSession) => Promise<T>): Promise<T> => {
    const session = await openSession(addresses, port, { key, maxBytes });
    try {
      return await question(session);
    } finally {
      session.close();
    }
  };
  const newest = await ask((session) => session.serialOf(zone));
  if (newest === serial) return { kind: "same" };
  const known = readBase(base);
  const changes = known === null || !isNewer(newest, known.serial) ? null : await ask((session) => session.transfer(zone, known)).catch(noChanges);
  const reader = changes ?? await ask((session) => session.transfer(zone, null));
  write(path, base, reader);
  return { kind: changes === null ? "whole" : "changes", serial: reader.serial };
}

/** Changes that do not fit, and a server that knows none, are no fault: the whole zone is asked for. */
function noChanges(error: unknown): null {
  if (error instanceof ChangesDoNotFit || error instanceof TransferFault) return null;
  throw error;
}

function readBase(base: string): KnownZone | null {
  if (!existsSync(base)) return null;
  const [head = "", ...lines] = readFileSync(base, "utf8").split("\n");
  const serial = Number(HEAD.exec(head)?.[1] ?? Number.NaN);
  return Number.isNaN(serial) ? null : { serial, lines: lines.filter((line) => line !== "") };
}

/** The list has what rules are; what else the zone says of itself, as its number, makes no other version of it. */
function write(path: string, base: string, reader: TransferReader): void {
  const lines = [...reader.lines()];
  writeFileSync(`${base}.new`, `; serial ${reader.serial}\n${lines.join("\n")}\n`, { mode: 0o640 });
  renameSync(`${base}.new`, base);
  writeFileSync(path, lines.filter((line) => !/^[^ ]+ \d+ IN (?:SOA|NS) /.test(line)).map((line) => `${line}\n`).join(""), { mode: 0o640 });
}

/** Numbers of versions go round. @see RFC 1982 */
function isNewer(one: number, other: number): boolean {
  return one !== other && ((one - other) >>> 0) < 2 ** 31;
}
