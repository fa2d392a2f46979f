import * as z from "zod";
import { parseLocation } from "./location.ts";

/** How a database is named. */
export const DATABASE_URL_FORM = "sqlite: and a path, as sqlite:/var/lib/lanthorn-collector/lanthorn.db, or "
  + "postgres://user:password@host:5432/name";
const DatabaseUrl = z.string().refine((url) => parseLocation(url) !== null, { error: DATABASE_URL_FORM });

/** `[database]`: Where the data is. */
export const DatabaseSettings = z.strictObject({
  url: DatabaseUrl.optional(),
  /** PostgreSQL alone: connections of this process for writing, and as many again for reading. */
  pool_size: z.int().min(2).max(1000).default(10),
  /** PostgreSQL alone: how long a start waits for it. */
  wait_seconds: z.int().min(0).max(3600).default(60),
  /** PostgreSQL alone: when the server gives a statement up. */
  statement_timeout_seconds: z.int().min(1).max(3600).default(30),
}).prefault({});
