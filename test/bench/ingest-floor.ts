import { join } from "node:path";
import type { Batch } from "@lanthorn/contract";
import { systemClock } from "@lanthorn/runtime";
import Sqlite from "better-sqlite3";
import { Kysely } from "kysely";
import { openDatabase } from "../../apps/collector/src/db/open.ts";
import type { Schema } from "../../apps/collector/src/db/schema.ts";
import { dialectOf } from "../../apps/collector/src/db/query/statements.ts";
import { createEventLog } from "../../apps/collector/src/events/log.ts";
import { createMerges } from "../../apps/collector/src/identity/merging/merges.ts";
import { commitBatches } from "../../apps/collector/src/ingest/commit/commit-batch.ts";
import { createDeviceGrowth } from "../../apps/collector/src/ingest/devices/device-growth.ts";
import { type Delivered, type ProbeSite, readEvents } from "../../apps/collector/src/ingest/messages/read-batch.ts";
import { REACTIONS } from "../../apps/collector/src/reactions.ts";
import { DEVICE_KEEP } from "../../apps/collector/src/testing/device-keep.ts";

interface Write {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** How long bare writing took, commits included. */
export interface Floor {
  /** By the collector's own statements of many rows, and row by row. */
  readonly manyRows: Spent;
  readonly rowByRow: Spent;
  readonly rows: number;
  readonly events: number;
}

interface Spent {
  readonly seconds: number;
  readonly processorSeconds: number;
}

/**
 * How long better-sqlite3 alone takes to write the rows that the collector writes: same rows, same transactions, same pragmas,
 * every statement prepared once, nothing read, parsed or decided. The rows are learned by applying the batches to a database
 * whose writes are recorded. They are then written in two ways to two more: by the collector's own statements of many rows, and
 * row by row; the faster one is the floor.
 * @param options.groups What each transaction holds: batches of different probes.
 * @param options.prepare Makes the rows that the events need to be there.
 * @param options.withinMs After so long no further group is begun.
 */
export async function measureFloor(options: {
  readonly directory: string;
  readonly groups: Iterable<readonly Delivered[]>;
  readonly prepare: (db: Kysely<Schema>) => Promise<void>;
  readonly withinMs?: number;
}): Promise<Floor> {
  const fileOf = (name: string) => join(options.directory, `${name}.db`);
  for (const name of ["recorded", "many", "single"]) {
    const database = await openDatabase({ file: fileOf(name) });
    await options.prepare(database.db);
    await database.close();
  }
  const writes: Write[] = [];
  const db = new Kysely<Schema>({
    dialect: dialectOf(connect(fileOf("recorded"))),
    log({ query: { sql, parameters } }) {
      if (/^(insert|update|delete)/.test(sql)) writes.push({ sql, parameters });
    },
  });
  const log = createEventLog({ reads: db });
  const merges = createMerges({ audit: () => Promise.resolve(), clock: systemClock });
  const growth = createDeviceGrowth(DEVICE_KEEP);
  const many = createWriter(connect(fileOf("many")));
  const single = createWriter(connect(fileOf("single")));
  const end = performance.now() + (options.withinMs ?? Number.POSITIVE_INFINITY);
  let [rows, events] = [0, 0];
  for (const group of options.groups) {
    writes.length = 0;
    await commitBatches({ db, log, merges, growth, projections: REACTIONS }, group);
    const apart = writes.flatMap(splitRows);
    rows += apart.length;
    events += group.reduce((sum, { batch }) => sum + batch.events.length, 0);
    many.write(writes);
    single.write(apart);
    if (performance.now() > end) break;
  }
  await db.destroy();
  return { manyRows: many.close(), rowByRow: single.close(), rows, events };
}

/** A probe's batch as it comes to be committed. */
export function delivered(probe: ProbeSite, batch: Batch): Delivered {
  const receivedAt = new Date().toISOString();
  return { probe, receivedAt, batch: readEvents(batch, { offsetMs: 0, receivedAt, keepsRejected: true }) };
}

/** As `openDatabase` does. */
function connect(file: string): Sqlite.Database {
  const connection = new Sqlite(file);
  connection.pragma("journal_mode = WAL");
  connection.pragma("synchronous = FULL");
  connection.pragma("foreign_keys = ON");
  connection.pragma("cache_size = -32768");
  return connection;
}

const MANY_TUPLES = /values (\((?:\?(?:, )?)+\))((?:, \((?:\?(?:, )?)+\))+)/;

/** A statement of many rows as that many statements of one. */
function splitRows({ sql, parameters }: Write): readonly Write[] {
  const found = MANY_TUPLES.exec(sql);
  if (!found) return [{ sql, parameters }];
  const width = (found[1] as string).split("?").length - 1;
  const one = sql.replace(MANY_TUPLES, "values $1");
  return Array.from(
    { length: parameters.length / width }, (_, index) => ({ sql: one, parameters: parameters.slice(index * width, (index + 1) * width) }),
  );
}

function createWriter(connection: Sqlite.Database): { write(writes: readonly Write[]): void; close(): Spent } {
  const prepared = new Map<string, Sqlite.Statement>();
  let [nanoseconds, processorMicroseconds] = [0n, 0];
  const statementOf = (sql: string) => {
    let statement = prepared.get(sql);
    if (!statement) prepared.set(sql, (statement = connection.prepare(sql)));
    return statement;
  };
  const begin = connection.prepare("begin immediate");
  const commit = connection.prepare("commit");
  return {
    write(writes) {
      const [startedAt, before] = [process.hrtime.bigint(), process.cpuUsage()];
      begin.run();
      for (const { sql, parameters } of writes) {
        const statement = statementOf(sql);
        if (statement.reader) statement.all(...parameters);
        else statement.run(...parameters);
      }
      commit.run();
      nanoseconds += process.hrtime.bigint() - startedAt;
      const { user, system } = process.cpuUsage(before);
      processorMicroseconds += user + system;
    },
    close() {
      connection.close();
      return { seconds: Number(nanoseconds) / 1e9, processorSeconds: processorMicroseconds / 1e6 };
    },
  };
}
