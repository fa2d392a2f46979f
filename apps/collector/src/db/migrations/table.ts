import type { Migration } from "kysely";
import * as first from "./0001-first.ts";

/** Every migration by name, applied in the order of the names. One that has been released never changes. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  "0001-first": first,
};
