import { join } from "node:path";
import { systemClock } from "@lanthorn/runtime";
import Sqlite from "better-sqlite3";
import { Kysely } from "kysely";
import { openDatabase } from "../../apps/collector/src/db/open.ts";
import type { Schema } from "../../apps/collector/src/db/schema.ts";
import { dialectOf } from "../../apps/collector/src/db/statements.ts";
import { createEventLog } from "../../apps/collector/src/events/log.ts";
import { createMerges } from "../../apps/collector/src/identity/merges.ts";
import { commitBatch } from "../../apps/collector/src/ingest/commit-batch.ts";
import { createDeviceGrowth } from "../../apps/collector/src/ingest/device-growth.ts";
import { type ProbeSite, readEvents } from "../../apps/collector/src/ingest/read-batch.ts";
import { REACTIONS } from "../../apps/collector/src/reactions.ts";
import { DEVICE_KEEP } from "../../apps/collector/src/testing/device-keep.ts";
import { makeBatches, readPayload } from "./ingest-sender.ts";

interface Write {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/**
 * How long better-sqlite3 alone takes to write the rows that the collector writes: same rows, same transactions, same pragmas,
 * every statement prepared once, nothing read, parsed or decided. The rows are learned by applying each batch to a database
 * whose writes are recorded. They are then written in two ways to two more: by the collector's own statements of many rows, and
 * row by row; the faster one is the floor.
 * @param options.probe The one whose events they are; `rows` are those that its events need to be there.
 * @returns Seconds for each way, commits included.
 */
export async function measureFloor(options: {
  readonly directory: string;
  readonly events: number;
  readonly seed: number;
  readonly probe: ProbeSite;
  readonly prepare: (db: Kysely<Schema>) => Promise<void>;
}): Promise<{ readonly manyRows: number; readonly rowByRow: number; readonly rows: number }> {
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
  let rows = 0;
  for (const { payload } of makeBatches(options.events, options.seed)) {
    writes.length = 0;
    const receivedAt = new Date().toISOString();
    const batch = readEvents(readPayload(payload), { offsetMs: 0, receivedAt, keepsRejected: true });
    await commitBatch({ db, log, merges, growth, projections: REACTIONS }, options.probe, batch, receivedAt);
    const apart = writes.flatMap(splitRows);
    rows += apart.length;
    many.write(writes);
    single.write(apart);
  }
  await db.destroy();
  return { manyRows: many.close(), rowByRow: single.close(), rows };
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

function createWriter(connection: Sqlite.Database): { write(writes: readonly Write[]): void; close(): number } {
  const prepared = new Map<string, Sqlite.Statement>();
  let nanoseconds = 0n;
  const statementOf = (sql: string) => {
    let statement = prepared.get(sql);
    if (!statement) prepared.set(sql, (statement = connection.prepare(sql)));
    return statement;
  };
  const begin = connection.prepare("begin immediate");
  const commit = connection.prepare("commit");
  return {
    write(writes) {
      const startedAt = process.hrtime.bigint();
      begin.run();
      for (const { sql, parameters } of writes) {
        const statement = statementOf(sql);
        if (statement.reader) statement.all(...parameters);
        else statement.run(...parameters);
      }
      commit.run();
      nanoseconds += process.hrtime.bigint() - startedAt;
    },
    close() {
      connection.close();
      return Number(nanoseconds) / 1e9;
    },
  };
}
